//! Where everything in a picture goes: layers from the first step down, lines between neighbouring layers, and lanes on
//! the right for lines that go back.
//!
//! Steps lie in even layers. A line's label is a cell of the odd layer under its step, and a line that passes a layer
//! has a narrow cell in it, so keeping the cells of a layer apart keeps lines and labels off the boxes. Lines turn only
//! in the gaps between layers. Every loop is bounded by steps and edges; cells by [`CELLS`].

mod layers;
mod lines;
mod place;

pub(super) use lines::{Line, Turn};

/// The most cells. Beyond it the longest lines run in the lanes on the right, one lane for all that lead to one step.
const CELLS: usize = 4_000;

/// An edge to be laid out.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether it may go back; only such a link may close a cycle.
    pub(super) may_go_back: bool,
    /// The size of its label.
    pub(super) label: Option<(f64, f64)>,
}

/// A rectangle; `x` and `y` are its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(super) fn centre(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

/// The picture's geometry, its origin in the upper left corner.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The boxes, by step.
    pub(super) boxes: Vec<Rect>,
    /// The lines, by link.
    pub(super) lines: Vec<Line>,
    /// Where the arrow into the first step ends.
    pub(super) entry: (f64, f64),
}

/// Lays out steps of the given sizes; the first is where a run starts, and every other is reached from it.
pub(super) fn layout(sizes: &[(f64, f64)], links: &[Link]) -> Layout {
    let layers = layers::layers(sizes, links);
    let placed = place::place(&layers, links);
    lines::lines(&layers, placed, links)
}

#[cfg(test)]
mod tests;
