//! The documents of a Provider and the files that they name, each loaded once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;

use super::files::{Files, normal};
use super::{Loaded, frontmatter, structure};
use crate::documents::{Action, CodeCatalog, FileResource, FileResourceSchema, Graph, Resource, ResourceKind};
use crate::failure::Failure;
use crate::faults::Faults;
use crate::limits::ID_CHARACTERS;
use crate::schemas::{self, Unusable};
use crate::source::Source;

/// A JSON Schema that an Action names.
pub(super) struct Schema {
    pub(super) value: Arc<Value>,
    /// Or why it does not compile; that was told, but for one that asks for another schema.
    pub(super) compiled: Result<Validator, Unusable>,
}

/// Everything that was loaded so far, with what is wrong about it.
pub(super) struct Parts<'a> {
    pub(super) files: Files<'a>,
    pub(super) faults: Faults,
    pub(super) actions: BTreeMap<String, Loaded<Action>>,
    pub(super) resources: BTreeMap<String, Loaded<Resource>>,
    pub(super) skills: BTreeMap<String, Loaded<Resource>>,
    pub(super) schemas: BTreeMap<String, Schema>,
    /// The files of each Action beside its own, by its path.
    pub(super) action_files: BTreeMap<String, BTreeSet<String>>,
    action_ids: BTreeMap<String, String>,
    resource_ids: BTreeMap<String, String>,
    /// Paths whose fault was told.
    broken: BTreeSet<String>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(source: &'a dyn Source) -> Parts<'a> {
        Parts {
            files: Files::new(source),
            faults: Faults::default(),
            actions: BTreeMap::new(),
            resources: BTreeMap::new(),
            skills: BTreeMap::new(),
            schemas: BTreeMap::new(),
            action_files: BTreeMap::new(),
            action_ids: BTreeMap::new(),
            resource_ids: BTreeMap::new(),
            broken: BTreeSet::new(),
        }
    }

    /// The same when nothing is wrong so far.
    pub(super) fn checked(mut self) -> Result<Parts<'a>, Failure> {
        std::mem::take(&mut self.faults).done()?;
        Ok(self)
    }

    /// The Code Catalog, with the documents that its codes name.
    pub(super) fn catalog(&mut self, place: &str, reference: &mut String) -> Option<Loaded<CodeCatalog>> {
        let bytes = self.named(place, reference)?;
        let mut catalog: CodeCatalog = self.faults.hold(schemas::document("code-catalog", reference, &bytes))?;
        let mut seen = BTreeSet::new();
        for (index, entry) in catalog.codes.iter_mut().enumerate() {
            let place = format!("{reference}#/codes/{index}");
            if !seen.insert(entry.code.clone()) {
                let message = format!("the code `{}` is in the catalog twice", entry.code);
                self.faults.say("code-catalog-code-duplicate", &*place, message);
            }
            let Some(document) = &mut entry.document else { continue };
            let place = format!("{place}/document");
            if self.resource(&place, document).is_some_and(|resource| resource.value.dynamic()) {
                let message =
                    format!("`{document}` is made when it is asked for; a code's document is a static Resource");
                self.faults.say("code-document-dynamic", place, message);
            }
        }
        Some(Loaded { path: reference.clone(), digest: self.files.digest(reference), value: catalog })
    }

    /// A Graph that holds together in itself.
    pub(super) fn graph(&mut self, place: &str, reference: &mut String) -> Option<Loaded<Graph>> {
        let bytes = self.named(place, reference)?;
        let graph: Graph = self.faults.hold(schemas::document("graph", reference, &bytes))?;
        structure::check(&graph, reference, &mut self.faults);
        Some(Loaded { path: reference.clone(), digest: self.files.digest(reference), value: graph })
    }

    /// An Action with its files.
    pub(super) fn action(&mut self, place: &str, reference: &mut String) -> Option<&Loaded<Action>> {
        self.normal(place, reference)?;
        if !self.actions.contains_key(reference) {
            let bytes = self.bytes(place, reference)?;
            let held: Option<Action> = self.faults.hold(schemas::document("action", reference, &bytes));
            let mut action = self.or_broken(reference, held)?;
            identified(&mut self.action_ids, &mut self.faults, "action-id-duplicate", &action.id, reference);
            let files = self.files_of(reference, &mut action);
            self.action_files.insert(reference.clone(), files);
            let loaded = Loaded { path: reference.clone(), digest: self.files.digest(reference), value: action };
            self.actions.insert(reference.clone(), loaded);
        }
        self.actions.get(reference)
    }

    /// The files that an Action names, loaded as what they are.
    fn files_of(&mut self, path: &str, action: &mut Action) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        if let Some(entry) = &mut action.entry
            && self.ensured(&format!("{path}#/entry"), entry).is_some()
        {
            files.insert(entry.clone());
        }
        for (field, way, schema) in
            [("inputSchema", "input", &mut action.input_schema), ("outputSchema", "output", &mut action.output_schema)]
        {
            let Some(reference) = schema else { continue };
            if self.schema(&format!("{path}#/{field}"), reference).is_some() {
                let id = format!("schema.{}.{way}", action.id);
                identified(&mut self.resource_ids, &mut self.faults, "resource-id-duplicate", &id, reference);
                files.insert(reference.clone());
            }
        }
        for (index, file) in action.files.iter_mut().flatten().enumerate() {
            if self.ensured(&format!("{path}#/files/{index}"), file).is_some() {
                files.insert(file.clone());
            }
        }
        if let Some(skill) = &mut action.skill {
            files.extend(self.skill(&format!("{path}#/skill"), skill));
        }
        files
    }

    /// A JSON Schema of an Action.
    fn schema(&mut self, place: &str, reference: &mut String) -> Option<()> {
        self.normal(place, reference)?;
        if self.schemas.contains_key(reference) {
            return Some(());
        }
        let bytes = self.bytes(place, reference)?;
        let held = self.faults.hold(schemas::parse(reference, &bytes));
        let value = self.or_broken(reference, held)?;
        let compiled = schemas::compile(&value);
        // Only a host's Action needs it compiled; the others show its place to whoever takes the Route.
        if let Err(Unusable { said, pointer, elsewhere: false }) = &compiled {
            let place = if pointer.is_empty() { reference.clone() } else { format!("{reference}#{pointer}") };
            self.faults.say("schema-compile-failed", place, format!("is no JSON Schema that can be used: {said}"));
        }
        self.schemas.insert(reference.clone(), Schema { value: Arc::new(value), compiled });
        Some(())
    }

    /// The files of a Skill: its folder, or its `SKILL.md` alone when that stands at the Provider root.
    fn skill(&mut self, place: &str, reference: &mut String) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        if self.normal(place, reference).is_none() {
            return files;
        }
        if !self.skills.contains_key(reference) {
            let Some(bytes) = self.bytes(place, reference) else { return files };
            let held = self.faults.hold(skill_resource(reference, &bytes));
            let Some(resource) = self.or_broken(reference, held) else { return files };
            identified(&mut self.resource_ids, &mut self.faults, "resource-id-duplicate", resource.id(), reference);
            let loaded = Loaded { path: reference.clone(), digest: self.files.digest(reference), value: resource };
            self.skills.insert(reference.clone(), loaded);
        }
        files.insert(reference.clone());
        if let Some((folder, _)) = reference.rsplit_once('/') {
            let listed = self.files.list(folder);
            for file in self.faults.hold(listed).unwrap_or_default() {
                let ensured = self.files.ensure(&file);
                if self.faults.hold(ensured).is_some() {
                    files.insert(file);
                }
            }
        }
        files
    }

    /// A Resource: a descriptor, or a Markdown file whose frontmatter says what it is.
    pub(super) fn resource(&mut self, place: &str, reference: &mut String) -> Option<&Loaded<Resource>> {
        self.normal(place, reference)?;
        if !self.resources.contains_key(reference) {
            let bytes = self.bytes(place, reference)?;
            let held = self.faults.hold(resource(reference, &bytes));
            let mut resource = self.or_broken(reference, held)?;
            identified(&mut self.resource_ids, &mut self.faults, "resource-id-duplicate", resource.id(), reference);
            match &mut resource {
                Resource::File(file) if file.path != *reference => {
                    self.ensured(&format!("{reference}#/path"), &mut file.path)?;
                }
                Resource::File(_) => {}
                Resource::GraphAction(made) => {
                    self.normal(&format!("{reference}#/materializer"), &mut made.materializer)?;
                }
                Resource::HostAction(made) => {
                    self.normal(&format!("{reference}#/materializer"), &mut made.materializer)?;
                }
            }
            let loaded = Loaded { path: reference.clone(), digest: self.files.digest(reference), value: resource };
            self.resources.insert(reference.clone(), loaded);
        }
        self.resources.get(reference)
    }

    /// Makes a reference normal.
    fn normal(&mut self, place: &str, reference: &mut String) -> Option<()> {
        match normal(reference) {
            Ok(path) => *reference = path,
            Err(failure) => {
                self.faults.add(failure.diagnostic().at(place));
                return None;
            }
        }
        Some(())
    }

    /// The bytes of a file that a document names at this place; a file that cannot be had is told once.
    fn bytes(&mut self, place: &str, path: &str) -> Option<Arc<[u8]>> {
        if self.broken.contains(path) {
            return None;
        }
        let read = self.files.read(path);
        read.map_err(|failure| {
            self.broken.insert(path.to_owned());
            self.faults.add(failure.diagnostic().at(place));
        })
        .ok()
    }

    /// The bytes of a file at a reference that is made normal.
    fn named(&mut self, place: &str, reference: &mut String) -> Option<Arc<[u8]>> {
        self.normal(place, reference)?;
        self.bytes(place, reference)
    }

    /// A file that must be there.
    fn ensured(&mut self, place: &str, reference: &mut String) -> Option<()> {
        self.normal(place, reference)?;
        if self.files.digests.contains_key(reference.as_str()) {
            return Some(());
        }
        self.bytes(place, reference).map(drop)
    }

    /// What was read, or the path noted as broken, so that it is told once.
    fn or_broken<T>(&mut self, path: &str, held: Option<T>) -> Option<T> {
        if held.is_none() {
            self.broken.insert(path.to_owned());
        }
        held
    }
}

/// Notes whose id this is; told when it is another's already.
fn identified(ids: &mut BTreeMap<String, String>, faults: &mut Faults, code: &'static str, id: &str, path: &str) {
    let first = ids.entry(id.to_owned()).or_insert_with(|| path.to_owned());
    if first != path {
        faults.say(code, path, format!("the id `{id}` is that of {first} as well"));
    }
}

/// What a file says about itself as a Resource.
fn resource(path: &str, bytes: &[u8]) -> Result<Resource, Failure> {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let data = matches!(extension.as_deref(), Some("yaml" | "yml" | "json"));
    if data {
        let value = schemas::parse(path, bytes)?;
        match value.get("schema").and_then(Value::as_str) {
            Some("agent-graph.resource.file.v1") => {
                return schemas::valid("resource-file", path, &value).map(Resource::File);
            }
            Some("agent-graph.resource.graph-action.v1") => {
                return schemas::valid("resource-graph-action", path, &value).map(Resource::GraphAction);
            }
            Some("agent-graph.resource.host-action.v1") => {
                return schemas::valid("resource-host-action", path, &value).map(Resource::HostAction);
            }
            Some(other) if other.starts_with("agent-graph.") => {
                let mut faults = Faults::default();
                let message = format!(
                    "a Resource has the schema agent-graph.resource.file.v1 with a `path`, \
                     agent-graph.resource.graph-action.v1 with a `materializer`, or agent-graph.resource.host-action.v1 with \
                     a `materializer` and an `input`, not {}",
                    schemas::quote(other)
                );
                faults.say("schema.const", format!("{path}#/schema"), message);
                return Err(faults.failure());
            }
            _ => {}
        }
    }
    let fields = frontmatter(path, bytes).map_err(|failure| match data && failure.code == "frontmatter-missing" {
        // Whoever wrote YAML meant a descriptor, not Markdown.
        true => Failure {
            message: format!("{path}: a Resource in a file of this kind is a descriptor: it needs a `schema`, such as agent-graph.resource.file.v1"),
            ..failure
        },
        false => failure,
    })?;
    let field = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
    let invalid = |said: String| Failure::new("resource-metadata-invalid", format!("{path}: {said}"));
    let id = field(&["id"]).and_then(Value::as_str).filter(|id| is_id(id));
    let id = id.ok_or_else(|| {
        invalid("the frontmatter needs an `id` of lower-case letters, digits and . _ / - between them".into())
    })?;
    let kind = field(&["kind"]).and_then(Value::as_str);
    let kind = kind.ok_or_else(|| invalid("the frontmatter needs a `kind`".into()))?;
    let media_type = match field(&["media-type", "mediaType"]) {
        None => "text/markdown",
        Some(Value::String(text)) if !text.is_empty() => text,
        Some(_) => return Err(invalid("the `media-type` is no text".into())),
    };
    let kind = match kind {
        "procedure" => ResourceKind::Procedure,
        "diagnostic" => ResourceKind::Diagnostic,
        "template" => ResourceKind::Template,
        "schema" => ResourceKind::Schema,
        "skill" => ResourceKind::Skill,
        other => {
            let message = format!(
                "{path}: the kind {} is none of a static file: procedure, diagnostic, template, schema, skill",
                schemas::quote(other)
            );
            return Err(Failure::new("resource-kind-invalid", message));
        }
    };
    Ok(file(path, id.to_owned(), kind, media_type))
}

/// The file Resource that a Skill is on a Route.
fn skill_resource(path: &str, bytes: &[u8]) -> Result<Resource, Failure> {
    let fields = frontmatter(path, bytes)?;
    let name = fields.get("name").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
    let name = name.filter(|name| name.chars().count() <= ID_CHARACTERS).ok_or_else(|| {
        let message =
            format!("{path}: the frontmatter of a Skill needs a `name` of at most {ID_CHARACTERS} characters");
        Failure::new("resource-metadata-invalid", message)
    })?;
    Ok(file(path, format!("skill.{name}"), ResourceKind::Skill, "text/markdown"))
}

fn file(path: &str, id: String, kind: ResourceKind, media_type: &str) -> Resource {
    Resource::File(FileResource {
        schema: FileResourceSchema::V1,
        id,
        kind,
        media_type: media_type.to_owned(),
        path: path.to_owned(),
        description: None,
    })
}

/// Whether this is an id, as the schemas have it.
pub(crate) fn is_id(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '/' | '-');
    let outer = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.len() <= ID_CHARACTERS && text.chars().all(inner) && outer(text.chars().next()) && outer(text.chars().last())
}
