//! Publication of a bundle: its files, then in one transaction what is known of it and the request.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use graph::documents::Graph;
use run::{Code, Refusal};

use super::bundle::{self, Checked};
use super::{GraphListed, ProviderRef};
use crate::catalogue::other;
use crate::error::Error;
use crate::keys;
use crate::lists::{doc, read};
use crate::request::{Did, Record, Request};
use crate::store::Store;
use crate::table::{Item, Op, TableError, When};
use crate::tries::Tries;

/// Most objects that are stored at one time.
const OBJECTS_AT_ONCE: usize = 16;

/// Most bytes of what is known of a published version without its files, as JSON: a page of a hundred,
/// told as content and as text, has room in a function's answer of 6 MB.
const LISTED_BYTES: usize = 16 * 1024;

impl Store {
    /// Publishes a bundle: its files by path, `manifest.json` among them. The same bundle again answers the first reference.
    ///
    /// # Errors
    ///
    /// `invalid` with an issue a fault for a bundle that does not load, is too large, or is no bundle; `conflict` with the
    /// issue `version_published` when the version was published with another digest.
    pub async fn publish_provider(
        &self,
        request: &Request<'_>,
        files: BTreeMap<String, Vec<u8>>,
    ) -> Result<ProviderRef, Error> {
        let (checked, reference) = match self.publishable_bundle(request, files) {
            Ok(publishable) => publishable,
            // What this server takes may be less than when the call was first made.
            Err(refused) => return self.recorded(request).await?.map_or(Err(refused.into()), published),
        };
        let (mut tries, mut stored) = (Tries::default(), false);
        while self.again(&mut tries).await {
            match self.publish_once(request, &checked, reference.clone(), &mut stored).await {
                Err(Error::Retry(why)) => tries.failed(why),
                done => return done,
            }
        }
        Err(tries.gave_up())
    }

    async fn publish_once(
        &self,
        request: &Request<'_>,
        checked: &Checked,
        reference: ProviderRef,
        stored: &mut bool,
    ) -> Result<ProviderRef, Error> {
        let (org, id, version) = (request.org, &reference.provider, &reference.version);
        let version_key = keys::provider_version(org, id, version);
        let listed_key = keys::listed_provider(org, id);
        let keys = [keys::request(org, request.id), version_key.clone(), listed_key.clone()];
        let mut found = self.table.get(&keys).await?.into_iter();
        if let Some(record) = found.next().flatten() {
            return published(self.record(request, record)?);
        }
        let there: Option<ProviderRef> = found.next().flatten().map(read).transpose()?;
        let listed: Option<ProviderRef> = found.next().flatten().map(read).transpose()?;
        let put = |key, tag: &str, doc, when| Op::Put { item: Item { key, tag: tag.to_owned(), doc }, when };
        let (answer, mut ops) = match there {
            Some(there) if there.digest == reference.digest => (there, Vec::new()),
            Some(there) => {
                let message = format!(
                    "`{id}` {version} was published with the digest {}. A published version never changes: publish this \
                     bundle under another version.",
                    there.digest
                );
                let issue = format!(
                    "version_published: {version} has other content; raise `version` in the provider's manifest, build it again \
                     and publish that (the tool list_providers or `procession provider list` shows the latest version)"
                );
                return Err(Refusal::new(Code::Conflict, message).issue(issue).into());
            }
            None => {
                if !*stored {
                    self.store_bundle(org, checked).await?;
                    *stored = true;
                }
                let known = doc(&reference)?;
                let digest_key = keys::provider_digest(org, id, &reference.digest);
                let mut ops = vec![
                    put(version_key, "", known.clone(), When::Absent),
                    put(digest_key, "", known.clone(), When::Absent),
                ];
                if listed.as_ref().is_none_or(|before| higher(version, &before.version)) {
                    let when = listed.map_or(When::Absent, |before| When::Tag(before.version));
                    ops.push(put(listed_key, version, known, when));
                }
                (reference, ops)
            }
        };
        let value = doc(&answer)?;
        ops.push(self.record_op(request, &Record::of(request, self.clock.now(), Did::Other(value)))?);
        match self.table.transact(&ops).await {
            Ok(()) => Ok(answer),
            Err(TableError::Invalid(why)) => Err(Error::Invariant(why)),
            Err(error) => Err(error.into()),
        }
    }

    /// The bundle, and what will be known of it.
    fn publishable_bundle(
        &self,
        request: &Request<'_>,
        files: BTreeMap<String, Vec<u8>>,
    ) -> Result<(Checked, ProviderRef), Refusal> {
        if let Some(refused) = bundle::too_large(&files, self.settings.upload_bytes) {
            return Err(refused);
        }
        let checked = bundle::checked(files).map_err(|failure| match Error::from(failure) {
            // Whatever it is that is missing, it is missing in the bundle.
            Error::Refused(refusal) => Refusal { code: Code::Invalid, ..refusal },
            other => Refusal::new(Code::Invalid, other.to_string()),
        })?;
        let reference = reference(&checked, request, self.clock.now());
        let long = [("id", &reference.provider), ("version", &reference.version)];
        let mut issues: Vec<String> = long
            .into_iter()
            .filter(|(_, text)| !keys::storable(text))
            .map(|(what, text)| format!("provider.{what}: {} bytes, at most {}", text.len(), keys::SEGMENT_BYTES))
            .collect();
        let bytes = serde_json::to_string(&reference).map_or(usize::MAX, |text| text.len());
        if bytes > LISTED_BYTES {
            issues.push(format!("graphs: ids and entries of {bytes} bytes as JSON, at most {LISTED_BYTES}"));
        }
        if issues.is_empty() {
            return Ok((checked, reference));
        }
        let message = "This Provider has too long names, or too many, to be listed. Shorten them, or split it.";
        Err(Refusal::new(Code::Invalid, message).issues(issues))
    }

    /// Stores every file of a bundle, and the bundle as a whole. Storing what is there already is harmless.
    async fn store_bundle(&self, org: &str, checked: &Checked) -> Result<(), Error> {
        // Files of the same bytes are one object.
        let mut objects: BTreeMap<String, Arc<[u8]>> = BTreeMap::new();
        for (path, bytes) in &checked.files {
            let digest = checked.provider.files.get(path).cloned().unwrap_or_else(|| graph::digest_bytes(bytes));
            objects.insert(keys::bundle_file_object(org, &digest), Arc::clone(bytes));
        }
        let whole = bundle::packed(&checked.files);
        objects.insert(keys::bundle_object(org, &checked.bundle.digest), whole.into());
        let objects: Vec<_> = objects.into_iter().collect();
        for some in objects.chunks(OBJECTS_AT_ONCE) {
            let puts = some.iter().map(|(key, bytes)| self.files.put(key, bytes.to_vec(), "application/octet-stream"));
            for put in futures::future::join_all(puts).await {
                put?;
            }
        }
        Ok(())
    }
}

fn reference(checked: &Checked, request: &Request<'_>, now: run::Time) -> ProviderRef {
    let entries = |graph: &Graph| graph.entrypoints.keys().cloned().collect();
    let graphs = checked.provider.graphs.iter();
    ProviderRef {
        provider: checked.bundle.provider.id.clone(),
        version: checked.bundle.provider.version.clone(),
        digest: checked.bundle.digest.clone(),
        description: checked.provider.manifest.value.description.clone(),
        graphs: graphs.map(|(id, graph)| GraphListed { id: id.clone(), entries: entries(&graph.value) }).collect(),
        published_by: request.actor.subject.clone(),
        published_at: now,
    }
}

/// Whether a version takes the place of the latest one: a release that of any pre-release, otherwise the higher one.
fn higher(version: &str, latest: &str) -> bool {
    let released = |version| !graph::is_prerelease(version);
    let rank = released(version).cmp(&released(latest)).then_with(|| graph::precedence(version, latest));
    rank == Ordering::Greater
}

fn published(record: Record) -> Result<ProviderRef, Error> {
    serde_json::from_value(other(record)?).map_err(|e| Error::Invariant(format!("a publication's record: {e}")))
}
