//! `graph` of a step as the file binds it (graph-1). Whether the provider, the graph and the entry exist is for whoever
//! publishes the process to find out.

use super::DataPath;

/// `graph` of an `agent` step (graph-1): the graph that guides whoever does the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphBinding {
    /// The provider's id, such as `acme/release`.
    pub provider: String,
    /// Which version of it, where the file says; else the latest at publication.
    pub version: Option<String>,
    /// The graph's id.
    pub graph: String,
    /// The entry's name; [`DEFAULT_ENTRY`] where the file does not say.
    pub entry: String,
    /// Facts and where in run data each comes from, in file order. No fact path is part of another. Beside what steps
    /// before it have for output, a step's own output may be named: it is there when the step is submitted.
    pub facts: Vec<(String, DataPath)>,
    /// Whether a submission is accepted only when the graph is complete, and its outcome `completed`.
    pub require_complete: bool,
}

/// The entry of a graph that a file does not choose.
pub const DEFAULT_ENTRY: &str = "default";

impl std::fmt::Display for GraphBinding {
    /// `GRAPH of PROVIDER`, with the version where the file says one.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.graph, self.provider)?;
        self.version.iter().try_for_each(|version| write!(f, "@{version}"))
    }
}
