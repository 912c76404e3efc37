//! `publish_provider`: the bundle of a provider becomes one of its versions.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use run::{Code, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use store::providers::BUNDLE_FILES;

use super::graphs::ProviderListed;
use super::{Call, Tool};
use crate::validate::MOST_ISSUES;

pub(crate) struct PublishProvider;

/// Longest path of a file, in characters.
const PATH_CHARS: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Every file of the bundle, manifest.json among them.
    #[schemars(length(max = BUNDLE_FILES))]
    files: Vec<BundleFile>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// A file of a bundle.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct BundleFile {
    /// Its path in the bundle, such as graphs/release.yaml.
    #[schemars(length(min = 1, max = PATH_CHARS))]
    path: String,
    /// Its bytes in base64.
    content_base64: String,
}

#[async_trait]
impl Tool for PublishProvider {
    const NAME: &'static str = "publish_provider";
    const TITLE: &'static str = "Publish a provider of graphs";
    const DESCRIPTION: &'static str = "For operators: publishes a provider's bundle, whole: manifest.json and every file of it, \
        as `agent-graph build` writes them. It is verified, and nothing is kept when anything is wrong. A version never \
        changes: other content under its number is a conflict, and the same bundle again changes nothing. All files together \
        may have maxUploadBytes of describe.";
    type Arguments = Arguments;
    type Data = ProviderListed;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<ProviderListed, store::Error> {
        let Arguments { files, request_id } = arguments;
        let files = decoded(files, call.store.settings().upload_bytes)?;
        let request = call.request(Self::NAME, &request_id);
        Ok(call.store.publish_provider(&request, files).await?.into())
    }
}

/// The files by path.
///
/// # Errors
///
/// `invalid`: every path that is there twice, every file that is not base64, and bytes over the limit.
fn decoded(files: Vec<BundleFile>, most_bytes: usize) -> Result<BTreeMap<String, Vec<u8>>, Refusal> {
    let (mut found, mut issues, mut bytes) = (BTreeMap::new(), Vec::new(), 0_usize);
    for (index, BundleFile { path, content_base64 }) in files.into_iter().enumerate() {
        let content = STANDARD.decode(content_base64).unwrap_or_else(|e| {
            issues.push(format!("files[{index}].contentBase64: {path}: not base64, {e}"));
            Vec::new()
        });
        bytes = bytes.saturating_add(content.len());
        match found.entry(path) {
            Entry::Vacant(free) => drop(free.insert(content)),
            Entry::Occupied(taken) => issues.push(format!("files[{index}].path: {}: twice", taken.key())),
        }
    }
    if bytes > most_bytes {
        issues.push(format!("files: {bytes} bytes, at most {most_bytes}"));
    }
    if issues.is_empty() {
        return Ok(found);
    }
    let over = issues.len().saturating_sub(MOST_ISSUES);
    if over > 0 {
        issues.truncate(MOST_ISSUES);
        issues.push(format!("and {over} more"));
    }
    let message = format!(
        "The files are no bundle that can be published: each has its own path and its bytes in standard base64 with padding \
         (RFC 4648 §4), and all together have at most {most_bytes} bytes. Fix each issue and publish again."
    );
    Err(Refusal::new(Code::Invalid, message).issues(issues))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content_base64: &str) -> BundleFile {
        BundleFile { path: path.to_owned(), content_base64: content_base64.to_owned() }
    }

    #[test]
    fn every_fault_of_the_files_is_told() {
        let files = vec![file("a", "aGVsbG8="), file("b", "aGVs bG8="), file("a", "aGVsbG8="), file("c", "aGVsbG8")];
        let told = decoded(files, 9).expect_err("refused");
        assert_eq!(told.code, Code::Invalid);
        assert_eq!(told.issues.len(), 4, "{:?}", told.issues);
        assert!(told.issues[0].starts_with("files[1].contentBase64: b: not base64"), "{:?}", told.issues);
        assert_eq!(told.issues[1], "files[2].path: a: twice");
        assert!(told.issues[2].starts_with("files[3].contentBase64: c: not base64"), "{:?}", told.issues);
        assert_eq!(told.issues[3], "files: 10 bytes, at most 9");
    }

    #[test]
    fn of_very_many_faults_the_first_are_told() {
        let told = decoded(vec![file("a", "?"); 200], 9).expect_err("refused").issues;
        assert_eq!(told.len(), MOST_ISSUES + 1);
        assert_eq!(told.last().map(String::as_str), Some("and 299 more"));
    }

    #[test]
    fn files_are_decoded_up_to_the_limit() {
        let files = || vec![file("a", "aGVsbG8="), file("empty", "")];
        let read = decoded(files(), 5).expect("right");
        assert_eq!(read, BTreeMap::from([("a".to_owned(), b"hello".to_vec()), ("empty".to_owned(), Vec::new())]));
        assert_eq!(decoded(files(), 4).expect_err("refused").issues, ["files: 5 bytes, at most 4"]);
    }
}
