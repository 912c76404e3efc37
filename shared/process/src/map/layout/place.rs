//! Where the cells of the layers lie: as near to what they are joined with as their neighbours allow.

use std::collections::BTreeSet;

use super::Link;
use super::layers::{Holds, Layers, Way};

/// How often positions are evened out, down and up.
const EVENING_ROUNDS: usize = 16;

/// The room between two cells of a layer.
const BESIDE: f64 = 26.0;

/// The room between two lines that pass a layer.
const BESIDE_PASSING: f64 = 8.0;

/// The least height of the gap under a layer.
const GAP: f64 = 18.0;

/// What a line that leaves along a gap adds to its height: room for its label.
pub(super) const CHANNEL: f64 = 22.0;

/// What a line that arrives along a gap adds to its height.
pub(super) const ARRIVAL: f64 = 10.0;

/// The cells in place.
#[derive(Debug)]
pub(super) struct Placed {
    /// The middle of each cell.
    pub(super) x: Vec<f64>,
    /// The top of each layer.
    pub(super) top: Vec<f64>,
    /// The height of each layer.
    pub(super) height: Vec<f64>,
    /// The width of everything.
    pub(super) width: f64,
    /// For each layer, how many lines already run along the gap above it.
    pub(super) channels: Vec<usize>,
}

pub(super) fn place(layers: &Layers, links: &[Link]) -> Placed {
    let mut x = vec![0.0; layers.cells.len()];
    for row in &layers.rows {
        settle(layers, row, &vec![0.0; row.len()], &mut x);
    }
    for round in 0..EVENING_ROUNDS {
        let down = round % 2 == 0;
        let count = layers.rows.len();
        for n in 0..count {
            let Some(row) = layers.rows.get(if down { n } else { count - 1 - n }) else { continue };
            let wanted: Vec<f64> = row.iter().map(|at| wish(layers, *at, down, &x)).collect();
            settle(layers, row, &wanted, &mut x);
        }
    }
    let half = |at: usize| layers.cells.get(at).map(|c| c.width / 2.0).unwrap_or(0.0);
    let left = x.iter().enumerate().map(|(at, x)| x - half(at)).fold(f64::INFINITY, f64::min);
    let mut width: f64 = 0.0;
    for at in 0..x.len() {
        if let Some(x) = x.get_mut(at) {
            *x -= left;
            width = width.max(*x + half(at));
        }
    }
    let (top, height) = heights(layers, links, &x);
    Placed { x, channels: vec![0; top.len()], top, height, width }
}

/// Where a cell would like to be: the mean of what it is joined with, lines that pass pulling hardest, so that long
/// lines come out straight.
fn wish(layers: &Layers, at: usize, down: bool, x: &[f64]) -> f64 {
    let own = x.get(at).copied().unwrap_or(0.0);
    let Some(cell) = layers.cells.get(at) else { return own };
    let near = if down { &cell.above } else { &cell.below };
    let mut sum = 0.0;
    let mut weight = 0.0;
    for other in near {
        let passing = |at: usize| layers.cells.get(at).is_some_and(|c| c.holds != Holds::Step);
        let pull = if passing(at) && passing(*other) { 8.0 } else { 1.0 };
        sum += pull * x.get(*other).copied().unwrap_or(0.0);
        weight += pull;
    }
    if weight > 0.0 { sum / weight } else { own }
}

/// Puts the cells of a row as near to their wishes as order and distance allow: least squares, by pooling neighbours
/// that would come too close.
fn settle(layers: &Layers, row: &[usize], wanted: &[f64], x: &mut [f64]) {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(row.len());
    let mut before: Option<(f64, Holds)> = None;
    for at in row {
        let Some(cell) = layers.cells.get(*at) else { continue };
        if let Some((half, holds)) = before {
            let passing = holds == Holds::Passing && cell.holds == Holds::Passing;
            offset += half + cell.width / 2.0 + if passing { BESIDE_PASSING } else { BESIDE };
        }
        before = Some((cell.width / 2.0, cell.holds));
        offsets.push(offset);
    }
    // Without their offsets the positions need only rise: the classic pooling of adjacent violators.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        let mut pool = (wanted - offset, 1);
        while let Some((mean, count)) = pools.last().copied() {
            if mean <= pool.0 {
                break;
            }
            let total = count + pool.1;
            pool = ((mean * count as f64 + pool.0 * pool.1 as f64) / total as f64, total);
            pools.pop();
        }
        pools.push(pool);
    }
    let means = pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count));
    for ((at, offset), mean) in row.iter().zip(&offsets).zip(means) {
        if let Some(x) = x.get_mut(*at) {
            *x = mean + offset;
        }
    }
}

/// The top and the height of each layer; a gap grows with the lines along it and with how far lines lean in it.
fn heights(layers: &Layers, links: &[Link], x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut along = vec![0.0; layers.rows.len() + 1];
    let mut entered = vec![false; layers.cells.len()];
    let mut left = BTreeSet::new();
    for (link, way) in links.iter().zip(&layers.ways) {
        if !matches!(way, Way::Lane) {
            continue;
        }
        let layer = |step: usize| layers.cells.get(step).map(|c| c.layer).unwrap_or(0);
        if let Some(count) = along.get_mut(layer(link.from) + 1) {
            *count += if left.insert((link.from, link.may_go_back)) { CHANNEL } else { 0.0 };
        }
        if let (Some(count), Some(entered)) = (along.get_mut(layer(link.to)), entered.get_mut(link.to)) {
            *count += if std::mem::replace(entered, true) { 0.0 } else { ARRIVAL };
        }
    }
    let mut top = Vec::new();
    let mut height = Vec::new();
    let mut y = 0.0;
    for (n, row) in layers.rows.iter().enumerate() {
        let mut lean: f64 = 0.0;
        let mut tall: f64 = 0.0;
        for at in row {
            let Some(cell) = layers.cells.get(*at) else { continue };
            tall = tall.max(cell.height);
            let own = x.get(*at).copied().unwrap_or(0.0);
            for other in &cell.above {
                lean = lean.max((own - x.get(*other).copied().unwrap_or(0.0)).abs());
            }
        }
        y += along.get(n).copied().unwrap_or(0.0);
        if n > 0 {
            y += GAP + (lean / 12.0).min(30.0);
        }
        top.push(y);
        height.push(tall);
        y += tall;
    }
    (top, height)
}
