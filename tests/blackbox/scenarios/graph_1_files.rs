//! Files with a graph (profile graph-1): what is refused when they are imported and when they are published, and the
//! version of the provider that each version of a process keeps.

use serde_json::{Value, json};

use super::graph_1::{SHIPMENT, guidance, last_leg};
use crate::harness::{Answer, Bundle, Org, file, refused, refused_as, scenarios};

scenarios! {
    any: [
        all_faults_of_the_key_are_told_at_import,
        whatever_is_not_there_refuses_the_publication_all_at_once,
        a_version_keeps_its_provider,
        a_named_version_is_kept,
        a_draft_may_come_before_its_provider,
    ],
}

fn import(org: &Org, rest: &str) -> Answer {
    org.operator.call("import_process", json!({ "source": file("shipment", rest) }))
}

fn publish(org: &Org, roles: Value) -> Answer {
    org.operator.call("publish_process", json!({ "name": "shipment", "roles": roles }))
}

fn all_faults_of_the_key_are_told_at_import(org: &Org) {
    let rest = "
steps:
  - id: a
    task: Do.
    person: desk
    graph: { provider: acme/parcel, graph: parcel }
  - id: b
    agent: Do.
    output: { n: number }
    graph:
      provder: Acme
      graph: parcel
      facts: { a..b: steps.b.output.n, c: steps.b.output.m, d: inputs.x, d.e: steps.b.output.n }
      require_complete: maybe
  - { id: end, finish: over }
";
    refused(
        import(org, rest),
        "invalid",
        &[
            "8:5: steps[0].graph: `graph` is only for agent, and this step is `task`; remove it",
            "13:7: steps[1].graph.provder: unknown key; did you mean `provider`?",
            "15:16: steps[1].graph.facts.a..b: `a..b` is not the path of a fact; join names of letters, digits, `_` and \
             `-` by dots, 16 names and 160 characters at most",
            "15:43: steps[1].graph.facts.c: the output of `b` has no field `m`; declare it",
            "15:64: steps[1].graph.facts.d: `inputs` has no field `x`; declare it",
            "15:74: steps[1].graph.facts.d.e: lies within `d`, which is a fact of its own here; keep one of them",
            "16:25: steps[1].graph.require_complete: expected true or false, found text",
        ],
    );
}

fn whatever_is_not_there_refuses_the_publication_all_at_once(org: &Org) {
    org.provide(&Bundle::parcel());
    let step = |id: &str, provider: &str, graph: &str, entry: &str| {
        format!("  - {{ id: {id}, agent: Do., graph: {{ provider: {provider}, graph: {graph}, entry: {entry} }} }}\n")
    };
    let rest = [
        "steps:\n".to_owned(),
        step("a", "acme/letter", "parcel", "default"),
        step("b", "acme/parcel@7.0.0", "parcel", "default"),
        step("c", "acme/parcel", "parcels", "default"),
        step("d", "acme/parcel", "parcel", "agian"),
        step("e", "acme/parcel@1.0.0", "customs", "default"),
        "  - { id: f, person: desk, approve: Sure? }\n  - { id: end, finish: over }\n".to_owned(),
    ];
    import(org, &rest.concat()).unwrap();
    let error = refused_as(publish(org, json!({})), "invalid");
    let places = ["roles.desk: ", "steps.a.graph: ", "steps.b.graph: ", "steps.c.graph: ", "steps.d.graph: "];
    assert_eq!(error.issues.len(), places.len(), "{:#?}", error.issues);
    for ((issue, place), names) in error.issues.iter().zip(places).zip([
        &["desk"][..],
        &["acme/letter", "list_providers"],
        &["7.0.0", "1.0.0"],
        &["`parcels`", "customs, parcel"],
        &["`agian`", "again, default"],
    ]) {
        assert!(issue.starts_with(place) && names.iter().all(|name| issue.contains(name)), "{place}: {issue}");
    }
    assert!(org.agent.pages("list_processes", json!({})).is_empty(), "nothing was published");
    // Of another organization it is not there at all.
    let foreign = org.foreign();
    import(&foreign, SHIPMENT).unwrap();
    let error = refused_as(publish(&foreign, json!({ "desk": "staff" })), "invalid");
    assert!(error.issues.len() == 1 && error.issues[0].starts_with("steps.ship.graph: "), "{error:?}");
}

/// What the version is pinned to.
fn pins(org: &Org, version: u64) -> Value {
    org.operator.ok("get_process", json!({ "name": "shipment", "version": version }))["published"]["graphs"].clone()
}

fn pinned(bundle: &Bundle) -> Value {
    json!({ "ship": { "provider": crate::harness::PARCEL, "version": bundle.version, "digest": bundle.digest } })
}

fn a_version_keeps_its_provider(org: &Org) {
    let (old, new) = (Bundle::parcel(), Bundle::version("1.1.0"));
    org.provide(&old);
    let run = org.run("shipment", &last_leg(), json!({ "order": "o" }));
    assert_eq!(pins(org, 1), pinned(&old));
    org.provide(&new);
    org.agent.work_on(&run, "pack", json!({}), Value::Null);
    assert_eq!(guidance(&org.agent.claim(&run, "ship"))["provider"], old.asked());
    let later = org.agent.start("shipment", json!({ "order": "o" }));
    org.agent.work_on(&later, "pack", json!({}), Value::Null);
    assert_eq!(guidance(&org.agent.claim(&later, "ship"))["provider"], old.asked(), "a new run of the same version");

    let anew = org.run("shipment", &last_leg(), json!({ "order": "o" }));
    assert_eq!((pins(org, 1), pins(org, 2)), (pinned(&old), pinned(&new)));
    org.agent.work_on(&anew, "pack", json!({}), Value::Null);
    assert_eq!(guidance(&org.agent.claim(&anew, "ship"))["provider"], new.asked());
}

fn a_named_version_is_kept(org: &Org) {
    let old = Bundle::parcel();
    org.provide(&old);
    org.provide(&Bundle::version("1.1.0"));
    org.publish(&file("shipment", &SHIPMENT.replace("acme/parcel", "acme/parcel@1.0.0")));
    assert_eq!(pins(org, 1), pinned(&old));
    org.publish(&file("shipment", "steps:\n  - { id: a, agent: Do. }\n  - { id: end, finish: over }"));
    assert_eq!(pins(org, 2), Value::Null, "a process without a graph says nothing of one");
}

fn a_draft_may_come_before_its_provider(org: &Org) {
    import(org, SHIPMENT).unwrap();
    let roles = json!({ "desk": "staff" });
    refused_as(publish(org, roles.clone()), "invalid");
    org.provide(&Bundle::parcel());
    publish(org, roles).unwrap();
}
