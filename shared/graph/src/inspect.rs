//! What a Provider holds, as `inspect provider` and `validate` show it.

use serde_json::Value;

use crate::load::Provider;
use crate::locate::Places;

/// `agent-graph.inspect.v1`.
pub fn inspect(provider: &Provider, places: &Places) -> Value {
    let _ = (provider, places);
    todo!()
}

/// The same behind `state: valid`.
pub fn validated(provider: &Provider, places: &Places) -> Value {
    let _ = (provider, places);
    todo!()
}
