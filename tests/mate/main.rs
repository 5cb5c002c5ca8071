//! The mate solver, held against two slow ways of finding out the same, and against problems with known answers.

mod oracle;
mod problems;
mod random;
mod verdicts;
