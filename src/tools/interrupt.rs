//! Ctrl-C as a flag.

use std::sync::atomic::{AtomicBool, Ordering};

/// From now on Ctrl-C, and a request to terminate, set the flag that comes back instead of ending the program; a
/// second one ends it.
///
/// # Errors
/// If the system refuses, or it was asked for before.
pub fn catch() -> Result<&'static AtomicBool, ctrlc::Error> {
    let flag: &'static AtomicBool = Box::leak(Box::default());
    ctrlc::set_handler(|| {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(flag)
}
