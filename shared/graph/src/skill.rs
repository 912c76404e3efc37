//! The binding of a Skill to a Graph and an entry of a Provider (section-provider): three fields of its frontmatter, which
//! hold together or not at all. Nothing is taken from its prose.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::documents::{SkillBinding, SkillBindingSchema};
use crate::failure::Failure;
use crate::load::{Provider, frontmatter};
use crate::schemas::{self, quote};

/// What a Skill says it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillClaim {
    /// Where the Provider is, as it was written.
    pub locator: String,
    /// The Graph.
    pub graph: String,
    /// The entry.
    pub entry: String,
}

/// Where a Skill says that its Provider is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Locator {
    /// At a path relative to the folder of the `SKILL.md`.
    Path(String),
    /// Wherever the host has the Provider of this id.
    Provider(String),
}

impl SkillClaim {
    /// The claim of a `SKILL.md`.
    ///
    /// # Errors
    ///
    /// `frontmatter-missing`, `frontmatter-invalid`, `skill-binding-missing` with every field that is missing.
    pub fn of(path: &str, bytes: &[u8]) -> Result<SkillClaim, Failure> {
        let fields = frontmatter(path, bytes)?;
        let metadata = fields.get("metadata");
        let mut missing = Vec::new();
        let mut field = |name: &'static str| {
            let text =
                metadata.and_then(|metadata| metadata.get(name)).and_then(Value::as_str).unwrap_or_default().trim();
            if text.is_empty() {
                missing.push(name);
            }
            text.to_owned()
        };
        let claim = SkillClaim {
            locator: field("agent-graph"),
            graph: field("agent-graph.graph"),
            entry: field("agent-graph.entry"),
        };
        if missing.is_empty() {
            return Ok(claim);
        }
        let message = format!("{path}: the frontmatter's `metadata` needs a text as {}", missing.join(", "));
        Err(Failure::new("skill-binding-missing", message))
    }

    /// Where its Provider is.
    ///
    /// # Errors
    ///
    /// `skill-locator-invalid`, `skill-locator-absolute`.
    pub fn locator(&self) -> Result<Locator, Failure> {
        let invalid = || {
            let message = format!(
                "the locator {} is neither `path:` with a path relative to the SKILL.md nor `provider:` with an id",
                quote(&self.locator)
            );
            Failure::new("skill-locator-invalid", message)
        };
        if let Some(id) = self.locator.strip_prefix("provider:") {
            return if id.is_empty() { Err(invalid()) } else { Ok(Locator::Provider(id.to_owned())) };
        }
        let path = self.locator.strip_prefix("path:").filter(|path| !path.is_empty()).ok_or_else(invalid)?;
        let mut start = path.chars();
        let drive = start.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && start.next() == Some(':');
        if drive || path.starts_with(['/', '\\']) {
            let message =
                format!("the locator {} is absolute; write it relative to the SKILL.md", quote(&self.locator));
            return Err(Failure::new("skill-locator-absolute", message));
        }
        // A separator on some machines only.
        if path.contains(['\\', '\0']) { Err(invalid()) } else { Ok(Locator::Path(path.to_owned())) }
    }

    /// The claim held to the Provider that it leads to.
    ///
    /// # Errors
    ///
    /// `provider-id-mismatch`, `skill-graph-missing`, `skill-entry-missing`.
    pub fn bound(&self, provider: &Provider, skill_path: &str, manifest_path: &str) -> Result<SkillBinding, Failure> {
        let id = provider.id();
        if let Ok(Locator::Provider(wanted)) = self.locator()
            && wanted != id
        {
            let message = format!("{manifest_path} is registered as {} but is the Provider {id}", quote(&wanted));
            return Err(Failure::new("provider-id-mismatch", message));
        }
        let graph = provider.graphs.get(&self.graph).ok_or_else(|| {
            let graphs: Vec<&str> = provider.graphs.keys().map(String::as_str).collect();
            let message = format!(
                "{skill_path}: the Provider {id} has no Graph {}; it has: {}",
                quote(&self.graph),
                graphs.join(", ")
            );
            Failure::new("skill-graph-missing", message)
        })?;
        let entries = &graph.value.entrypoints;
        if !entries.contains_key(&self.entry) {
            let entries: Vec<&str> = entries.keys().map(String::as_str).collect();
            let message = format!(
                "{skill_path}: the Graph {} has no entry {}; it has: {}",
                self.graph,
                quote(&self.entry),
                entries.join(", ")
            );
            return Err(Failure::new("skill-entry-missing", message));
        }
        Ok(SkillBinding {
            schema: SkillBindingSchema::V1,
            skill_path: skill_path.to_owned(),
            locator: self.locator.clone(),
            graph: self.graph.clone(),
            entry: self.entry.clone(),
            manifest_path: manifest_path.to_owned(),
            provider: id.to_owned(),
        })
    }
}

/// The Providers that a host knows: their ids, each with the path of a manifest relative to the registry file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registry(pub BTreeMap<String, String>);

impl Registry {
    /// The registry in a file: `providers: {id: path}`, or the ids and paths alone.
    ///
    /// # Errors
    ///
    /// `parse-failed`, `registry-invalid`.
    pub fn of(path: &str, bytes: &[u8]) -> Result<Registry, Failure> {
        let invalid = |said: String| Failure::new("registry-invalid", format!("{path}: {said}"));
        let value = schemas::parse(path, bytes)?;
        let providers = value.get("providers").unwrap_or(&value).as_object();
        let providers = providers.ok_or_else(|| invalid("a registry is `providers:` with ids and paths".into()))?;
        let mut known = BTreeMap::new();
        let mut odd = Vec::new();
        for (id, path) in providers {
            match path.as_str().filter(|path| !path.is_empty()) {
                Some(path) => drop(known.insert(id.clone(), path.to_owned())),
                None => odd.push(quote(id)),
            }
        }
        if odd.is_empty() {
            return Ok(Registry(known));
        }
        Err(invalid(format!("the Providers {} need the path of a manifest", odd.join(", "))))
    }

    /// The path of a Provider's manifest, relative to the registry file.
    ///
    /// # Errors
    ///
    /// `provider-unresolved`.
    pub fn manifest(&self, id: &str) -> Result<&str, Failure> {
        self.0.get(id).map(String::as_str).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            let message = format!("the Provider {} is not registered; registered: {known}", quote(id));
            Failure::new("provider-unresolved", message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(metadata: &str) -> Result<SkillClaim, Failure> {
        SkillClaim::of("s/SKILL.md", format!("---\nname: s\n{metadata}---\n# S\n").as_bytes())
    }

    #[test]
    fn a_claim_has_all_three_fields_or_names_those_it_lacks() {
        let whole =
            "metadata:\n  agent-graph: ' path:../p.yaml '\n  agent-graph.graph: main\n  agent-graph.entry: default\n";
        let claimed = claim(whole).unwrap();
        assert_eq!(claimed.locator, "path:../p.yaml");
        assert_eq!((claimed.graph.as_str(), claimed.entry.as_str()), ("main", "default"));
        for (metadata, missing) in [
            ("", "agent-graph, agent-graph.graph, agent-graph.entry"),
            ("metadata: text\n", "agent-graph, agent-graph.graph, agent-graph.entry"),
            ("metadata:\n  agent-graph: path:p\n", "agent-graph.graph, agent-graph.entry"),
            ("metadata:\n  agent-graph: path:p\n  agent-graph.graph: 7\n  agent-graph.entry: e\n", "agent-graph.graph"),
            (
                "metadata:\n  agent-graph: path:p\n  agent-graph.graph: g\n  agent-graph.entry: ' '\n",
                "agent-graph.entry",
            ),
        ] {
            let failure = claim(metadata).unwrap_err();
            assert_eq!(failure.code, "skill-binding-missing");
            assert!(failure.message.ends_with(&format!("as {missing}")), "{}", failure.message);
        }
        assert_eq!(SkillClaim::of("s/SKILL.md", b"# S").unwrap_err().code, "frontmatter-missing");
    }

    #[test]
    fn a_locator_is_a_relative_path_or_an_id() {
        let of = |locator: &str| {
            let claim = SkillClaim { locator: locator.into(), graph: "g".into(), entry: "e".into() };
            claim.locator().map_err(|failure| failure.code.into_owned())
        };
        assert_eq!(of("path:../../provider.yaml").unwrap(), Locator::Path("../../provider.yaml".into()));
        assert_eq!(of("provider:acme/release").unwrap(), Locator::Provider("acme/release".into()));
        for absolute in ["path:/p.yaml", "path:C:\\p.yaml", "path:c:/p.yaml", "path:\\\\host\\p"] {
            assert_eq!(of(absolute).unwrap_err(), "skill-locator-absolute", "{absolute}");
        }
        for invalid in ["", "path:", "provider:", "http://x/p.yaml", "../p.yaml", "path:a\\b"] {
            assert_eq!(of(invalid).unwrap_err(), "skill-locator-invalid", "{invalid}");
        }
    }

    #[test]
    fn a_registry_has_a_path_for_every_id() {
        let of = |text: &str| Registry::of("r.yaml", text.as_bytes());
        let registry = of("providers: {acme/release: ../a/provider.yaml}").unwrap();
        assert_eq!(registry, of("acme/release: ../a/provider.yaml").unwrap());
        assert_eq!(registry.manifest("acme/release").unwrap(), "../a/provider.yaml");
        assert_eq!(registry.manifest("acme/other").unwrap_err().code, "provider-unresolved");
        for (text, code) in [
            ("providers: []", "registry-invalid"),
            ("[a]", "registry-invalid"),
            ("", "registry-invalid"),
            ("providers: {a: 1}", "registry-invalid"),
            ("providers: {a: ''}", "registry-invalid"),
            ("{", "parse-failed"),
        ] {
            assert_eq!(of(text).unwrap_err().code, code, "{text:?}");
        }
    }
}
