//! A timer that fails for good: it is tried thrice, becomes a dead letter, and its run goes on once the cause is gone.

use serde_json::{Value, json};

use crate::harness::{Fault, Org, beside, eventually, in_seconds, stack, strike};

const PAUSE: &str = "
inputs: { when: datetime }
steps:
  - { id: pause, wait_until: inputs.when }
  - { id: end, finish: over }
";

#[tokio::test]
async fn it_becomes_a_dead_letter_and_its_run_goes_on_later() {
    let _beside = beside().await;
    let org = Org::new("dead");
    let run = org.run("pauses", PAUSE, json!({ "when": in_seconds(3) })).await;
    let struck = strike(Fault::of("fail", "dynamodb", "TransactWriteItems", &run).always());
    let mine = |letter: &Value| letter.to_string().contains(&run);
    let letter =
        eventually("a dead letter", async || org.aws.receive(&stack().dead_letters).await.into_iter().find(mine)).await;
    assert_eq!(letter["requestPayload"], json!({ "org": org.name, "run": run, "timer": "wait/pause/1" }), "{letter}");
    assert_eq!(letter["requestContext"]["approximateInvokeCount"], 3, "{letter}");
    assert!(struck.times() >= 3);
    assert_eq!(org.journal(&run).await, ["start_run"], "nothing was half done");
    drop(struck);
    org.aws.sweep().await;
    assert_eq!(org.journal(&run).await, ["start_run", "timer"]);
    assert_eq!(org.states(&run).await, "ended/over pause=done end=done");
}
