//! Everything that the loader refuses, with its code and where it says it is.

use graph::Failure;

use crate::small::Small;

/// Refuses the Provider with this code, and names the place.
fn check(code: &str, place: &str, small: Small) {
    let failure = small.load().expect_err(&format!("{code} at {place}"));
    let said = format!("{} {:?}", failure.message, failure.diagnostics);
    assert_eq!(failure.code, code, "{said}");
    assert!(failure.message.contains(place), "{code} should name {place}: {said}");
}

fn of(path: &str, from: &str, to: &str) -> Small {
    Small::new().edit(path, from, to)
}

const MAIN: &str = "graphs/main.yaml";
const CHILD: &str = "graphs/child.yaml";

#[test]
fn files_that_cannot_be_had() {
    check("file-missing", "graphs/child.yaml", Small::new().without(CHILD));
    check("file-missing", "graphs/main.yaml#/nodes/0/action", Small::new().without("actions/work.yaml"));
    check("file-missing", "actions/run.yaml#/entry", Small::new().without("scripts/run.sh"));
    check("file-missing", "actions/run.yaml#/files/0", Small::new().without("scripts/lib.sh"));
    check("file-missing", "actions/ask.yaml#/inputSchema", Small::new().without("schemas/question.json"));
    check("file-missing", "actions/work.yaml#/skill", Small::new().without("skills/work/SKILL.md"));
    check("file-missing", "resources/table.yaml#/path", Small::new().without("data/table.csv"));
    check("file-missing", "resources/view.yaml#/materializer", Small::new().without("actions/view.yaml"));
    check("file-missing", "provider.yaml#/catalogs/codes", Small::new().without("codes.yaml"));
    check("file-missing", "codes.yaml#/codes/1/document", Small::new().without("resources/guide.md"));
    check("file-missing", "provider.yaml", Small::new().without("provider.yaml"));
    // A folder is no file.
    check("file-missing", "provider.yaml#/graphs/1", of("provider.yaml", CHILD, "graphs"));
}

#[test]
fn files_that_cannot_be_read() {
    check("parse-failed", "provider.yaml:2:1:", Small::new().put("provider.yaml", "{"));
    check("parse-failed", "graphs/main.yaml:", of(MAIN, "entrypoints:", "\tentrypoints:"));
    check("parse-failed", "actions/work.yaml:", of("actions/work.yaml", "id: work", "id: work, id: other"));
    check("parse-failed", "schemas/answer.json:", Small::new().put("schemas/answer.json", "{\"a\": ]"));
    let mut source = Small::new().source();
    source.0.insert(CHILD.into(), b"id: \xff"[..].into());
    let failure = graph::load(&source, "provider.yaml").unwrap_err();
    assert_eq!(
        (&*failure.code, failure.message.as_str()),
        ("parse-failed", "graphs/child.yaml: not UTF-8 from byte 5")
    );
}

#[test]
fn paths_that_lead_elsewhere() {
    // What the schema of a path can see is a fault of the schema.
    for path in ["/etc/passwd", "C:/x.yaml", "../x.yaml", "graphs/../../x.yaml", "graphs/.."] {
        let small = Small::new().edit("provider.yaml", "graphs/child.yaml", path);
        check("schema-invalid", "provider.yaml#/graphs/1", small);
    }
    check("absolute-path-forbidden", "\\\\\\\\host", of(CHILD, "actions/run.yaml", "\\\\host\\x.yaml"));
    check("path-outside-provider", CHILD, of(CHILD, "actions/run.yaml", "actions\\..\\..\\x.yaml"));
    check("path-outside-provider", CHILD, of(CHILD, "actions/run.yaml", "actions\\run.yaml"));
    check(
        "path-outside-provider",
        "actions/run.yaml#/entry",
        of("actions/run.yaml", "scripts/run.sh", "\"a\\n/../../x\""),
    );
    let load = |manifest| graph::load(&Small::new().source(), manifest).unwrap_err().code;
    assert_eq!(load("/provider.yaml"), "absolute-path-forbidden");
    assert_eq!(load("../provider.yaml"), "path-outside-provider");
    assert_eq!(load(""), "file-missing");
}

#[test]
fn what_a_schema_does_not_allow() {
    let cases = [
        ("additionalProperties", "provider.yaml", "name: Small", "nam: Small"),
        ("const", "provider.yaml", "provider.v1", "provider.v2"),
        ("pattern", "provider.yaml", "1.2.3-rc.1", "01.2.3"),
        ("pattern", "provider.yaml", "1.2.3-rc.1", "'1.2'"),
        ("pattern", "provider.yaml", "acme/small", "Acme"),
        ("pattern", "provider.yaml", "acme/small", "acme/"),
        ("required", "provider.yaml", "id: acme/small\n", ""),
        ("type", "provider.yaml", "1.2.3-rc.1", "1"),
        ("minLength", "provider.yaml", "^0.3.0", "''"),
        ("minItems", "provider.yaml", "[graphs/main.yaml, graphs/child.yaml]", "[]"),
        ("uniqueItems", "provider.yaml", "graphs/child.yaml", "graphs/main.yaml"),
        ("oneOf", MAIN, "    action: actions/work.yaml\n", ""),
        ("required", MAIN, "    reasonCode: route.main.gate\n", ""),
        ("not", MAIN, "kind: subgraph,", "kind: subgraph, action: actions/work.yaml,"),
        ("oneOf", MAIN, "equals: null", "equals: null, exists: true"),
        ("enum", MAIN, "kind: gatedBy", "kind: gated"),
        ("minProperties", MAIN, "{ default: work, decide: gate }", "{}"),
        ("propertyNames", MAIN, "decide: gate", "Decide: gate"),
        ("maximum", CHILD, "-5", "1001"),
        ("minimum", CHILD, "-5", "-1001"),
        ("type", CHILD, "-5", "0.5"),
        ("not", "actions/look.yaml", "command: ls -l", "command: ls -l, args: [a]"),
        (
            "not",
            "codes.yaml",
            "kind: route-reason, summary: There",
            "kind: route-reason, severity: info, summary: There",
        ),
        ("pattern", "codes.yaml", "code: route.child.run", "code: child.run"),
        ("const", "resources/view.yaml", "kind: context-view", "kind: procedure"),
        ("required", "resources/asked.yaml", ", input: {about: small}", ""),
        ("enum", "resources/table.yaml", "kind: template", "kind: context-view"),
    ];
    for (keyword, path, from, to) in cases {
        let failure = of(path, from, to).load().unwrap_err();
        assert_eq!(failure.code, "schema-invalid", "{path} {to}: {failure:?}");
        let code = format!("schema.{keyword}");
        let told = failure.diagnostics.iter().find(|fault| fault.code == code);
        let told = told.unwrap_or_else(|| panic!("{code} for {path} {to}: {failure:?}"));
        assert!(told.path.as_deref().unwrap().split('#').next() == Some(path), "{told:?}");
    }
}

#[test]
fn resource_descriptors_of_old_name_the_new_ones() {
    let small = of("resources/view.yaml", "resource.graph-action.v1", "resource.v1");
    check("schema-invalid", "agent-graph.resource.file.v1", small.clone());
    check("schema-invalid", "agent-graph.resource.graph-action.v1", small.clone());
    check("schema-invalid", "agent-graph.resource.host-action.v1", small);
}

#[test]
fn names_that_two_have() {
    check("graph-id-duplicate", CHILD, of(CHILD, "id: child", "id: main"));
    check("action-id-duplicate", "actions/", of("actions/look.yaml", "id: look", "id: apply"));
    check("action-id-duplicate", "actions/view.yaml", of("actions/view.yaml", "id: view", "id: ask"));
    check("resource-id-duplicate", "resources/", of("resources/table.yaml", "id: table", "id: guide"));
    check("resource-id-duplicate", "resources/guide.md", of("resources/guide.md", "id: guide", "id: skill.work"));
    let small = of("resources/guide.md", "id: guide", "id: schema.ask.output");
    check("resource-id-duplicate", "resources/guide.md", small);
    check("graph-node-duplicate", "graphs/main.yaml#/nodes/1/id", of(MAIN, "  - id: gate\n", "  - id: work\n"));
    let twice = "[{ from: run, to: done }, { from: run, to: done, kind: flow, outcomes: [completed] }]";
    check("graph-edge-duplicate", "graphs/child.yaml#/edges/1", of(CHILD, "[{ from: run, to: done }]", twice));
    let small = of("codes.yaml", "code: route.child.run", "code: route.main.work");
    check("code-catalog-code-duplicate", "codes.yaml#/codes/2", small);
}

#[test]
fn graphs_that_do_not_hold_together() {
    check("graph-entry-missing", "graphs/child.yaml#/entrypoints", of(CHILD, "default: run", "default: walk"));
    check("graph-edge-node-missing", "`nope`", of(CHILD, "from: run", "from: nope"));
    check("graph-edge-node-missing", "graphs/child.yaml#/edges/0", of(CHILD, "to: done", "to: nope"));
    let terminal = "  - { id: done, kind: terminal, terminalOutcome: completed }\nedges: [{ from: run, to: done }]\n";
    check("graph-terminal-missing", CHILD, of(CHILD, terminal, "edges: []\n"));
    let back = "[{ from: run, to: done }, { from: done, to: run, kind: repeat }]";
    check("graph-terminal-edge-invalid", "graphs/child.yaml#/edges/1", of(CHILD, "[{ from: run, to: done }]", back));
    check("graph-flow-cycle", "work -> gate -> work", of(MAIN, "kind: repeat", "kind: requires"));
    check("graph-flow-cycle", "run -> run", of(CHILD, "edges: [", "edges: [{ from: run, to: run }, "));
    let small = of(MAIN, "to: work, kind: repeat", "to: enter, kind: repeat");
    check("graph-repeat-target-invalid", "graphs/main.yaml#/edges/3", small);
    let small = of(MAIN, "{ from: work, to: gate }", "{ from: work, to: gate, kind: gatedBy }");
    check("graph-gated-by-source-invalid", "graphs/main.yaml#/edges/0", small);
}

#[test]
fn graphs_that_enter_each_other() {
    check("subgraph-missing", "graphs/main.yaml#/nodes/2/graph", of(MAIN, "graph: child", "graph: other"));
    check("subgraph-entry-missing", "graphs/main.yaml#/nodes/2/entry", of(MAIN, "entry: default", "entry: other"));
    check("graph-recursion", "main -> main", of(MAIN, "graph: child, entry: default", "graph: main, entry: decide"));
    let back = "nodes:\n  - { id: back, kind: subgraph, graph: main, entry: default }";
    check("graph-recursion", "main -> child -> main", of(CHILD, "nodes:", back));
}

#[test]
fn gates_that_cannot_be() {
    let small = of("actions/look.yaml", "effect: read", "effect: write");
    check("gate-inspection-effect-invalid", "graphs/main.yaml#/nodes/1/inspectionAction", small);
    let small = of("actions/apply.yaml", "effect: write", "effect: read");
    check("gate-resolution-effect-invalid", "graphs/main.yaml#/nodes/1/resolutionAction", small);
    let small = of(MAIN, "      resolutionAction: actions/apply.yaml", "      resolutionAction: actions/look.yaml");
    check("gate-resolution-effect-invalid", "graphs/main.yaml#/nodes/1/delegated/resolutionAction", small);
    let small = of(MAIN, ", delegatable: true", "");
    check("gate-delegated-policy-invalid", "graphs/main.yaml#/nodes/1/delegated", small);
    check("gate-delegated-policy-invalid", "graphs/main.yaml#/nodes/1/delegated", of(MAIN, ", authority: lead", ""));
    let small = of(MAIN, "    inspectionAction: actions/look.yaml\n", "");
    check("gate-delegated-inspection-missing", "graphs/main.yaml#/nodes/1/delegated/inspection", small);
    let small = of(MAIN, "{ required: [resources/guide.md] }", "{ required: [resources/none.md] }");
    check("file-missing", "graphs/main.yaml#/nodes/1/delegated/resources/required/0", small);
}

#[test]
fn codes_that_lead_nowhere() {
    let small = of("codes.yaml", "code: route.child.run", "code: route.child.walk");
    check("code-missing", "graphs/child.yaml#/nodes/0/reasonCode", small);
    let small =
        of("codes.yaml", "{ code: route.child.run, kind: route-reason", "{ code: route.child.run, kind: diagnostic");
    check("route-reason-code-kind-invalid", "graphs/child.yaml#/nodes/0/reasonCode", small);
    let small = of("codes.yaml", "resources/guide.md", "resources/view.yaml");
    check("code-document-dynamic", "codes.yaml#/codes/1/document", small);
}

#[test]
fn markdown_that_says_too_little() {
    let guide = |text: &str| Small::new().put("resources/guide.md", text);
    check("frontmatter-missing", "resources/guide.md", guide("# Guide\n"));
    check("frontmatter-invalid", "resources/guide.md", guide("---\nid: guide\n"));
    check("frontmatter-invalid", "resources/guide.md", guide("---\n- a\n---\n"));
    check("frontmatter-invalid", "resources/guide.md:2:5:", guide("---\nid: *a\n---\n"));
    check("resource-metadata-invalid", "`id`", guide("---\nkind: procedure\n---\n"));
    check("resource-metadata-invalid", "`id`", guide("---\nid: Guide\nkind: procedure\n---\n"));
    check("resource-metadata-invalid", "`kind`", guide("---\nid: guide\n---\n"));
    check("resource-metadata-invalid", "`media-type`", guide("---\nid: guide\nkind: procedure\nmedia-type: 7\n---\n"));
    check("resource-kind-invalid", "context-view", guide("---\nid: guide\nkind: context-view\n---\n"));
    // A YAML file that says nothing of its kind was meant as a descriptor.
    check(
        "frontmatter-missing",
        "is a descriptor: it needs a `schema`",
        Small::new().put("resources/view.yaml", "a: 1\n"),
    );
    check("frontmatter-missing", "resources/view.yaml", Small::new().put("resources/view.yaml", "a: 1\n"));
    let skill = |text: &str| Small::new().put("skills/work/SKILL.md", text);
    check("frontmatter-missing", "skills/work/SKILL.md", skill("# Work\n"));
    check("resource-metadata-invalid", "skills/work/SKILL.md", skill("---\ndescription: Works.\n---\n"));
    check("resource-metadata-invalid", "skills/work/SKILL.md", skill("---\nname: ''\n---\n"));
}

#[test]
fn schemas_that_cannot_be_used() {
    let decision = |text: &str| Small::new().put("schemas/decision.json", text);
    check("schema-compile-failed", "schemas/decision.json#/type", decision("{\"type\": \"objekt\"}"));
    check("schema-compile-failed", "schemas/decision.json", decision("[]"));
    check("schema-compile-failed", "schemas/decision.json", decision("{\"pattern\": \"(\"}"));
    check("schema-compile-failed", "schemas/decision.json", decision("{\"$ref\": \"#/$defs/none\"}"));
    // Nothing is ever fetched for a schema: an Action may name one that needs others, and a Resource may not be held to it.
    for elsewhere in ["https://acme.test/a.json", "http://127.0.0.1:9/a.json", "file:///etc/passwd", "other.json"] {
        decision(&format!("{{\"$ref\": \"{elsewhere}\"}}")).load().unwrap();
        decision(&format!("{{\"$schema\": \"{elsewhere}\"}}")).load().unwrap();
        for (path, id) in [("schemas/question.json", "acme.question/v1"), ("schemas/answer.json", "acme.answer/v1")] {
            let text = format!("{{\"$id\": \"{id}\", \"properties\": {{\"a\": {{\"$ref\": \"{elsewhere}\"}}}}}}");
            check("schema-compile-failed", path, Small::new().put(path, &text));
        }
    }
}

#[test]
fn materializers_that_cannot_make_it() {
    let place = "resources/view.yaml#/materializer";
    check("materializer-effect-invalid", place, of("actions/view.yaml", "effect: read", "effect: external"));
    check("materializer-runner-invalid", place, of("resources/view.yaml", "actions/view.yaml", "actions/ask.yaml"));
    let place = "resources/asked.yaml#/materializer";
    check("materializer-effect-invalid", place, of("actions/ask.yaml", "effect: read", "effect: write"));
    check("materializer-runner-invalid", place, of("resources/asked.yaml", "actions/ask.yaml", "actions/view.yaml"));
    let code = "materializer-schema-identity-invalid";
    check(code, "outputSchema", of("actions/ask.yaml", ", outputSchema: schemas/answer.json", ""));
    check(code, "inputSchema", of("actions/ask.yaml", "inputSchema: schemas/question.json,", ""));
    check(code, "schemas/answer.json#/$id", of("schemas/answer.json", "acme.answer.v2", "acme.answer"));
    check(code, "schemas/question.json#/$id", of("schemas/question.json", "\"$id\": \"acme.question/v1\", ", ""));
    let code = "materializer-input-invalid";
    check(code, "resources/asked.yaml#/input/about", of("resources/asked.yaml", "about: small", "about: 7"));
    check(code, "resources/asked.yaml#/input", of("resources/asked.yaml", "{about: small}", "[]"));
}

#[test]
fn faults_of_a_phase_are_told_together() {
    let codes = |failure: &Failure| failure.diagnostics.iter().map(|fault| fault.code.to_string()).collect::<Vec<_>>();
    let small = of(MAIN, "kind: gatedBy", "kind: gated")
        .edit(MAIN, "id: enter,", "id: enter, colour: red, size: 3,")
        .edit(CHILD, "from: run", "from: nope")
        .edit("codes.yaml", "kind: diagnostic", "kind: diagnosis");
    let failure = small.load().unwrap_err();
    assert_eq!(
        codes(&failure),
        [
            "schema.enum",
            "schema.additionalProperties",
            "schema.additionalProperties",
            "schema.enum",
            "graph-edge-node-missing"
        ]
    );
    assert_eq!(failure.code, "schema-invalid");
    assert!(failure.message.ends_with("; and 4 more"), "{}", failure.message);
    let small = Small::new()
        .without("actions/run.yaml")
        .edit("actions/view.yaml", "effect: read", "effect: write")
        .edit("codes.yaml", "code: route.main.work", "code: route.main.play")
        .edit(MAIN, "graph: child", "graph: none");
    let failure = small.load().unwrap_err();
    let expected = ["subgraph-missing", "file-missing", "code-missing", "materializer-effect-invalid"];
    assert_eq!((codes(&failure), &*failure.code), (expected.map(str::to_owned).to_vec(), "subgraph-missing"));
}

#[test]
fn one_broken_file_is_told_once() {
    let twice = "{ id: run, kind: action, action: actions/run.yaml, reasonCode: route.child.run, priority: -5 }";
    let more = format!("{twice}\n  - {}", twice.replace("id: run", "id: again"));
    for small in
        [of(CHILD, twice, &more).without("actions/run.yaml"), of(CHILD, twice, &more).put("actions/run.yaml", "a: 1")]
    {
        let failure = small.load().unwrap_err();
        let places = failure.diagnostics.iter().filter(|fault| fault.code.contains("missing")).count();
        assert!(places == 0 && failure.diagnostics.len() <= 6, "{failure:?}");
    }
}

#[test]
fn very_many_faults_are_counted_beyond_a_limit() {
    let edges: Vec<String> = (0..500).map(|at| format!("{{ from: run, to: no{at} }}")).collect();
    let small = of(CHILD, "{ from: run, to: done }", &edges.join(", "));
    let failure = small.load().unwrap_err();
    assert_eq!(failure.diagnostics.len(), graph::limits::MOST_DIAGNOSTICS + 1);
    assert_eq!(failure.diagnostics.last().unwrap().message, "400 more faults are not listed");
    assert!(failure.message.ends_with("; and 499 more"), "{}", failure.message);
}

#[test]
fn schemas_that_cost_too_much() {
    let question = |text: &str| Small::new().put("schemas/question.json", text);
    let twice = |at: usize| {
        format!("\"a{at}\": {{\"anyOf\": [{{\"$ref\": \"#/$defs/a{0}\"}}, {{\"$ref\": \"#/$defs/a{0}\"}}]}}", at - 1)
    };
    let definitions: Vec<String> = (1..=60).map(twice).collect();
    let text = format!(
        "{{\"$id\": \"acme.question/v1\", \"$ref\": \"#/$defs/a60\", \"$defs\": {{\"a0\": false, {}}}}}",
        definitions.join(", ")
    );
    check("materializer-input-invalid", "resources/asked.yaml#/input", question(&text));
    let once = |at: usize| format!("\"a{at}\": {{\"$ref\": \"#/$defs/a{}\"}}", at - 1);
    let definitions: Vec<String> = (1..=20_000).map(once).collect();
    let text = format!("{{\"$id\": \"acme.question/v1\", \"$defs\": {{\"a0\": true, {}}}}}", definitions.join(", "));
    check("schema-compile-failed", "schemas/question.json", question(&text));
}
