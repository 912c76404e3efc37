//! Values against declarations: what is accepted, and how each fault is told.

use serde_json::json;

use super::*;

fn fields(declarations: &str) -> Fields {
    let file =
        format!("---\nname: x\ndescription: x\ninputs: {declarations}\nsteps: [{{ id: a, finish: done }}]\n---\n");
    let reading = crate::read(file.as_bytes());
    reading.document.unwrap_or_else(|| panic!("{:?}", reading.problems)).inputs
}

fn check(declarations: &str, object: &str, expect: &[&str]) {
    let object: Map<String, Value> = serde_json::from_str(object).unwrap();
    assert_eq!(check_fields("output", &fields(declarations), &object), expect, "{declarations} {object:?}");
}

#[test]
fn every_issue_in_the_words_and_the_order_of_the_contract() {
    let declared = "{ summary: string, cleared: boolean, note: { type: string, optional: true } }";
    check(declared, r#"{ "summary": "s", "cleared": true }"#, &[]);
    check(declared, r#"{ "cleared": false, "summary": "", "note": "n" }"#, &[]);
    check(declared, "{}", &["output.summary: missing", "output.cleared: missing"]);
    check(
        declared,
        r#"{ "zebra": 1, "cleared": "yes", "extra": 1, "note": null }"#,
        &[
            "output.summary: missing",
            "output.cleared: expected boolean",
            "output.note: expected string",
            "output.zebra: not declared",
            "output.extra: not declared",
        ],
    );
    check("{}", r#"{ "b": 1, "a": 2 }"#, &["output.b: not declared", "output.a: not declared"]);
}

#[test]
fn every_type_against_every_value() {
    let values = [
        ("string", r#""text""#),
        ("number", "1.5"),
        ("boolean", "true"),
        ("date", r#""2026-10-06""#),
        ("datetime", r#""2026-10-06T09:30:00Z""#),
        ("list", "[]"),
        ("object", "{}"),
        ("person", r#""ana@example.org""#),
        ("null", "null"),
    ];
    for (kind, _) in &values[..8] {
        for (of, value) in &values {
            let fits = kind == of || (*kind == "string" && value.starts_with('"'));
            let expect = format!("output.f: expected {kind}");
            let expect: Vec<&str> = if fits { vec![] } else { vec![&expect] };
            check(&format!("{{ f: {kind} }}"), &format!(r#"{{ "f": {value} }}"#), &expect);
        }
    }
}

#[test]
fn allowed_values() {
    let words = "{ f: { type: string, one_of: [a, b] } }";
    check(words, r#"{ "f": "a" }"#, &[]);
    check(words, r#"{ "f": "A" }"#, &["output.f: expected one of a, b"]);
    check(words, r#"{ "f": 1 }"#, &["output.f: expected string"]);
    let numbers = "{ f: { type: number, one_of: [1, 0.10, 12345678901234567890] } }";
    for same in ["1", "1.0", "1e0", "0.1", "1e-1", "12345678901234567890", "1234567890123456789e1"] {
        check(numbers, &format!(r#"{{ "f": {same} }}"#), &[]);
    }
    for other in ["1.0000000000000000001", "12345678901234567891", "-1", "0"] {
        check(numbers, &format!(r#"{{ "f": {other} }}"#), &["output.f: expected one of 1, 0.10, 12345678901234567890"]);
    }
    check("{ f: { type: boolean, one_of: [true] } }", r#"{ "f": false }"#, &["output.f: expected one of true"]);
    let people = "{ f: { type: person, one_of: [Ana@Example.org] } }";
    check(people, r#"{ "f": "ana@example.ORG" }"#, &[]);
    check(people, r#"{ "f": "bob@example.org" }"#, &["output.f: expected one of Ana@Example.org"]);
}

#[test]
fn elements_of_lists() {
    check("{ lines: list }", r#"{ "lines": [1, "a", null, {}] }"#, &[]);
    check(
        "{ lines: { type: list, items: object } }",
        r#"{ "lines": [1, {}, null] }"#,
        &["output.lines[0]: expected object", "output.lines[2]: expected object"],
    );
    let nested = "{ f: { type: list, items: { type: list, items: { type: string, one_of: [a, b] } } } }";
    check(nested, r#"{ "f": [["a"], [], ["b", "a"]] }"#, &[]);
    check(
        nested,
        r#"{ "f": [["a", "c"], 1, ["b", 2]] }"#,
        &["output.f[0][1]: expected one of a, b", "output.f[1]: expected list", "output.f[2][1]: expected string"],
    );
}

#[test]
fn a_long_list_of_wrong_elements_has_a_short_answer() {
    let fields = fields("{ f: { type: list, items: string } }");
    let value = json!(vec![1; VALUE_ISSUES + 7]);
    let issues = check_value(fields.get("f").unwrap(), &value).unwrap_err();
    assert_eq!(issues.len(), VALUE_ISSUES + 1);
    assert_eq!(issues[VALUE_ISSUES], (String::new(), "7 more issues are not listed".to_owned()));
}

#[test]
fn addresses() {
    for good in ["ana@example.org", "a@b", "a.b+c@x-y.example", "O'Neil@example.org", &format!("{}@a", "x".repeat(64))]
    {
        assert!(is_email(good), "{good}");
    }
    for bad in [
        "",
        "ana",
        "@example.org",
        "ana@",
        "ana@@example.org",
        "ana@exa mple.org",
        "ana@.org",
        "ana@example.",
        "a b@c.org",
        "ana@-x.org",
        "ana@x-.org",
        "ana@exämple.org",
        "Ana <ana@example.org>",
        "ana@example.org\n",
        &format!("{}@a", "x".repeat(65)),
        &format!("a@{}", "x".repeat(64)),
        &format!("a@{}org", "abc.".repeat(70)),
    ] {
        assert!(!is_email(bad), "{bad}");
    }
}

#[test]
fn values_are_equal_whatever_their_numbers_and_keys_look_like() {
    let read = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    for (left, right, same) in [
        ("1", "1.0", true),
        ("-0", "0", true),
        ("9007199254740993", "9007199254740992", false),
        (r#"{"a":[1,{"b":2}],"c":null}"#, r#"{"c":null,"a":[1.0,{"b":20e-1}]}"#, true),
        ("[1]", "[1,1]", false),
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#, false),
        (r#"{"a":1}"#, r#"{"b":1}"#, false),
        (r#""1""#, "1", false),
        ("null", "false", false),
    ] {
        assert_eq!(super::equal(&read(left), &read(right)), same, "{left} and {right}");
        assert_eq!(super::equal(&read(right), &read(left)), same, "{right} and {left}");
    }
}
