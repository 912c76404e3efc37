//! Why a call to the store did not succeed. Storage errors are sorted into what a caller may try again and what an
//! operator must look at, here and nowhere else.

use run::{Code, Fault, Refusal, Unreadable};

use crate::files::FilesError;
use crate::table::TableError;

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
            // Whoever decides a submission asks the evaluator; nothing else has questions.
            Fault::Check(inquiry) => Error::Invariant(format!("step {} was left unchecked", inquiry.step)),
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
