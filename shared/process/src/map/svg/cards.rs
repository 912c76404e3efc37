//! The boxes: a step with what it says, and the bar at which branches join.

use std::fmt::Write;

use super::icons::icon;
use super::{BOLD, INK, LABEL, MUTED, look, text};
use crate::map::facts::{self, Actor, Node};
use crate::map::layout::Rect;
use crate::map::text::{escape, wrap};
use crate::model::{Kind, Step};

const BOX_WIDTH: f64 = 244.0;
const END_WIDTH: f64 = 176.0;
const JOIN_HEIGHT: f64 = 20.0;
const BAR: f64 = 8.0;
const PADDING: f64 = 12.0;

const HEADLINE: f64 = 11.0;
const NAME: f64 = 14.0;
const BODY: f64 = 11.5;

/// A step's box, its text broken into lines; that of a join has none.
pub(super) struct Card {
    pub(super) actor: Actor,
    headline: Vec<String>,
    name: Vec<String>,
    body: Vec<String>,
    terms: Vec<String>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The box of a node.
pub(super) fn card(node: Node<'_>) -> Card {
    match node {
        Node::Step(step) => step_card(step),
        Node::Join(region) => Card {
            actor: node.actor(),
            headline: Vec::new(),
            name: Vec::new(),
            body: Vec::new(),
            terms: Vec::new(),
            width: bar_width(region.branches.len()),
            height: JOIN_HEIGHT,
        },
    }
}

/// How wide a bar is at which so many branches begin or end.
fn bar_width(branches: usize) -> f64 {
    BOX_WIDTH.max(36.0 + 22.0 * branches as f64)
}

fn step_card(step: &Step) -> Card {
    let actor = facts::actor(step);
    let wide = match &step.kind {
        Kind::Parallel { entries, .. } => bar_width(entries.len()),
        Kind::Finish { .. } => END_WIDTH,
        _ => BOX_WIDTH,
    };
    let room = wide - 2.0 * PADDING;
    let headline = wrap(&facts::headline(step), HEADLINE * BOLD, room - 22.0, 2);
    let name = wrap(&step.id, NAME * BOLD, room, 3);
    let body = wrap(&facts::saying(step), BODY, room, 3);
    let terms = wrap(&facts::terms(step).join(" · "), BODY, room, 3);
    let height = 2.0 * PADDING
        + headline.len() as f64 * 14.0
        + name.len() as f64 * 18.0
        + body.len() as f64 * 15.0
        + if terms.is_empty() { 0.0 } else { 5.0 + terms.len() as f64 * 15.0 }
        + if actor == Actor::Fork { BAR } else { 0.0 };
    Card { actor, headline, name, body, terms, width: wide, height }
}

/// Draws a box.
pub(super) fn draw_card(out: &mut String, card: &Card, rect: &Rect, node: Node<'_>) -> std::fmt::Result {
    match node {
        Node::Step(step) => draw_step(out, card, rect, step),
        Node::Join(_) => draw_join(out, node, rect),
    }
}

fn draw_step(out: &mut String, card: &Card, rect: &Rect, step: &Step) -> std::fmt::Result {
    let (fill, stroke, _) = look(card.actor);
    let radius = match card.actor {
        Actor::Agent => 3.0,
        Actor::Person | Actor::Approver => 12.0,
        Actor::Server | Actor::Fork => 3.0,
        Actor::End => 22.0,
    };
    let double = if card.actor == Actor::End { 2.5 } else { 1.5 };
    writeln!(
        out,
        "<g><title>{} ({}): {}</title>",
        escape(&step.id),
        escape(&facts::headline(step)),
        escape(&facts::saying(step))
    )?;
    writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius}\" fill=\"{fill}\" \
         stroke=\"{stroke}\" stroke-width=\"{double}\"/>",
        rect.x, rect.y, rect.width, rect.height
    )?;
    let left = rect.x + PADDING;
    let mut y = rect.y + PADDING + 10.0;
    icon(out, card.actor, left, y - 12.0, stroke)?;
    for line in &card.headline {
        text(out, left + 22.0, y, HEADLINE, stroke, "font-weight=\"600\"", line)?;
        y += 14.0;
    }
    y += 5.0;
    for line in &card.name {
        text(out, left, y, NAME, INK, "font-weight=\"700\"", line)?;
        y += 18.0;
    }
    for line in &card.body {
        text(out, left, y - 1.0, BODY, MUTED, "", line)?;
        y += 15.0;
    }
    y += 5.0;
    for line in &card.terms {
        text(out, left, y - 1.0, BODY, stroke, "", line)?;
        y += 15.0;
    }
    if card.actor == Actor::Fork {
        let y = rect.bottom() - BAR;
        writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR:.1}\" rx=\"3\" fill=\"{stroke}\"/>",
            rect.x, rect.width
        )?;
    }
    out.push_str("</g>\n");
    Ok(())
}

/// A bar, since nobody does anything there.
fn draw_join(out: &mut String, node: Node<'_>, rect: &Rect) -> std::fmt::Result {
    let (_, stroke, _) = look(node.actor());
    writeln!(out, "<g><title>{}</title>", escape(&node.name()))?;
    writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" fill=\"{stroke}\"/>",
        rect.x, rect.y, rect.width, rect.height
    )?;
    text(out, rect.centre(), rect.y + 14.0, LABEL, "#ffffff", "font-weight=\"600\" text-anchor=\"middle\"", "join")?;
    out.push_str("</g>\n");
    Ok(())
}
