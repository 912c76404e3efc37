//! `get_work`: the steps an agent may claim, or the work items a person may decide.

use async_trait::async_trait;
use run::{ActorKind, Handoff, Mode, NEW_REQUEST_ID, Time, WorkItem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::PAGE_ITEMS;
use super::{Call, Tool};

pub(crate) struct GetWork;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Most items to return, 1 to 100; 20 when left out.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1, max = 100))]
    limit: Option<usize>,
    /// The nextCursor of the page before.
    #[serde(default)]
    #[schemars(with = "String")]
    cursor: Option<String>,
    /// Only work of this process.
    #[serde(default)]
    #[schemars(with = "String")]
    process: Option<String>,
}

/// A page of work, oldest first.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Page {
    /// Steps to claim for an agent, work items to decide for a person.
    items: Vec<Work>,
    /// Give it to the next call; null at the end.
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Work {
    Step(Box<StepWork>),
    Item(Box<ItemWork>),
}

/// A step that an agent may claim.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct StepWork {
    /// The run.
    run_id: String,
    /// The step.
    step_id: String,
    /// The process.
    process: String,
    /// The version the run keeps.
    version: u64,
    /// In a test run cause no real effects.
    mode: Mode,
    /// Since when it can be worked on.
    ready_since: Time,
    /// When it is overdue; null when it never is.
    due: Option<Time>,
    /// Whether that has passed.
    overdue: bool,
    /// What the previous attempt left behind; null on a first attempt.
    handoff: Option<Handoff>,
    /// The exact call that claims it.
    claim: ClaimCall,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct ClaimCall {
    /// `claim`
    tool: &'static str,
    /// Its arguments; put a new UUID in place of the placeholder.
    arguments: ClaimArguments,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct ClaimArguments {
    /// The run.
    run_id: String,
    /// The step.
    step_id: String,
    /// A placeholder.
    request_id: &'static str,
}

/// A work item that a person may decide.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct ItemWork {
    /// The run.
    run_id: String,
    /// The process.
    process: String,
    /// The version the run keeps.
    version: u64,
    /// In a test run nothing real happens.
    mode: Mode,
    /// The work item, with the exact call that decides it.
    work_item: WorkItem,
}

#[async_trait]
impl Tool for GetWork {
    const NAME: &'static str = "get_work";
    const TITLE: &'static str = "Find work";
    const DESCRIPTION: &'static str = "What you can do now, oldest first. For an agent: the agent steps you may claim, each \
        with the exact claim call and the handoff that the previous attempt left; where many agents work, claim any of them \
        rather than the first, which all others see first too. For a person: your open work items, each \
        with the exact decide call and the decisions it takes (rejected, returned and failed need a note); read \
        the run with get_run before you decide. Give nextCursor to the next call to read on.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Page;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Page, store::Error> {
        let Arguments { limit, cursor, process } = arguments;
        let (limit, cursor, process) = (limit.unwrap_or(PAGE_ITEMS), cursor.as_deref(), process.as_deref());
        match call.actor.kind {
            ActorKind::Agent => {
                let page = call.store.agent_work(call.org(), &call.actor, process, limit, cursor).await?;
                let now = call.store.now();
                let items = page.items.into_iter().map(|e| {
                    Work::Step(Box::new(StepWork {
                        overdue: e.due.is_some_and(|due| due <= now),
                        claim: ClaimCall {
                            tool: "claim",
                            arguments: ClaimArguments {
                                run_id: e.run.clone(),
                                step_id: e.step.clone(),
                                request_id: NEW_REQUEST_ID,
                            },
                        },
                        run_id: e.run,
                        step_id: e.step,
                        process: e.process,
                        version: e.version,
                        mode: e.mode,
                        ready_since: e.ready_since,
                        due: e.due,
                        handoff: e.handoff,
                    }))
                });
                Ok(Page { items: items.collect(), next_cursor: page.next_cursor })
            }
            ActorKind::Person => {
                let page = call.store.person_work(call.org(), &call.actor, process, limit, cursor).await?;
                let items = page.items.into_iter().map(|w| {
                    Work::Item(Box::new(ItemWork {
                        run_id: w.entry.run,
                        process: w.entry.process,
                        version: w.entry.version,
                        mode: w.entry.mode,
                        work_item: w.work_item,
                    }))
                });
                Ok(Page { items: items.collect(), next_cursor: page.next_cursor })
            }
        }
    }
}
