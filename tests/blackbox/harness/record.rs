//! The record of all tool calls, when one is asked for: one JSON line each.

use std::fs::File;
use std::io::Write;
use std::sync::{LazyLock, Mutex};

use serde_json::{Value, json};

static RECORD: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    let path = std::env::var_os("PROCESSION_RECORD")?;
    let file = File::options().create(true).append(true).open(&path);
    Some(Mutex::new(file.unwrap_or_else(|e| panic!("PROCESSION_RECORD {}: {e}", path.display()))))
});

/// Adds one call.
pub fn append(tool: &str, arguments: &Value, result: &Value) {
    if let Some(file) = RECORD.as_ref() {
        let line = format!("{}\n", json!({ "tool": tool, "arguments": arguments, "result": result }));
        file.lock().unwrap_or_else(|e| e.into_inner()).write_all(line.as_bytes()).unwrap();
    }
}
