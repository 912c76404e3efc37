//! A process as a picture: Mermaid text and a self-contained SVG. The same document always gives the same bytes.
//!
//! Both draw the same facts (`facts`). The SVG is laid out here (`layout`), in layers from the first step down, so that
//! boxes never touch and lines never run through them.

mod facts;
mod layout;
mod mermaid;
mod svg;
mod text;

pub use mermaid::mermaid;
pub use svg::svg;

#[cfg(test)]
mod tests;
