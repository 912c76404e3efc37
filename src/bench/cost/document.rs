//! ARCHITECTURE.md shows what is counted and computed, and nothing else in those tables.
//!
//! Invariants: a whole table is compared, so that no row in it is left from before; nothing that was measured is held to.

use super::{CallCost, Costs, RUN_DATA_BYTES, STEP_WRITE_UNITS, count};

const DOCUMENT: &str = include_str!("../../../ARCHITECTURE.md");

/// A row of the document, and the calls, each with its case, that all come to it.
type Shown = (&'static str, &'static [(&'static str, &'static str)]);

/// The rows of calls, in the document's order.
const SHOWN: [Shown; 15] = [
    ("`start_run`", &[("start_run", "")]),
    ("`get_run`", &[("get_run", "")]),
    ("`get_work` of an agent", &[("get_work", "of an agent")]),
    ("`get_work` of a person", &[("get_work", "of a person")]),
    ("`list_runs`, a page of one", &[("list_runs", "of one")]),
    ("`claim`, `renew`", &[("claim", ""), ("renew", "")]),
    ("`submit`, an agent is next", &[("submit", "an agent is next")]),
    ("`submit`, a person is next", &[("submit", "a person is next")]),
    ("`submit` with a file", &[("submit", "with a file")]),
    ("`upload`", &[("upload", "")]),
    ("`decide`, `escalate`", &[("decide", ""), ("escalate", "")]),
    ("`cancel`", &[("cancel", "")]),
    ("`send_event`", &[("send_event", "")]),
    ("a timer that ends a wait", &[("timer", "ends a wait")]),
    ("a notice that is filed as sent", &[("sweeper", "files a notice")]),
];
/// What is counted and not shown: calls about processes, and what the sentence on due times says.
const UNSHOWN: [(&str, &str); 6] = [
    ("import_process", ""),
    ("publish_process", ""),
    ("describe", ""),
    ("list_processes", ""),
    ("get_process", ""),
    ("submit", "with due times"),
];

/// Blanks do not matter, as in a cell that is empty.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The document's table with this head.
fn table(document: &str, head: &str) -> Vec<String> {
    document.lines().map(plain).skip_while(|line| line != head).take_while(|line| line.starts_with('|')).collect()
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    plain(&format!("| {} |", cells.into_iter().collect::<Vec<_>>().join(" | ")))
}

fn some(number: u64) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

/// A call at each size.
fn sized<'a>(costs: &'a Costs, (tool, case): (&str, &str)) -> Vec<&'a CallCost> {
    let same = |call: &&CallCost| (call.storage.tool, call.storage.case) == (tool, case);
    costs.sizes.iter().map(|size| size.calls.iter().find(same).unwrap_or_else(|| panic!("no {tool} {case}"))).collect()
}

/// What the document shows of a call: its calls and objects, rounds, write units and read units.
fn cells(costs: &Costs, call: (&str, &str)) -> Vec<String> {
    let sizes = sized(costs, call);
    let asked = |at: &CallCost| (at.storage.calls, at.storage.rounds, at.storage.object_puts, at.storage.object_gets);
    let (calls, rounds, puts, gets) = asked(sizes[0]);
    for size in &sizes {
        assert_eq!(asked(size), (calls, rounds, puts, gets), "{call:?} asks the same at every size");
    }
    let mut first = calls.to_string();
    for (number, what) in [(puts, "PUT"), (gets, "GET")] {
        if number > 0 {
            first += &format!(", {number} {what}");
        }
    }
    let mut cells = vec![first, rounds.to_string()];
    cells.extend(sizes.iter().map(|size| some(size.storage.write_units)));
    cells.extend(sizes.iter().map(|size| some(size.storage.read_units)));
    cells
}

/// The table of calls, its head first.
fn calls(costs: &Costs) -> Vec<String> {
    let [small, middle, large] = RUN_DATA_BYTES.map(|bytes| format!("{} KB", bytes / 1_024));
    let units = |kind: &str| format!("{kind} units: {small} | {middle} | {large}");
    let mut lines = vec![format!("| run data | calls | rounds | {} | {} |", units("write"), units("read"))];
    lines.push(row(vec!["---".to_owned(); 9]));
    for (name, same) in SHOWN {
        let first = cells(costs, same[0]);
        for call in same {
            assert_eq!(cells(costs, *call), first, "{call:?} stands in one row with {:?}", same[0]);
        }
        lines.push(row([name.to_owned()].into_iter().chain(first)));
    }
    lines
}

/// The table of dollars, its head first.
fn dollars(costs: &Costs) -> Vec<String> {
    let heads = RUN_DATA_BYTES.map(|bytes| format!("{} KB", bytes / 1_024));
    let mut lines = vec![row(["dollars for a million agent steps".to_owned()].into_iter().chain(heads))];
    lines.push(row(vec!["---".to_owned(); 1 + RUN_DATA_BYTES.len()]));
    let mut line = |name: &str, dollars: Vec<f64>| {
        let dollars = dollars.into_iter().map(|dollars| format!("{dollars:.2}"));
        lines.push(row([name.to_owned()].into_iter().chain(dollars)));
    };
    let steps = |next: &str| -> Vec<f64> {
        costs.sizes.iter().flat_map(|size| &size.steps).filter(|s| s.next == next).map(|s| s.dollars.together).collect()
    };
    line("an agent is next", steps("an agent"));
    line("a person is next, who is told", steps("a person"));
    let [one, two] = costs.step_functions_dollars;
    line("Step Functions Standard, one transition a step", vec![one; RUN_DATA_BYTES.len()]);
    line("two transitions", vec![two; RUN_DATA_BYTES.len()]);
    lines
}

/// What the document says of an agent step.
fn sentence(costs: &Costs) -> String {
    let units: Vec<u64> = costs.sizes[0].steps.iter().map(|step| step.write_units).collect();
    let [agent, person, due] = units[..] else { panic!("three kinds of steps, not {units:?}") };
    format!(
        "writes {person} units before a person's step and {agent} before an agent's, at every size; {STEP_WRITE_UNITS} is \
         the target. A due time on the step and the next moves two timers more: {due}."
    )
}

#[tokio::test]
async fn the_document_says_what_is_counted_and_computed() {
    let costs = count().await.expect("counted");
    for lines in [calls(&costs), dollars(&costs)] {
        assert_eq!(table(DOCUMENT, &lines[0]), lines, "ARCHITECTURE.md should say:\n{}", lines.join("\n"));
    }
    let sentence = sentence(&costs);
    assert!(plain(DOCUMENT).contains(&sentence), "ARCHITECTURE.md should say: {sentence}");
    for CallCost { storage, .. } in costs.sizes.iter().flat_map(|size| &size.calls) {
        let call = (storage.tool, storage.case);
        let shown = SHOWN.iter().any(|(_, same)| same.contains(&call));
        assert!(shown || UNSHOWN.contains(&call), "{call:?} is counted and not shown");
    }
}
