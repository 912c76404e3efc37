//! Layouts of any graph: boxes and labels keep apart, and what leads down lies below.

use proptest::prelude::*;

use super::*;

/// A graph like those of processes: forward links that skip ahead, and links back from anywhere.
fn graph() -> impl Strategy<Value = (Vec<(f64, f64)>, Vec<Link>)> {
    (2_usize..30).prop_flat_map(|count| {
        let sizes = prop::collection::vec((120.0..260.0_f64, 15.0..120.0_f64), count);
        let jumps = prop::collection::vec((0..count, 0..count, any::<bool>(), any::<bool>()), 0..count);
        (sizes, jumps).prop_map(move |(sizes, jumps)| {
            let label = |wanted: bool| wanted.then_some((70.0, 16.0));
            let mut links: Vec<Link> =
                (1..count).map(|to| Link { from: to - 1, to, may_go_back: false, label: label(to % 3 == 0) }).collect();
            for (a, b, back, labelled) in jumps {
                let (from, to) = if back { (a, b) } else { (a.min(b), a.max(b)) };
                if back || from < to {
                    links.push(Link { from, to, may_go_back: back, label: label(labelled || back) });
                }
            }
            (sizes, links)
        })
    })
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

/// Points along a line, close enough together that none of a box's width lies between two.
fn points(line: &Line) -> Vec<(f64, f64)> {
    let mut at = (0.0, 0.0);
    let mut points = Vec::new();
    for turn in &line.turns {
        let start = at;
        let steps = 24;
        let mut walk =
            |f: &dyn Fn(f64) -> (f64, f64)| (0..=steps).for_each(|n| points.push(f(n as f64 / steps as f64)));
        match *turn {
            Turn::Move(x, y) => at = (x, y),
            Turn::Straight(x, y) => {
                walk(&|t| (start.0 + (x - start.0) * t, start.1 + (y - start.1) * t));
                at = (x, y);
            }
            Turn::Swing(x, y) => {
                walk(&|t| {
                    let ease = t * t * (3.0 - 2.0 * t);
                    (start.0 + (x - start.0) * ease, start.1 + (y - start.1) * t)
                });
                at = (x, y);
            }
            Turn::Corner(_, _, x, y) => at = (x, y),
        }
    }
    points
}

proptest! {
    #[test]
    fn boxes_and_labels_keep_apart_and_no_line_runs_through_a_box((sizes, links) in graph()) {
        let layout = layout(&sizes, &links);
        for (n, a) in layout.boxes.iter().enumerate() {
            prop_assert!(a.x >= -0.01 && a.right() <= layout.width + 0.01 && a.bottom() <= layout.height + 0.01);
            for b in layout.boxes.iter().skip(n + 1) {
                prop_assert!(!overlap(a, b), "{:?} {:?}", a, b);
            }
        }
        let labels: Vec<&Rect> = layout.lines.iter().filter(|l| !l.from_end).filter_map(|l| l.label.as_ref()).collect();
        for (n, label) in labels.iter().enumerate() {
            prop_assert!(layout.boxes.iter().chain(labels.iter().skip(n + 1).copied()).all(|b| !overlap(label, b)));
        }
        for (line, link) in layout.lines.iter().zip(&links) {
            prop_assert!(line.label.is_some() == link.label.is_some());
            for (x, y) in points(line) {
                prop_assert!(x.is_finite() && y.is_finite() && x <= layout.width + 0.01);
                for (step, b) in layout.boxes.iter().enumerate() {
                    let inside = x > b.x + 0.5 && x < b.right() - 0.5 && y > b.y + 0.5 && y < b.bottom() - 0.5;
                    prop_assert!(!inside, "{:?} runs through step {} at {} {}", link, step, x, y);
                }
            }
        }
    }

    #[test]
    fn what_leads_down_lies_below((sizes, links) in graph()) {
        let layout = layout(&sizes, &links);
        for link in links.iter().filter(|l| !l.may_go_back) {
            prop_assert!(layout.boxes[link.to].y >= layout.boxes[link.from].bottom());
        }
    }
}

#[test]
fn the_worst_that_a_file_can_say_is_still_drawn() {
    let count = 500;
    let mut links = Vec::new();
    for from in 0..count {
        for to in from + 1..(from + 40).min(count) {
            links.push(Link { from, to, may_go_back: false, label: None });
        }
        links.push(Link { from, to: (from * 7) % count, may_go_back: true, label: Some((50.0, 14.0)) });
    }
    let layout = layout(&vec![(240.0, 90.0); count], &links);
    assert_eq!(layout.boxes.len(), count);
    assert!(layout.width < 40_000.0 && layout.height < 200_000.0, "{} {}", layout.width, layout.height);
}
