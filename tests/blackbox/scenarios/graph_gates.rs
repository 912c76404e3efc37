//! Gates: a person's to resolve, and an agent's only while a person lets it.

use serde_json::{Value, json};

use super::authorization::of_another_client;
use super::graph_runs::{self, record, told};
use crate::harness::{Answer, Client, Org, Server, refused_as, scenarios};

scenarios! {
    any: [
        an_agent_does_not_resolve_a_gate,
        an_authority_lets_agents_resolve_its_gate,
        a_gate_that_is_not_delegatable_stays_a_persons,
        an_authority_is_gone_after_a_resume,
        only_people_and_operators_set_authorities,
    ],
    own: [a_person_through_another_client_resolves_nothing],
}

const DECLARED: &str = "parcel/customs>customs/declare";

/// A run that waits at the gate that an authority may resolve.
fn at_release(org: &Org) -> Value {
    let run = org.parcel();
    org.agent.ok("set_facts", json!({ "graphRunId": run["run"]["id"], "facts": { "parcel": { "weight": 812 } } }));
    let waiting = record(&org.agent, &run, DECLARED, "completed");
    assert_eq!(told(&waiting), "waiting-user release");
    waiting
}

fn resolve(client: &Client, run: &Value, gate: &str) -> Answer {
    client.call("record_outcome", json!({ "graphRunId": run["run"]["id"], "node": gate, "outcome": "completed" }))
}

fn authorize(client: &Client, run: &Value, authorities: Value) -> Answer {
    client.call("set_authorities", json!({ "graphRunId": run["run"]["id"], "authorities": authorities }))
}

fn read(client: &Client, run: &Value) -> Value {
    graph_runs::read(client, run)
}

fn an_agent_does_not_resolve_a_gate(org: &Org) {
    let run = at_release(org);
    let machine = org.client("agent", "pipeline", &[], true);
    for agent in [&org.agent, &machine] {
        for outcome in ["completed", "skipped", "failed"] {
            let call = json!({ "graphRunId": run["run"]["id"], "node": "parcel/release", "outcome": outcome });
            refused_as(agent.call("record_outcome", call), "forbidden");
        }
    }
    assert_eq!(read(&org.agent, &run), run);
    assert_eq!(told(&resolve(&org.outsider, &run, "parcel/release").unwrap()), "waiting-user insure");
    assert_eq!(told(&resolve(&org.operator, &run, "parcel/insure").unwrap()), "actionable send");
}

fn an_authority_lets_agents_resolve_its_gate(org: &Org) {
    let run = at_release(org);
    authorize(&org.staff, &run, json!(["owner"])).unwrap();
    refused_as(resolve(&org.agent, &run, "parcel/release"), "forbidden");
    let authorized = authorize(&org.staff, &run, json!(["shipping", "owner"])).unwrap();
    assert_eq!(authorized["run"]["authorities"], json!(["owner", "shipping"]));
    assert_eq!(told(&authorized), "actionable release");
    let route = org.agent.ok("get_route", json!({ "graphRunId": run["run"]["id"] }))["route"].clone();
    assert_eq!(route["gate"]["resolution"], "session-authority");
    // Taken away, it resolves nothing any more.
    let without = authorize(&org.staff, &run, json!([])).unwrap();
    assert_eq!(without["run"]["authorities"], json!([]));
    refused_as(resolve(&org.agent, &run, "parcel/release"), "forbidden");
    authorize(&org.staff, &run, json!(["shipping"])).unwrap();
    assert_eq!(told(&resolve(&org.agent, &run, "parcel/release").unwrap()), "waiting-user insure");
}

fn a_gate_that_is_not_delegatable_stays_a_persons(org: &Org) {
    let run = at_release(org);
    authorize(&org.staff, &run, json!(["shipping", "owner"])).unwrap();
    resolve(&org.agent, &run, "parcel/release").unwrap();
    refused_as(resolve(&org.agent, &run, "parcel/insure"), "forbidden");
    assert_eq!(told(&resolve(&org.staff, &run, "parcel/insure").unwrap()), "actionable send");
}

fn an_authority_is_gone_after_a_resume(org: &Org) {
    let run = at_release(org);
    authorize(&org.staff, &run, json!(["shipping"])).unwrap();
    let kept = org.agent.ok("checkpoint_graph_run", json!({ "graphRunId": run["run"]["id"] }));
    let resumed = org.agent.ok("resume_graph_run", json!({ "checkpoint": kept["checkpoint"] }));
    assert_eq!(told(&resumed), "waiting-user release");
    refused_as(resolve(&org.agent, &resumed, "parcel/release"), "forbidden");
    resolve(&org.agent, &run, "parcel/release").unwrap();
}

fn only_people_and_operators_set_authorities(org: &Org) {
    let run = at_release(org);
    let machine = org.client("agent", "pipeline", &[], true);
    refused_as(authorize(&org.agent, &run, json!(["shipping"])), "forbidden");
    refused_as(authorize(&org.agent, &run, json!([])), "forbidden");
    assert_eq!(read(&org.agent, &run), run);
    for caller in [&org.staff, &org.outsider, &org.operator, &machine] {
        authorize(caller, &run, json!(["shipping"])).unwrap();
    }
}

fn a_person_through_another_client_resolves_nothing() {
    let org = Org::new(&Server::shared(), "another-client-gate");
    let run = at_release(&org);
    let other = of_another_client(&org, &org.staff);
    refused_as(resolve(&other, &run, "parcel/release"), "forbidden");
    refused_as(authorize(&other, &run, json!(["shipping"])), "forbidden");
    resolve(&org.staff, &run, "parcel/release").unwrap();
}
