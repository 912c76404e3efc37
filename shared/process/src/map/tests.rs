//! The pictures of a process: what a file says can break neither, and they stay as they were looked at.

use super::*;
use crate::{Document, read};

fn document(file: &str) -> Document {
    let reading = read(file.as_bytes());
    reading.document.unwrap_or_else(|| panic!("{:?}", reading.problems))
}

#[test]
fn text_of_the_file_cannot_break_either_picture() {
    let nasty =
        r##"]]>--></svg><script>alert(1)</script> "quoted" 'single' `code` #35; &amp; %% ; { } | [x](y) **b** end"##;
    let text = serde_json::to_string(nasty).unwrap();
    let document = document(&format!(
        "---\nname: x\ndescription: {text}\nsteps:\n- id: end\n  agent: {text}\n  next:\n  - {{ to: graph, when: {text} }}\n  \
         - {{ to: subgraph, when: \"\\0\\u001b\\n\" }}\n- id: graph\n  finish: {}\n- id: subgraph\n  finish: done\n---\n",
        serde_json::to_string(&nasty.chars().take(60).collect::<String>()).unwrap()
    ));
    let svg = svg(&document);
    assert!(!svg.contains("<script") && svg.matches("</svg>").count() == 1);
    assert!(svg.chars().all(|c| !c.is_control() || c == '\n'));
    let mermaid = mermaid(&document);
    for line in mermaid.lines().skip(1) {
        let quotes = line.matches('"').count();
        assert!(quotes == 0 || quotes == 2, "{line}");
        let inside = line.split('"').nth(1).unwrap_or_default().replace("<br/>", "");
        assert!(!inside.contains(['<', '>', '`', '&', '|', '{', '[', '\'', '*']), "{line}");
    }
}

/// Whoever changes a picture sets `UPDATE_CASES=1`, looks at what was drawn, and commits it.
#[test]
fn pictures_are_as_they_were_looked_at() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/processes");
    let hiring = document(include_str!("../../tests/processes/hiring.md"));
    let office_move = document(include_str!("../../tests/processes/office-move.md"));
    for (name, drawn) in [
        ("hiring.mmd", mermaid(&hiring)),
        ("hiring.svg", svg(&hiring)),
        ("office-move.mmd", mermaid(&office_move)),
        ("office-move.svg", svg(&office_move)),
    ] {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_CASES").is_some() {
            std::fs::write(&path, &drawn).unwrap();
        }
        assert!(std::fs::read_to_string(&path).unwrap() == drawn, "{name} has changed");
    }
}
