//! The documents of agent-graph v1 as types; the published schemas in `schemas/agent-graph` say the same.
//!
//! Every object refuses fields that it does not know (section-scope).

mod action;
mod bundle;
mod codes;
mod evaluation;
mod graph;
mod host;
mod location;
mod provider;
mod receipts;
mod resource;
mod route;
mod run;
mod skill;
mod test;

pub use action::*;
pub use bundle::*;
pub use codes::*;
pub use evaluation::*;
pub use graph::*;
pub use host::*;
pub use location::*;
pub use provider::*;
pub use receipts::*;
pub use resource::*;
pub use route::*;
pub use run::*;
pub use skill::*;
pub use test::*;

/// Declares the type of a `schema` field: exactly one text.
macro_rules! identity {
    ($(#[$doc:meta])* $name:ident, $text:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            /// The only one.
            #[default]
            #[serde(rename = $text)]
            V1,
        }
    };
}
pub(crate) use identity;
