//! Lines: down through the layers, and back by the lanes on the right.
//!
//! A line leaves a box at its foot and enters one at its head, each at a place of its own. A line by a lane leaves and
//! enters on the right when no box stands there, else it runs along the gap under or over the box. All lines by lanes
//! that lead to one step share their last part, so they are drawn from their end: then their dashes coincide.

use std::collections::BTreeMap;

use super::layers::{Holds, Layers, Way};
use super::place::{ARRIVAL, CHANNEL, Placed};
use super::{Layout, Link, Rect};

/// The distance between two lines at a box.
const PORT: f64 = 22.0;

/// The distance between two lanes.
const LANE: f64 = 14.0;

/// The radius of a lane's corners.
const RADIUS: f64 = 8.0;

/// The height that an arrowhead needs.
const ARROW: f64 = 13.0;

/// One part of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::map) enum Turn {
    Move(f64, f64),
    Straight(f64, f64),
    /// Leaves and arrives upright.
    Swing(f64, f64),
    /// Round the first point to the second.
    Corner(f64, f64, f64, f64),
}

/// A drawn link.
#[derive(Debug, Clone, Default)]
pub(in crate::map) struct Line {
    pub(in crate::map) turns: Vec<Turn>,
    /// Whether it is drawn from its end.
    pub(in crate::map) from_end: bool,
    /// Where the label lies.
    pub(in crate::map) label: Option<Rect>,
}

/// Where a link leaves or enters a box from above or below: its box, the place it comes from, the link.
type Ports = BTreeMap<usize, Vec<(f64, usize)>>;

pub(super) fn lines(layers: &Layers, mut placed: Placed, links: &[Link]) -> Layout {
    let boxes: Vec<Rect> = (0..layers.cells.len())
        .take_while(|at| layers.cells.get(*at).is_some_and(|c| c.holds == Holds::Step))
        .map(|at| rect(layers, &placed, at))
        .collect();
    let open_right = open_right(layers);
    let (outs, ins, entry) = ports(layers, &placed, links, &boxes, &open_right);
    let (lane_x, right) = lanes(layers, &placed, links, &boxes, &open_right);
    let arrivals = arrivals(layers, &placed, links, &open_right);
    let mut left: BTreeMap<(usize, bool), f64> = BTreeMap::new();
    let mut lines = Vec::with_capacity(links.len());
    for (n, (link, way)) in links.iter().zip(&layers.ways).enumerate() {
        let (Some(from), Some(to)) = (boxes.get(link.from), boxes.get(link.to)) else {
            lines.push(Line::default());
            continue;
        };
        let out = outs.get(&n).copied().unwrap_or(from.centre());
        let into = ins.get(&n).copied().unwrap_or(to.centre());
        lines.push(match way {
            Way::Through(cells) => through(layers, &placed, cells, link, (from, out), (to, into)),
            Way::Lane => {
                let lane = lane_x.get(&(link.to, link.may_go_back)).copied().unwrap_or(right);
                let layer = |step: usize| layers.cells.get(step).map(|c| c.layer).unwrap_or(0);
                let end = if is(&open_right, link.to) {
                    vec![(to.right(), to.y + to.height * 0.3)]
                } else {
                    let y = arrivals.get(&link.to).copied().unwrap_or(to.y);
                    vec![(into, to.y), (into, y)]
                };
                let (begin, tag) = if is(&open_right, link.from) {
                    let y = from.y + from.height * 0.7;
                    (vec![(from.right(), y)], (from.right() + 7.0, y))
                } else {
                    let gap = layer(link.from) + 1;
                    let y = *left.entry((link.from, link.may_go_back)).or_insert_with(|| {
                        let foot = get(&placed.top, gap - 1) + get(&placed.height, gap - 1);
                        let used = placed.channels.get_mut(gap);
                        let place = used.map(|used| std::mem::replace(used, *used + 1)).unwrap_or(0);
                        foot + CHANNEL * (place as f64 + 1.0)
                    });
                    (vec![(out, y), (out, from.bottom())], (out + 7.0, y))
                };
                by_lane(link, &end, lane, &begin, tag)
            }
        });
    }
    let height = boxes.iter().map(Rect::bottom).fold(0.0, f64::max);
    Layout { width: right, height, boxes, lines, entry }
}

fn get(list: &[f64], at: usize) -> f64 {
    list.get(at).copied().unwrap_or(0.0)
}

fn is(list: &[bool], at: usize) -> bool {
    list.get(at) == Some(&true)
}

fn rect(layers: &Layers, placed: &Placed, at: usize) -> Rect {
    let Some(cell) = layers.cells.get(at) else { return Rect::default() };
    Rect {
        x: get(&placed.x, at) - cell.width / 2.0,
        y: get(&placed.top, cell.layer) + (get(&placed.height, cell.layer) - cell.height) / 2.0,
        width: cell.width,
        height: cell.height,
    }
}

/// By step, whether no box stands to its right.
fn open_right(layers: &Layers) -> Vec<bool> {
    let mut open = vec![false; layers.cells.len()];
    for row in &layers.rows {
        let is_step = |at: &usize| layers.cells.get(*at).is_some_and(|c| c.holds == Holds::Step);
        if let Some(open) = row.iter().rev().copied().find(is_step).and_then(|at| open.get_mut(at)) {
            *open = true;
        }
    }
    open
}

/// The height at which the lines by lanes arrive over each box that has no open side; the leftmost box's the highest, so
/// that none of them cross.
fn arrivals(layers: &Layers, placed: &Placed, links: &[Link], open_right: &[bool]) -> BTreeMap<usize, f64> {
    let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (link, way) in links.iter().zip(&layers.ways) {
        if matches!(way, Way::Lane) && !is(open_right, link.to) {
            let layer = layers.cells.get(link.to).map(|c| c.layer).unwrap_or(0);
            rows.entry(layer).or_default().push(link.to);
        }
    }
    let mut heights = BTreeMap::new();
    for (layer, mut steps) in rows {
        steps.sort_by(|a, b| get(&placed.x, *b).total_cmp(&get(&placed.x, *a)).then(a.cmp(b)));
        steps.dedup();
        let lowest = get(&placed.top, layer) - ARROW - 3.0;
        heights.extend(steps.into_iter().enumerate().map(|(n, step)| (step, lowest - ARRIVAL * n as f64)));
    }
    heights
}

/// Places at the foot and head of the boxes, by link, and the one where a run enters.
fn ports(
    layers: &Layers,
    placed: &Placed,
    links: &[Link],
    boxes: &[Rect],
    open_right: &[bool],
) -> (BTreeMap<usize, f64>, BTreeMap<usize, f64>, (f64, f64)) {
    const START: usize = usize::MAX;
    let mut feet: Ports = BTreeMap::new();
    let mut heads: Ports = BTreeMap::new();
    let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
    let mut shared_feet: BTreeMap<(usize, bool), usize> = BTreeMap::new();
    heads.entry(0).or_default().push((boxes.first().map(Rect::centre).unwrap_or(0.0), START));
    for (n, (link, way)) in links.iter().zip(&layers.ways).enumerate() {
        match way {
            Way::Through(cells) => {
                let first = cells.first().copied().unwrap_or(link.to);
                let last = cells.last().copied().unwrap_or(link.from);
                feet.entry(link.from).or_default().push((get(&placed.x, first), n));
                heads.entry(link.to).or_default().push((get(&placed.x, last), n));
            }
            Way::Lane => {
                let key = (link.from, link.may_go_back);
                if !is(open_right, link.from) && !shared_feet.contains_key(&key) {
                    shared_feet.insert(key, n);
                    feet.entry(link.from).or_default().push((f64::INFINITY, n));
                }
                if !is(open_right, link.to) && !shared.contains_key(&link.to) {
                    shared.insert(link.to, n);
                    heads.entry(link.to).or_default().push((f64::INFINITY, n));
                }
            }
        }
    }
    let spread = |ports: Ports| {
        let mut places = BTreeMap::new();
        for (step, mut list) in ports {
            let Some(rect) = boxes.get(step) else { continue };
            list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let apart = PORT.min((rect.width - 36.0) / list.len() as f64);
            let first = rect.centre() - apart * (list.len() - 1) as f64 / 2.0;
            places.extend(list.into_iter().enumerate().map(|(k, (_, n))| (n, first + apart * k as f64)));
        }
        places
    };
    let mut outs = spread(feet);
    let mut ins = spread(heads);
    let entry = (ins.remove(&START).unwrap_or(0.0), boxes.first().map(|b| b.y).unwrap_or(0.0));
    for (n, link) in links.iter().enumerate().filter(|(n, _)| matches!(layers.ways.get(*n), Some(Way::Lane))) {
        if let Some(place) = shared.get(&link.to).and_then(|first| ins.get(first)).copied() {
            ins.insert(n, place);
        }
        let key = (link.from, link.may_go_back);
        if let Some(place) = shared_feet.get(&key).and_then(|first| outs.get(first)).copied() {
            outs.insert(n, place);
        }
    }
    (outs, ins, entry)
}

/// The lane of each group of lines, and the right edge of the picture. Short lanes lie inside; lanes that do not overlap
/// share their place.
fn lanes(
    layers: &Layers,
    placed: &Placed,
    links: &[Link],
    boxes: &[Rect],
    open_right: &[bool],
) -> (BTreeMap<(usize, bool), f64>, f64) {
    let mut groups: BTreeMap<(usize, bool), (f64, f64)> = BTreeMap::new();
    let mut first = placed.width + LANE;
    for (link, way) in links.iter().zip(&layers.ways) {
        let (Way::Lane, Some(from), Some(to)) = (way, boxes.get(link.from), boxes.get(link.to)) else { continue };
        if let (Some((width, _)), true) = (link.label, is(open_right, link.from)) {
            first = first.max(from.right() + width + 12.0);
        }
        let (top, foot) = (from.y.min(to.y) - 40.0, from.bottom().max(to.bottom()) + 40.0);
        let group = groups.entry((link.to, link.may_go_back)).or_insert((top, foot));
        *group = (group.0.min(top), group.1.max(foot));
    }
    let mut sorted: Vec<_> = groups.into_iter().collect();
    sorted.sort_by(|a, b| (a.1.1 - a.1.0).total_cmp(&(b.1.1 - b.1.0)).then(a.0.cmp(&b.0)));
    let mut taken: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut places = BTreeMap::new();
    let mut right = placed.width;
    for (key, (top, foot)) in sorted {
        let free = taken.iter().position(|lane| lane.iter().all(|(t, f)| foot < *t || *f < top));
        let lane = free.unwrap_or(taken.len());
        if lane == taken.len() {
            taken.push(Vec::new());
        }
        if let Some(taken) = taken.get_mut(lane) {
            taken.push((top, foot));
        }
        let x = first + lane as f64 * LANE;
        right = right.max(x + 4.0);
        places.insert(key, x);
    }
    (places, right)
}

/// Down, swinging in the gaps and upright in the layers.
fn through(
    layers: &Layers,
    placed: &Placed,
    cells: &[usize],
    link: &Link,
    (from, out): (&Rect, f64),
    (to, into): (&Rect, f64),
) -> Line {
    let layer = layers.cells.get(link.from).map(|c| c.layer).unwrap_or(0);
    let mut turns = vec![Turn::Move(out, from.bottom())];
    let foot = get(&placed.top, layer) + get(&placed.height, layer);
    if foot > from.bottom() {
        turns.push(Turn::Straight(out, foot));
    }
    let mut label = None;
    for at in cells {
        let x = get(&placed.x, *at);
        let Some(cell) = layers.cells.get(*at) else { continue };
        let top = get(&placed.top, cell.layer);
        turns.push(Turn::Swing(x, top));
        let height = get(&placed.height, cell.layer);
        if height > 0.0 {
            turns.push(Turn::Straight(x, top + height));
        }
        if cell.holds == Holds::Label {
            label = Some(rect(layers, placed, *at));
        }
    }
    let last = layers.cells.get(link.to).map(|c| get(&placed.top, c.layer)).unwrap_or(to.y);
    turns.push(Turn::Swing(into, last - ARROW));
    turns.push(Turn::Straight(into, to.y));
    Line { turns, from_end: false, label }
}

/// From the end of the link, along its lane, to its beginning.
fn by_lane(link: &Link, end: &[(f64, f64)], lane: f64, begin: &[(f64, f64)], tag: (f64, f64)) -> Line {
    let (Some(last), Some(first)) = (end.last(), begin.first()) else { return Line::default() };
    let mut points = end.to_vec();
    points.push((lane, last.1));
    points.push((lane, first.1));
    points.extend(begin);
    let label = link.label.map(|(width, height)| Rect { x: tag.0, y: tag.1 - height - 2.0, width, height });
    Line { turns: rounded(&points), from_end: true, label }
}

/// A line of upright and level parts with round corners.
fn rounded(points: &[(f64, f64)]) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (n, (x, y)) in points.iter().copied().enumerate() {
        let before = n.checked_sub(1).and_then(|b| points.get(b)).copied();
        match (before, points.get(n + 1).copied()) {
            (None, _) => turns.push(Turn::Move(x, y)),
            (Some(_), None) => turns.push(Turn::Straight(x, y)),
            (Some(before), Some(after)) => {
                let toward = |(px, py): (f64, f64)| {
                    let length = (px - x).abs() + (py - y).abs();
                    let radius = RADIUS.min(length / 2.0);
                    if length > 0.0 { (x + (px - x) / length * radius, y + (py - y) / length * radius) } else { (x, y) }
                };
                let (start, end) = (toward(before), toward(after));
                turns.push(Turn::Straight(start.0, start.1));
                turns.push(Turn::Corner(x, y, end.0, end.1));
            }
        }
    }
    turns
}
