//! That each fault strikes what its rule names, when it should, and nothing else; seen by the clients of the SDK.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use aws_config::SdkConfig;
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;

use super::*;
use crate::testing::Service;
use crate::why::why;

/// A service, its clients with this many tries, and where their plan is.
struct Desk {
    service: Service,
    config: SdkConfig,
    folder: tempfile::TempDir,
}

impl Desk {
    async fn new(tries: u32) -> Desk {
        let service = Service::by(|asked| match asked.target.as_str() {
            "DynamoDB_20120810.GetItem" => (200, json!({ "Item": { "pk": { "S": "p" } } })),
            _ if asked.path.starts_with("/schedules/") => (200, json!({ "ScheduleArn": "arn" })),
            _ => (200, json!({})),
        });
        let folder = tempfile::tempdir().unwrap();
        let config = service.config(tries).await;
        let http = injected(outbound::client(1_048_576), folder.path().join("plan"));
        let config = config.into_builder().http_client(http).build();
        Desk { service, config, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("plan")
    }

    fn plan(&self, rules: impl IntoIterator<Item = Rule>) {
        Plan { rules: rules.into_iter().collect() }.write(&self.path()).unwrap();
    }

    fn table(&self) -> aws_sdk_dynamodb::Client {
        aws_sdk_dynamodb::Client::new(&self.config)
    }

    /// Reads an item of this key, and says how that ended.
    async fn get(&self, key: &str) -> Result<(), String> {
        let get = self.table().get_item().table_name("t").key("pk", AttributeValue::S(key.to_owned()));
        get.send().await.map(drop).map_err(|error| why(&error))
    }

    /// The calls that were carried out.
    fn carried_out(&self) -> usize {
        self.service.asked().len()
    }
}

fn of(operation: &str, fault: Fault) -> Rule {
    Rule { operation: Some(operation.to_owned()), ..Rule::new("rule", fault) }
}

#[tokio::test]
async fn without_a_plan_and_with_an_empty_one_everything_passes() {
    let desk = Desk::new(1).await;
    assert_eq!(desk.get("a").await, Ok(()));
    desk.plan([]);
    assert_eq!(desk.get("a").await, Ok(()));
    assert_eq!(desk.carried_out(), 2);
}

#[tokio::test]
async fn a_plan_that_cannot_be_read_fails_every_call() {
    let desk = Desk::new(1).await;
    let misspelled = [
        "not json",
        r#"{ "rules": [{ "name": "r", "fault": "explode" }] }"#,
        r#"{ "rules": [{ "name": "r", "fault": "fail", "operations": "GetItem" }] }"#,
        r#"{ "rules": [{ "name": "", "fault": "fail" }] }"#,
        r#"{ "rules": [{ "name": "../r", "fault": "fail" }] }"#,
        r#"{ "rules": [{ "name": "r", "fault": "fail", "times": 2001 }] }"#,
    ];
    for text in misspelled {
        std::fs::write(desk.path(), text).unwrap();
        assert!(desk.get("a").await.is_err(), "{text}");
    }
    assert_eq!(desk.carried_out(), 0);
}

#[tokio::test]
async fn a_rule_strikes_what_it_names_and_as_often_as_it_says() {
    let desk = Desk::new(1).await;
    let rule = Rule {
        service: Some("dynamodb".into()),
        contains: vec!["run/acme".into(), "r_1".into()],
        skip: 1,
        times: 2,
        ..of("GetItem", Fault::Fail)
    };
    desk.plan([rule.clone()]);
    let mut ended = Vec::new();
    for key in ["run/acme/r_2", "run/acme/r_1", "run/other/r_1", "run/acme/r_1", "run/acme/r_1", "run/acme/r_1"] {
        ended.push(desk.get(key).await.is_ok());
    }
    assert_eq!(ended, [true, true, true, false, false, true]);
    assert_eq!(hits(&desk.path(), "rule"), 3);
    assert_eq!(desk.carried_out(), 4);
    // The same rule again is spent; under another name it counts anew, and of another operation or service it is not this.
    desk.plan([rule.clone()]);
    assert_eq!(desk.get("run/acme/r_1").await, Ok(()));
    let anew = |name: &str| Rule { name: name.into(), skip: 0, ..rule.clone() };
    desk.plan([
        Rule { operation: Some("Query".into()), ..anew("query") },
        Rule { service: Some("s3".into()), ..anew("s3") },
        anew("new"),
    ]);
    assert!(desk.get("run/acme/r_1").await.is_err());
    let matched = ["query", "s3", "new"].map(|name| hits(&desk.path(), name));
    assert_eq!(matched, [0, 0, 1]);
}

#[tokio::test]
async fn many_at_once_share_one_count() {
    let desk = Desk::new(1).await;
    desk.plan([Rule { skip: 7, times: 5, ..of("GetItem", Fault::Close) }]);
    let calls = (0..40).map(|_| desk.get("a"));
    let ended = futures::future::join_all(calls).await;
    assert_eq!(ended.iter().filter(|ended| ended.is_err()).count(), 5);
    assert_eq!(desk.carried_out(), 35);
}

#[tokio::test]
async fn each_fault_is_what_a_client_sees_when_it_happens_by_itself() {
    let cases = [
        (Fault::Throttle, Err("answered 400 (ProvisionedThroughputExceededException)".to_owned()), 0),
        (Fault::Conflict, Err("answered 400 (TransactionCanceledException)".to_owned()), 0),
        (Fault::Fail, Err("answered 500 (InternalServerError)".to_owned()), 0),
        (Fault::Close, Err("no connection".to_owned()), 0),
        (Fault::Lose, Err("no connection".to_owned()), 1),
        (Fault::Delay, Ok(()), 1),
    ];
    for (fault, expected, carried_out) in cases {
        let desk = Desk::new(1).await;
        desk.plan([Rule { millis: 150, ..of("GetItem", fault) }]);
        let begin = Instant::now();
        assert_eq!(desk.get("a").await, expected, "{fault:?}");
        assert_eq!(desk.carried_out(), carried_out, "{fault:?}");
        assert_eq!(begin.elapsed().as_millis() >= 150, fault == Fault::Delay, "{fault:?}");
    }
}

#[tokio::test]
async fn every_fault_that_passes_is_tried_again_by_the_client_itself() {
    for fault in [Fault::Throttle, Fault::Fail, Fault::Close, Fault::Lose] {
        let desk = Desk::new(2).await;
        desk.plan([of("GetItem", fault)]);
        assert_eq!(desk.get("a").await, Ok(()), "{fault:?}");
        let calls = if fault == Fault::Lose { 2 } else { 1 };
        assert_eq!((desk.carried_out(), hits(&desk.path(), "rule")), (calls, 1), "{fault:?}");
    }
}

#[tokio::test]
async fn a_conflict_has_its_reasons() {
    let desk = Desk::new(3).await;
    desk.plan([of("TransactWriteItems", Fault::Conflict)]);
    let sent = desk.table().transact_write_items().set_transact_items(Some(Vec::new())).send().await;
    let error = sent.expect_err("refused").into_service_error();
    let aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError::TransactionCanceledException(
        cancelled,
    ) = error
    else {
        panic!("{error}")
    };
    let codes: Vec<_> = cancelled.cancellation_reasons().iter().map(|reason| reason.code()).collect();
    assert_eq!(codes, [Some("TransactionConflict")]);
    assert_eq!(desk.carried_out(), 0, "it is no fault that passes by repeating the same");
}

#[tokio::test]
async fn every_service_has_its_operations_and_its_words_for_too_many() {
    let desk = Desk::new(1).await;
    let strikes = |service: &str, operation: &str, contains: &str| Rule {
        service: Some(service.to_owned()),
        operation: Some(operation.to_owned()),
        contains: vec![contains.to_owned()],
        ..Rule::new(operation, Fault::Throttle)
    };
    desk.plan([
        strikes("s3", "PutObject", "/bucket/key"),
        strikes("s3", "GetObject", "/bucket/key"),
        strikes("scheduler", "DeleteSchedule", "/schedules/p-1"),
        strikes("secretsmanager", "GetSecretValue", "claims"),
        strikes("events", "PutEvents", "Entries"),
    ]);
    let s3 = crate::clients::s3(&desk.config);
    let put = s3.put_object().bucket("bucket").key("key").body(b"bytes".to_vec().into()).send().await;
    let put = put.expect_err("struck");
    assert_eq!((put.code(), put.raw_response().map(|r| r.status().as_u16())), (Some("SlowDown"), Some(503)));
    let get = s3.get_object().bucket("bucket").key("key").send().await.expect_err("struck");
    assert_eq!(get.code(), Some("SlowDown"));
    let schedules = aws_sdk_scheduler::Client::new(&desk.config);
    let delete = schedules.delete_schedule().name("p-1").group_name("g").send().await.expect_err("struck");
    let status = delete.raw_response().map(|r| r.status().as_u16());
    assert_eq!((delete.code(), status), (Some("ThrottlingException"), Some(429)));
    let secrets = aws_sdk_secretsmanager::Client::new(&desk.config);
    let secret = secrets.get_secret_value().secret_id("claims").send().await.expect_err("struck");
    assert_eq!(secret.code(), Some("ThrottlingException"));
    let entry = aws_sdk_eventbridge::types::PutEventsRequestEntry::builder().source("s").build();
    let events = aws_sdk_eventbridge::Client::new(&desk.config).put_events().entries(entry).send().await;
    assert_eq!(events.expect_err("struck").code(), Some("ThrottlingException"));
    assert_eq!(desk.carried_out(), 0);
    let own = Rule { code: Some("ThrottlingException".into()), ..of("GetItem", Fault::Throttle) };
    desk.plan([own]);
    assert_eq!(desk.get("a").await, Err("answered 400 (ThrottlingException)".to_owned()));
}

/// Tells a process that it is the one that is to end, and where.
const ENDS: &str = "PROCESSION_TEST_ENDS";

/// Calls a service once, in a process of its own that a fault may end.
#[tokio::test]
async fn a_process_that_may_end() {
    let Ok(endpoint) = std::env::var(ENDS) else { return };
    let client = of_environment(outbound::client(1_048_576));
    let config = Service::answering([]).config(1).await.into_builder().http_client(client).endpoint_url(endpoint);
    let get = aws_sdk_dynamodb::Client::new(&config.build()).get_item();
    get.table_name("t").key("pk", AttributeValue::S("a".into())).send().await.unwrap();
}

#[tokio::test]
async fn a_process_ends_before_or_after_its_call_and_the_next_one_does_not() {
    for (fault, carried_out) in [(Fault::AbortBefore, [0, 1]), (Fault::AbortAfter, [1, 2])] {
        let desk = Desk::new(1).await;
        desk.plan([of("GetItem", fault)]);
        let endpoint = desk.config.endpoint_url().unwrap().to_owned();
        for (round, carried_out) in carried_out.into_iter().enumerate() {
            let (endpoint, plan) = (endpoint.clone(), desk.path());
            let ended = tokio::task::spawn_blocking(move || ends(&endpoint, &plan)).await.unwrap();
            assert_eq!((ended, desk.carried_out()), (round > 0, carried_out), "{fault:?}, process {round}");
        }
    }
}

/// Whether a process that calls the service comes to its own end.
fn ends(endpoint: &str, plan: &Path) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "faults::tests::a_process_that_may_end"]).env(ENDS, endpoint).env(VARIABLE, plan);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("running 1 test"), "{text}");
    output.status.success()
}
