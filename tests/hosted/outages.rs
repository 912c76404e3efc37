//! Services of AWS that throttle, fail, break off and lose answers: for a moment nobody sees it; for longer the answer is
//! `retry`, nothing is half done, and the same call succeeds afterwards.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use store::keys;

use crate::harness::{Ended, Fault, Org, Who, beside, fresh, in_seconds, strike, submission};

const WORK: &str = "
inputs: { when: datetime }
steps:
  - { id: work, agent: Work., evidence: [file] }
  - { id: sign, approve: Sign., person: boss, on_reject: work }
  - { id: pause, wait_until: inputs.when }
  - { id: end, finish: over }
";

/// The function has this long; later its caller would hear nothing.
const MCP_SECONDS: u64 = 30;

fn retry() -> Ended {
    Ended::Refused("retry".into(), Vec::new())
}

/// Calls while a fault strikes all, and again when it is over.
async fn out(org: &Org, who: Who, tool: &'static str, arguments: serde_json::Value, fault: Fault) -> serde_json::Value {
    let struck = strike(fault);
    let begin = Instant::now();
    let answer = org.once(who, tool, arguments).await;
    assert_eq!(answer.ended, retry(), "{tool}");
    assert!(begin.elapsed() < Duration::from_secs(MCP_SECONDS), "{tool}: {:?}", begin.elapsed());
    assert!(struck.times() > 1, "{tool}: it was tried again");
    drop(struck);
    match org.again(&answer).await {
        Ended::Done(data) => data,
        other => panic!("{tool}, when it is over: {other:?}"),
    }
}

#[tokio::test]
async fn the_table_is_away_for_a_moment() {
    let _beside = beside().await;
    let org = Org::new("out");
    org.publish("works", WORK).await;
    let codes = ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"];
    let mut faults: Vec<Fault> = Vec::new();
    for operation in ["TransactWriteItems", "GetItem", "Query"] {
        let of = |fault| Fault::of(fault, "dynamodb", operation, "");
        faults.extend(codes.map(|code| of("throttle").code(code)));
        faults.extend([of("fail"), of("close"), of("lose")]);
    }
    faults.push(Fault::of("conflict", "dynamodb", "TransactWriteItems", ""));
    let runs = join_all(faults.iter().map(|_| org.start("works", json!({ "when": in_seconds(3_600) }), "live"))).await;
    let calls = faults.into_iter().zip(&runs).map(async |(fault, run)| {
        let (request, shown) = (fresh(), format!("{fault:?}"));
        // A read of the request's record is known by the request, the others by the run.
        let text = if shown.contains("GetItem") { &request } else { run };
        let struck = strike(fault.and(text));
        let arguments = json!({ "runId": run, "stepId": "work", "requestId": request });
        let ended = org.exact(Who::Agent(0), "claim", &arguments).await;
        let Ended::Done(claimed) = &ended else { panic!("{shown}: {ended:?}") };
        assert_eq!(struck.times(), 1, "{shown}");
        drop(struck);
        assert_eq!(org.exact(Who::Agent(0), "claim", &arguments).await, ended, "{shown}");
        claimed["token"].clone()
    });
    assert_eq!(join_all(calls).await.len(), 19);
    for run in &runs {
        assert_eq!(org.journal(run).await, ["start_run"]);
        let view = org.view(run).await;
        assert_eq!(view["steps"][0]["state"], "claimed");
    }
}

#[tokio::test]
async fn the_table_takes_no_writes() {
    let _beside = beside().await;
    let org = Org::new("out");
    org.publish("works", WORK).await;
    let calls = ["throttle", "fail", "close"].map(|fault| {
        let org = &org;
        async move {
            let run = org.start("works", json!({ "when": in_seconds(3_600) }), "live").await;
            let fault = Fault::of(fault, "dynamodb", "TransactWriteItems", &run).always();
            let claim = json!({ "runId": run, "stepId": "work" });
            let claimed = out(org, Who::Agent(0), "claim", claim, fault).await;
            let renew = json!({ "token": claimed["token"], "progress": "Half." });
            org.ok(Who::Agent(0), "renew", renew).await;
            assert_eq!(org.journal(&run).await, ["start_run"]);
        }
    });
    join_all(calls).await;
}

#[tokio::test]
async fn the_table_loses_every_answer() {
    let _beside = beside().await;
    let org = Org::new("out");
    let run = org.run("works", WORK, json!({ "when": in_seconds(3_600) })).await;
    let struck = strike(Fault::of("lose", "dynamodb", "TransactWriteItems", &run).always());
    // It is written the first time, and found written after that: no reason to send the caller away.
    let answer = org.once(Who::Agent(0), "claim", json!({ "runId": run, "stepId": "work" })).await;
    let Ended::Done(_) = &answer.ended else { panic!("{answer:?}") };
    assert!(struck.times() > 0);
    drop(struck);
    assert_eq!(org.again(&answer).await, answer.ended);
}

#[tokio::test]
async fn the_table_gives_nothing_to_read() {
    let _beside = beside().await;
    let org = Org::new("out");
    let run = org.run("works", WORK, json!({ "when": in_seconds(3_600) })).await;
    let partition = keys::run(&org.name, &run);
    let away = || Fault::of("throttle", "dynamodb", "Query", &partition).always();
    let view = out(&org, Who::Agent(0), "get_run", json!({ "runId": run }), away()).await;
    assert_eq!(view["run"]["id"], run.as_str());
    out(&org, Who::Agent(0), "claim", json!({ "runId": run, "stepId": "work" }), away()).await;
    assert_eq!(org.journal(&run).await, ["start_run"]);
}

#[tokio::test]
async fn the_bucket_is_away() {
    let _beside = beside().await;
    let org = Org::new("out");
    let run = org.run("works", WORK, json!({ "when": in_seconds(3_600) })).await;
    let file = || json!({ "fileName": "a.txt", "contentType": "text/plain", "contentBase64": "aGVsbG8=" });
    let object = keys::object(&org.name, "");
    // For a moment.
    for fault in ["throttle", "fail", "close", "lose"] {
        let struck = strike(Fault::of(fault, "s3", "PutObject", &object));
        org.ok(Who::Agent(0), "upload", file()).await;
        assert_eq!(struck.times(), 1, "{fault}");
    }
    // For longer.
    let put = Fault::of("throttle", "s3", "PutObject", &object).always();
    let stored = out(&org, Who::Agent(0), "upload", file(), put).await;
    let mut submit = submission(&org.claim(&run, "work").await);
    submit["evidence"] = json!([{ "kind": "file", "ref": stored["id"] }]);
    let get =
        Fault::of("throttle", "s3", "GetObject", &keys::object(&org.name, stored["id"].as_str().unwrap())).always();
    out(&org, Who::Agent(0), "submit", submit, get).await;
    assert_eq!(org.journal(&run).await, ["start_run", "submit"]);
    let evidence = &org.view(&run).await["data"]["steps"]["work"]["evidence"];
    assert_eq!(evidence[0]["sha256"], stored["sha256"]);
}

#[tokio::test]
async fn no_timer_can_be_set() {
    let _beside = beside().await;
    let org = Org::new("out");
    let run = org.run("works", WORK, json!({ "when": in_seconds(3_600) })).await;
    let stored = org
        .ok(
            Who::Agent(0),
            "upload",
            json!({ "fileName": "a.txt", "contentType": "text/plain", "contentBase64": "aGVsbG8=" }),
        )
        .await;
    let mut submit = submission(&org.claim(&run, "work").await);
    submit["evidence"] = json!([{ "kind": "file", "ref": stored["id"] }]);
    org.ok(Who::Agent(0), "submit", submit).await;
    let approved = org.decision(&run, "approved").await;
    let struck = strike(Fault::of("throttle", "scheduler", "CreateSchedule", &run).always());
    let answer = org.once(Who::Olga, "decide", approved).await;
    assert_eq!(answer.ended, retry());
    assert_eq!(org.journal(&run).await, ["start_run", "submit"], "no write without its timer");
    assert!(struck.times() > 1);
    drop(struck);
    let Ended::Done(_) = org.again(&answer).await else { panic!("{answer:?}") };
    assert_eq!(org.journal(&run).await, ["start_run", "submit", "decide"]);
    assert_eq!(org.aws.schedules(&run).await.len(), 1);
    // What is not needed any more and cannot be deleted fires for nothing.
    let struck = strike(Fault::of("fail", "scheduler", "DeleteSchedule", "/schedules/").always());
    org.ok(Who::Olga, "cancel", json!({ "runId": run, "reason": "Moved." })).await;
    assert!(struck.times() > 0);
    drop(struck);
    assert_eq!(org.aws.schedules(&run).await.len(), 1);
    let event = json!({ "org": org.name, "run": run, "timer": "wait/pause/1" });
    assert_eq!(org.aws.timer(&event).await.error, None);
    assert_eq!(org.journal(&run).await, ["start_run", "submit", "decide", "cancel"]);
}
