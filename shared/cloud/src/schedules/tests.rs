//! Names, times, and what Scheduler is asked, spoken to over HTTP.

use std::collections::BTreeSet;

use aws_sdk_scheduler::Client;
use axum::http::Method;
use store::SystemClock;

use super::*;
use crate::testing::{Service, error};

fn alarm(at: Time, timer: &str) -> Alarm {
    Alarm { at, org: "acme".into(), run: "r_1".into(), timer: timer.into() }
}

fn time(text: &str) -> Time {
    Time::parse(text).unwrap()
}

const FAR: &str = "2099-01-02T03:04:05.000Z";

async fn schedules(service: &Service, tries: u32) -> Schedules {
    let setup = Setup {
        group: "procession".into(),
        role: "arn:aws:iam::1:role/schedules".into(),
        timer: "arn:aws:lambda:eu-central-1:1:function:timer".into(),
        dead_letters: "arn:aws:sqs:eu-central-1:1:dead".into(),
    };
    Schedules::new(Client::new(&service.config(tries).await), setup, Arc::new(SystemClock))
}

#[test]
fn a_name_is_one_that_scheduler_takes_and_no_two_alarms_share_it() {
    let at = time(FAR);
    let base = alarm(at, "due/check/1");
    let others = [
        Alarm { org: "acmer".into(), run: "_1".into(), ..base.clone() },
        Alarm { org: "other".into(), ..base.clone() },
        Alarm { run: "r_2".into(), ..base.clone() },
        Alarm { timer: "due/check/2".into(), ..base.clone() },
        Alarm { timer: "wait/check/1".into(), ..base.clone() },
        Alarm { at: at.plus_seconds(1), ..base.clone() },
        Alarm { org: "ä/ 😀".repeat(100), ..base.clone() },
    ];
    let names: BTreeSet<String> = others.iter().chain([&base]).map(name).collect();
    assert_eq!(names.len(), others.len() + 1);
    for name in &names {
        assert_eq!(name.len(), 42, "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{name}");
    }
    assert_eq!(name(&base), name(&base.clone()), "the same again");
}

#[test]
fn a_schedule_fires_on_the_next_whole_second_and_never_in_the_past() {
    let now = "2026-03-02T08:00:00.250Z";
    for (at, expected) in [
        ("2026-03-02T09:00:00.000Z", "at(2026-03-02T09:00:00)"),
        ("2026-03-02T09:00:00.001Z", "at(2026-03-02T09:00:01)"),
        ("2026-03-02T09:00:00.999Z", "at(2026-03-02T09:00:01)"),
        ("2026-12-31T23:59:59.500Z", "at(2027-01-01T00:00:00)"),
        // Now, past, and sooner than a call takes.
        (now, "at(2026-03-02T08:00:06)"),
        ("2026-03-02T07:00:00.000Z", "at(2026-03-02T08:00:06)"),
        ("1970-01-01T00:00:00.000Z", "at(2026-03-02T08:00:06)"),
        ("2026-03-02T08:00:02.000Z", "at(2026-03-02T08:00:06)"),
        // The end of time.
        ("9999-12-31T23:59:59.000Z", "at(9999-12-31T23:59:59)"),
        ("9999-12-31T23:59:59.999Z", "at(9999-12-31T23:59:59)"),
    ] {
        assert_eq!(expression(time(at), time(now)), expected, "{at}");
    }
}

#[tokio::test]
async fn what_is_asked_has_everything_that_a_schedule_needs() {
    let service = Service::default();
    let schedules = schedules(&service, 1).await;
    let alarm = alarm(time(FAR), "due/check/1");
    schedules.set(std::slice::from_ref(&alarm)).await.unwrap();
    let asked = service.asked();
    assert_eq!(asked.len(), 1);
    let name = name(&alarm);
    assert_eq!((&asked[0].method, asked[0].path.as_str()), (&Method::POST, format!("/schedules/{name}").as_str()));
    let input = r#"{"org":"acme","run":"r_1","timer":"due/check/1"}"#;
    let expected = json!({
        "ActionAfterCompletion": "DELETE",
        "FlexibleTimeWindow": { "Mode": "OFF" },
        "GroupName": "procession",
        "ScheduleExpression": "at(2099-01-02T03:04:05)",
        "ScheduleExpressionTimezone": "UTC",
        "Target": {
            "Arn": "arn:aws:lambda:eu-central-1:1:function:timer",
            "RoleArn": "arn:aws:iam::1:role/schedules",
            "Input": input,
            "DeadLetterConfig": { "Arn": "arn:aws:sqs:eu-central-1:1:dead" },
            "RetryPolicy": { "MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 8 },
        },
    });
    let mut body = asked[0].body.clone();
    assert!(body.as_object_mut().unwrap().remove("ClientToken").is_some());
    assert_eq!(body, expected);
    schedules.clear(&[alarm]).await;
    let asked = service.asked();
    assert_eq!((&asked[1].method, asked[1].path.as_str()), (&Method::DELETE, format!("/schedules/{name}").as_str()));
    assert!(asked[1].query.contains("groupName=procession"), "{:?}", asked[1]);
}

#[tokio::test]
async fn many_alarms_are_all_set() {
    let service = Service::default();
    let schedules = schedules(&service, 1).await;
    let alarms: Vec<Alarm> = (0..40).map(|n| alarm(time(FAR), &format!("due/s{n}/1"))).collect();
    schedules.set(&alarms).await.unwrap();
    let paths: BTreeSet<String> = service.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths.len(), 40);
}

#[tokio::test]
async fn a_schedule_that_exists_is_fine() {
    let schedules = schedules(&Service::answering([error(409, "ConflictException")]), 1).await;
    assert_eq!(schedules.set(&[alarm(time(FAR), "due/check/1")]).await, Ok(()));
}

#[tokio::test]
async fn whatever_else_goes_wrong_is_an_error_so_that_no_write_is_made() {
    for (status, code, again) in [
        (429, "ThrottlingException", true),
        (500, "InternalServerException", true),
        (503, "ServiceUnavailable", true),
        (403, "ExpiredTokenException", true),
        (402, "ServiceQuotaExceededException", false),
        (400, "ValidationException", false),
        (403, "AccessDeniedException", false),
        // The group is missing.
        (404, "ResourceNotFoundException", false),
    ] {
        let schedules = schedules(&Service::answering([error(status, code)]), 1).await;
        let failed = schedules.set(&[alarm(time(FAR), "due/check/1")]).await.expect_err(code);
        let text = format!("a schedule could not be set: answered {status} ({code})");
        assert_eq!(failed, if again { Error::Retry(text) } else { Error::Invariant(text) });
    }
}

#[tokio::test]
async fn a_scheduler_that_cannot_be_reached_is_to_be_tried_again() {
    let service = Service::default();
    let schedules = schedules(&service, 1).await;
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let config = service.config(1).await.into_builder().endpoint_url(format!("http://{nobody}")).build();
    let schedules = Schedules { client: Client::new(&config), ..schedules };
    let failed = schedules.set(&[alarm(time(FAR), "due/check/1")]).await;
    assert_eq!(failed, Err(Error::Retry("a schedule could not be set: no connection".to_owned())));
}

#[tokio::test]
async fn one_that_cannot_be_set_is_an_error_and_keeps_no_other_from_being_set() {
    let service = Service::by(|asked| {
        let bad = asked.body["Target"]["Input"].as_str().is_some_and(|input| input.contains("due/s7/1"));
        if bad { error(400, "ValidationException") } else { (200, json!({})) }
    });
    let many: Vec<Alarm> = (0..40).map(|n| alarm(time(FAR), &format!("due/s{n}/1"))).collect();
    assert!(schedules(&service, 1).await.set(&many).await.is_err());
    assert_eq!(service.asked().len(), 40);
}

#[tokio::test]
async fn a_schedule_that_was_deleted_can_be_set_again() {
    // Whoever asks again with the token of an earlier call may be answered by what that call made, deleted or not.
    let service = Service::default();
    let schedules = schedules(&service, 1).await;
    let alarm = [alarm(time(FAR), "due/check/1")];
    schedules.set(&alarm).await.unwrap();
    schedules.clear(&alarm).await;
    schedules.set(&alarm).await.unwrap();
    let asked = service.asked();
    let made: Vec<_> = asked.iter().filter(|asked| asked.method == Method::POST).collect();
    assert_eq!(made.len(), 2);
    assert_eq!(made[0].path, made[1].path);
    assert_ne!(made[0].body["ClientToken"], made[1].body["ClientToken"]);
}

#[tokio::test]
async fn throttling_is_tried_again_first() {
    let throttled = || error(429, "ThrottlingException");
    let service = Service::answering([throttled(), error(500, "InternalServerException")]);
    assert_eq!(schedules(&service, 3).await.set(&[alarm(time(FAR), "due/check/1")]).await, Ok(()));
    assert_eq!(service.asked().len(), 3);
    let tokens: BTreeSet<String> = service.asked().iter().map(|asked| asked.body["ClientToken"].to_string()).collect();
    assert_eq!(tokens.len(), 1, "the same schedule each time");
}

#[tokio::test]
async fn clearing_what_is_gone_or_cannot_be_reached_is_harmless() {
    let service = Service::answering([error(404, "ResourceNotFoundException"), error(500, "InternalServerException")]);
    let schedules = schedules(&service, 1).await;
    schedules.clear(&[alarm(time(FAR), "due/check/1"), alarm(time(FAR), "due/check/2")]).await;
    assert_eq!(service.asked().len(), 2);
}
