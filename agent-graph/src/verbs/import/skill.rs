//! `agent-graph import skill`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use graph::Failure;
use serde_json::{Map, Value, json};

use crate::authoring::draft::Draft;
use crate::authoring::import::{Made, Step, Target, slug};
use crate::authoring::yaml;
use crate::call::{Done, Global};
use crate::files;
use crate::limits::{FILES, FOLDER_LEVELS, IMPORT_BYTES};

/// Copies a Skill with all files of its folder into a Provider, binds the copy, and adds an Action and a Graph for it.
///
/// The Skill that is copied is not changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph import skill old/release/SKILL.md --into providers/release --graph release

Exit codes: 0 imported; 1 nothing was written, and why.")]
pub struct ImportSkill {
    /// The SKILL.md, or the folder that holds it.
    skill: PathBuf,
    /// The folder of the Provider.
    #[arg(long, value_name = "FOLDER")]
    into: PathBuf,
    /// The id of the Graph; the name of the Skill's folder unless said.
    #[arg(long, value_name = "ID")]
    graph: Option<String>,
}

const SKILL: &str = "SKILL.md";

impl ImportSkill {
    /// Imports it.
    pub fn run(self, global: &Global) -> Done {
        let folder = match self.skill.is_dir() {
            true => self.skill.as_path(),
            false if self.skill.file_name().is_some_and(|name| name == SKILL) => files::folder_of(&self.skill),
            false => {
                let message = format!("{} is neither a {SKILL} nor a folder that holds one", self.skill.display());
                return Err(Failure::new("file-missing", message));
            }
        };
        let text = files::read_text(&folder.join(SKILL))?;
        let source = folder
            .canonicalize()
            .map_err(|_| Failure::new("file-missing", format!("there is no {}", folder.display())))?;
        let from = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let id = slug(self.graph.as_deref().unwrap_or(&from))?;
        let mut target = Target::of(&self.into)?;
        if source.starts_with(&target.root) && target.root.join("skills").join(&id).starts_with(&source) {
            let message = format!("{} would be copied into itself", source.display());
            return Err(Failure::new("import-target-exists", message));
        }
        let place = format!("skills/{id}");
        if files::taken(&target.root.join(&place)) {
            let message = format!("there is something at {place} of the Provider already, and it is not replaced");
            return Err(Failure::new("import-target-exists", message));
        }
        Copy { root: &source, place: &place, files: 0, bytes: 0 }.folder(&source, 0, &mut target.draft)?;
        let (bound, name) = bind(&text, &from, &id)?;
        let skill = format!("{place}/{SKILL}");
        target.draft.add(&skill, bound);
        let action = format!("actions/{id}.yaml");
        target.action(
            &action,
            &json!({
                "schema": "agent-graph.action.v1",
                "id": format!("skill.{id}"),
                "runner": "agent",
                "effect": "write",
                "skill": skill,
            }),
        );
        let step = Step {
            id: "use-skill".to_owned(),
            action,
            description: Some(format!("Use the Skill {name}")),
            summary: format!("The Skill {name} has not been used yet"),
        };
        let made = Made { id: id.clone(), nodes: vec![step], edges: Vec::new() };
        let report = format!(
            "`{}` was copied to `{place}` and the copy bound to Graph `{id}`, entry `default`.\n\n\
             The whole Skill is one Action with the effect `write`. To look through: which parts of it are Actions of their \
             own, what they really change, where a person has to decide, which facts prove it done, what only some Routes need \
             to read, and where a failure leads.",
            source.join(SKILL).display()
        );
        let graph = target.finish(&made, &format!("Skill {name} as Graph {id}"), &report)?;
        super::tell(global, "skill", &self.into, &id, &graph)
    }
}

/// Copies a folder into a draft.
struct Copy<'a> {
    root: &'a Path,
    place: &'a str,
    files: usize,
    bytes: u64,
}

impl Copy<'_> {
    fn folder(&mut self, folder: &Path, level: usize, draft: &mut Draft) -> Result<(), Failure> {
        let unread = |error| Failure::new("file-read-failed", format!("{} cannot be read: {error}", folder.display()));
        if level > FOLDER_LEVELS {
            let message = format!("{} lies deeper than {FOLDER_LEVELS} folders", folder.display());
            return Err(Failure::new("file-read-failed", message));
        }
        for entry in fs::read_dir(folder).map_err(unread)? {
            let path = entry.map_err(unread)?.path();
            // What a link leads to outside the folder is not the Skill's to give away.
            let real = path.canonicalize().map_err(unread)?;
            if !real.starts_with(self.root) {
                let message = format!("{} leads out of the folder of the Skill", path.display());
                return Err(Failure::new("path-symlink-outside-provider", message));
            }
            if real.is_dir() {
                self.folder(&path, level + 1, draft)?;
                continue;
            }
            let below = path.strip_prefix(self.root).unwrap_or(&path);
            let below = below.to_str().ok_or_else(|| {
                Failure::new("file-read-failed", format!("the name of {} is not UTF-8 text", path.display()))
            })?;
            let bytes = files::read(&path)?;
            self.files += 1;
            self.bytes += bytes.len() as u64;
            if self.files > FILES || self.bytes > IMPORT_BYTES {
                let message = format!(
                    "{} holds more than {FILES} files or {IMPORT_BYTES} bytes: put the Skill into a folder of its own",
                    self.root.display()
                );
                return Err(Failure::new("file-read-failed", message));
            }
            draft.copy(format!("{}/{below}", self.place), bytes, &path);
        }
        Ok(())
    }
}

/// The Skill's text with the binding in its frontmatter, and the Skill's name.
fn bind(text: &str, folder: &str, graph: &str) -> Result<(String, String), Failure> {
    let (front, body) = parts(text)?;
    let mut front = match front.map(process::yaml) {
        None => Map::new(),
        Some(Ok(Value::Object(front))) => front,
        Some(Ok(Value::Null)) => Map::new(),
        Some(_) => {
            let message = format!("the frontmatter of {SKILL} is no YAML of keys and values");
            return Err(Failure::new("frontmatter-invalid", message));
        }
    };
    let name = match front.get("name").and_then(Value::as_str) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => folder.to_owned(),
    };
    front.insert("name".to_owned(), json!(name));
    front.entry("description").or_insert_with(|| json!(format!("The imported Skill {name}.")));
    let mut metadata = front.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    for (key, value) in
        [("agent-graph", "path:../../provider.yaml"), ("agent-graph.graph", graph), ("agent-graph.entry", "default")]
    {
        metadata.insert(key.to_owned(), json!(value));
    }
    front.insert("metadata".to_owned(), Value::Object(metadata));
    Ok((format!("---\n{}---\n{body}", yaml::text(&Value::Object(front))), name))
}

/// The frontmatter, if there is one, and what follows it.
fn parts(text: &str) -> Result<(Option<&str>, &str), Failure> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return Ok((None, text));
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((rest.get(..at), rest.get(at + line.len()..).unwrap_or_default()));
        }
        at += line.len();
    }
    Err(Failure::new("frontmatter-invalid", format!("the frontmatter of {SKILL} has no end: a line of ---")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_bound_and_keeps_what_it_said() {
        let bound = "metadata:\n  agent-graph: path:../../provider.yaml\n  agent-graph.graph: g\n  agent-graph.entry: default\n";
        let (text, name) = bind("---\nname: x\ndescription: d\n---\n# Body\n", "f", "g").unwrap();
        assert_eq!((text, name.as_str()), (format!("---\nname: x\ndescription: d\n{bound}---\n# Body\n"), "x"));
        let (text, name) = bind("# Only a body\n", "f", "g").unwrap();
        assert_eq!(text, format!("---\nname: f\ndescription: The imported Skill f.\n{bound}---\n# Only a body\n"));
        assert_eq!(name, "f");
        let before = "---\r\nname: x\r\ndescription: 'd'\r\nmetadata: {a: b, agent-graph: path:old}\r\n---\r\nBody";
        let (text, _) = bind(before, "f", "g").unwrap();
        assert!(text.ends_with("---\nBody") && text.contains("  a: b\n") && !text.contains("old"), "{text}");
        for bad in ["---\nname: x\n", "---\n- a\n---\n", "---\na: [\n---\n"] {
            assert_eq!(bind(bad, "f", "g").unwrap_err().code, "frontmatter-invalid", "{bad}");
        }
    }
}
