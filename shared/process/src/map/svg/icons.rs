//! One small mark for each actor, 16 pixels square, so that colour is never the only difference.

use std::fmt::Write;

use crate::map::facts::Actor;

/// Draws the mark with its upper left corner at a point.
pub(super) fn icon(out: &mut String, actor: Actor, x: f64, y: f64, colour: &str) -> std::fmt::Result {
    let shape = match actor {
        // A robot's head: antenna, face, two eyes.
        Actor::Agent => {
            "<path d=\"M8 1.5v2.5M3 5.5h10v8H3zM1 8v3M15 8v3\"/><circle cx=\"6\" cy=\"9\" r=\"0.9\"/>\
             <circle cx=\"10\" cy=\"9\" r=\"0.9\"/>"
        }
        // A head and shoulders.
        Actor::Person => {
            "<circle cx=\"8\" cy=\"5\" r=\"2.8\"/><path d=\"M2.5 14c0-3 2.4-4.7 5.5-4.7s5.5 1.7 5.5 4.7z\"/>"
        }
        // A head and shoulders with a tick.
        Actor::Approver => {
            "<circle cx=\"6\" cy=\"5\" r=\"2.6\"/><path d=\"M1 14c0-3 2.2-4.6 5-4.6 1 0 1.9.2 2.7.6M9 12.2l2 2 4-4.6\"/>"
        }
        // A clock.
        Actor::Server => "<circle cx=\"8\" cy=\"8\" r=\"6\"/><path d=\"M8 4.5V8l2.6 1.8\"/>",
        // One line into three.
        Actor::Fork => "<path d=\"M8 1.5v5M2.5 14.5v-8h11v8M8 6.5v8\"/>",
        // A flag.
        Actor::End => "<path d=\"M4 14.5V2M4 2.8h8.5l-2 2.9 2 2.9H4\"/>",
    };
    writeln!(
        out,
        "<g transform=\"translate({x:.1} {y:.1})\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\" \
         stroke-linecap=\"round\" stroke-linejoin=\"round\">{shape}</g>"
    )
}
