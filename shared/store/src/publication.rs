//! Import and publication: a draft, then a numbered version that never changes (core §6.5, §7).

use std::collections::BTreeMap;

use process::{Document, ReadOptions};
use run::{Code, Refusal, Time};
use serde_json::Value;

use crate::catalogue::{Draft, DraftDoc, Listed, Version, VersionDoc, no_process, other, parse};
use crate::error::Error;
use crate::guided::GraphPin;
use crate::keys;
use crate::lists::{doc, read};
use crate::request::{Did, Record, Request};
use crate::store::Store;
use crate::table::{ITEM_BYTES, Item, Op, When};

/// Most bytes of a stored draft, as JSON text. A published version adds its role bindings to it.
const STORED_DRAFT_BYTES: usize = ITEM_BYTES - 64 * 1024;

/// How often a publication is tried when others publish the same process at once.
const PUBLISH_ATTEMPTS: usize = 5;

impl Store {
    /// Imports a PROCESS.md as the draft of its process, replacing an earlier draft (core §7). The answer is made by
    /// `answer` and kept for a repeated call.
    pub async fn import(
        &self,
        request: &Request<'_>,
        source: &str,
        folder: Option<&str>,
        answer: impl Fn(&Draft) -> Value + Send + Sync,
    ) -> Result<Value, Error> {
        if let Some(record) = self.recorded(request).await? {
            return other(record);
        }
        let (document, warnings) = parse(source, &self.offered(folder)).map_err(|issues| {
            let message =
                "This PROCESS.md cannot be run, so no draft was made. Each issue is line:column: what to fix.";
            Refusal::new(Code::Invalid, message).issues(issues)
        })?;
        let hash = process::content_hash(&document);
        let now = self.clock.now();
        let stored = DraftDoc {
            source: source.to_owned(),
            hash: hash.clone(),
            imported_by: request.actor.subject.clone(),
            imported_at: now,
        };
        let stored_doc = doc(&stored)?;
        spelled(&stored_doc)?;
        let key = keys::draft(request.org, &document.name);
        let value = answer(&Draft { document, source: source.to_owned(), hash, warnings });
        let ops = vec![
            // The tag holds a publication to the draft it read.
            Op::Put { item: Item { key, tag: stored.hash, doc: stored_doc }, when: When::Always },
            self.record_op(request, &Record::of(request, now, Did::Other(value.clone())))?,
        ];
        self.commit_or_replay(request, ops, value).await
    }

    /// Publishes the draft of a process as its next version, with these groups for its roles (core §6.5, §7).
    pub async fn publish(
        &self,
        request: &Request<'_>,
        name: &str,
        roles: &BTreeMap<String, String>,
        answer: impl Fn(&Version) -> Value + Send + Sync,
    ) -> Result<Value, Error> {
        if !keys::storable(name) {
            return Err(no_process(name));
        }
        let keys = [
            keys::request(request.org, request.id),
            keys::draft(request.org, name),
            keys::catalogue(request.org, name),
        ];
        for _ in 0..PUBLISH_ATTEMPTS {
            let mut found = self.table.get(&keys).await?.into_iter();
            if let Some(record) = found.next().flatten() {
                return other(self.record(request, record)?);
            }
            let (draft, latest) = (found.next().flatten(), found.next().flatten());
            let Some(draft) = draft else {
                // This very call, sent twice, may have published the draft after the record was looked for.
                if let Some(record) = self.recorded(request).await? {
                    return other(record);
                }
                let message = format!("There is no draft of `{name}`. Import its PROCESS.md first.");
                return Err(Error::refused(Code::NotFound, message));
            };
            let draft_tag = draft.tag.clone();
            let draft: DraftDoc = read(draft)?;
            let (document, graphs) = match self.publishable(request.org, name, &draft.source, roles).await {
                Ok(publishable) => publishable,
                Err(Error::Refused(refusal)) => {
                    // The same, and somebody imported another draft since.
                    return match self.recorded(request).await? {
                        Some(record) => other(record),
                        None => Err(refusal.into()),
                    };
                }
                Err(error) => return Err(error),
            };
            let before: Option<Listed> = latest.map(read).transpose()?;
            let now = self.clock.now();
            let version = Version {
                number: before.as_ref().map_or(0, |l| l.version) + 1,
                document,
                roles: roles.clone(),
                graphs,
                hash: draft.hash,
                source: draft.source,
                published_by: request.actor.subject.clone(),
                published_at: now,
            };
            let value = answer(&version);
            let ops = self.publication(request, &version, before.as_ref(), draft_tag, now, &value)?;
            match self.table.transact(&ops).await {
                Ok(()) => return Ok(value),
                Err(crate::table::TableError::Invalid(why)) => return Err(Error::Invariant(why)),
                // Somebody else published, or the answer was lost: read again and see.
                Err(_) => self.pause().await,
            }
        }
        Err(Error::Retry("others publish this process at the same time".to_owned()))
    }

    /// The document of a draft, when this server can run it with these groups, and what its graphs are pinned to. What it
    /// offers may be less than when the draft was imported.
    async fn publishable(
        &self,
        org: &str,
        name: &str,
        source: &str,
        roles: &BTreeMap<String, String>,
    ) -> Result<(Document, BTreeMap<String, GraphPin>), Error> {
        let (document, _) = parse(source, &self.offered(None)).map_err(|issues| {
            let message = format!(
                "`{name}` was not published: this server cannot run its draft. Each issue is line:column: what to fix \
                 before the PROCESS.md is imported again."
            );
            Refusal::new(Code::Invalid, message).issues(issues)
        })?;
        let mut issues = unbound(&document, roles);
        let mut message = format!("`{name}` was not published. Every role it names needs a group, and no other.");
        match self.pins(org, &document).await? {
            Ok(pins) if issues.is_empty() => return Ok((document, pins)),
            Ok(_) => {}
            Err(missing) => {
                message = format!(
                    "`{name}` was not published. Every role it names needs a group, and no other, and every graph must be \
                     there: publish its provider, or name what is published."
                );
                issues.extend(missing);
            }
        }
        Err(Refusal::new(Code::Invalid, message).issues(issues).into())
    }

    /// What a new version may use here: `check` only while there is an evaluator (profile check-1), `graph` only where the
    /// settings say so (profile graph-1).
    fn offered<'a>(&self, folder_name: Option<&'a str>) -> ReadOptions<'a> {
        ReadOptions { folder_name, check: self.evaluator.is_some(), graph: self.settings.graph }
    }

    fn publication(
        &self,
        request: &Request<'_>,
        version: &Version,
        before: Option<&Listed>,
        draft_tag: String,
        now: Time,
        answer: &Value,
    ) -> Result<Vec<Op>, Error> {
        let (org, name) = (request.org, version.document.name.as_str());
        let stored = VersionDoc {
            number: version.number,
            source: version.source.clone(),
            hash: version.hash.clone(),
            roles: version.roles.clone(),
            graphs: version.graphs.clone(),
            published_by: version.published_by.clone(),
            published_at: now,
        };
        let stored = doc(&stored)?;
        let bytes = stored.to_string().len();
        if bytes > ITEM_BYTES {
            let message =
                format!("`{name}` with its role bindings is too large to be stored. Use shorter group names.");
            let issue = format!("roles: {bytes} bytes with the process, at most {ITEM_BYTES}");
            return Err(Refusal::new(Code::Invalid, message).issue(issue).into());
        }
        let listed = Listed {
            name: name.to_owned(),
            description: version.document.description.clone(),
            version: version.number,
            inputs: run::inputs_shown(&version.document),
            systems: version.document.requires.as_ref().map(|r| r.systems.clone()),
        };
        let put = |key, tag: String, doc, when| Op::Put { item: Item { key, tag, doc }, when };
        Ok(vec![
            put(keys::version(org, name, version.number), String::new(), stored, When::Absent),
            put(
                keys::catalogue(org, name),
                version.number.to_string(),
                doc(&listed)?,
                before.map_or(When::Absent, |l| When::Tag(l.version.to_string())),
            ),
            Op::Delete { key: keys::draft(org, name), when: When::Tag(draft_tag) },
            self.record_op(request, &Record::of(request, now, Did::Other(answer.clone())))?,
        ])
    }
}

/// The file can be stored. It is kept as JSON, in which one control character takes six bytes, so a file within the
/// limits of its parts can still be too large.
fn spelled(draft: &Value) -> Result<(), Refusal> {
    let bytes = draft.to_string().len();
    if bytes <= STORED_DRAFT_BYTES {
        return Ok(());
    }
    let message = "This PROCESS.md is too large to be stored, so no draft was made. Remove control characters, or split \
                   the process in two.";
    Err(Refusal::new(Code::Invalid, message)
        .issue(format!("source: {bytes} bytes as JSON text, at most {STORED_DRAFT_BYTES}")))
}

/// An issue for every role that has no group, and for whatever else is bound.
fn unbound(document: &Document, roles: &BTreeMap<String, String>) -> Vec<String> {
    let declared = document.roles();
    let mut issues = Vec::new();
    for role in &declared {
        match roles.get(*role) {
            None => issues.push(format!("roles.{role}: bind this role to a group")),
            Some(group) if group.trim().is_empty() => issues.push(format!("roles.{role}: the group is blank")),
            Some(group) if !keys::storable(group) => {
                issues.push(format!(
                    "roles.{role}: the group has {} bytes, at most {}",
                    group.len(),
                    keys::SEGMENT_BYTES
                ));
            }
            Some(_) => {}
        }
    }
    for role in roles.keys().filter(|r| !declared.contains(&r.as_str())) {
        issues.push(format!("roles.{role}: the process has no such role"));
    }
    issues
}
