//! Claim keys rotate: what was sealed by the key before is still good, and by the one before that no more.

use serde_json::{Value, json};

use crate::harness::{Ended, Org, Who, alone, fresh, stack, submission};

const WORK: &str = "
steps:
  - { id: one, agent: Work. }
  - { id: two, agent: Work. }
  - { id: end, finish: over }
";

/// Gives the secret a new version with another key.
async fn rotate(org: &Org) {
    let secret = &stack().secret;
    let aws = &org.aws;
    let read = |stage: &str| json!({ "SecretId": secret, "VersionStage": stage });
    let current = aws.call("secretsmanager", "secretsmanager.GetSecretValue", read("AWSCURRENT")).await;
    let mut text: Value = serde_json::from_str(current["SecretString"].as_str().unwrap()).unwrap();
    text["key"] = json!([fresh(), fresh(), fresh()].concat());
    let id = format!("{}{}", fresh(), &fresh()[..8]);
    let put = json!({ "SecretId": secret, "SecretString": text.to_string(), "ClientRequestToken": id });
    aws.call("secretsmanager", "secretsmanager.PutSecretValue", put).await;
    let previous = aws.call("secretsmanager", "secretsmanager.GetSecretValue", read("AWSPREVIOUS")).await;
    assert_eq!(previous["VersionId"], current["VersionId"]);
    // Functions read the keys every few minutes; one that starts reads them at once.
    aws.restart(&format!("{}-mcp", stack().name)).await;
}

#[tokio::test]
async fn a_token_outlives_one_rotation_and_not_two() {
    let _alone = alone().await;
    let org = Org::new("rotate");
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
