//! The documents of agent-graph v1 as types; the published schemas in `schemas/agent-graph` say the same.
//!
//! Every object refuses fields that it does not know (section-scope).

mod action;
mod bundle;
mod codes;
mod error;
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
pub use error::*;
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

/// A field that was written, `null` included.
pub(crate) fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde::Deserialize::deserialize(from).map(Some)
}

/// A whole number, also one that was written with a point and zeros, as JSON Schema has it.
pub(crate) fn whole<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: TryFrom<i64>,
{
    use serde::de::{Deserialize as _, Error as _};
    // Every integer up to this one is a double of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = serde_json::Number::deserialize(from)?;
    let whole = number.as_i64().or_else(|| {
        let double = number.as_f64().filter(|double| double.fract() == 0.0 && double.abs() <= EXACT)?;
        Some(double as i64)
    });
    let fits = whole.and_then(|whole| T::try_from(whole).ok());
    fits.ok_or_else(|| D::Error::custom(format!("{number} is no whole number that fits")))
}

/// The same where it may be left out.
pub(crate) fn maybe_whole<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: TryFrom<i64>,
{
    whole(from).map(Some)
}
