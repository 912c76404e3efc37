//! Why a call to the store did not succeed. Storage errors are sorted into what a caller may try again and what an
//! operator must look at, here and nowhere else.

use run::{Code, Fault, Refusal, Unreadable};

use crate::files::FilesError;
use crate::table::TableError;

/// Longest text of a caller that a message repeats, in characters.
const QUOTED_CHARS: usize = 200;

/// A caller's own text as a message repeats it: its beginning.
pub(crate) fn quoted(text: &str) -> String {
    text.chars().take(QUOTED_CHARS).collect()
}

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Refused for a reason the caller can read and act on.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// Storage did not answer, or too many others wrote to the same run at once: the same call may succeed later.
    #[error("try again: {0}")]
    Retry(String),
    /// A state that cannot be, with its context. For the operator.
    #[error("invariant broken: {0}")]
    Invariant(String),
}

impl Error {
    /// A refusal without issues.
    pub fn refused(code: Code, message: impl Into<String>) -> Error {
        Error::Refused(Refusal::new(code, message))
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::Refused(refusal)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        match fault {
            Fault::Refused(refusal) => Error::Refused(refusal),
            Fault::Invariant(why) => Error::Invariant(why),
            // Whoever decides a submission evaluates the graph and asks the evaluator; nothing else has questions.
            Fault::Check(inquiry) => Error::Invariant(format!("step {} was left unchecked", inquiry.step)),
            Fault::Graph(inquiry) => Error::Invariant(format!("the graph of step {} was not evaluated", inquiry.step)),
        }
    }
}

impl From<Unreadable> for Error {
    fn from(unreadable: Unreadable) -> Error {
        Error::Invariant(unreadable.to_string())
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Error {
        match error {
            TableError::Refused { .. } => Error::Retry("another write was in the way".to_owned()),
            TableError::Unavailable(why) => Error::Retry(why),
            TableError::Invalid(why) => Error::Invariant(why),
        }
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Error {
        match error {
            FilesError::Unavailable(why) => Error::Retry(why),
        }
    }
}

/// `not_found` for what is not there, `conflict` for what is not any more or not now, `invalid` for everything else. The first issue
/// begins with the failure's code; the issue of a conflict is the code alone, in the spelling of the other ones.
impl From<graph::Failure> for Error {
    fn from(failure: graph::Failure) -> Error {
        let conflict = failure.code.ends_with("-stale") || failure.code == "route-unavailable";
        let code = match () {
            () if failure.code.ends_with("-missing") => Code::NotFound,
            () if conflict => Code::Conflict,
            () => Code::Invalid,
        };
        let first = match conflict {
            true => failure.code.replace('-', "_"),
            false => format!("{}: {}", failure.code, failure.message),
        };
        let issues = std::iter::once(first).chain(failure.diagnostics.iter().map(told)).collect();
        Error::Refused(Refusal::new(code, failure.message).issues(issues))
    }
}

fn told(diagnostic: &graph::Diagnostic) -> String {
    match &diagnostic.path {
        Some(path) => format!("{}: {path}: {}", diagnostic.code, diagnostic.message),
        None => format!("{}: {}", diagnostic.code, diagnostic.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_a_graph_is_told_in_the_words_of_the_tools() {
        let refused = |failure: graph::Failure| match Error::from(failure) {
            Error::Refused(refusal) => (refusal.code, refusal.issues),
            other => panic!("{other:?}"),
        };
        let missing = graph::Failure::new("graph-missing", "No Graph `a`.");
        assert_eq!(refused(missing), (Code::NotFound, vec!["graph-missing: No Graph `a`.".to_owned()]));
        let stale = graph::Failure::new("route-revision-stale", "The run went on.");
        assert_eq!(refused(stale), (Code::Conflict, vec!["route_revision_stale".to_owned()]));
        let none = graph::Failure::new("route-unavailable", "The run is at its end.");
        assert_eq!(refused(none), (Code::Conflict, vec!["route_unavailable".to_owned()]));
        let error = graph::Severity::Error;
        let fault = graph::Diagnostic::new("schema.required", error, "`id` is missing").at("provider.yaml#/");
        let invalid = graph::Failure::new("schema-invalid", "No Provider.").with(vec![fault]);
        let issues = ["schema-invalid: No Provider.", "schema.required: provider.yaml#/: `id` is missing"];
        assert_eq!(refused(invalid), (Code::Invalid, issues.map(str::to_owned).to_vec()));
    }
}
