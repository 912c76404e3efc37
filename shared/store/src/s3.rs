//! Evidence in S3, hosted and embedded alike.
//!
//! Invariants: an object is written once and never replaced through this door (a second put of other bytes fails); a link
//! shows a file inline only where its type cannot run anything in the reader's browser, and a file's name never reaches a
//! header unescaped.

use std::fmt::Write;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_s3::operation::get_object::GetObjectError;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{BucketLocationConstraint, CreateBucketConfiguration};

use crate::files::{Files, FilesError, Shown};

/// Most bytes of an object that are read. An upload is smaller; a larger object was not written here.
pub const OBJECT_BYTES: usize = 64 * 1024 * 1024;

/// The longest life of a link, in seconds: S3 signs for no more than a week.
pub const LINK_SECONDS: u64 = 7 * 24 * 60 * 60;

/// Most characters of a file name in a link.
const FILE_NAME_CHARS: usize = 120;

/// Most characters of an error's own text that a message repeats.
const TEXT_CHARS: usize = 400;

/// Media types that a browser shows without running anything in them.
const INLINE_TYPES: [&str; 6] = ["application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp", "text/plain"];

/// One S3 bucket.
#[derive(Debug, Clone)]
pub struct S3Files {
    client: Client,
    bucket: String,
}

impl S3Files {
    /// The bucket of this name through this client. No call is made.
    pub fn new(client: Client, bucket: String) -> Self {
        Self { client, bucket }
    }
}

/// Creates the bucket in the client's region; a bucket of that name that this account reaches is left as it is.
///
/// # Errors
///
/// [`FilesError::Unavailable`] when S3 does not answer or the name is taken or no bucket's name.
pub async fn create_bucket(client: &Client, name: &str) -> Result<(), FilesError> {
    if client.head_bucket().bucket(name).send().await.is_ok() {
        return Ok(());
    }
    let region = client.config().region().map(ToString::to_string).unwrap_or_default();
    // The oldest region is the one that must not be named.
    let place = (region != "us-east-1" && !region.is_empty()).then(|| {
        CreateBucketConfiguration::builder()
            .location_constraint(BucketLocationConstraint::from(region.as_str()))
            .build()
    });
    match client.create_bucket().bucket(name).set_create_bucket_configuration(place).send().await {
        Ok(_) => Ok(()),
        Err(error) if error.code() == Some("BucketAlreadyOwnedByYou") => Ok(()),
        Err(error) => Err(unavailable(&error)),
    }
}

#[async_trait]
impl Files for S3Files {
    async fn put(&self, key: &str, bytes: Vec<u8>, content_type: &str) -> Result<(), FilesError> {
        let bytes = bytes::Bytes::from(bytes);
        let sent = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(key)
            .content_type(media_type(content_type))
            .if_none_match("*")
            .body(ByteStream::from(bytes.clone()))
            .send()
            .await;
        let Err(error) = sent else {
            return Ok(());
        };
        if error.code() != Some("PreconditionFailed") {
            return Err(unavailable(&error));
        }
        // It is there already: an earlier try whose answer was lost, or the same upload sent again.
        match self.get(key).await? {
            Some(stored) if stored == bytes => Ok(()),
            _ => Err(FilesError::Unavailable("other bytes are stored under this object key".into())),
        }
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
        let answer = match self.client.get_object().bucket(&self.bucket).key(key).send().await {
            Ok(answer) => answer,
            Err(error) if matches!(error.as_service_error(), Some(GetObjectError::NoSuchKey(_))) => return Ok(None),
            Err(error) => return Err(unavailable(&error)),
        };
        let bytes = answer.content_length().and_then(|bytes| usize::try_from(bytes).ok());
        if bytes.is_none_or(|bytes| bytes > OBJECT_BYTES) {
            return Err(FilesError::Unavailable(format!("the object is larger than {OBJECT_BYTES} bytes")));
        }
        let body = answer.body.collect().await;
        let body = body.map_err(|error| FilesError::Unavailable(format!("the object broke off: {error}")))?;
        Ok(Some(body.to_vec()))
    }

    async fn link(&self, key: &str, shown: &Shown, expires: Duration) -> Result<String, FilesError> {
        let seconds = expires.as_secs().clamp(1, LINK_SECONDS);
        let signing = PresigningConfig::expires_in(Duration::from_secs(seconds))
            .map_err(|error| FilesError::Unavailable(format!("no link can be signed: {error}")))?;
        let content_type = media_type(&shown.content_type);
        let signed = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(key)
            .response_content_disposition(disposition(&shown.file_name, &content_type))
            .response_content_type(content_type)
            .presigned(signing)
            .await
            .map_err(|error| unavailable(&error))?;
        Ok(signed.uri().to_owned())
    }
}

/// The media type if it can stand in a header as one, else the type of unknown bytes.
fn media_type(content_type: &str) -> String {
    const MEDIA_TYPE_CHARS: usize = 120;
    let token = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    let named = essence.trim().split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype));
    let plain = parameters.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic() && byte != b',');
    if named && plain && content_type.len() <= MEDIA_TYPE_CHARS {
        content_type.trim().to_owned()
    } else {
        "application/octet-stream".to_owned()
    }
}

/// A `Content-Disposition` (RFC 6266) that any name is safe in: an ASCII name for old readers, the whole name encoded.
fn disposition(file_name: &str, content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let kind = if INLINE_TYPES.contains(&essence.as_str()) { "inline" } else { "attachment" };
    let name: String = file_name.trim().chars().take(FILE_NAME_CHARS).map(tamed).collect();
    let name = if name.trim_matches(['.', '_', ' ']).is_empty() { "file".to_owned() } else { name };
    let plain = |letter: char| letter == ' ' || letter.is_ascii_graphic() && !['"', '\\', '%', ';'].contains(&letter);
    let ascii: String = name.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect();
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{encoded}")
}

/// A letter of a file name, or `_` for one that is a path's, a control's, or turns the text around it.
fn tamed(letter: char) -> char {
    match letter {
        '/' | '\\' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '_',
        letter if letter.is_control() => '_',
        letter => letter,
    }
}

fn unavailable<E, R>(error: &SdkError<E, R>) -> FilesError
where
    E: std::error::Error + 'static,
    R: std::fmt::Debug,
{
    FilesError::Unavailable(DisplayErrorContext(error).to_string().chars().take(TEXT_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leaves_its_quotes() {
        let cases = [
            ("offer.pdf", "application/pdf", "inline; filename=\"offer.pdf\"; filename*=UTF-8''offer.pdf"),
            (
                "a\"; x=\"b.html",
                "text/html",
                "attachment; filename=\"a__ x=_b.html\"; filename*=UTF-8''a%22%3B%20x%3D%22b.html",
            ),
            (
                "../../etc/passwd",
                "text/plain",
                "inline; filename=\".._.._etc_passwd\"; filename*=UTF-8''.._.._etc_passwd",
            ),
            (
                "Ärger\r\nSet-Cookie: a.txt",
                "text/plain; charset=utf-8",
                "inline; filename=\"_rger__Set-Cookie: a.txt\"; filename*=UTF-8''%C3%84rger__Set-Cookie%3A%20a.txt",
            ),
            ("", "image/svg+xml", "attachment; filename=\"file\"; filename*=UTF-8''file"),
            ("..", "IMAGE/PNG", "inline; filename=\"file\"; filename*=UTF-8''file"),
            (
                "cod\u{202E}txt.exe",
                "application/json",
                "attachment; filename=\"cod_txt.exe\"; filename*=UTF-8''cod_txt.exe",
            ),
        ];
        for (name, content_type, expected) in cases {
            assert_eq!(disposition(name, content_type), expected, "{name:?}");
        }
    }

    #[test]
    fn a_media_type_that_is_none_is_unknown_bytes() {
        for good in ["text/plain", "text/plain; charset=utf-8", "application/vnd.ms-excel", "image/svg+xml"] {
            assert_eq!(media_type(good), good);
        }
        for bad in ["", "text", "text/", "/plain", "text/plain\r\nX: y", "te xt/plain", "text/plain; a=\u{e9}"] {
            assert_eq!(media_type(bad), "application/octet-stream", "{bad:?}");
        }
    }
}
