//! The function itself: its binary, in the surroundings that Lambda gives it.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on fails, and this is how")]

#[path = "../../mcp/tests/support/lambda.rs"]
mod lambda;

use serde_json::json;

const FUNCTION: &str = env!("CARGO_BIN_EXE_timer-function");

#[tokio::test]
async fn it_starts_sweeps_and_fires() {
    // No key of an evaluator: the timer asks none, and is not let near it.
    let evaluator = [
        ("PROCESSION_EVALUATOR", r#"{"kind":"bedrock","model":"m"}"#),
        ("PROCESSION_EVALUATOR_SECRET", "evaluator-key"),
    ];
    let due = json!({ "org": "acme", "run": "r_1", "timer": "due/check/1" });
    let (ended, asked) = lambda::run(FUNCTION, &evaluator, &[json!({ "sweep": true }), due]).await;
    let how: Vec<&str> = ended.iter().map(|(how, _)| how.as_str()).collect();
    assert_eq!(how, ["response", "response"], "{ended:?}");
    let of = |name: &str| asked.iter().filter(|asked| asked.as_str() == name).count();
    assert_eq!(of("secretsmanager.GetSecretValue"), 2);
    // Overdue and due timers, notices and alarms of every shard, and the run that fired.
    assert_eq!(of("DynamoDB_20120810.Query"), 4 * usize::from(store::keys::SHARDS) + 1);
}

#[tokio::test]
async fn it_says_everything_that_it_is_not_told() {
    let said = lambda::refusal(FUNCTION, &[("PROCESSION_TIMER", "timer")]).await;
    for name in ["PROCESSION_TABLE", "PROCESSION_SECRET", "AWS_REGION", "PROCESSION_TIMER"] {
        assert!(said.contains(name), "{name} in {said}");
    }
}
