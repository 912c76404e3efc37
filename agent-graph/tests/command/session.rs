//! A whole session: a Provider is made, grows, is checked, evaluated, run through, built, and evaluated from its bundle.

use serde_json::{Value, json};

use crate::support::{Place, valid};

#[test]
fn from_nothing_to_a_bundle() {
    let place = Place::new();
    assert_eq!(
        place.json(&["init", "p", "--id", "acme/demo"]),
        json!({"state": "created", "manifest": place.text("p/provider.yaml")})
    );
    let manifest = place.text("p/provider.yaml");
    let with = |args: &[&'static str]| [&["--manifest", manifest.as_str()], args].concat();

    let valid_answer = place.json(&with(&["validate"]));
    assert_eq!(valid_answer["state"], "valid");
    let inspected = place.json(&with(&["inspect", "provider"]));
    assert_eq!(inspected["schema"], "agent-graph.inspect.v1");
    assert_eq!(
        inspected["counts"],
        json!({"graphs": 1, "nodes": 2, "edges": 1, "actions": 1, "resources": 1, "codes": 1})
    );
    let tested = place.json(&with(&["test"]));
    assert_eq!((&tested["state"], &tested["total"]), (&json!("passed"), &json!(1)));

    let evaluation = place.json(&with(&["evaluate", "main"]));
    valid("evaluation", &evaluation);
    let revision = evaluation["revision"].as_str().unwrap();
    let route_id = evaluation["primaryRoute"]["routeId"].as_str().unwrap();
    let route = place.json(&[&with(&["route", "main"])[..], &[route_id, "--revision", revision]].concat());
    valid("route", &route);
    assert_eq!(route["afterAction"], json!({"evaluate": true, "recordNode": "main/work"}));

    let run = place.json(&with(&["run", "start", "main", "--state", "r.json"]));
    valid("run", &run);
    let status = |args: &[&'static str]| place.json(&with(&[&["run", "status"], args].concat()))["evaluation"].clone();
    assert_eq!(status(&["--state", "r.json"])["statusCode"], "actionable");
    place.json(&["run", "record", "main/work", "failed", "--state", "r.json", "--detail", "{\"why\":\"no network\"}"]);
    assert_eq!(status(&["--state", "r.json"])["statusCode"], "blocked");
    let copied = place.json(&["run", "checkpoint", "--state", "r.json", "--to", "c.json"]);
    assert_eq!(copied, json!({"run": place.text("r.json"), "checkpoint": place.text("c.json")}));
    place.json(&["run", "resume", "c.json", "--state", "r2.json"]);
    place.json(&["run", "record", "main/work", "completed", "--state", "r2.json"]);
    let end = status(&["--state", "r2.json"]);
    assert_eq!((&end["statusCode"], &end["outcome"]), (&json!("complete"), &json!("completed")));
    assert_eq!(place.code(&with(&["route", "main", "--state", "r2.json"])), "route-unavailable");
    let events = place.json(&["run", "events", "--state", "r2.json"])["events"].clone();
    let types: Vec<&str> = events.as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        ["run.started", "node.outcome-recorded", "run.checkpointed", "run.resumed", "node.outcome-recorded"]
    );

    let bundle = place.json(&with(&["build", "bundle"]));
    valid("bundle", &bundle);
    assert_eq!(serde_json::from_str::<Value>(&place.read("bundle/manifest.json")).unwrap(), bundle);
    std::fs::remove_dir_all(place.path("p")).unwrap();
    let bundled = ["--manifest", "bundle/manifest.json"];
    assert_eq!(place.json(&[&bundled[..], &["validate"]].concat())["counts"], valid_answer["counts"]);
    let again = place.json(&[&bundled[..], &["evaluate", "main"]].concat());
    assert_eq!(again["statusCode"], "actionable");
    let skill = "bundle/skills/getting-started/SKILL.md";
    assert_eq!(place.json(&["--skill", skill, "evaluate"])["graph"], "main");
}
