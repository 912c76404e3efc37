//! Faults as they are found: all of them told at once, within a limit.

use crate::failure::{Diagnostic, Failure, Severity};
use crate::limits::MOST_DIAGNOSTICS;

/// Faults in the order in which they were found. The first gives the refusal its code.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    told: Vec<Diagnostic>,
    more: usize,
}

impl Faults {
    /// One more.
    pub(crate) fn add(&mut self, fault: Diagnostic) {
        if self.told.len() < MOST_DIAGNOSTICS {
            self.told.push(fault);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// One more, of this code and at this place.
    pub(crate) fn say(&mut self, code: &'static str, place: impl Into<String>, message: impl Into<String>) {
        self.add(Diagnostic::new(code, Severity::Error, message).at(place));
    }

    /// What a refusal says, as faults of the whole.
    pub(crate) fn take(&mut self, failure: Failure) {
        if failure.diagnostics.is_empty() {
            self.add(Diagnostic::new(failure.code, Severity::Error, failure.message));
        } else {
            failure.diagnostics.into_iter().for_each(|fault| self.add(fault));
        }
    }

    /// The value, or its refusal noted.
    pub(crate) fn hold<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        result.map_err(|failure| self.take(failure)).ok()
    }

    /// Changes every one that is told.
    pub(crate) fn each(&mut self, change: impl FnMut(&mut Diagnostic)) {
        self.told.iter_mut().for_each(change);
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Everything as one refusal. One fault alone needs no list, unless it is of a schema, whose keyword only the list tells.
    pub(crate) fn failure(mut self) -> Failure {
        let Some(first) = self.told.first() else {
            return Failure::new("unexpected-error", "refused without a fault");
        };
        let of_schema = first.code.starts_with("schema.");
        let code = if of_schema { "schema-invalid".into() } else { first.code.clone() };
        let mut message = match &first.path {
            Some(path) => format!("{path}: {}", first.message),
            None => first.message.clone(),
        };
        let others = self.told.len().saturating_sub(1).saturating_add(self.more);
        if others > 0 {
            message.push_str(&format!("; and {others} more"));
        }
        if self.more > 0 {
            let last = format!("{} more faults are not listed", self.more);
            self.told.push(Diagnostic::new("diagnostics-truncated", Severity::Info, last));
        }
        let alone = self.told.len() == 1 && !of_schema;
        Failure { code, message, diagnostics: if alone { Vec::new() } else { self.told } }
    }

    /// Nothing, when there is no fault.
    pub(crate) fn done(self) -> Result<(), Failure> {
        if self.is_empty() { Ok(()) } else { Err(self.failure()) }
    }
}
