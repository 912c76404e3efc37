//! That settings reach the services that they name, spoken to over HTTP.

use serde_json::{Value, json};

use super::*;
use crate::testing::{Service, error};

const SECRET: &str = r#"{"key":"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk","publicUrl":"https://p.example/mcp"}"#;

fn settings(more: &[(&str, &str)]) -> Settings {
    let read = |name: &str| {
        let more = more.iter().find(|(named, _)| *named == name).map(|(_, value)| (*value).to_owned());
        more.or_else(|| {
            let value = match name {
                "PROCESSION_TABLE" => "procession-table",
                "PROCESSION_BUCKET" => "procession-evidence",
                "PROCESSION_SECRET" => "procession-claims",
                "PROCESSION_SCHEDULE_GROUP" => "procession",
                "PROCESSION_SCHEDULE_ROLE" => "arn:aws:iam::1:role/schedules",
                "PROCESSION_TIMER" => "arn:aws:lambda:eu-central-1:1:function:timer",
                "PROCESSION_DEAD_LETTERS" => "arn:aws:sqs:eu-central-1:1:dead",
                "PROCESSION_ISSUERS" => r#"{"issuers":[{"issuer":"https://id.example","audiences":["p"]}]}"#,
                "AWS_REGION" => "eu-central-1",
                _ => return None,
            };
            Some(value.to_owned())
        })
    };
    Settings::read(read).unwrap()
}

fn aws() -> Service {
    Service::by(|asked| match (asked.target.as_str(), asked.body["VersionStage"].as_str()) {
        ("secretsmanager.GetSecretValue", Some("AWSCURRENT")) => {
            (200, json!({ "VersionId": "0aaaaaaa-1", "SecretString": SECRET, "CreatedDate": 1 }))
        }
        ("DynamoDB_20120810.Query", _) => (200, json!({ "Items": [], "Count": 0, "ScannedCount": 0 })),
        _ => error(400, "ResourceNotFoundException"),
    })
}

#[tokio::test]
async fn a_store_reads_the_table_that_is_named_and_takes_the_limits_that_are_set() {
    let service = aws();
    let settings = settings(&[("PROCESSION_LEASE_SECONDS", "60"), ("PROCESSION_UPLOAD_BYTES", "1024")]);
    let cloud = by_way_of(&service.config(1).await, &settings).await.map_err(|p| p.to_string()).unwrap();
    assert_eq!(cloud.public_url.as_deref(), Some("https://p.example/mcp"));
    assert_eq!(cloud.store.due(0).await, Ok(Vec::new()));
    let asked = service.asked();
    let secrets = asked.iter().filter(|asked| asked.body["SecretId"] == "procession-claims").count();
    assert_eq!(secrets, 2);
    assert_eq!(asked.last().map(|asked| asked.body["TableName"].clone()), Some(Value::from("procession-table")));
    let of = cloud.store.settings();
    assert_eq!((of.limits.lease_seconds, of.upload_bytes, of.operators_group.as_str()), (60, 1_024, "operators"));
    assert_eq!(cloud.store.profiles(), ["parallel-1", "graph-1"], "without an evaluator no checks");
}

#[tokio::test]
async fn the_address_that_is_set_is_the_one_that_counts() {
    let settings = settings(&[("PROCESSION_URL", "https://own.example/mcp")]);
    let cloud = by_way_of(&aws().config(1).await, &settings).await.map_err(|p| p.to_string()).unwrap();
    assert_eq!(cloud.public_url.as_deref(), Some("https://own.example/mcp"));
}

#[tokio::test]
async fn an_evaluator_makes_checks_possible() {
    let evaluator = r#"{"kind":"openai","url":"http://127.0.0.1:9/v1","model":"m"}"#;
    let settings = settings(&[("PROCESSION_EVALUATOR", evaluator)]);
    let cloud = by_way_of(&aws().config(1).await, &settings).await.map_err(|p| p.to_string()).unwrap();
    assert_eq!(cloud.store.profiles(), ["parallel-1", "check-1", "graph-1"]);
}

#[tokio::test]
async fn every_secret_that_cannot_be_read_is_said_at_once() {
    let service = Service::by(|_| error(403, "AccessDeniedException"));
    let settings = settings(&[
        ("PROCESSION_EVALUATOR", r#"{"kind":"bedrock","model":"m"}"#),
        ("PROCESSION_EVALUATOR_SECRET", "evaluator-key"),
    ]);
    let Problems(problems) = by_way_of(&service.config(1).await, &settings).await.map(drop).expect_err("refused");
    let starts: Vec<&str> = problems.iter().filter_map(|p| p.split(':').next()).collect();
    assert_eq!(starts, ["PROCESSION_SECRET", "PROCESSION_EVALUATOR_SECRET"], "{problems:#?}");
    assert!(problems.iter().all(|p| p.contains("AccessDeniedException")), "{problems:#?}");
}
