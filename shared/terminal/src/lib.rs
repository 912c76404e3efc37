//! What the commands print, for people at a terminal and for programs that read lines.
//!
//! Text of somebody else's goes through [`clean`] or [`Paint::line`] before it is printed: whatever a document or a server
//! holds, it steers no terminal.

mod out;
mod paint;

pub use out::{clean, failed, line, note};
pub use paint::Paint;
