//! Functions that end in the middle of a call, as if killed.

use serde_json::{Value, json};

use crate::harness::{Answer, Ended, Fault, Org, Who, beside, eventually, fresh, in_seconds, strike, submission};

const SIGNED: &str = "
inputs: { when: datetime }
steps:
  - { id: draft, agent: Draft it. }
  - { id: sign, approve: Sign it?, person: boss, on_reject: draft }
  - { id: pause, wait_until: inputs.when }
  - { id: end, finish: sent }
";

/// How long a pause lasts from a run's start, in seconds.
const PAUSE_SECONDS: u64 = 12;

/// The timer is set and the write is not made: the call that is repeated makes it, and it goes on by that timer, once.
/// `fault` makes the fault from the run's id and the request's.
async fn ends_between_schedule_and_commit(fault: impl Fn(&str, &str) -> Fault) {
    let org = Org::new("kill");
    let run = org.run("letter", SIGNED, json!({ "when": in_seconds(PAUSE_SECONDS) })).await;
    org.work(&run, "draft").await;
    let (mut arguments, request) = (org.decision(&run, "approved").await, fresh());
    arguments["requestId"] = json!(request);
    let struck = strike(fault(&run, &request));
    let ended = org.exact(Who::Olga, "decide", &arguments).await;
    assert!(matches!(ended, Ended::Lost(_)), "{ended:?}");
    assert_eq!(struck.times(), 1);
    drop(struck);
    assert_eq!(org.journal(&run).await, ["start_run", "submit"], "nothing was written");
    assert_eq!(org.aws.schedules(&run).await.len(), 1, "the timer was there before the write");
    let ended = org.patient(Who::Olga, "decide", &arguments).await;
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    let journal =
        eventually("the timer fires", async || Some(org.journal(&run).await).filter(|journal| journal.len() > 3)).await;
    assert_eq!(journal, ["start_run", "submit", "decide", "timer"]);
    assert_eq!(org.states(&run).await, "ended/sent draft=done sign=done pause=done end=done");
    eventually("what fired is gone", async || org.aws.schedules(&run).await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn after_the_schedule_was_made() {
    let _beside = beside().await;
    ends_between_schedule_and_commit(|run, _| Fault::of("abortAfter", "scheduler", "CreateSchedule", run)).await;
}

#[tokio::test]
async fn before_the_transaction() {
    let _beside = beside().await;
    // By the request: a sweep that files the run's notices names the run as well.
    ends_between_schedule_and_commit(|_, request| Fault::of("abortBefore", "dynamodb", "TransactWriteItems", request))
        .await;
}

/// Makes a call that is written and never answered, and gives the answer that its repetition has.
async fn killed(org: &Org, who: Who, tool: &'static str, mut arguments: Value) -> Value {
    let request = fresh();
    arguments["requestId"] = json!(request);
    let struck = strike(Fault::of("abortAfter", "dynamodb", "TransactWriteItems", &request));
    let ended = org.exact(who, tool, &arguments).await;
    assert!(matches!(ended, Ended::Lost(_)), "{tool}: {ended:?}");
    assert_eq!(struck.times(), 1, "{tool}");
    drop(struck);
    let answer = Answer { who, tool, arguments, ended };
    let Ended::Done(first) = org.patient(who, tool, &answer.arguments).await else { panic!("{answer:?}") };
    assert_eq!(org.again(&answer).await, Ended::Done(first.clone()), "{tool}: repeated once more");
    first
}

const ALL: &str = "
steps:
  - { id: draft, agent: Draft it., evidence: [file] }
  - { id: sign, approve: Sign it?, person: boss, on_reject: draft }
  - { id: posted, wait_for: posted }
  - { id: file, agent: File it. }
  - { id: end, finish: sent }
";

#[tokio::test]
async fn between_commit_and_reply_of_every_write() {
    let _beside = beside().await;
    let (org, agent) = (Org::new("kill"), Who::Agent(0));
    let source = format!("---\nname: letter\ndescription: A letter.\n{}\n---\n\nLetters.\n", ALL.trim());
    killed(&org, Who::Olga, "import_process", json!({ "source": source })).await;
    let published = json!({ "name": "letter", "roles": { "boss": "staff" } });
    assert_eq!(killed(&org, Who::Olga, "publish_process", published).await["version"], 1);
    let started = killed(&org, agent, "start_run", json!({ "process": "letter", "inputs": {} })).await;
    let run = started["run"]["id"].as_str().unwrap();
    let listed = org.ok(agent, "list_runs", json!({})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "one start is one run");
    let claimed = killed(&org, agent, "claim", json!({ "runId": run, "stepId": "draft" })).await;
    let renewed = killed(&org, agent, "renew", json!({ "token": claimed["token"], "progress": "Half." })).await;
    let file = json!({ "fileName": "a.txt", "contentType": "text/plain", "contentBase64": "aGVsbG8=" });
    let stored = killed(&org, agent, "upload", file).await;
    let mut submit = submission(&renewed["token"]);
    submit["evidence"] = json!([{ "kind": "file", "ref": stored["id"] }]);
    killed(&org, agent, "submit", submit).await;
    let approved = org.decision(run, "approved").await;
    killed(&org, Who::Olga, "decide", approved).await;
    let sent = killed(&org, agent, "send_event", json!({ "runId": run, "name": "posted" })).await;
    assert_eq!(sent["consumedBy"], "posted");
    let token = org.claim(run, "file").await;
    killed(&org, agent, "escalate", json!({ "token": token, "note": "No cabinet." })).await;
    killed(&org, Who::Olga, "cancel", json!({ "runId": run, "reason": "Moved." })).await;
    let expected = ["start_run", "submit", "decide", "send_event", "escalate", "cancel"];
    assert_eq!(org.journal(run).await, expected, "each once");
    let view = org.view(run).await;
    assert_eq!(view["data"]["steps"]["draft"]["evidence"].as_array().unwrap().len(), 1);
    assert_eq!(view["run"]["state"], "cancelled");
}

const PAUSE: &str = "
inputs: { when: datetime }
steps:
  - { id: pause, wait_until: inputs.when }
  - { id: look, task: Look., person: boss }
  - { id: end, finish: over }
";

/// The timer's function ends at its write; whoever calls it next, it goes on once.
async fn a_timer_ends(fault: &str) {
    let org = Org::new("kill");
    let run = org.run("pauses", PAUSE, json!({ "when": in_seconds(3) })).await;
    let struck = strike(Fault::of(fault, "dynamodb", "TransactWriteItems", &run));
    let event = json!({ "org": org.name, "run": run, "timer": "wait/pause/1" });
    let journal = eventually("the timer has run", async || {
        org.aws.timer(&event).await;
        Some(org.journal(&run).await).filter(|journal| journal.len() > 1)
    })
    .await;
    assert_eq!((journal, struck.times()), (vec!["start_run".to_owned(), "timer".to_owned()], 1));
    for _ in 0..3 {
        assert_eq!(org.aws.timer(&event).await.error, None);
    }
    assert_eq!(org.journal(&run).await, ["start_run", "timer"]);
    assert_eq!(org.listed().await, 1, "one piece of work");
}

#[tokio::test]
async fn a_timer_before_its_transaction() {
    let _beside = beside().await;
    a_timer_ends("abortBefore").await;
}

#[tokio::test]
async fn a_timer_after_its_transaction() {
    let _beside = beside().await;
    a_timer_ends("abortAfter").await;
}
