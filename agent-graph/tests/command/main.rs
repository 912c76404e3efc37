//! The command as it is installed: every verb, both formats, exit codes, limits, locks.

mod authoring;
mod building;
mod errors;
mod human;
mod materializing;
mod routing;
mod running;
mod session;
mod support;
