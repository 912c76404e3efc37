//! A process as a self-contained SVG: no script, no font, no link. It brings its own light background, so it reads the
//! same in light and dark viewers, and a title and description for those who do not see it.

use std::fmt::Write;

use super::facts::{self, Actor, Edge, Node, Why};
use super::layout::{self, Line, Link, Rect, Turn};
use super::text::{escape, width, wrap};
use crate::model::Document;

mod cards;
mod icons;

use cards::{Card, card, draw_card};
use icons::icon;

const MARGIN: f64 = 28.0;
const LEAST_WIDTH: f64 = 560.0;
const LABEL_ROOM: f64 = 150.0;
const START_ROOM: f64 = 44.0;

const LABEL: f64 = 11.0;

/// How much wider bold text is.
const BOLD: f64 = 1.08;

const INK: &str = "#1d2733";
const MUTED: &str = "#55616e";
const LINE: &str = "#5b6875";
const REJECT: &str = "#b3261e";
const TIMEOUT: &str = "#8a5a00";

/// Fill, stroke, and what the legend says.
fn look(actor: Actor) -> (&'static str, &'static str, &'static str) {
    match actor {
        Actor::Agent => ("#e6eefc", "#2f5fc4", "an agent does it"),
        Actor::Person => ("#fff1d6", "#a8650a", "a person does it"),
        Actor::Approver => ("#fde7dc", "#b0441c", "a person approves or rejects"),
        Actor::Server => ("#eceff1", "#546670", "the server waits"),
        Actor::Fork => ("#efe8fa", "#5b3f94", "branches at the same time"),
        Actor::End => ("#e2f4e8", "#23774a", "the run ends"),
    }
}

/// The process as an SVG document. Any text of the file is escaped; long texts are cut, and stand whole in the tooltip of
/// their step.
pub fn svg(document: &Document) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = draw(document, &mut out);
    out
}

fn label_lines(edge: &Edge) -> Vec<String> {
    edge.label.as_ref().map(|label| wrap(label, LABEL, LABEL_ROOM, 3)).unwrap_or_default()
}

fn draw(document: &Document, out: &mut String) -> std::fmt::Result {
    let nodes = facts::nodes(document);
    let cards: Vec<Card> = nodes.iter().copied().map(card).collect();
    let edges = facts::edges(document);
    let labels: Vec<Vec<String>> = edges.iter().map(label_lines).collect();
    let sizes: Vec<(f64, f64)> = cards.iter().map(|c| (c.width, c.height)).collect();
    let links: Vec<Link> = edges
        .iter()
        .zip(&labels)
        .map(|(edge, lines)| Link {
            from: edge.from,
            to: edge.to,
            may_go_back: edge.why == Why::Reject,
            label: label_size(lines),
        })
        .collect();
    let layout = layout::layout(&sizes, &links);
    let page = (layout.width + 2.0 * MARGIN).max(LEAST_WIDTH);
    let title = wrap(&document.name, 20.0 * BOLD, page - 2.0 * MARGIN, 3);
    let intro = wrap(&document.description, 13.0, page - 2.0 * MARGIN, 4);
    let mut used: Vec<Actor> = cards.iter().map(|c| c.actor).collect();
    used.sort_unstable();
    used.dedup();
    let top = MARGIN + title.len() as f64 * 26.0 + intro.len() as f64 * 18.0 + 10.0;
    let (legend, legend_height) = legend(&used, &edges, page - 2.0 * MARGIN);
    let across = (page - layout.width) / 2.0;
    let down = top + legend_height + START_ROOM;
    let tall = down + layout.height + MARGIN;

    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {page:.0} {tall:.0}\" width=\"{page:.0}\" \
         height=\"{tall:.0}\" role=\"img\" aria-labelledby=\"title desc\" \
         font-family=\"system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\">"
    )?;
    writeln!(out, "<title id=\"title\">Process {}</title>", escape(&document.name))?;
    writeln!(out, "<desc id=\"desc\">{}</desc>", escape(&spoken(document, &edges)))?;
    out.push_str("<defs>\n");
    for (name, colour) in [("next", LINE), ("reject", REJECT), ("timeout", TIMEOUT)] {
        writeln!(
            out,
            "<marker id=\"{name}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto-start-reverse\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0.5 L10 5 L0 9.5 z\" \
             fill=\"{colour}\"/></marker>"
        )?;
    }
    out.push_str("</defs>\n");
    writeln!(
        out,
        "<rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"14\" fill=\"#ffffff\" stroke=\"#d4dae0\"/>",
        page - 1.0,
        tall - 1.0
    )?;
    let mut y = MARGIN + 12.0;
    for line in &title {
        text(out, MARGIN, y, 20.0, INK, "font-weight=\"700\"", line)?;
        y += 26.0;
    }
    for line in &intro {
        text(out, MARGIN, y - 4.0, 13.0, MUTED, "", line)?;
        y += 18.0;
    }
    writeln!(out, "<g transform=\"translate({MARGIN:.0} {top:.1})\">\n{legend}</g>")?;
    writeln!(out, "<g transform=\"translate({across:.1} {down:.1})\">")?;
    let (x, y) = layout.entry;
    writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"6\" fill=\"{LINE}\"/>", y - 34.0)?;
    writeln!(
        out,
        "<path d=\"M{x:.1} {:.1} V{y:.1}\" fill=\"none\" stroke=\"{LINE}\" stroke-width=\"1.5\" \
         marker-end=\"url(#next)\"/>",
        y - 28.0
    )?;
    for (edge, line) in edges.iter().zip(&layout.lines) {
        self::line(out, edge, line)?;
    }
    for ((card, rect), node) in cards.iter().zip(&layout.boxes).zip(&nodes) {
        draw_card(out, card, rect, *node)?;
    }
    for ((edge, line), lines) in edges.iter().zip(&layout.lines).zip(&labels) {
        if let Some(rect) = &line.label {
            label(out, edge, rect, lines)?;
        }
    }
    out.push_str("</g>\n</svg>\n");
    Ok(())
}

fn label_size(lines: &[String]) -> Option<(f64, f64)> {
    let widest = lines.iter().map(|line| width(line, LABEL)).fold(0.0, f64::max);
    (!lines.is_empty()).then_some((widest + 10.0, lines.len() as f64 * 14.0 + 4.0))
}

fn text(out: &mut String, x: f64, y: f64, size: f64, colour: &str, more: &str, line: &str) -> std::fmt::Result {
    let line = escape(line);
    writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\" {more}>{line}</text>")
}

fn colours(why: Why) -> (&'static str, &'static str, &'static str) {
    match why {
        Why::Next => (LINE, "", "next"),
        Why::Reject => (REJECT, " stroke-dasharray=\"6 4\"", "reject"),
        Why::Timeout => (TIMEOUT, " stroke-dasharray=\"2 4\"", "timeout"),
    }
}

fn line(out: &mut String, edge: &Edge, line: &Line) -> std::fmt::Result {
    let (colour, dashes, marker) = colours(edge.why);
    let end = if line.from_end { "start" } else { "end" };
    out.push_str("<path d=\"");
    let mut before = (0.0, 0.0);
    for turn in &line.turns {
        before = match *turn {
            Turn::Move(x, y) => {
                write!(out, "M{x:.1} {y:.1}")?;
                (x, y)
            }
            Turn::Straight(x, y) => {
                write!(out, " L{x:.1} {y:.1}")?;
                (x, y)
            }
            Turn::Swing(x, y) => {
                let middle = (before.1 + y) / 2.0;
                write!(out, " C{:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}", before.0)?;
                (x, y)
            }
            Turn::Corner(cx, cy, x, y) => {
                write!(out, " Q{cx:.1} {cy:.1} {x:.1} {y:.1}")?;
                (x, y)
            }
        };
    }
    writeln!(out, "\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dashes} marker-{end}=\"url(#{marker})\"/>")
}

fn label(out: &mut String, edge: &Edge, rect: &Rect, lines: &[String]) -> std::fmt::Result {
    let (colour, _, _) = colours(edge.why);
    writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\" fill=\"#ffffff\" fill-opacity=\"0.92\"/>",
        rect.x, rect.y, rect.width, rect.height
    )?;
    for (n, line) in lines.iter().enumerate() {
        let y = rect.y + 13.0 + n as f64 * 14.0;
        text(out, rect.centre(), y, LABEL, colour, "text-anchor=\"middle\"", line)?;
    }
    Ok(())
}

/// The legend and its height: what is in the picture, as many to a row as fit.
fn legend(used: &[Actor], edges: &[Edge], room: f64) -> (String, f64) {
    let mut out = String::new();
    let mut at = (0.0, 0.0);
    let mut place = |wide: f64| {
        if at.0 > 0.0 && at.0 + wide > room {
            at = (0.0, at.1 + 24.0);
        }
        let here = at;
        at.0 += wide + 18.0;
        here
    };
    // Writing to a string cannot fail.
    let mut draw = || -> std::fmt::Result {
        for actor in used {
            let (fill, stroke, says) = look(*actor);
            let (x, y) = place(28.0 + width(says, LABEL));
            writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"22\" height=\"18\" rx=\"4\" fill=\"{fill}\" stroke=\"{stroke}\"/>"
            )?;
            icon(&mut out, *actor, x + 3.0, y + 1.0, stroke)?;
            text(&mut out, x + 28.0, y + 13.0, LABEL, MUTED, "", says)?;
        }
        for (why, says) in [(Why::Reject, "after a rejection"), (Why::Timeout, "after a timeout")] {
            if !edges.iter().any(|e| e.why == why) {
                continue;
            }
            let (colour, dashes, marker) = colours(why);
            let (x, y) = place(40.0 + width(says, LABEL));
            writeln!(
                out,
                "<path d=\"M{x:.1} {:.1} h32\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dashes} \
                 marker-end=\"url(#{marker})\"/>",
                y + 9.0
            )?;
            text(&mut out, x + 40.0, y + 13.0, LABEL, MUTED, "", says)?;
        }
        Ok(())
    };
    let _ = draw();
    (out, at.1 + 24.0)
}

/// The picture in words.
fn spoken(document: &Document, edges: &[Edge]) -> String {
    let mut out = document.description.clone();
    let nodes = facts::nodes(document);
    let mut leading: Vec<Vec<&Edge>> = vec![Vec::new(); nodes.len()];
    for edge in edges {
        if let Some(list) = leading.get_mut(edge.from) {
            list.push(edge);
        }
    }
    for (node, edges) in nodes.iter().zip(leading) {
        let _ = write!(out, " {}", node.name());
        let first = match node {
            Node::Step(step) => {
                let _ = write!(out, ", {}", facts::headline(step));
                ", leads to"
            }
            Node::Join(_) => " leads to",
        };
        let more = if node.actor() == Actor::Fork { " and" } else { " or" };
        for (n, edge) in edges.iter().enumerate() {
            let to = nodes.get(edge.to).map(|node| node.name()).unwrap_or_default();
            let when = edge.label.as_ref().map(|l| format!(" ({l})")).unwrap_or_default();
            let _ = write!(out, "{} {to}{when}", if n == 0 { first } else { more });
        }
        out.push('.');
    }
    out
}
