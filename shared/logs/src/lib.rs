//! What the processes log: JSON lines, the same from every server and function.
//!
//! Invariant: whatever level is asked for, events of crates that are not ours are held to warnings: at finer levels some of
//! them write whole messages, tokens and run data with them. Ours write neither at any level.

use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

/// A subscriber that writes JSON lines: this program's own events at `level`, everything else at warnings only.
pub fn subscriber<W>(writer: W, level: LevelFilter) -> impl Subscriber + Send + Sync + 'static
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        // Its warnings hold messages of requests.
        .with_target("rmcp", level.min(LevelFilter::ERROR))
        .with_targets(OWN.map(|name| (name, level)));
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(writer);
    tracing_subscriber::registry().with(targets).with(lines)
}

/// The crates whose events are logged at the level asked for.
const OWN: [&str; 11] =
    ["cloud", "evaluator", "identity", "local", "mcp", "outbound", "process", "procession", "run", "store", "timer"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// The messages that are written of one event a level and crate.
    fn written(level: LevelFilter) -> Vec<String> {
        let sink = Sink::default();
        let writer = sink.clone();
        tracing::subscriber::with_default(subscriber(move || writer.clone(), level), || {
            tracing::debug!(target: "store::wake", "store debug");
            tracing::info!(target: "store::wake", "store info");
            tracing::error!(target: "store::wake", "store error");
            tracing::info!(target: "hyper::client", "hyper info");
            tracing::warn!(target: "hyper::client", "hyper warn");
            tracing::warn!(target: "rmcp::service", "rmcp warn");
            tracing::error!(target: "rmcp::service", "rmcp error");
        });
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        let message = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["message"].as_str().unwrap().to_owned()
        };
        text.lines().map(message).collect()
    }

    #[test]
    fn our_own_are_written_at_the_level_asked_for_and_others_only_when_something_is_wrong() {
        let others = ["hyper warn", "rmcp error"];
        let with = |own: &[&'static str]| [own, &others].concat();
        assert_eq!(written(LevelFilter::TRACE), with(&["store debug", "store info", "store error"]));
        assert_eq!(written(LevelFilter::INFO), with(&["store info", "store error"]));
        assert_eq!(written(LevelFilter::ERROR), ["store error", "rmcp error"]);
        assert!(written(LevelFilter::OFF).is_empty());
    }

    #[test]
    fn a_line_holds_the_fields_beside_the_message_and_is_not_coloured() {
        let sink = Sink::default();
        let writer = sink.clone();
        tracing::subscriber::with_default(subscriber(move || writer.clone(), LevelFilter::INFO), || {
            let _span = tracing::error_span!(target: "store", "inside", secret = "whisper").entered();
            tracing::info!(target: "store", run = "r_1", late = 3, "a timer ran");
        });
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        let line: Value = serde_json::from_str(&text).unwrap();
        let named: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(named, ["timestamp", "level", "message", "run", "late", "target"], "{text}");
        assert_eq!((line["level"].as_str(), line["late"].as_u64()), (Some("INFO"), Some(3)));
        assert!(!text.contains("whisper"), "spans are others' too");
    }
}
