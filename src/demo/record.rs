//! The record of a run, as people read it: who did what, when, in what order, earlier rounds included.

use serde_json::Value;
use terminal::Paint;

use crate::client::at;

/// Prints the record of a run view.
pub(super) fn print(view: &Value, paint: Paint) {
    terminal::say!("\n{}", paint.title("The record"));
    terminal::say!(
        "  run {} of {} version {}: {}, outcome {}",
        plain(at(view, "/run/id")),
        plain(at(view, "/run/process")),
        at(view, "/run/version"),
        plain(at(view, "/run/state")),
        paint.good(plain(at(view, "/run/outcome"))),
    );
    terminal::say!("  started by {} with {}", plain(at(view, "/run/startedBy")), at(view, "/data/inputs"));
    for entry in entries(view) {
        terminal::say!("  {}  {}  {}", paint.dim(&entry.at), paint.title(&entry.step), entry.what);
        for line in entry.lines {
            terminal::say!("  {:24}  {line}", "");
        }
    }
    terminal::say!("  {}  ended by {}", paint.dim(plain(at(view, "/run/ended/at"))), plain(at(view, "/run/ended/by")));
}

struct Entry {
    at: String,
    step: String,
    what: String,
    lines: Vec<String>,
}

/// Every completion, oldest first.
fn entries(view: &Value) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (step, data) in at(view, "/data/steps").as_object().into_iter().flatten() {
        let earlier = at(data, "/history").as_array().into_iter().flatten();
        entries.extend(earlier.chain([data]).filter(|data| data.get("at").is_some()).map(|data| entry(step, data)));
    }
    entries.sort_by(|a, b| a.at.cmp(&b.at));
    entries
}

fn entry(step: &str, data: &Value) -> Entry {
    let by = plain(at(data, "/by"));
    let what = match at(data, "/decision").as_str() {
        Some(decision) => format!("{decision} by {by}"),
        None => match at(data, "/next").as_str() {
            Some(next) => format!("done by {by}, on to {next}: {}", plain(at(data, "/reason"))),
            None => format!("done by {by}"),
        },
    };
    let mut lines = Vec::new();
    for name in ["note", "summary", "output"] {
        if let Some(value) = data.get(name).filter(|value| !value.is_null()) {
            lines.push(format!("{name}: {}", plain(value)));
        }
    }
    for evidence in at(data, "/evidence").as_array().into_iter().flatten() {
        let sha256 = at(evidence, "/sha256").as_str().map_or(String::new(), |hash| format!(" sha256 {hash}"));
        lines.push(format!("evidence: {} {}{sha256}", plain(at(evidence, "/kind")), plain(at(evidence, "/ref"))));
    }
    Entry { at: plain(at(data, "/at")), step: step.to_owned(), what, lines }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn earlier_rounds_are_in_their_place() {
        let view = json!({ "data": { "steps": {
            "a": { "by": "x", "at": "3", "output": {}, "history": [{ "by": "x", "at": "1", "next": "b", "reason": "r" }] },
            "b": { "decision": "rejected", "note": "n", "by": "y", "at": "2", "history": [] },
            "c": { "history": [] },
        } } });
        let told: Vec<String> = entries(&view).into_iter().map(|e| format!("{} {} {}", e.at, e.step, e.what)).collect();
        assert_eq!(told, ["1 a done by x, on to b: r", "2 b rejected by y", "3 a done by x"]);
    }
}
