//! Each storage call of each tool fails in turn, in every way that AWS lets calls fail, and then the same tool call is
//! repeated: nothing is lost, nothing happens twice, and `retry` is answered only when something failed and trying again
//! then succeeds.
//!
//! The clients are the SDK's own, struck below their repetitions; table and bucket are the embedded ones. What each case
//! leaves behind is held against what it leaves behind where nothing fails.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod cases;
mod graphs;
mod scheduler;
mod world;

use cloud::faults::{Fault, MATCHES, Rule};
use mcp::Code;
use serde_json::Value;

use cases::{Call, Case};
use world::{Asked, Desk, Left, Stored, World};

/// The faults that a call may meet and its process survives.
const FAULTS: [Fault; 5] = [Fault::Throttle, Fault::Conflict, Fault::Fail, Fault::Close, Fault::Lose];

/// The name of the rule that strikes.
const RULE: &str = "rule";

/// What one tool call was answered, and answered again.
struct Trial {
    first: Result<Value, Code>,
    again: Result<Value, Code>,
    left: Left,
    struck: u32,
}

/// A case, ready for its call to be made from there many times.
struct Stage {
    case: Case,
    call: Call,
    stored: Stored,
    asked: Asked,
    /// Tries of the clients.
    tries: u32,
    /// How many calls of storage and schedules it makes where nothing fails.
    calls: u32,
    /// What it comes to then.
    answer: Result<Value, Code>,
    left: Left,
}

impl Stage {
    async fn new(case: Case, tries: u32) -> Stage {
        let mut desk = Desk::new(World::new(1).await, Asked::default());
        let call = case.prepare(&mut desk).await;
        let (stored, asked) = desk.end();
        let nothing = Left::default();
        let stage = Stage { case, call, stored, asked, tries, calls: 0, answer: Ok(Value::Null), left: nothing };
        let Trial { first, again, left, struck } =
            stage.under(Rule { times: MATCHES, ..Rule::new(RULE, Fault::Delay) }).await;
        assert_eq!(first, again, "{case:?}");
        assert_eq!(first.is_ok(), !case.is_refused(), "{case:?}: {first:?}");
        assert_eq!(struck > 0, case.asks(), "{case:?}: {struck} calls");
        Stage { calls: struck, answer: again, left, ..stage }
    }

    /// Makes the call under a rule, and again when the rule is lifted.
    async fn under(&self, rule: Rule) -> Trial {
        let case = self.case;
        let desk = Desk::new(self.stored.again(self.tries).await, self.asked.clone());
        desk.world().plan(Some(rule.clone()));
        let first = desk.make(&self.call).await;
        let struck = desk.world().hits(RULE).saturating_sub(rule.skip);
        desk.world().plan(None);
        let again = desk.make(&self.call).await;
        assert_eq!(desk.make(&self.call).await, again, "{case:?}: a third time");
        let left = desk.left().await;
        assert_eq!(left.unarmed, Vec::<String>::new(), "{case:?} under {rule:?}: timers without a schedule");
        Trial { first, again, left, struck }
    }

    /// The same, and holds it to what happens where nothing fails.
    async fn as_ever(&self, rule: Rule) -> Trial {
        let trial = self.under(rule.clone()).await;
        let case = self.case;
        assert_eq!(trial.left, self.left, "{case:?} under {rule:?}");
        match (&trial.again, &self.answer) {
            // Ids and times are others.
            (Ok(_), Ok(_)) => {}
            (again, calm) => assert_eq!(again, calm, "{case:?} under {rule:?}: repeated"),
        }
        if trial.first == Err(Code::Retry) {
            assert!(trial.struck > 0, "{case:?} under {rule:?}: retry, and nothing had failed");
        } else {
            assert_eq!(trial.first, trial.again, "{case:?} under {rule:?}: the first answer and its repetition");
        }
        trial
    }
}

/// A rule that strikes the call after so many, in the operation that the fault can happen to.
fn rule(fault: Fault, skip: u32, times: u32) -> Rule {
    let operation = (fault == Fault::Conflict).then(|| "TransactWriteItems".to_owned());
    Rule { operation, skip, times, ..Rule::new(RULE, fault) }
}

/// From the n-th call on nothing goes through any more, for each n; then it does again.
async fn everything_fails_from_a_call_on(case: Case) {
    let stage = Stage::new(case, 1).await;
    let mut retries = 0;
    for fault in [Fault::Throttle, Fault::Lose, Fault::Conflict] {
        for skip in 0..stage.calls {
            let trial = stage.as_ever(rule(fault, skip, MATCHES - stage.calls)).await;
            retries += u32::from(trial.first == Err(Code::Retry));
            if trial.struck == 0 {
                // There are no more such calls.
                break;
            }
        }
    }
    assert_eq!(retries > 0, case.asks(), "{case:?}: was anything ever refused?");
}

/// Each call fails once, in every way, with clients that do not try again: only the store's own attempts are left.
async fn each_call_fails_once(case: Case) {
    let stage = Stage::new(case, 1).await;
    for fault in [Fault::Fail, Fault::Lose, Fault::Conflict] {
        for skip in 0..stage.calls {
            if stage.as_ever(rule(fault, skip, 1)).await.struck == 0 {
                break;
            }
        }
    }
}

/// The same with the client's own tries, as functions have them: nobody sees anything.
async fn one_fault_is_never_seen(case: Case) {
    let stage = Stage::new(case, 3).await;
    for fault in FAULTS {
        for skip in 0..stage.calls {
            let rule = rule(fault, skip, 1);
            let trial = stage.as_ever(rule.clone()).await;
            assert_ne!(trial.first, Err(Code::Retry), "{case:?} under {rule:?}");
            if fault == Fault::Conflict && trial.struck == 0 {
                break;
            }
            assert_eq!(trial.struck, 1, "{case:?} under {rule:?}");
        }
    }
}

macro_rules! cases {
    ($($name:ident: $case:ident,)*) => {
        mod fails_for_good {
            $(#[tokio::test] async fn $name() { super::everything_fails_from_a_call_on(super::Case::$case).await; })*
        }
        mod fails_once {
            $(#[tokio::test] async fn $name() { super::each_call_fails_once(super::Case::$case).await; })*
        }
        mod fails_unseen {
            $(#[tokio::test] async fn $name() { super::one_fault_is_never_seen(super::Case::$case).await; })*
        }
        const CASES: &[Case] = &[$(Case::$case,)*];
    };
}

cases! {
    import: Import,
    publish: Publish,
    start: Start,
    claim: Claim,
    renew: Renew,
    upload: Upload,
    submit: Submit,
    submit_with_a_file: SubmitFile,
    submit_what_is_not_accepted: SubmitRefused,
    escalate: Escalate,
    approve: Approve,
    reject: Reject,
    cancel: Cancel,
    send_event: SendEvent,
    send_an_event_that_is_held: HoldEvent,
    fire_a_timer: Fire,
    read_a_run: GetRun,
    read_work_of_an_agent: AgentWork,
    read_work_of_a_person: PersonWork,
    list_runs: ListRuns,
    list_processes: ListProcesses,
    read_a_process: GetProcess,
    describe: Describe,
    publish_a_provider: PublishProvider,
    publish_a_process_with_a_graph: PublishGuided,
    claim_a_step_with_a_graph: ClaimGuided,
    submit_what_a_graph_allows: SubmitGuided,
    list_providers: ListProviders,
    evaluate_a_graph: EvaluateGraph,
    read_a_route: GetRoute,
    locate_a_resource: LocateResource,
    start_a_graph_run: StartGraphRun,
    record_an_outcome: RecordOutcome,
    set_facts: SetFacts,
    set_authorities: SetAuthorities,
    read_a_graph_run: GetGraphRun,
    checkpoint_a_graph_run: CheckpointGraphRun,
    resume_a_graph_run: ResumeGraphRun,
}

#[tokio::test]
async fn every_tool_has_a_case() {
    let mut tools = Vec::new();
    for case in CASES {
        tools.push(case.prepare(&mut Desk::new(World::new(1).await, Asked::default())).await.tool);
    }
    for tool in Desk::new(World::new(1).await, Asked::default()).listed() {
        assert!(tools.contains(&tool), "{tool} has no case");
    }
}
