//! `upload`: a file that evidence can refer to.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Tool};

pub(crate) struct Upload;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The file's name.
    #[schemars(length(min = 1, max = 255))]
    file_name: String,
    /// Its media type, such as application/pdf.
    #[schemars(length(min = 1, max = 160))]
    content_type: String,
    /// Its bytes in base64.
    #[schemars(length(min = 1))]
    content_base64: String,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// The stored file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Stored {
    /// What `ref` of an evidence item of kind `file` takes.
    id: String,
    /// SHA-256 of the bytes, lower-case hex.
    sha256: String,
    /// How many bytes there are.
    bytes: usize,
}

#[async_trait]
impl Tool for Upload {
    const NAME: &'static str = "upload";
    const TITLE: &'static str = "Upload a file";
    const DESCRIPTION: &'static str = "Stores a file and returns its id. Attach it to a submission as evidence: { kind: file, \
        ref: id }. Needed when a step asks for evidence of kind file. The size limit is maxUploadBytes of describe.";
    type Arguments = Arguments;
    type Data = Stored;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Stored, store::Error> {
        let Arguments { file_name, content_type, content_base64, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let stored = call.store.upload(&request, &file_name, &content_type, &content_base64).await?;
        Ok(Stored { id: stored.id, sha256: stored.sha256, bytes: stored.bytes })
    }
}
