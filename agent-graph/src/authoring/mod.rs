//! Files of a Provider that are written for its author: a new Provider, and what is imported into one.
//!
//! Everything is made and checked in memory first: what would not load as a whole is refused, and so is whatever would
//! replace something. Only then is the first file written.

pub mod draft;
pub mod import;
pub mod yaml;
