//! `kozuka match` against scripted engines. The program of the tests is also the scripted engine.

mod faults;
#[cfg(target_os = "linux")]
mod lifetime;
mod mock;
mod play;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [flag, rest @ ..] = &arguments[..]
        && flag == "--mock"
    {
        return mock::run(rest);
    }
    #[cfg(target_os = "linux")]
    let lifetime = lifetime::TESTS;
    #[cfg(not(target_os = "linux"))]
    let lifetime: &[support::Test] = &[];
    let tests = [faults::TESTS, play::TESTS, lifetime].concat();
    let trial = |(name, test): support::Test| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), tests.into_iter().map(trial).collect()).exit();
}
