//! Many callers at once: one wins, and the others learn the truth.

use futures::future::join_all;
use serde_json::json;

use crate::harness::{Ended, Fault, Org, Who, beside, fresh, strike, submission};

/// Callers at once: more than the functions that are warm, fewer than may run.
const CALLERS: usize = 24;

const WORK: &str = "
steps:
  - { id: work, agent: Work. }
  - { id: sign, approve: Sign., person: boss, on_reject: work }
  - { id: end, finish: over }
";

/// Many agents claim one step.
async fn one_agent_wins(org: &Org, run: &str) {
    org.invite(CALLERS);
    let claims = (0..CALLERS).map(async |n| {
        let call = json!({ "runId": run, "stepId": "work", "requestId": fresh() });
        org.patient(Who::Agent(n), "claim", &call).await
    });
    let ended = join_all(claims).await;
    let won: Vec<usize> = (0..CALLERS).filter(|n| matches!(ended[*n], Ended::Done(_))).collect();
    assert_eq!(won.len(), 1, "{ended:?}");
    let taken = Ended::Refused("conflict".into(), vec!["claimed_by_other".into()]);
    assert_eq!(ended.iter().filter(|ended| **ended == taken).count(), CALLERS - 1, "{ended:?}");
    let Ended::Done(claimed) = &ended[won[0]] else { panic!("{ended:?}") };
    org.ok(Who::Agent(won[0]), "submit", submission(&claimed["token"])).await;
    assert_eq!(org.journal(run).await, ["start_run", "submit"]);
}

#[tokio::test]
async fn of_many_agents_one_wins_the_step() {
    let _beside = beside().await;
    let org = Org::new("race");
    let run = org.run("race", WORK, json!({})).await;
    one_agent_wins(&org, &run).await;
}

#[tokio::test]
async fn the_same_while_the_table_reports_conflicts() {
    let _beside = beside().await;
    let org = Org::new("race");
    let run = org.run("race", WORK, json!({})).await;
    let struck = strike(Fault::of("conflict", "dynamodb", "TransactWriteItems", &run).times(30));
    one_agent_wins(&org, &run).await;
    assert!(struck.times() > 0);
}

#[tokio::test]
async fn one_request_from_many_places_happens_once() {
    let _beside = beside().await;
    let org = Org::new("race");
    let run = org.run("race", WORK, json!({})).await;
    org.work(&run, "work").await;
    let mut approved = org.decision(&run, "approved").await;
    approved["requestId"] = json!(fresh());
    let ended = join_all((0..CALLERS).map(|_| org.patient(Who::Olga, "decide", &approved))).await;
    assert!(matches!(ended[0], Ended::Done(_)), "{:?}", ended[0]);
    assert!(ended.iter().all(|other| *other == ended[0]), "{ended:?}");
    assert_eq!(org.journal(&run).await, ["start_run", "submit", "decide"]);
}

#[tokio::test]
async fn writes_that_do_not_exclude_each_other_all_happen() {
    let _beside = beside().await;
    let (org, count) = (Org::new("race"), 8);
    let waits: String = (0..count).map(|n| format!("  - {{ id: heard{n}, wait_for: signal }}\n")).collect();
    let rest = format!("steps:\n  - {{ id: work, agent: Work. }}\n{waits}  - {{ id: end, finish: over }}\n");
    let run = org.run("hears", &rest, json!({})).await;
    let sends = (0..count).map(async |n| {
        let call = json!({ "runId": run, "name": "signal", "data": { "n": n }, "requestId": fresh() });
        org.patient(Who::Agent(0), "send_event", &call).await
    });
    let held = Ended::Done(json!({ "consumedBy": null }));
    assert_eq!(join_all(sends).await, vec![held; count]);
    org.work(&run, "work").await;
    let view = org.view(&run).await;
    let heard = |n| view["data"]["steps"][format!("heard{n}")]["output"]["n"].as_u64().unwrap();
    let mut all: Vec<u64> = (0..count).map(heard).collect();
    all.sort_unstable();
    assert_eq!(all, (0..u64::try_from(count).unwrap()).collect::<Vec<_>>());
    let journal = org.journal(&run).await;
    assert_eq!(journal.iter().filter(|tool| *tool == "send_event").count(), count);
    assert_eq!(journal.len(), count + 2);
}
