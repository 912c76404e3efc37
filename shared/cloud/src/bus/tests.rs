//! What the bus is asked, spoken to over HTTP, and what counts as told.

use serde_json::{Value, json};

use super::*;
use crate::testing::{Asked, Service, error, notices};

async fn bus(service: &Service) -> EventBus {
    EventBus::new(Client::new(&service.config(1).await), "procession".into())
}

/// An answer that takes every event but those that this says.
fn taken(asked: &Asked, refused: impl Fn(&str) -> bool) -> (u16, Value) {
    let entries: Vec<Value> = asked.body["Entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| match refused(entry["Detail"].as_str().unwrap()) {
            true => json!({ "ErrorCode": "ThrottlingException", "ErrorMessage": "slow down" }),
            false => json!({ "EventId": "e" }),
        })
        .collect();
    let failed = entries.iter().filter(|entry| entry.get("ErrorCode").is_some()).count();
    (200, json!({ "FailedEntryCount": failed, "Entries": entries }))
}

fn sent(asked: &[Asked]) -> Vec<String> {
    let id = |entry: &Value| {
        let detail: Value = serde_json::from_str(entry["Detail"].as_str().unwrap()).unwrap();
        detail["id"].as_str().unwrap().to_owned()
    };
    asked
        .iter()
        .flat_map(|asked| asked.body["Entries"].as_array().unwrap().iter().map(id).collect::<Vec<_>>())
        .collect()
}

#[tokio::test]
async fn events_go_in_calls_of_ten_and_say_what_they_are() {
    let service = Service::by(|asked| taken(asked, |_| false));
    let all: Vec<Notices> = (1..=7).map(|rev| notices("r_1", rev)).collect();
    assert_eq!(bus(&service).await.tell(&all).await, vec![Ok(()); 7]);
    let asked = service.asked();
    let sizes: Vec<usize> = asked.iter().map(|asked| asked.body["Entries"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [10, 10, 1]);
    assert_eq!(sent(&asked).len(), 21);
    assert!(asked.iter().all(|asked| asked.target == "AWSEvents.PutEvents"));
    let first = &asked[0].body["Entries"][0];
    assert_eq!(
        (&first["Source"], &first["DetailType"], &first["EventBusName"]),
        (&json!("procession"), &json!("Work assigned"), &json!("procession"))
    );
    assert_eq!(first["Time"].to_string().split('.').next(), Some("1772439330"));
}

#[tokio::test]
async fn only_what_was_not_taken_is_sent_again() {
    let once = std::sync::atomic::AtomicBool::new(true);
    let service = Service::by(move |asked| {
        let first = once.swap(false, std::sync::atomic::Ordering::SeqCst);
        taken(asked, |detail| first && detail.contains("r_1/1/1"))
    });
    assert_eq!(bus(&service).await.tell(&[notices("r_1", 1)]).await, [Ok(())]);
    assert_eq!(sent(&service.asked()), ["r_1/1/0", "r_1/1/1", "r_1/1/2", "r_1/1/1"]);
}

#[tokio::test]
async fn notices_of_which_one_event_is_never_taken_are_not_told() {
    let service = Service::by(|asked| taken(asked, |detail| detail.contains("r_1/2/0")));
    let all = [notices("r_1", 1), notices("r_1", 2), notices("r_1", 3)];
    let told = bus(&service).await.tell(&all).await;
    assert_eq!(told, [Ok(()), Err("ThrottlingException".to_owned()), Ok(())]);
    assert_eq!(sent(&service.asked()).iter().filter(|id| *id == "r_1/2/0").count(), 3);
}

#[tokio::test]
async fn one_event_for_which_the_bus_refuses_a_whole_call_holds_up_no_other() {
    let service = Service::by(|asked| match sent(std::slice::from_ref(asked)).contains(&"r_1/2/0".to_owned()) {
        true => error(400, "ValidationException"),
        false => taken(asked, |_| false),
    });
    let all: Vec<Notices> = (1..=7).map(|rev| notices("r_1", rev)).collect();
    let told = bus(&service).await.tell(&all).await;
    let expected: Vec<_> = (1..=7)
        .map(|rev| if rev == 2 { Err("answered 400 (ValidationException)".to_owned()) } else { Ok(()) })
        .collect();
    assert_eq!(told, expected);
    // Three calls, those of the first one by themselves, and that one once more.
    assert_eq!(service.asked().len(), 3 + 10 + 1);
}

#[tokio::test]
async fn a_bus_that_does_not_answer_leaves_everything_untold() {
    let service = Service::by(|_| error(500, "InternalException"));
    let told = bus(&service).await.tell(&[notices("r_1", 1), notices("r_1", 2)]).await;
    assert_eq!(told, vec![Err("answered 500 (InternalException)".to_owned()); 2]);
    // An answer that says nothing of an event has not taken it.
    let service = Service::by(|_| (200, json!({ "FailedEntryCount": 0, "Entries": [] })));
    assert_eq!(bus(&service).await.tell(&[notices("r_1", 1)]).await, [Err("no answer".to_owned())]);
}

#[tokio::test]
async fn nothing_to_tell_asks_nothing() {
    let service = Service::default();
    assert_eq!(bus(&service).await.tell(&[]).await, []);
    let empty = Notices { notices: Vec::new(), ..notices("r_1", 1) };
    assert_eq!(bus(&service).await.tell(&[empty]).await, [Ok(())]);
    assert!(service.asked().is_empty());
    assert_eq!(NoBus.tell(&[notices("r_1", 1)]).await, [Ok(())]);
}
