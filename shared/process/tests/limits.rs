//! Limits hold, and time grows with the size of a file and not with its square.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fmt::Write;
use std::time::{Duration, Instant};

use process::{Severity, limits, map, read};

fn only_error(file: &str) -> String {
    let reading = read(file.as_bytes());
    let errors: Vec<_> = reading.problems.iter().filter(|p| p.severity == Severity::Error).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].to_string()
}

/// A process of so many steps that uses every kind of edge and path.
fn long(count: usize) -> String {
    let mut file = String::from("---\nname: long\ndescription: x\nsteps:\n");
    for n in 0..count - 1 {
        match n % 3 {
            0 if n + 3 < count => {
                let (a, b) = (n + 1, n + 3);
                writeln!(file, "- {{id: s{n}, agent: x, output: {{p: person}}, next: [s{a}, s{b}]}}").unwrap();
            }
            1 if n + 2 < count => writeln!(file, "- {{id: s{n}, task: x, person: steps.s{}.output.p}}", n - 1).unwrap(),
            _ => writeln!(file, "- {{id: s{n}, approve: x, person: r, on_reject: s{}}}", n / 2).unwrap(),
        }
    }
    writeln!(file, "- {{id: s{}, finish: done}}\n---", count - 1).unwrap();
    file
}

/// A process of so many steps: parallel steps of as many branches, each of so many steps, one after the other. Every
/// branch step names what `next` says of it.
fn forked(count: usize, branches: usize, steps: usize, next: impl Fn(usize, usize, &str) -> String) -> String {
    let mut file = String::from("---\nname: forked\ndescription: x\nsteps:\n");
    let regions = (count - 1) / (1 + branches * steps);
    for region in 0..regions {
        let after = if region + 1 < regions { format!("p{}", region + 1) } else { "end".to_owned() };
        let entries: Vec<String> = (0..branches).map(|b| format!("s{region}-{b}-0")).collect();
        writeln!(file, "- {{id: p{region}, parallel: [{}], next: {after}}}", entries.join(",")).unwrap();
        for branch in 0..branches {
            let entry = format!("s{region}-{branch}-0");
            for step in 0..steps {
                let following = format!("s{region}-{branch}-{}", step + 1);
                let to = next(region, step, if step + 1 < steps { &following } else { "join" });
                let kind = if step == 0 { "agent: x, output: {p: person}" } else { "task: x, person: PATH" };
                let kind = kind.replace("PATH", &format!("steps.{entry}.output.p"));
                writeln!(file, "- {{id: s{region}-{branch}-{step}, {kind}, next: {to}}}").unwrap();
            }
        }
    }
    writeln!(file, "- {{id: end, finish: done}}\n---").unwrap();
    file
}

fn straight(_: usize, _: usize, next: &str) -> String {
    next.to_owned()
}

/// The least of several times, since a busy machine only ever makes one longer.
fn time(file: &str) -> Duration {
    let once = || {
        let start = Instant::now();
        for _ in 0..4 {
            assert!(read(file.as_bytes()).document.is_some());
        }
        start.elapsed()
    };
    (0..9).map(|_| once()).min().unwrap()
}

#[test]
fn ten_times_the_steps_take_about_ten_times_as_long() {
    let (short, long) = (time(&long(50)), time(&long(500)));
    assert!(long < short * 25, "50 steps {short:?}, 500 steps {long:?}");
    let (short, long) = (time(&forked(50, 4, 2, straight)), time(&forked(500, 4, 2, straight)));
    assert!(long < short * 25, "with branches, 50 steps {short:?}, 500 steps {long:?}");
}

#[test]
fn branches_up_to_the_limit() {
    let most = limits::BRANCH_ENTRIES;
    let document = read(forked(500, most, 16, straight).as_bytes()).document.unwrap();
    assert_eq!(document.regions[0].branches.len(), most);
    let over = only_error(&forked(50, most + 1, 1, straight));
    let expect =
        "steps[0].parallel[30]: there are 31 branches; at most 30 may run at once: begin the others after the join";
    assert!(over.starts_with("5:") && over.ends_with(expect), "{over}");
}

#[test]
fn waits_up_to_the_limit() {
    let file = |count: usize| {
        let waits: String = (0..count).map(|n| format!("- {{id: w{n}, wait: 1d}}\n")).collect();
        format!("---\nname: waiting\ndescription: x\nsteps:\n{waits}- {{id: end, finish: done}}\n---\n")
    };
    assert!(read(file(limits::WAITS).as_bytes()).document.is_some());
    let error = only_error(&file(limits::WAITS + 2));
    assert!(error.starts_with("205:3: steps[200]: there are 202 waits; at most 200 are allowed"), "{error}");
}

#[test]
fn a_question_has_no_control_character() {
    let error = only_error(
        "---\nname: asked\ndescription: x\nsteps:\n- {id: a, agent: x, check: \"Is it\\u0001?\"}\n- {id: b, finish: b}\n---\n",
    );
    assert!(error.starts_with("5:28: steps[0].check: has the control character \\u{1}; leave it out"), "{error}");
}

#[test]
fn questions_and_answers_up_to_the_limit() {
    let file = |ask: usize, answer: usize, level: usize| {
        let [ask, answer, level] = [ask, answer, level].map(|count| "ü".repeat(count));
        format!(
            "---\nname: asked\ndescription: x\nsteps:\n- id: a\n  agent: x\n  check:\n  - {{ask: {ask}}}\n  \
             - {{ask: x, one_of: {{a: {answer}, b: x}}, pass: [b]}}\n  - {{ask: x, levels: [x, {level}], pass: 1}}\n\
             - {{id: b, finish: b}}\n---\n"
        )
    };
    const MOST: usize = limits::QUESTION_CHARACTERS;
    assert!(read(file(MOST, MOST, MOST).as_bytes()).document.is_some());
    for (over, at) in [
        (file(MOST + 1, 1, 1), "8:11: steps[0].check[0].ask: has 1001 characters"),
        (file(1, MOST + 1, 1), "9:26: steps[0].check[1].one_of.a: has 1001 characters"),
        (file(1, 1, MOST + 1), "10:26: steps[0].check[2].levels[1]: has 1001 characters"),
    ] {
        let error = only_error(&over);
        assert!(error.starts_with(at), "{error}");
    }
}

#[test]
fn steps_up_to_the_limit() {
    assert!(read(long(limits::STEPS).as_bytes()).document.is_some());
    let mut file = String::from("---\nname: x\ndescription: x\nsteps:\n");
    for n in 0..=limits::STEPS {
        writeln!(file, "- {{id: s{n}, wait: 1m}}").unwrap();
    }
    assert!(only_error(&(file + "---\n")).starts_with("505:3: steps[500]: there are 501 steps; at most 500"));
}

#[test]
fn nesting_up_to_the_limit() {
    let file = |levels: usize, open: &str, close: &str| {
        format!(
            "---\nname: x\ndescription: x\nsteps: [{{id: a, finish: done}}]\nq: {}{}\n---\n",
            open.repeat(levels),
            close.repeat(levels)
        )
    };
    assert!(only_error(&file(limits::DEPTH_LEVELS - 1, "[", "]")).contains("unknown key"));
    assert!(only_error(&file(limits::DEPTH_LEVELS, "[", "]")).contains("nested 64 levels deep"));
    assert!(only_error(&file(200, "{a: ", "}")).contains("nested 64 levels deep"));
    assert!(only_error(&file(20_000, "[", "]")).starts_with("5:"));
    let dashes = format!("---\na:\n{}x\n---\n", "- ".repeat(30_000));
    assert!(only_error(&dashes).contains("nested 64 levels deep"));
    let mut stairs = String::from("---\n");
    for n in 0..350 {
        writeln!(stairs, "{}a:", " ".repeat(n)).unwrap();
    }
    assert!(only_error(&(stairs + "---\n")).contains("nested 64 levels deep"));
}

#[test]
fn items_as_deep_as_nesting_allows() {
    let depth = limits::DEPTH_LEVELS - 3;
    let field = format!("{}string{}", "{type: list, items: ".repeat(depth), "}".repeat(depth));
    let file =
        format!("---\nname: x\ndescription: x\ninputs: {{ f: {field} }}\nsteps: [{{id: a, finish: done}}]\n---\n");
    let document = read(file.as_bytes()).document.unwrap();
    let value = serde_json::from_str(&format!("{}1{}", "[".repeat(depth), "]".repeat(depth))).unwrap();
    let issues = process::value::check_value(document.inputs.get("f").unwrap(), &value).unwrap_err();
    assert_eq!(issues, [("[0]".repeat(depth), "expected string".to_owned())]);
}

#[test]
fn aliases_up_to_the_limit() {
    let mut laughs = String::from("---\na0: &a0 [x]\n");
    for n in 1..30 {
        writeln!(laughs, "a{n}: &a{n} [{}]", vec![format!("*a{}", n - 1); 9].join(",")).unwrap();
    }
    assert!(only_error(&(laughs + "---\n")).contains("aliases may stand for 10000 values"));
    let text = "x".repeat(30_000);
    let many = format!("---\na: &a {text}\nb: [{}]\n---\n", ["*a"; 9].join(","));
    assert!(only_error(&many).contains("262144 bytes of text"));
    let mut tower = String::from("---\na0: &a0 [x]\n");
    for n in 1..80 {
        writeln!(tower, "a{n}: &a{n} [*a{}]", n - 1).unwrap();
    }
    assert!(only_error(&(tower + "---\n")).contains("nested 64 levels deep"));
}

#[test]
fn the_worst_files_are_read_and_drawn_in_a_moment() {
    let room = limits::FRONTMATTER_BYTES - 200;
    let fill = |piece: &str| piece.repeat(room / piece.len());
    let mut many_routes = String::from("---\nname: x\ndescription: x\nsteps:\n");
    for n in 0..200 {
        let routes: Vec<String> = (n + 1..(n + 40).min(200)).map(|to| format!("s{to}")).collect();
        match routes.len() {
            0 => writeln!(many_routes, "- {{id: s{n}, finish: done}}"),
            1 => writeln!(many_routes, "- {{id: s{n}, agent: x}}"),
            _ => writeln!(many_routes, "- {{id: s{n}, agent: x, next: [{}]}}", routes.join(",")),
        }
        .unwrap();
    }
    many_routes += "---\n";
    assert!(read(many_routes.as_bytes()).document.is_some());
    let head = "---\nname: x\ndescription: x\nsteps:\n";
    let names: Vec<String> = (0..4_000).map(|n| format!("n{n:x}")).collect();
    let answers: String = names.iter().map(|n| format!("{n}: x,")).collect();
    let choice = format!("{{ask: x, one_of: {{{answers}}}, pass: [{}], unsure: [no]}}", names.join(","));
    let files = [
        many_routes,
        long(500),
        forked(500, 30, 16, straight),
        forked(500, 2, 1, straight),
        forked(500, 2, 1, |region, _, _| format!("s{}-0-0", (region + 1) % 166)),
        forked(500, 30, 16, |_, step, next| format!("[{next}, p0, end, s0-{step}-1]")),
        forked(500, 30, 16, |region, step, _| format!("s{region}-{}-{}", step * 7 % 30, step * 5 % 16)),
        forked(500, 1, 499, straight),
        format!("---\n{}\n---\n", fill("{")),
        format!("---\n{}\n---\n", fill("[a, ")),
        format!("---\n{}\n---\n", fill("? ")),
        format!("---\n{}\n---\n", fill("- ")),
        format!("---\n{}\n---\n", fill("a: ")),
        format!("---\n{}\n---\n", fill("!!str ")),
        format!("---\n{}\n---\n", fill("&a ")),
        format!("---\n\"{}\n---\n", fill("\\")),
        format!("---\na: {}\n---\n", fill("9")),
        format!("---\na: 0x{}\n---\n", fill("f")),
        format!("---\na: [{}]\n---\n", fill("a,")),
        format!("---\n{{{}}}\n---\n", fill("a: ,")),
        format!("---\n{}---\n", fill("a: 1\n")),
        format!("{head}{}---\n", fill("- {}\n")),
        format!("{head}- {{id: a, agent: x, next: [{}]}}\n---\n", fill("zz,")),
        format!("{head}- {{id: a, agent: x, {}}}\n---\n", fill("agemt: x,")),
        format!("{head}- {{id: a, agent: x, check: [{}]}}\n---\n", fill("{aks: x},")),
        format!("{head}- {{id: a, agent: x, check: [{{one_of: {{a: x}}, pass: [{}]}}]}}\n---\n", fill("b,")),
        format!("{head}- {{id: a, agent: x, check: [{choice}]}}\n---\n"),
        format!("---\ninputs: {{ {} }}\n---\n", (0..9_000).map(|n| format!("{n:x}x: s,")).collect::<String>()),
        format!("---\n{}: {{ {} }}\n---\n", "k".repeat(1_000), fill("[]: 1,").get(..60_000).unwrap_or_default()),
        "\n".repeat(1_000_000),
        format!("---\n{}", "\n".repeat(1_000_000)),
        format!("---\n---\n{}", "x".repeat(1_000_000)),
    ];
    for (n, file) in files.iter().enumerate() {
        let start = Instant::now();
        let reading = read(file.as_bytes());
        if let Some(document) = &reading.document {
            map::mermaid(document);
            map::svg(document);
        }
        // Milliseconds in truth; the bound only has to tell a moment from a hang on any machine.
        assert!(start.elapsed() < Duration::from_secs(10), "file {n} took {:?}", start.elapsed());
        let size: usize = reading.problems.iter().map(|p| p.message.len() + p.path.len()).sum();
        assert!(size < 4_000_000, "file {n} reports {size} bytes");
    }
}
