//! The request log: one line a request.
//!
//! A line holds who called what and how it ended. It never holds a token, an argument, a result, or any other text that a
//! client chose, but for the caller's name, which is verified, and a run's id, which must look like one.

use axum::http::StatusCode;
use identity::Caller;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::seam::Meter;

/// Longest run id that is logged, in bytes.
const RUN_ID_BYTES: usize = 64;

/// What is known of a request so far. Shared between the front and the tool, and written when the front is done with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    method: Option<&'static str>,
    tool: Option<&'static str>,
    caller: Option<Arc<Caller>>,
    outcome: Option<&'static str>,
    meter: Meter,
}

/// Methods that are named in the log; others are text of the client's.
const METHODS: [&str; 7] = [
    "initialize",
    "notifications/initialized",
    "ping",
    "server/discover",
    "tools/call",
    "tools/list",
    "resources/list",
];

impl Record {
    fn with(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn caller(&self, caller: Arc<Caller>) {
        self.with(|known| known.caller = Some(caller));
    }

    pub(crate) fn method(&self, method: &str) {
        let method = METHODS.into_iter().find(|name| *name == method);
        self.with(|known| known.method = Some(method.unwrap_or("other")));
    }

    pub(crate) fn tool(&self, tool: &'static str, outcome: &'static str, mut meter: Meter) {
        // A call may name any text as its run; only what has the form of a run's id is worth a line.
        meter.run = meter.run.filter(|run| is_run_id(run));
        self.with(|known| (known.tool, known.outcome, known.meter) = (Some(tool), Some(outcome), meter));
    }
}

fn is_run_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() <= RUN_ID_BYTES && text.strip_prefix("r_").is_some_and(|rest| rest.bytes().all(plain))
}

/// Writes the line of one request, when it is dropped: also for a client that left before its answer.
pub(crate) struct Line {
    pub(crate) record: Record,
    started: Instant,
    status: Option<StatusCode>,
}

impl Line {
    pub(crate) fn start() -> Self {
        Line { record: Record::default(), started: Instant::now(), status: None }
    }

    pub(crate) fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let known = self.record.0.lock().unwrap_or_else(PoisonError::into_inner);
        let caller = known.caller.as_deref();
        tracing::info!(
            method = known.method,
            tool = known.tool,
            kind = caller.map(|caller| caller.kind.as_str()),
            subject = caller.map(|caller| caller.subject.as_str()),
            org = caller.map(|caller| caller.org.as_str()),
            run = known.meter.run.as_deref(),
            outcome = known.outcome,
            status = self.status.map(|status| status.as_u16()),
            // Microseconds are kept: a call takes about a thousand of them.
            ms = self.started.elapsed().as_micros() as f64 / 1000.0,
            storage_calls = known.meter.storage_calls,
            "{}",
            if self.status.is_some() { "request" } else { "client left" }
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_a_run_is_logged_as_one() {
        for (text, fine) in [("r_8f2", true), ("r_a-b_c", true), ("secret", false), ("r_a b", false), ("", false)] {
            assert_eq!(is_run_id(text), fine, "{text}");
        }
        assert!(!is_run_id(&format!("r_{}", "a".repeat(RUN_ID_BYTES))));
    }
}
