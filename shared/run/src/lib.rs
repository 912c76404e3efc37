//! One run as a pure machine: [`decide`] turns a command into events or a refusal, [`fold`] turns events into a run,
//! [`RunView`] shows it.
//!
//! Nothing here awaits, reads a clock, makes an id, or touches a file, the network or the environment: times and ids
//! are arguments. Every (state, command) pair has a defined answer, and folding the events of a change gives the run
//! that the change says.

mod accept;
mod attempt;
mod canonical;
mod check;
mod command;
mod data;
mod decide;
mod event;
mod evolve;
mod flow;
mod graph;
mod item;
mod number;
mod overlay;
mod record;
mod state;
mod time;
mod timers;
mod view;
mod work_item;

pub use accept::SUMMARY_CHARACTERS;
pub use attempt::*;
pub use canonical::{canonical, digest, hex};
pub use check::*;
pub use command::*;
pub use data::*;
pub use decide::work_item::{assigned_to, person_key, same_person};
pub use decide::{decide, start};
pub use event::*;
pub use evolve::*;
pub use flow::SERVER;
pub use graph::*;
pub use item::*;
pub use number::typed;
pub use overlay::*;
pub use record::*;
pub use state::*;
pub use time::Time;
pub use timers::{Timer, catch_up, timers};
pub use view::*;
pub use work_item::*;
