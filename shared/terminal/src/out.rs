//! Standard output: lines that may find nobody reading any more.
//!
//! A reader that went away (`| head`) is no fault to shout about, and a full disk is one to say once. Neither stops what is
//! going on, so that whatever must be cleaned up still is; the command then ends with 1.

use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

static FAILED: AtomicBool = AtomicBool::new(false);

/// Prints one line to standard output.
#[macro_export]
macro_rules! say {
    ($($line:tt)*) => { $crate::line(format_args!($($line)*)) };
}

/// Prints one line; use it as [`say!`](crate::say).
pub fn line(text: Arguments<'_>) {
    if failed() {
        return;
    }
    let mut out = io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        && !FAILED.swap(true, Ordering::Relaxed)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // Where this cannot be written either, there is nobody left to tell.
        let _ = writeln!(io::stderr(), "standard output cannot be written: {error}");
    }
}

/// Tells on standard error what is odd and changes nothing.
pub fn note(text: &str) {
    // Where this cannot be written there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "note: {}", clean(text));
}

/// Whether a line could not be printed.
pub fn failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// Text of somebody else's for a terminal: what would steer the terminal is shown as a replacement character.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}
