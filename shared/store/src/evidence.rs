//! Evidence: uploads, the proof that stored bytes are still those that were uploaded, and fresh links (core §5).

use std::collections::BTreeMap;

use base64::Engine;
use run::{Cited, Code, EvidenceFile, Refusal, RunView, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::context::base32;
use crate::error::Error;
use crate::files::Shown;
use crate::keys;
use crate::lists::{doc, read};
use crate::request::{Did, Record, Request};
use crate::store::Store;
use crate::table::{Item, Op, When};

/// Most files whose bytes are read at one time.
const FILES_AT_ONCE: usize = 4;

/// An evidence item as a call cites it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceRef {
    /// An upload id.
    File(String),
    /// A URL or document number.
    Link(String),
}

impl EvidenceRef {
    /// How what was accepted is cited again.
    pub(crate) fn of(accepted: &run::Evidence) -> EvidenceRef {
        match accepted {
            run::Evidence::File(file) => EvidenceRef::File(file.r#ref.clone()),
            run::Evidence::Link { r#ref } => EvidenceRef::Link(r#ref.clone()),
        }
    }
}

/// What is stored of an upload beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileDoc {
    sha256: String,
    bytes: usize,
    file_name: String,
    content_type: String,
    by: String,
    at: Time,
}

/// What an upload is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Uploaded {
    /// The upload's id: what evidence refers to.
    pub id: String,
    /// SHA-256 of the bytes, lower-case hex.
    pub sha256: String,
    /// How many bytes there are.
    pub bytes: usize,
}

impl Store {
    /// Stores a file. The id is made from the request, so a repetition whose first answer was lost stores the same
    /// object again and leaves no second one behind.
    ///
    /// # Errors
    ///
    /// `invalid` for text that is not base64, an empty file, and one over the limit.
    pub async fn upload(
        &self,
        request: &Request<'_>,
        file_name: &str,
        content_type: &str,
        base64: &str,
    ) -> Result<Uploaded, Error> {
        if let Some(record) = self.recorded(request).await? {
            return uploaded(record);
        }
        let bytes = self.decoded(base64)?;
        let sha256 = run::hex(&Sha256::digest(&bytes));
        let caller = request.caller();
        let mut hash = Sha256::new();
        for part in [request.org, &caller, request.id, &request.digest] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let id: String = format!("f_{}", base32(&hash.finalize())).chars().take(22).collect();
        let now = self.clock.now();
        let stored = FileDoc {
            sha256: sha256.clone(),
            bytes: bytes.len(),
            file_name: file_name.to_owned(),
            content_type: content_type.to_owned(),
            by: request.actor.subject.clone(),
            at: now,
        };
        let answer = Uploaded { id: id.clone(), sha256, bytes: bytes.len() };
        self.files.put(&keys::object(request.org, &id), bytes, content_type).await?;
        let value = doc(&answer)?;
        let item = Item { key: keys::file(request.org, &id), tag: String::new(), doc: doc(&stored)? };
        let ops = vec![
            Op::Put { item, when: When::Absent },
            self.record_op(request, &Record::of(request, now, Did::Other(value.clone())))?,
        ];
        let value = self.commit_or_replay(request, ops, value).await?;
        serde_json::from_value(value).map_err(|e| Error::Invariant(format!("an upload's record: {e}")))
    }

    fn decoded(&self, base64: &str) -> Result<Vec<u8>, Refusal> {
        let limit = self.settings.upload_bytes;
        let too_large = |bytes: usize| {
            let message = format!("The file has {bytes} bytes; at most {limit}. Store it elsewhere and attach a link.");
            Refusal::new(Code::Invalid, message).issue(format!("contentBase64: {bytes} bytes, at most {limit}"))
        };
        // Base64 spells 3 bytes in 4 characters: a text that is far too long is not decoded first.
        let about = base64.len() / 4 * 3;
        if about > limit.saturating_add(3) {
            return Err(too_large(about));
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(base64).map_err(|e| {
            let message = "contentBase64 is not standard base64 with padding (RFC 4648 §4). Encode the bytes again.";
            Refusal::new(Code::Invalid, message).issue(format!("contentBase64: not base64, {e}"))
        })?;
        if bytes.is_empty() {
            return Err(Refusal::new(Code::Invalid, "The file is empty.").issue("contentBase64: no bytes"));
        }
        if bytes.len() > limit {
            return Err(too_large(bytes.len()));
        }
        Ok(bytes)
    }

    /// What the server finds out about cited evidence: every file's record, and whether its stored bytes still hash to
    /// what was recorded at upload. In the order cited.
    pub(crate) async fn cited(&self, org: &str, cited: &[EvidenceRef]) -> Result<Vec<Cited>, Error> {
        let mut ids: Vec<&str> = Vec::new();
        for item in cited {
            if let EvidenceRef::File(id) = item
                && !ids.contains(&id.as_str())
            {
                ids.push(id);
            }
        }
        let mut found: BTreeMap<&str, Cited> = BTreeMap::new();
        for some in ids.chunks(FILES_AT_ONCE) {
            let facts = futures::future::join_all(some.iter().map(|id| self.verified(org, id))).await;
            for (id, fact) in some.iter().zip(facts) {
                found.insert(id, fact?);
            }
        }
        Ok(cited
            .iter()
            .map(|item| match item {
                EvidenceRef::Link(text) => Cited::Link(text.clone()),
                EvidenceRef::File(id) => found.get(id.as_str()).cloned().unwrap_or_else(|| Cited::Missing(id.clone())),
            })
            .collect())
    }

    async fn verified(&self, org: &str, id: &str) -> Result<Cited, Error> {
        // Only what an upload can have returned is looked for: the id becomes part of an object's name.
        if !id
            .strip_prefix("f_")
            .is_some_and(|rest| rest.len() == 20 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
        {
            return Ok(Cited::Missing(id.to_owned()));
        }
        let (key, object) = ([keys::file(org, id)], keys::object(org, id));
        let (record, bytes) = futures::join!(self.table.get(&key), self.files.get(&object));
        let Some(item) = record?.into_iter().flatten().next() else { return Ok(Cited::Missing(id.to_owned())) };
        let stored: FileDoc = read(item)?;
        match bytes? {
            Some(bytes) if run::hex(&Sha256::digest(&bytes)) == stored.sha256 => Ok(Cited::File(EvidenceFile {
                r#ref: id.to_owned(),
                sha256: stored.sha256,
                file_name: stored.file_name,
                content_type: stored.content_type,
            })),
            _ => Ok(Cited::Altered(id.to_owned())),
        }
    }

    /// Gives every file item of a view a fresh link: those of run data and of the candidates.
    pub async fn link(&self, org: &str, view: &mut RunView) -> Result<(), Error> {
        self.link_data(org, &mut view.data).await?;
        for item in &mut view.work_items {
            self.link_files(org, item.files_mut()).await?;
        }
        Ok(())
    }

    /// Gives every file item of run data a fresh link.
    pub async fn link_data(&self, org: &str, data: &mut run::RunData) -> Result<(), Error> {
        self.link_files(org, data.files_mut()).await
    }

    /// Gives each of these file items a fresh link.
    pub(crate) async fn link_files(
        &self,
        org: &str,
        files: impl Iterator<Item = &mut run::EvidenceShown>,
    ) -> Result<(), Error> {
        for item in files {
            if let Some((file_name, content_type)) = item.file.clone() {
                let shown = Shown { file_name, content_type };
                let object = keys::object(org, &item.r#ref);
                item.url = Some(self.files.link(&object, &shown, self.settings.link).await?);
            }
        }
        Ok(())
    }
}

fn uploaded(record: Record) -> Result<Uploaded, Error> {
    match record.did {
        Did::Other(value) => {
            serde_json::from_value::<Uploaded>(value).map_err(|e| Error::Invariant(format!("an upload's record: {e}")))
        }
        Did::Run(_) => Err(Error::Invariant("an upload's record says that a run was moved".to_owned())),
    }
}

/// The recorded answer as text, for the log.
impl From<Uploaded> for Value {
    fn from(uploaded: Uploaded) -> Value {
        serde_json::json!({ "id": uploaded.id, "sha256": uploaded.sha256, "bytes": uploaded.bytes })
    }
}
