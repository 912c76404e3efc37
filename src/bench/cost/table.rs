//! Costs as text for people: sizes of run data side by side.

use std::fmt::Write as _;

use super::{CallCost, Costs, StepCost, prices};

/// One part of what a step costs.
type Part = fn(&StepCost) -> f64;

/// Width of the first column of calls.
const CALL: usize = 25;
/// Width of the first column of everything else.
const STEP: usize = 39;

/// The costs as tables.
pub(in crate::bench) fn text(costs: &Costs) -> String {
    let mut out = String::new();
    calls(&mut out, costs);
    steps(&mut out, costs);
    dollars(&mut out, costs);
    list(&mut out);
    out
}

fn calls(out: &mut String, costs: &Costs) {
    let _ = writeln!(
        out,
        "Counted: what one call asks of storage with run data of {}, by DynamoDB's published rules: a write\n\
         unit is 1 KB of an item, twice that in a transaction, where deletes and checks count as writes of their item; a read\n\
         unit is 4 KB, all reads being strongly consistent. PUT and GET are S3's. The process's version is in memory, as after\n\
         the first call. Dollars are for a million calls, storage alone.\n",
        sizes(costs).join(", ")
    );
    let wide = |title: &str, column: usize| format!("{title:>width$}", width = column * costs.sizes.len());
    let _ = writeln!(
        out,
        "{:<CALL$}{:>6}{:>8}{:>5}{:>5}{}{}{}",
        "",
        "calls",
        "rounds",
        "PUT",
        "GET",
        wide("write units", 8),
        wide("read units", 7),
        wide("dollars", 9)
    );
    let heads = |column: usize| row(sizes(costs), column);
    let _ = writeln!(out, "{:<CALL$}{:24}{}{}{}", "", "", heads(8), heads(7), heads(9));
    let Some(first) = costs.sizes.first() else { return };
    for (at, call) in first.calls.iter().enumerate() {
        let same: Vec<&CallCost> = costs.sizes.iter().filter_map(|size| size.calls.get(at)).collect();
        let most = |of: fn(&CallCost) -> u64| same.iter().map(|call| of(call)).max().unwrap_or_default();
        let _ = writeln!(
            out,
            "{:<CALL$}{:>6}{:>8}{:>5}{:>5}{}{}{}",
            named(call),
            most(|call| call.storage.calls),
            most(|call| call.storage.rounds),
            some(most(|call| call.storage.object_puts)),
            some(most(|call| call.storage.object_gets)),
            row(same.iter().map(|call| some(call.storage.write_units)), 8),
            row(same.iter().map(|call| some(call.storage.read_units)), 7),
            row(same.iter().map(|call| format!("{:.2}", call.storage_dollars)), 9)
        );
    }
}

fn steps(out: &mut String, costs: &Costs) {
    let most = costs.targets.step_write_units;
    let _ = writeln!(
        out,
        "\nCounted: an agent step, claim and submit, in write units; {most} at every size are allowed.\n"
    );
    let _ = writeln!(out, "{:<STEP$}{}", "next is", row(sizes(costs), 10));
    for same in by_step(costs) {
        let units: Vec<u64> = same.iter().map(|step| step.write_units).collect();
        let flat = units.windows(2).all(|pair| pair.first() == pair.last());
        let verdict = match (flat, units.iter().max() <= Some(&most)) {
            (true, true) => "flat, within the target".to_owned(),
            (true, false) => format!("flat, {} over: two timers move as well", units.iter().max().unwrap_or(&0) - most),
            (false, _) => "NOT flat".to_owned(),
        };
        let next = same.first().map_or("", |step| step.next);
        let _ = writeln!(out, "{next:<STEP$}{}   {verdict}", row(units, 10));
    }
    let writes = || costs.sizes.iter().flat_map(|size| &size.calls).filter(|call| call.storage.writes);
    let more: std::collections::BTreeSet<String> = writes()
        .filter(|call| call.storage.rounds > costs.targets.write_rounds)
        .map(|call| format!("{}, which takes {}", named(call), call.storage.rounds))
        .collect();
    let _ = write!(out, "\nEvery write takes at most {} rounds of storage calls", costs.targets.write_rounds);
    match more.is_empty() {
        true => out.push_str(", S3 included.\n"),
        false => {
            let _ = writeln!(out, ", S3 included, but for {}.", more.into_iter().collect::<Vec<_>>().join("; "));
        }
    }
}

fn dollars(out: &mut String, costs: &Costs) {
    let _ = writeln!(
        out,
        "\nComputed: dollars for a million agent steps. Assumed: a call runs {} ms in {} MB and logs {} bytes.\n",
        costs.assumed.call_millis, costs.assumed.memory_megabytes, costs.assumed.call_log_bytes
    );
    let _ = writeln!(out, "{:<STEP$}{}", "next is a person", row(sizes(costs), 10));
    let steps = by_step(costs);
    let parts: [(&str, Part); 7] = [
        ("  table, writes", |step| step.dollars.writes),
        ("  table, reads", |step| step.dollars.reads),
        ("  function, two calls", |step| step.dollars.calls),
        ("  function, time", |step| step.dollars.time),
        ("  logs", |step| step.dollars.logs),
        ("  its notice, sent and filed", |step| step.dollars.notices),
        ("  together", |step| step.dollars.together),
    ];
    let of_person = steps.iter().find(|same| same.iter().all(|step| step.dollars.notices > 0.0));
    for (name, part) in parts {
        let found = of_person.into_iter().flatten().map(|step| format!("{:.2}", part(step)));
        let _ = writeln!(out, "{name:<STEP$}{}", row(found, 10));
    }
    for same in steps.iter().filter(|same| same.iter().all(|step| step.dollars.notices == 0.0)) {
        let next = same.first().map_or("", |step| step.next);
        let together = same.iter().map(|step| format!("{:.2}", step.dollars.together));
        let _ = writeln!(out, "{:<STEP$}{}", format!("next is {next}"), row(together, 10));
    }
    for (name, dollars) in ["1 transition", "2 transitions"].iter().zip(costs.step_functions_dollars) {
        let same = costs.sizes.iter().map(|_| format!("{dollars:.2}"));
        let _ = writeln!(out, "{:<STEP$}{}", format!("Step Functions Standard, {name}"), row(same, 10));
    }
    out.push_str(
        "In Step Functions an agent step is one transition at the least, a task that waits for its token, and two with a\n\
         choice that looks at the result. The queue and the endpoint that hand the work out would come on top of it.\n",
    );
}

fn list(out: &mut String) {
    let _ = writeln!(
        out,
        "\nList prices in US dollars, {}, looked up on {}, without free tiers; they change, and by region:\n",
        prices::REGION,
        prices::AS_OF
    );
    for price in prices::PRICES {
        let decimals = if price.amount == 1.0 { 10 } else { 4 };
        let _ = writeln!(out, "{:<STEP$}{:>12.decimals$} for {}", price.what, price.dollars, price.per);
    }
}

/// Steps of the same kind, one for each size.
fn by_step(costs: &Costs) -> Vec<Vec<&StepCost>> {
    let kinds = costs.sizes.first().map_or(0, |size| size.steps.len());
    (0..kinds).map(|at| costs.sizes.iter().filter_map(|size| size.steps.get(at)).collect()).collect()
}

fn sizes(costs: &Costs) -> Vec<String> {
    costs.sizes.iter().map(|size| format!("{} KB", size.run_data_bytes / 1_024)).collect()
}

fn row<T: ToString>(cells: impl IntoIterator<Item = T>, width: usize) -> String {
    cells.into_iter().map(|cell| format!("{:>width$}", cell.to_string())).collect()
}

fn named(call: &CallCost) -> String {
    match (call.storage.tool, call.storage.case) {
        (tool, "") => tool.to_owned(),
        (tool, case) => format!("{tool}: {case}"),
    }
}

fn some(number: u64) -> String {
    if number == 0 { "-".to_owned() } else { number.to_string() }
}
