//! Whose work it is (core §2.2, §3.4): the initiator, and persons that run data names.

use serde_json::json;

use crate::harness::{Client, Org, item, refused_as, scenarios, states};

scenarios! {
    any: [
        the_initiator_is_the_person_who_started,
        an_agent_cannot_start_what_needs_an_initiator,
        a_person_path_names_whoever_run_data_holds,
        a_person_path_that_holds_nothing_fails_the_run,
    ],
}

const MINE: &str = "
steps:
  - { id: fill, task: Fill it in., person: initiator }
  - { id: end, finish: filled }
";

fn the_initiator_is_the_person_who_started(org: &Org) {
    org.publish(&crate::harness::file("mine", MINE));
    let run = org.outsider.start("mine", json!({}));
    assert_eq!(run["run"]["startedBy"], org.outsider.subject());
    assert_eq!(item(&run, "fill")["assignedTo"], json!({ "person": org.outsider.subject() }));
    assert!(org.staff.work_of(&run).is_empty());
    refused_as(org.staff.try_decide(&run, "fill", "completed", json!({})), "forbidden");
    assert_eq!(org.outsider.work_of(&run).len(), 1);
    let ended = org.outsider.decide(&run, "fill", "completed", json!({}));
    assert_eq!(ended["data"]["steps"]["fill"]["by"], org.outsider.subject());
}

fn an_agent_cannot_start_what_needs_an_initiator(org: &Org) {
    org.publish(&crate::harness::file("mine", MINE));
    let machine = org.client("agent", "pipeline", &[], true);
    for agent in [&org.agent, &machine] {
        let error = refused_as(agent.call("start_run", json!({ "process": "mine", "inputs": {} })), "invalid");
        assert!(error.issues[0].starts_with("initiator:"), "{error:?}");
    }
    assert!(org.agent.pages("list_runs", json!({})).is_empty());
}

fn a_person_path_names_whoever_run_data_holds(org: &Org) {
    let rest = "
inputs: { manager: person }
steps:
  - { id: pick, task: Pick a reviewer., person: inputs.manager, output: { reviewer: person } }
  - { id: review, approve: Is it right?, person: steps.pick.output.reviewer }
  - { id: end, finish: reviewed }
";
    let run = org.run("reviews", rest, json!({ "manager": "Mona@ACME.example" }));
    assert_eq!(item(&run, "pick")["assignedTo"], json!({ "person": "Mona@ACME.example" }));
    let mona = org.person("mona@acme.example", &[]);
    assert_eq!(mona.work_of(&run).len(), 1, "addresses are compared without case");
    refused_as(org.staff.try_decide(&run, "pick", "completed", json!({ "output": {} })), "forbidden");
    let view = mona.decide(&run, "pick", "completed", json!({ "output": { "reviewer": "rita@acme.example" } }));
    assert_eq!(item(&view, "review")["assignedTo"], json!({ "person": "rita@acme.example" }));
    refused_as(mona.try_decide(&run, "review", "approved", json!({})), "forbidden");
    // A person is who their token's `person` value says, and `by` is the subject.
    let who = crate::harness::Identity {
        kind: "person",
        subject: "u_rita".to_owned(),
        org: org.name.clone(),
        groups: Vec::new(),
        operator: false,
        person: Some("Rita@acme.example".to_owned()),
    };
    let rita = Client::new(&org.server, who);
    let ended = rita.decide(&run, "review", "approved", json!({}));
    assert_eq!(ended["data"]["steps"]["review"]["by"], "u_rita");
}

fn a_person_path_that_holds_nothing_fails_the_run(org: &Org) {
    let rest = "
inputs: { manager: { type: person, optional: true } }
steps:
  - { id: work, agent: Work. }
  - { id: sign, approve: Sign., person: inputs.manager }
  - { id: end, finish: signed }
";
    let run = org.run("nobody", rest, json!({}));
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/failed work=done sign=failed end=-");
    assert_eq!(ended["run"]["ended"]["by"], "server");
    let entry = &ended["data"]["steps"]["sign"];
    assert_eq!((&entry["decision"], &entry["by"]), (&json!("failed"), &json!("server")));
    let note = entry["note"].as_str().unwrap();
    assert!(note.contains("inputs.manager"), "{note}");
    assert_eq!(ended["run"]["ended"]["note"], note);
}
