//! Where Resources and codes are (section-resources, section-codes).
//!
//! Nothing is read from a disk here: digests are those of the bytes that were loaded, so a location never vouches for other
//! bytes than the revision beside it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::documents::{
    Action, CodeLocation, CodeLocationSchema, Cwd, FileLocation, FileLocationSchema, FileResource, GraphActionLocation,
    GraphActionLocationSchema, GraphMaterialize, HostActionLocation, HostActionLocationSchema, HostActionResource,
    HostInput, HostMaterialize, ReadReceipts, ReadState, Resource, ResourceKind, ResourceLocation,
};
use crate::failure::Failure;
use crate::load::{Loaded, Provider};
use crate::schemas::{self, brief};

/// How a path of the Provider, and the folders of Actions, are told to whoever asks.
#[derive(Debug, Clone)]
pub struct Places {
    /// What stands before a path of the Provider, without a slash at its end: the absolute root on one machine; empty where
    /// paths are told as they stand in the bundle.
    pub provider_root: String,
    /// The workspace.
    pub workspace: String,
}

impl Places {
    /// A file of the Provider as it is told.
    pub(crate) fn file(&self, path: &str) -> String {
        let path = tidy(path);
        if self.provider_root.is_empty() { path } else { format!("{}/{path}", self.provider_root) }
    }

    /// The folder that an Action runs in. A bundle without a place of its own is `.`, since no folder is empty.
    pub(crate) fn folder(&self, cwd: Cwd) -> String {
        match cwd {
            Cwd::Workspace => self.workspace.clone(),
            Cwd::Provider if self.provider_root.is_empty() => ".".to_owned(),
            Cwd::Provider => self.provider_root.clone(),
        }
    }
}

/// Where a Resource is, by id or path: one that a Graph or the Code Catalog names, or a Skill or JSON Schema that an Action
/// names, which a Route tells as `skill.<name>` and `schema.<action>.input` or `.output`.
///
/// # Errors
///
/// `resource-missing`.
pub fn locate(provider: &Provider, places: &Places, id_or_path: &str) -> Result<ResourceLocation, Failure> {
    let tell = Tell { provider, places, reader: None };
    let named = |map: &'_ BTreeMap<String, Loaded<Resource>>| {
        map.values().find(|loaded| loaded.value.id() == id_or_path).cloned()
    };
    let found = named(&provider.resources)
        .or_else(|| at(&provider.resources, id_or_path).cloned())
        .or_else(|| named(&provider.skills))
        .or_else(|| at(&provider.skills, id_or_path).cloned());
    if let Some(resource) = found {
        return tell.resource(&resource);
    }
    for action in provider.actions.values().map(|action| &action.value) {
        for way in [Way::Input, Way::Output] {
            if way.path(action).is_some() && way.id(action) == id_or_path {
                return tell.schema(action, way)?.ok_or_else(|| missing(provider, id_or_path));
            }
        }
    }
    Err(missing(provider, id_or_path))
}

/// The Code Catalog as `code list` shows it: `{provider, catalog?, codes}`.
pub fn code_list(provider: &Provider, places: &Places) -> Value {
    let mut list = Map::new();
    list.insert("provider".to_owned(), Value::String(provider.id().to_owned()));
    if let Some(catalog) = &provider.catalog {
        list.insert("catalog".to_owned(), Value::String(places.file(&catalog.path)));
    }
    let codes = provider.catalog.iter().flat_map(|catalog| &catalog.value.codes);
    // A document type has a JSON form always; `null` would stand for one that has none.
    list.insert("codes".to_owned(), codes.map(|code| serde_json::to_value(code).unwrap_or_default()).collect());
    Value::Object(list)
}

/// Where a code leads.
///
/// # Errors
///
/// `code-missing`.
pub fn code_locate(provider: &Provider, places: &Places, code: &str) -> Result<CodeLocation, Failure> {
    let Some(entry) = provider.code(code) else {
        let said = match provider.catalog {
            Some(_) => format!("the Code Catalog of Provider {} does not list {code}", provider.id()),
            None => format!("Provider {} has no Code Catalog, so no {code} in it", provider.id()),
        };
        return Err(Failure::new("code-missing", said));
    };
    let tell = Tell { provider, places, reader: None };
    let document = entry.document.as_deref().map(|path| tell.named(path)).transpose()?;
    Ok(CodeLocation {
        schema: CodeLocationSchema::V1,
        provider: provider.id().to_owned(),
        code: entry.code.clone(),
        kind: entry.kind,
        summary: entry.summary.clone(),
        severity: entry.severity,
        document,
    })
}

/// Receipts held to their schema and to this Provider.
///
/// # Errors
///
/// `schema-invalid`, `resource-receipts-provider-mismatch`.
pub fn receipts(provider: &Provider, value: &Value) -> Result<ReadReceipts, Failure> {
    let receipts: ReadReceipts = schemas::valid("resource-read-receipts", "receipts", value)?;
    of_provider(provider, &receipts)?;
    Ok(receipts)
}

/// Refuses receipts of another Provider: their ids mean other Resources.
pub(crate) fn of_provider(provider: &Provider, receipts: &ReadReceipts) -> Result<(), Failure> {
    if receipts.provider == provider.id() {
        return Ok(());
    }
    let said = format!(
        "the read receipts are of Provider {}, but this is Provider {}: give the receipts of this one, or none",
        receipts.provider,
        provider.id()
    );
    Err(Failure::new("resource-receipts-provider-mismatch", said))
}

/// For whom locations are told: the Route that selected them, and what the conversation has read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// The revision of the Route.
    pub(crate) revision: &'a str,
    /// What was read, if that was said.
    pub(crate) receipts: Option<&'a ReadReceipts>,
}

impl Reader<'_> {
    /// A file was read when its bytes were.
    fn file(&self, id: &str, digest: &str) -> ReadState {
        self.state(|receipt| receipt.0 == id && receipt.1 == digest)
    }

    /// What an Action makes was read when it was made for this revision.
    fn made(&self, id: &str) -> ReadState {
        self.state(|receipt| receipt.0 == id && receipt.2 == Some(self.revision))
    }

    fn state(&self, read: impl Fn((&str, &str, Option<&str>)) -> bool) -> ReadState {
        let mut receipts = self.receipts.iter().flat_map(|all| &all.receipts);
        match receipts.any(|r| read((&r.id, &r.digest, r.revision.as_deref()))) {
            true => ReadState::Current,
            false => ReadState::ReadRequired,
        }
    }
}

/// Which of an Action's two schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Of what it takes.
    Input,
    /// Of what it gives.
    Output,
}

impl Way {
    /// The path as the Action names it.
    pub(crate) fn path(self, action: &Action) -> Option<&str> {
        match self {
            Way::Input => action.input_schema.as_deref(),
            Way::Output => action.output_schema.as_deref(),
        }
    }

    fn id(self, action: &Action) -> String {
        let end = match self {
            Way::Input => "input",
            Way::Output => "output",
        };
        format!("schema.{}.{end}", action.id)
    }
}

/// Tells locations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tell<'a> {
    /// The Provider.
    pub(crate) provider: &'a Provider,
    /// How its paths are told.
    pub(crate) places: &'a Places,
    /// For whom; without one, neither revision nor read state is told.
    pub(crate) reader: Option<Reader<'a>>,
}

impl Tell<'_> {
    /// The Resource that a Graph or a catalog names by this path.
    pub(crate) fn named(&self, path: &str) -> Result<ResourceLocation, Failure> {
        self.resource(at(&self.provider.resources, path).ok_or_else(|| missing(self.provider, path))?)
    }

    /// The Skill at this path, as the file Resource that it becomes.
    pub(crate) fn skill(&self, path: &str) -> Result<ResourceLocation, Failure> {
        self.resource(at(&self.provider.skills, path).ok_or_else(|| missing(self.provider, path))?)
    }

    /// One of an Action's schemas, when it has it.
    pub(crate) fn schema(&self, action: &Action, way: Way) -> Result<Option<ResourceLocation>, Failure> {
        let Some(path) = way.path(action) else { return Ok(None) };
        let id = way.id(action);
        self.file(&id, ResourceKind::Schema, "application/schema+json", path).map(Some)
    }

    /// A loaded Resource.
    pub(crate) fn resource(&self, resource: &Loaded<Resource>) -> Result<ResourceLocation, Failure> {
        match &resource.value {
            Resource::File(FileResource { id, kind, media_type, path, .. }) => self.file(id, *kind, media_type, path),
            Resource::GraphAction(made) => Ok(ResourceLocation::GraphAction(GraphActionLocation {
                schema: GraphActionLocationSchema::V1,
                id: made.id.clone(),
                kind: made.kind,
                media_type: made.media_type.clone(),
                revision: self.revision(),
                materialize: GraphMaterialize { resource_id: made.id.clone() },
                read_state: self.reader.map(|reader| reader.made(&made.id)),
            })),
            Resource::HostAction(made) => self.host(made).map(ResourceLocation::HostAction),
        }
    }

    fn file(&self, id: &str, kind: ResourceKind, media_type: &str, path: &str) -> Result<ResourceLocation, Failure> {
        let digest = at(&self.provider.files, path).ok_or_else(|| missing(self.provider, path))?;
        Ok(ResourceLocation::File(FileLocation {
            schema: FileLocationSchema::V1,
            id: id.to_owned(),
            kind,
            media_type: media_type.to_owned(),
            revision: None,
            digest: digest.clone(),
            file_path: self.places.file(path),
            read_state: self.reader.map(|reader| reader.file(id, digest)),
        }))
    }

    fn host(&self, made: &HostActionResource) -> Result<HostActionLocation, Failure> {
        let action = at(&self.provider.actions, &made.materializer);
        let action = &action.ok_or_else(|| missing(self.provider, &made.materializer))?.value;
        let identity = |way: Way| {
            let schema = way.path(action).and_then(|path| at(&self.provider.schemas, path));
            schema.and_then(|schema| schema.get("$id")).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| {
                let said =
                    format!("Action {} names no schema with a versioned identity for {}", action.id, way.id(action));
                Failure::new("materializer-schema-identity-invalid", said)
            })
        };
        let handler = action.handler.clone().ok_or_else(|| {
            Failure::new("materializer-runner-invalid", format!("Action {} is not carried out by the host", action.id))
        })?;
        Ok(HostActionLocation {
            schema: HostActionLocationSchema::V1,
            id: made.id.clone(),
            kind: made.kind,
            media_type: made.media_type.clone(),
            revision: self.revision(),
            materialize: HostMaterialize {
                handler,
                input: HostInput { schema: identity(Way::Input)?, value: made.input.clone() },
                output_schema: identity(Way::Output)?,
            },
            read_state: self.reader.map(|reader| reader.made(&made.id)),
        })
    }

    fn revision(&self) -> Option<String> {
        self.reader.map(|reader| reader.revision.to_owned())
    }
}

fn missing(provider: &Provider, what: &str) -> Failure {
    let said = format!("Provider {} holds no Resource with the id or path {}", provider.id(), brief(what));
    Failure::new("resource-missing", said)
}

/// What stands under a path, however the path was spelled.
pub(crate) fn at<'m, T>(map: &'m BTreeMap<String, T>, path: &str) -> Option<&'m T> {
    map.get(path).or_else(|| map.get(&tidy(path)))
}

/// A path of the Provider in its one spelling: no empty and no `.` segment, `..` taken back. The loader has refused paths
/// that lead out; one of those finds nothing here.
pub(crate) fn tidy(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    kept.join("/")
}
