//! People are told by events of the bus, as docs/events.md says, whatever happens on the way.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Fault, Org, Who, beside, eventually, fresh, pass, stack, strike};

/// A process that tells of everything there is to tell of; the approval is due so soon.
fn review(due: &str) -> String {
    format!(
        "
steps:
  - {{ id: collect, agent: Collect. }}
  - {{ id: approve, approve: Approve it?, person: boss, on_reject: collect, due: {due} }}
  - {{ id: end, finish: over }}
"
    )
}

/// A queue that gets what the bus carries for this organization.
async fn listening(org: &Org) -> String {
    let name = format!("hosted-{}", fresh());
    let queue = org.aws.call("sqs", "AmazonSQS.CreateQueue", json!({ "QueueName": name })).await;
    let url = queue["QueueUrl"].as_str().unwrap().to_owned();
    let ask = json!({ "QueueUrl": url, "AttributeNames": ["QueueArn"] });
    let arn = org.aws.call("sqs", "AmazonSQS.GetQueueAttributes", ask).await["Attributes"]["QueueArn"].clone();
    let pattern = json!({ "source": ["procession"], "detail": { "org": [org.name] } });
    let rule = json!({ "Name": name, "EventBusName": stack().bus, "EventPattern": pattern.to_string() });
    org.aws.call("events", "AWSEvents.PutRule", rule).await;
    let target = json!({ "Rule": name, "EventBusName": stack().bus, "Targets": [{ "Id": "queue", "Arn": arn }] });
    org.aws.call("events", "AWSEvents.PutTargets", target).await;
    url
}

/// What has come, once there is so much of it that is different: by its id, and each as often as it came.
async fn heard(org: &Org, queue: &str, different: usize) -> BTreeMap<String, Vec<Value>> {
    let mut events: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for round in 0..20 {
        org.aws.sweep().await;
        for event in org.aws.receive(queue).await {
            events.entry(event["detail"]["id"].as_str().unwrap().to_owned()).or_default().push(event);
        }
        // One more round, in which nothing else must come.
        if events.len() >= different && round > 0 {
            break;
        }
        pass(1_000).await;
    }
    assert_eq!(events.len(), different, "{events:#?}");
    events
}

/// Makes a run that tells of an escalation and of new work, and of a step that is overdue when its time is over. Gives its
/// id.
async fn telling(org: &Org, mode: &str) -> String {
    let run = org.start("review", json!({}), mode).await;
    let token = org.claim(&run, "collect").await;
    org.ok(Who::Agent(0), "escalate", json!({ "token": token, "note": "a secret reason" })).await;
    let completed = org.decision(&run, "completed").await;
    org.ok(Who::Olga, "decide", completed).await;
    run
}

/// The examples of the page, by their type.
fn documented() -> BTreeMap<String, Value> {
    let page = include_str!("../../docs/events.md");
    let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    let examples = blocks.map(|block| serde_json::from_str::<Value>(block).unwrap());
    examples.map(|example| (example["detail-type"].as_str().unwrap().to_owned(), example)).collect()
}

/// The form of a value: its keys, and of everything else what kind of thing it is.
fn form(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), form(value))).collect(),
        Value::String(text) if run::Time::parse(text).is_some() => json!("a time"),
        Value::String(_) => json!("a text"),
        Value::Number(_) => json!("a number"),
        other => other.clone(),
    }
}

#[tokio::test]
async fn what_is_told_is_as_documented_and_a_test_run_tells_nothing() {
    let _beside = beside().await;
    let org = Org::new("tell");
    let queue = listening(&org).await;
    org.publish("review", &review("1m")).await;
    let test = telling(&org, "test").await;
    let live = telling(&org, "live").await;
    for run in [&test, &live] {
        let journal = eventually("it is overdue", async || Some(org.journal(run).await).filter(|j| j.len() > 3)).await;
        assert_eq!(journal, ["start_run", "escalate", "decide", "timer"]);
    }
    let events = heard(&org, &queue, 3).await;
    let documented = documented();
    assert_eq!(documented.len(), 3);
    let mut types = Vec::new();
    for (id, copies) in &events {
        let event = &copies[0];
        assert!(copies.iter().all(|copy| copy["detail"] == event["detail"]), "{copies:#?}");
        let kind = event["detail-type"].as_str().unwrap();
        types.push(kind.to_owned());
        let detail = &event["detail"];
        assert_eq!(event["source"], "procession");
        let mut example = documented[kind]["detail"].clone();
        // Whoever has it: a group here, where the example may have a person.
        example["assigned"] = json!({ "group": "staff" });
        assert_eq!(form(detail), form(&example), "{kind}");
        assert_eq!(detail["run"], live.as_str());
        assert_ne!(detail["run"], test.as_str());
        assert_eq!((&detail["org"], &detail["process"]), (&json!(org.name), &json!("review")));
        assert!(id.starts_with(&format!("{live}/{}/", detail["rev"])), "{id}");
        assert!(!event.to_string().contains("a secret reason"), "{event}");
    }
    types.sort_unstable();
    assert_eq!(types, ["Step overdue", "Work assigned", "Work escalated"]);
}

#[tokio::test]
async fn a_sweep_that_ends_between_telling_and_filing_tells_again() {
    let _beside = beside().await;
    let org = Org::new("tell");
    let queue = listening(&org).await;
    org.publish("review", &review("0m")).await;
    let filing = format!("notices/{}", org.name);
    let struck = strike(Fault::of("abortBefore", "dynamodb", "TransactWriteItems", &filing));
    let live = telling(&org, "live").await;
    let events = heard(&org, &queue, 3).await;
    assert_eq!(struck.times(), 1);
    let copies: usize = events.values().map(Vec::len).sum();
    assert!(copies > 3, "something was told twice: {events:#?}");
    for copies in events.values() {
        assert!(copies.iter().all(|copy| copy["detail"] == copies[0]["detail"]), "{copies:#?}");
    }
    let filed = org.aws.partition(&filing).await;
    assert_eq!(filed.len(), 2, "the notices of each write are filed once: {filed:#?}");
    assert_eq!(org.journal(&live).await, ["start_run", "escalate", "decide"]);
}

#[tokio::test]
async fn a_bus_that_does_not_take_them_gets_them_later() {
    let _beside = beside().await;
    let org = Org::new("tell");
    let queue = listening(&org).await;
    org.publish("review", &review("0m")).await;
    let struck = strike(Fault::of("fail", "events", "PutEvents", &org.name).always());
    telling(&org, "live").await;
    // A fault of another test may end a sweep before it comes to these.
    eventually("a sweep comes to them", async || {
        let swept = org.aws.timer(&json!({ "sweep": true })).await;
        assert!(swept.error.is_some(), "what could not be told is an error: {swept:?}");
        (struck.times() > 0).then_some(())
    })
    .await;
    assert_eq!(org.aws.receive(&queue).await, Vec::<Value>::new());
    drop(struck);
    heard(&org, &queue, 3).await;
}
