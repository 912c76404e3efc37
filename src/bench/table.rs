//! The report as text for people.

use std::fmt::Write as _;

use super::{Level, Report, Times, cost, functions};

/// The report as tables.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let load = report.load_before.map_or(String::new(), |load| format!(", load {load:.2} before"));
    let _ = writeln!(
        out,
        "Measured: the embedded server over HTTP, driver included, {} processors{load}.",
        report.processors
    );
    let _ = writeln!(out, "A unit is start_run, claim, submit, decide: one run from start to end.\n");
    let _ = writeln!(
        out,
        "{:>6}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>14}{:>14}{:>12}",
        "users", "units", "units/s", "p50 ms", "p95 ms", "p99 ms", "max ms", "server cpu", "driver cpu", "memory"
    );
    for level in &report.levels {
        let Times { p50_ms, p95_ms, p99_ms, max_ms } = level.calls;
        let _ = writeln!(
            out,
            "{:>6}{:>9}{:>10.1}{p50_ms:>10.2}{p95_ms:>10.2}{p99_ms:>10.2}{max_ms:>10.2}{:>14}{:>14}{:>12}",
            level.users,
            level.units,
            level.units_per_second,
            known(level.server_cpu_ms_per_unit, |ms| format!("{ms:.2} ms/unit")),
            known(level.driver_cpu_ms_per_unit, |ms| format!("{ms:.2} ms/unit")),
            known(level.server_memory_bytes, |bytes| format!("{:.1} MB", bytes as f64 / 1e6)),
        );
    }
    let _ = writeln!(
        out,
        "\n{:>6}  {:<12}{:>10}{:>10}{:>10}{:>10}",
        "users", "tool", "p50 ms", "p95 ms", "p99 ms", "max ms"
    );
    for level in &report.levels {
        for tool in &level.tools {
            let Times { p50_ms, p95_ms, p99_ms, max_ms } = tool.times;
            let _ = writeln!(
                out,
                "{:>6}  {:<12}{p50_ms:>10.2}{p95_ms:>10.2}{p99_ms:>10.2}{max_ms:>10.2}",
                level.users, tool.tool
            );
        }
    }
    let _ = writeln!(out, "\nMeasured: agent steps, claim and submit, in runs of ten; each agent has its own.\n");
    let _ = writeln!(
        out,
        "{:>6}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "agents", "steps", "steps/s", "p50 ms", "p95 ms", "p99 ms", "max ms"
    );
    for Level { users, steps, .. } in &report.levels {
        let Times { p50_ms, p95_ms, p99_ms, max_ms } = steps.calls;
        let _ = writeln!(
            out,
            "{users:>6}{:>9}{:>10.1}{p50_ms:>10.2}{p95_ms:>10.2}{p99_ms:>10.2}{max_ms:>10.2}",
            steps.steps, steps.steps_per_second
        );
    }
    let _ = writeln!(
        out,
        "\nCounted: what one call of a unit asks of storage, in calls, rounds, items and bytes; DynamoDB's units; bytes on \
         the wire.\n"
    );
    let _ = writeln!(
        out,
        "{:<12}{:>7}{:>8}{:>7}{:>11}{:>14}{:>12}{:>13}{:>10}{:>10}",
        "tool",
        "calls",
        "rounds",
        "items",
        "bytes read",
        "bytes written",
        "read units",
        "write units",
        "request",
        "answer"
    );
    for s in &report.storage {
        let _ = writeln!(
            out,
            "{:<12}{:>7}{:>8}{:>7}{:>11}{:>14}{:>12}{:>13}{:>10}{:>10}",
            s.tool,
            s.calls,
            s.rounds,
            s.operations,
            s.bytes_read,
            s.bytes_written,
            s.read_units,
            s.write_units,
            s.request_bytes,
            s.answer_bytes
        );
    }
    if let Some(costs) = &report.costs {
        let _ = write!(out, "\n{}", cost::text(costs));
    }
    if !report.functions.is_empty() {
        let _ = write!(out, "\n{}", functions::text(&report.functions));
    }
    out
}

fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "not known".to_owned(), show)
}
