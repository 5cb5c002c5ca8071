//! Lines from the player: edited in a terminal, plain otherwise.

use std::io::{self, BufRead, IsTerminal};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};

/// Where lines come from.
pub enum Console {
    /// A terminal, with editing, a history, and completion by the tabulator key.
    Terminal(Box<Editor<Words, MemHistory>>),
    /// A file or a pipe. Nothing is prompted for.
    Plain,
}

/// The words that can be completed.
#[derive(Default)]
pub struct Words(Vec<String>);

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..pos).unwrap_or_default();
        // Only the first word is known.
        let known = self.0.iter().filter(|word| word.starts_with(typed)).cloned().collect();
        Ok((0, known))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

impl Console {
    /// The console of this process.
    ///
    /// # Errors
    /// If the terminal cannot be used.
    pub fn new() -> io::Result<Self> {
        if !io::stdin().is_terminal() {
            return Ok(Self::Plain);
        }
        let mut editor = Editor::with_history(Config::default(), MemHistory::new()).map_err(io::Error::other)?;
        editor.set_helper(Some(Words::default()));
        Ok(Self::Terminal(Box::new(editor)))
    }

    /// Whether a person sits there.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Asks for a line; `None` when there will be no more.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn read(&mut self, prompt: &str, words: impl Iterator<Item = String>) -> io::Result<Option<String>> {
        match self {
            Self::Terminal(editor) => {
                if let Some(helper) = editor.helper_mut() {
                    helper.0 = words.collect();
                }
                match editor.readline(prompt) {
                    Ok(line) => {
                        // A history that is full or takes no duplicates is no reason to stop.
                        let _ = editor.add_history_entry(line.as_str());
                        Ok(Some(line))
                    }
                    Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                    Err(ReadlineError::Io(error)) => Err(error),
                    Err(error) => Err(io::Error::other(error)),
                }
            }
            Self::Plain => {
                let mut line = Vec::new();
                match io::stdin().lock().read_until(b'\n', &mut line)? {
                    0 => Ok(None),
                    _ => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
                }
            }
        }
    }
}
