//! Claim keys rotate: what was sealed by the key before is still good, and by the one before that no more.

use serde_json::{Value, json};

use crate::harness::{Ended, Org, Who, alone, fresh, stack, submission};

const WORK: &str = "
steps:
  - { id: one, agent: Work. }
  - { id: two, agent: Work. }
  - { id: end, finish: over }
";

async fn version(org: &Org, stage: &str) -> Value {
    let read = json!({ "SecretId": stack().secret, "VersionStage": stage });
    org.aws.call("secretsmanager", "secretsmanager.GetSecretValue", read).await
}

/// Functions read the keys every few minutes; one that starts reads them at once.
async fn restart(org: &Org) {
    org.aws.restart(&format!("{}-mcp", stack().name)).await;
}

/// Forgets the version before the current one. A version that is younger than a quarter of an hour seals nothing while there
/// is one before it, and an earlier round of this test may have made both.
async fn settle(org: &Org) {
    let list = json!({ "SecretId": stack().secret });
    let listed = org.aws.call("secretsmanager", "secretsmanager.ListSecretVersionIds", list).await;
    let previous =
        |version: &Value| version["VersionStages"].as_array().is_some_and(|s| s.contains(&json!("AWSPREVIOUS")));
    for version in listed["Versions"].as_array().unwrap().iter().filter(|version| previous(version)) {
        let id = &version["VersionId"];
        let moved = json!({ "SecretId": stack().secret, "VersionStage": "AWSPREVIOUS", "RemoveFromVersionId": id });
        org.aws.call("secretsmanager", "secretsmanager.UpdateSecretVersionStage", moved).await;
    }
    restart(org).await;
}

/// Gives the secret a new version with another key.
async fn rotate(org: &Org) {
    let secret = &stack().secret;
    let current = version(org, "AWSCURRENT").await;
    let mut text: Value = serde_json::from_str(current["SecretString"].as_str().unwrap()).unwrap();
    text["key"] = json!([fresh(), fresh(), fresh()].concat());
    let id = format!("{}{}", fresh(), &fresh()[..8]);
    let put = json!({ "SecretId": secret, "SecretString": text.to_string(), "ClientRequestToken": id });
    org.aws.call("secretsmanager", "secretsmanager.PutSecretValue", put).await;
    assert_eq!(version(org, "AWSPREVIOUS").await["VersionId"], current["VersionId"]);
    restart(org).await;
}

#[tokio::test]
async fn a_token_outlives_one_rotation_and_not_two() {
    let _alone = alone().await;
    let org = Org::new("rotate");
    settle(&org).await;
    let (one, other) = (org.run("works", WORK, json!({})).await, org.run("works", WORK, json!({})).await);
    let claim = org.once(Who::Agent(0), "claim", json!({ "runId": one, "stepId": "one" })).await;
    let Ended::Done(claimed) = &claim.ended else { panic!("{claim:?}") };
    let stays = org.claim(&other, "one").await;
    rotate(&org).await;
    // The first answer again, token included, and then the work itself.
    assert_eq!(org.again(&claim).await, claim.ended);
    org.ok(Who::Agent(0), "submit", submission(&claimed["token"])).await;
    let next = org.claim(&one, "two").await;
    org.ok(Who::Agent(0), "submit", submission(&next)).await;
    assert_eq!(org.states(&one).await, "ended/over one=done two=done end=done");
    rotate(&org).await;
    let answer = org.once(Who::Agent(0), "submit", submission(&stays)).await;
    assert!(matches!(&answer.ended, Ended::Refused(code, _) if code == "invalid"), "{answer:?}");
    assert_eq!(org.journal(&one).await, ["start_run", "submit", "submit"]);
    assert_eq!(org.journal(&other).await, ["start_run"]);
}
