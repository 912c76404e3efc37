//! A Route with all that is needed to take it (section-evaluation).

use crate::documents::{ReadReceipts, Route};
use crate::evaluate::State;
use crate::failure::Failure;
use crate::load::Provider;
use crate::locate::Places;

/// Which Route is asked for.
#[derive(Debug, Clone, Default)]
pub struct RouteRequest<'a> {
    /// The Graph.
    pub graph: &'a str,
    /// The entry.
    pub entry: &'a str,
    /// The Route; the primary one unless said.
    pub route_id: Option<&'a str>,
    /// The revision that the caller has seen.
    pub revision: Option<&'a str>,
    /// What the conversation has read.
    pub receipts: Option<&'a ReadReceipts>,
}

/// Resolves a Route. Nothing is run.
///
/// # Errors
///
/// `graph-missing`, `entry-missing`, `revision-invalid`, `route-revision-stale`, `route-stale`, `route-unavailable`.
pub fn route(
    provider: &Provider,
    places: &Places,
    state: &State,
    request: &RouteRequest<'_>,
) -> Result<Route, Failure> {
    let _ = (provider, places, state, request);
    todo!()
}
