//! Steps and lines into layers (longest path), and the order within each layer (median sweeps, fewest crossings kept).

use super::{CELLS, Link};
use crate::graph::{Closure, Edges};

/// How often the layers are reordered, down and up.
const ORDER_SWEEPS: usize = 12;

/// The width of the cell of a line that passes a layer.
const PASSING_WIDTH: f64 = 14.0;

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Step,
    Label,
    Passing,
}

/// A place in a layer. Cells of steps come first, by step.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) holds: Holds,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) layer: usize,
    /// Cells in the layer above that lead here.
    pub(super) above: Vec<usize>,
    /// Cells in the layer below that this leads to.
    pub(super) below: Vec<usize>,
}

/// How a link is drawn.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// Through these cells, between its two steps.
    Through(Vec<usize>),
    /// By a lane on the right.
    Lane,
}

/// The layered picture.
#[derive(Debug)]
pub(super) struct Layers {
    pub(super) cells: Vec<Cell>,
    /// The cells of each layer from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// By link.
    pub(super) ways: Vec<Way>,
}

pub(super) fn layers(sizes: &[(f64, f64)], links: &[Link]) -> Layers {
    let back = going_back(sizes.len(), links);
    let rank = ranks(sizes.len(), links, &back);
    let layer_of = |step: usize| rank.get(step).copied().unwrap_or(0) * 2;
    let mut cells: Vec<Cell> = sizes
        .iter()
        .enumerate()
        .map(|(step, (width, height))| cell(Holds::Step, *width, *height, layer_of(step)))
        .collect();
    let through = short_enough(links, &back, |link| layer_of(link.to).saturating_sub(layer_of(link.from)));
    let mut ways = Vec::with_capacity(links.len());
    for (n, link) in links.iter().enumerate() {
        if through.get(n) != Some(&true) {
            ways.push(Way::Lane);
            continue;
        }
        let mut passed = Vec::new();
        let mut last = link.from;
        for layer in layer_of(link.from) + 1..layer_of(link.to) {
            let new = cells.len();
            cells.push(match link.label {
                Some((width, height)) if passed.is_empty() => cell(Holds::Label, width, height, layer),
                _ => cell(Holds::Passing, PASSING_WIDTH, 0.0, layer),
            });
            join(&mut cells, last, new);
            passed.push(new);
            last = new;
        }
        join(&mut cells, last, link.to);
        ways.push(Way::Through(passed));
    }
    let rows = order(&cells, first_rows(&cells));
    Layers { cells, rows, ways }
}

fn cell(holds: Holds, width: f64, height: f64, layer: usize) -> Cell {
    Cell { holds, width, height, layer, above: Vec::new(), below: Vec::new() }
}

fn join(cells: &mut [Cell], from: usize, to: usize) {
    if let Some(cell) = cells.get_mut(from) {
        cell.below.push(to);
    }
    if let Some(cell) = cells.get_mut(to) {
        cell.above.push(from);
    }
}

/// The links that close a cycle: of those that may, each whose end leads to its beginning. The rest has no cycle.
fn going_back(count: usize, links: &[Link]) -> Vec<bool> {
    let mut edges: Edges = vec![Vec::new(); count];
    for link in links {
        if let Some(list) = edges.get_mut(link.from) {
            list.push(link.to);
        }
    }
    let closure = Closure::new(&edges);
    links.iter().map(|l| l.may_go_back && (l.from == l.to || closure.reaches(l.to, l.from))).collect()
}

/// The longest way from the start to each step.
fn ranks(count: usize, links: &[Link], back: &[bool]) -> Vec<usize> {
    let forward = || links.iter().zip(back).filter(|(_, back)| !**back).map(|(link, _)| link);
    let mut below: Edges = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for link in forward() {
        if let (Some(list), Some(open)) = (below.get_mut(link.from), waiting.get_mut(link.to)) {
            list.push(link.to);
            *open += 1;
        }
    }
    let mut rank = vec![0_usize; count];
    let mut ready: Vec<usize> = (0..count).filter(|n| waiting.get(*n) == Some(&0)).collect();
    while let Some(step) = ready.pop() {
        let next = rank.get(step).copied().unwrap_or(0) + 1;
        for target in below.get(step).map(Vec::as_slice).unwrap_or_default() {
            if let (Some(rank), Some(open)) = (rank.get_mut(*target), waiting.get_mut(*target)) {
                *rank = next.max(*rank);
                *open -= 1;
                if *open == 0 {
                    ready.push(*target);
                }
            }
        }
    }
    rank
}

/// Which links go through the layers: all that lead down, unless that takes too many cells; then the shortest.
fn short_enough(links: &[Link], back: &[bool], span: impl Fn(&Link) -> usize) -> Vec<bool> {
    let mut by_length: Vec<(usize, usize)> =
        links.iter().enumerate().filter(|(n, _)| back.get(*n) == Some(&false)).map(|(n, l)| (span(l), n)).collect();
    by_length.sort_unstable();
    let mut through = vec![false; links.len()];
    let mut cells = 0;
    for (length, n) in by_length {
        cells += length;
        if cells > CELLS {
            break;
        }
        if let Some(through) = through.get_mut(n) {
            *through = true;
        }
    }
    through
}

/// A first order: depth-first from the first step, so that what belongs together stands together.
fn first_rows(cells: &[Cell]) -> Vec<Vec<usize>> {
    let count = cells.iter().map(|c| c.layer + 1).max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut seen = vec![false; cells.len()];
    let mut open: Vec<usize> = (0..cells.len()).rev().collect();
    while let Some(at) = open.pop() {
        let (Some(seen), Some(cell)) = (seen.get_mut(at), cells.get(at)) else { continue };
        if std::mem::replace(seen, true) {
            continue;
        }
        if let Some(row) = rows.get_mut(cell.layer) {
            row.push(at);
        }
        open.extend(cell.below.iter().rev());
    }
    rows
}

fn order(cells: &[Cell], mut rows: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut best = rows.clone();
    let mut fewest = crossings(cells, &rows);
    for sweep in 0..ORDER_SWEEPS {
        if fewest == 0 {
            break;
        }
        let down = sweep % 2 == 0;
        let mut place = places(cells.len(), &rows);
        let layers: Vec<usize> = if down { (1..rows.len()).collect() } else { (0..rows.len()).rev().skip(1).collect() };
        for layer in layers {
            let Some(row) = rows.get_mut(layer) else { continue };
            let mut keyed: Vec<(f64, usize)> = row
                .iter()
                .enumerate()
                .map(|(own, at)| {
                    let near = cells.get(*at).map(|c| if down { &c.above } else { &c.below });
                    let near = near.map(Vec::as_slice).unwrap_or_default();
                    let sum: usize = near.iter().map(|n| place.get(*n).copied().unwrap_or(0)).sum();
                    let key = if near.is_empty() { own as f64 } else { sum as f64 / near.len() as f64 };
                    (key, *at)
                })
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (n, (slot, (_, at))) in row.iter_mut().zip(keyed).enumerate() {
                *slot = at;
                if let Some(place) = place.get_mut(at) {
                    *place = n;
                }
            }
        }
        let now = crossings(cells, &rows);
        if now < fewest {
            fewest = now;
            best.clone_from(&rows);
        }
    }
    best
}

fn places(count: usize, rows: &[Vec<usize>]) -> Vec<usize> {
    let mut place = vec![0; count];
    for row in rows {
        for (n, at) in row.iter().enumerate() {
            if let Some(place) = place.get_mut(*at) {
                *place = n;
            }
        }
    }
    place
}

/// How many pairs of lines cross, layer by layer, by counting inversions in a tree of sums.
fn crossings(cells: &[Cell], rows: &[Vec<usize>]) -> usize {
    let place = places(cells.len(), rows);
    let mut count = 0;
    for (layer, row) in rows.iter().enumerate() {
        let width = rows.get(layer + 1).map(Vec::len).unwrap_or(0);
        let mut sums = vec![0_usize; width + 1];
        let mut seen = 0;
        for at in row {
            let mut ends: Vec<usize> = cells
                .get(*at)
                .map(|c| c.below.iter().map(|b| place.get(*b).copied().unwrap_or(0)).collect())
                .unwrap_or_default();
            ends.sort_unstable();
            for end in &ends {
                let mut before = 0;
                let mut i = end + 1;
                while i > 0 {
                    before += sums.get(i).copied().unwrap_or(0);
                    i &= i - 1;
                }
                count += seen - before;
            }
            for end in ends {
                seen += 1;
                let mut i = end + 1;
                while i <= width {
                    if let Some(sum) = sums.get_mut(i) {
                        *sum += 1;
                    }
                    i += i & i.wrapping_neg();
                }
            }
        }
    }
    count
}
