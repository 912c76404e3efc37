//! What calls cost on AWS: storage calls, rounds and units counted, and what they come to by list prices.
//!
//! Units are counted by DynamoDB's published rules on the embedded table, which is asked by the same client with the same
//! items; dollars follow from them and from the named assumptions alone.

#[cfg(test)]
mod document;
mod prices;
mod scenario;
mod table;

use serde::Serialize;

use super::ToolStorage;
use prices::{Dollars, Price, Used};

pub(super) use table::text;

/// Bytes of run data, as JSON, at which calls are counted.
pub const RUN_DATA_BYTES: [usize; 3] = [1_024, 50 * 1_024, 200 * 1_024];
/// Most write units that an agent step may ask, whatever the size of run data.
pub const STEP_WRITE_UNITS: u64 = 24;
/// Most rounds of storage calls that a write may take.
pub const WRITE_ROUNDS: u64 = 2;

/// Transitions that an agent step is in Step Functions, at least: a task that waits for its token, and a choice that looks
/// at what came back.
const STEP_TRANSITIONS: [f64; 2] = [1.0, 2.0];

/// What was counted, and what it comes to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Costs {
    /// One for each of [`RUN_DATA_BYTES`].
    pub sizes: Vec<Size>,
    /// What a million agent steps are in Step Functions, in US dollars: as one transition each, and as two.
    pub step_functions_dollars: [f64; 2],
    /// The list prices behind all dollars.
    pub prices: Prices,
    /// What is assumed, as only AWS can tell.
    pub assumed: Assumed,
    /// What the design allows.
    pub targets: Targets,
}

/// One size of run data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// Run data as JSON, in bytes, when the run has started.
    pub run_data_bytes: usize,
    /// What one call of each tool asks of storage.
    pub calls: Vec<CallCost>,
    /// What an agent step asks, its claim and its submission.
    pub steps: Vec<StepCost>,
}

/// A call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallCost {
    /// What was counted.
    #[serde(flatten)]
    pub storage: ToolStorage,
    /// US dollars for a million of them, storage alone.
    pub storage_dollars: f64,
}

/// An agent step.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepCost {
    /// Who is next when it is submitted.
    pub next: &'static str,
    /// Write units of both calls.
    pub write_units: u64,
    /// Read units of both calls.
    pub read_units: u64,
    /// US dollars for a million of them, everything but model and traffic.
    pub dollars: Dollars,
}

/// List prices.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// The region.
    pub region: &'static str,
    /// The day.
    pub as_of: &'static str,
    /// In US dollars.
    pub list: [Price; 10],
}

/// What is assumed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Assumed {
    /// How long a call runs in the function.
    pub call_millis: f64,
    /// The function's memory.
    pub memory_megabytes: f64,
    /// What a call logs.
    pub call_log_bytes: f64,
}

/// What the design allows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Targets {
    /// Of an agent step.
    pub step_write_units: u64,
    /// Of a write.
    pub write_rounds: u64,
}

/// The two calls of an agent step.
struct Step {
    next: &'static str,
    /// Whether it leaves a notice for somebody.
    notice: bool,
    claim: ToolStorage,
    submit: ToolStorage,
}

/// Counts the calls and works out what they come to.
pub(super) async fn count() -> anyhow::Result<Costs> {
    let mut sizes = Vec::with_capacity(RUN_DATA_BYTES.len());
    for run_data_bytes in RUN_DATA_BYTES {
        let counted = scenario::play(run_data_bytes).await?;
        let filing = used(&counted.filing);
        sizes.push(Size {
            run_data_bytes,
            steps: counted.steps.iter().map(|step| step_cost(step, filing)).collect(),
            calls: counted.calls.into_iter().map(call_cost).collect(),
        });
    }
    Ok(Costs {
        sizes,
        step_functions_dollars: STEP_TRANSITIONS.map(|transitions| prices::TRANSITIONS.million(transitions)),
        prices: Prices { region: prices::REGION, as_of: prices::AS_OF, list: prices::PRICES },
        assumed: Assumed {
            call_millis: prices::CALL_MILLIS,
            memory_megabytes: prices::MEMORY_MEGABYTES,
            call_log_bytes: prices::CALL_LOG_BYTES,
        },
        targets: Targets { step_write_units: STEP_WRITE_UNITS, write_rounds: WRITE_ROUNDS },
    })
}

fn used(counted: &ToolStorage) -> Used {
    Used {
        write_units: counted.write_units,
        read_units: counted.read_units,
        object_puts: counted.object_puts,
        object_gets: counted.object_gets,
    }
}

fn call_cost(storage: ToolStorage) -> CallCost {
    CallCost { storage_dollars: used(&storage).million(), storage }
}

fn step_cost(step: &Step, filing: Used) -> StepCost {
    let (claim, submit) = (used(&step.claim), used(&step.submit));
    let both = Used {
        write_units: claim.write_units + submit.write_units,
        read_units: claim.read_units + submit.read_units,
        object_puts: claim.object_puts + submit.object_puts,
        object_gets: claim.object_gets + submit.object_gets,
    };
    StepCost {
        next: step.next,
        write_units: both.write_units,
        read_units: both.read_units,
        dollars: prices::dollars(2, both, step.notice.then_some(filing)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_targets_are_met_at_every_size() {
        let costs = count().await.expect("counted");
        assert_eq!(costs.sizes.iter().map(|size| size.run_data_bytes).collect::<Vec<_>>(), RUN_DATA_BYTES);
        let first = &costs.sizes[0];
        for size in &costs.sizes {
            assert_eq!(size.steps.len(), 3, "every kind of step is counted at {}", size.run_data_bytes);
            for (step, small) in size.steps.iter().zip(&first.steps) {
                assert_eq!(step.write_units, small.write_units, "{} at {}", step.next, size.run_data_bytes);
            }
            // Due times are timers, two more items of the transaction: four units on top of a step before an agent's.
            let most = [STEP_WRITE_UNITS, STEP_WRITE_UNITS, STEP_WRITE_UNITS + 2];
            for (step, most) in size.steps.iter().zip(most) {
                assert!(step.write_units <= most, "{}: {} write units", step.next, step.write_units);
            }
            for CallCost { storage, .. } in size.calls.iter().filter(|call| call.storage.writes) {
                // The bytes of an upload are in the bucket before the table names them.
                let most = WRITE_ROUNDS + u64::from(storage.tool == "upload");
                assert!(storage.rounds <= most, "{storage:?}");
            }
        }
        let tools = mcp_tools(&first.calls);
        let of_processes = identity::TOOLS.into_iter().filter(|tool| !identity::GRAPH_TOOLS.contains(tool));
        assert_eq!(tools, of_processes.collect(), "every tool of processes is counted");
    }

    fn mcp_tools(calls: &[CallCost]) -> std::collections::BTreeSet<&str> {
        calls.iter().map(|call| call.storage.tool).filter(|tool| !["sweeper", "timer"].contains(tool)).collect()
    }

    #[tokio::test]
    async fn a_read_of_much_run_data_is_charged_by_its_size() {
        let counted = scenario::play(200 * 1_024).await.expect("counted");
        let of = |tool: &str| counted.calls.iter().find(|call| call.tool == tool).expect("a row");
        // 204,800 bytes of data and what is around them, by 4 KB, as one sum.
        assert_eq!(of("get_run").read_units, 51);
        // The request's record is looked for beside it.
        for write in ["claim", "renew", "submit", "escalate", "decide", "cancel"] {
            assert!((52..=53).contains(&of(write).read_units), "{:?}", of(write));
        }
        assert!(of("list_runs").read_units > 51, "a run's inputs are read for the list");
        // Started, it is written once: in a transaction, by 1 KB.
        assert!((2 * 200..2 * 205).contains(&of("start_run").write_units), "{:?}", of("start_run"));
        assert_eq!((of("upload").object_puts, of("upload").object_gets), (1, 0));
        let cited = counted.calls.iter().find(|call| call.case == "with a file").expect("a row");
        assert_eq!((cited.object_puts, cited.object_gets), (0, 1));
    }
}
