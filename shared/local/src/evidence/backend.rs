//! The S3 operations that evidence needs, on a folder of files; every other operation is refused.
//!
//! Invariants: one bucket, one folder; file work runs off the async threads.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use s3s::dto::{
    CreateBucketInput, CreateBucketOutput, ETagCondition, GetObjectInput, GetObjectOutput, HeadBucketInput,
    HeadBucketOutput, HeadObjectInput, HeadObjectOutput, PutObjectInput, PutObjectOutput, StreamingBlob,
};
use s3s::{Body, S3, S3Error, S3ErrorCode, S3Request, S3Response, S3Result, s3_error};

use super::object::{Object, Objects, Written};
use crate::folder::Folder;

/// Most bytes of one object.
const OBJECT_BYTES: usize = store::s3::OBJECT_BYTES;

/// One bucket in one folder.
#[derive(Debug, Clone)]
pub(super) struct Backend {
    bucket: &'static str,
    objects: Arc<Objects>,
    /// Held for as long as files may be written.
    _folder: Arc<Folder>,
}

impl Backend {
    /// The bucket of this name in the folder's evidence.
    pub(super) fn open(bucket: &'static str, folder: Arc<Folder>) -> io::Result<Self> {
        Ok(Self { bucket, objects: Arc::new(Objects::open(folder.evidence())?), _folder: folder })
    }

    fn check_bucket(&self, bucket: &str) -> S3Result<()> {
        if bucket == self.bucket { Ok(()) } else { Err(s3_error!(NoSuchBucket)) }
    }

    async fn read(&self, bucket: &str, key: String) -> S3Result<Object> {
        self.check_bucket(bucket)?;
        let objects = Arc::clone(&self.objects);
        let read = tokio::task::spawn_blocking(move || objects.get(&key)).await;
        read.map_err(internal)?.map_err(internal)?.ok_or_else(|| s3_error!(NoSuchKey))
    }
}

#[async_trait::async_trait]
impl S3 for Backend {
    async fn create_bucket(&self, request: S3Request<CreateBucketInput>) -> S3Result<S3Response<CreateBucketOutput>> {
        // The folder is there since the start.
        self.check_bucket(&request.input.bucket)?;
        Err(s3_error!(BucketAlreadyOwnedByYou))
    }

    async fn head_bucket(&self, request: S3Request<HeadBucketInput>) -> S3Result<S3Response<HeadBucketOutput>> {
        self.check_bucket(&request.input.bucket)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    async fn put_object(&self, request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        let input = request.input;
        self.check_bucket(&input.bucket)?;
        let first = match input.if_none_match {
            None => false,
            Some(ETagCondition::Any) => true,
            Some(ETagCondition::ETag(_)) => return Err(s3_error!(NotImplemented, "If-None-Match takes only *")),
        };
        if input.if_match.is_some() {
            return Err(s3_error!(NotImplemented, "If-Match"));
        }
        let bytes = match input.body {
            None => Bytes::new(),
            Some(body) => Body::from(body)
                .store_all_limited(OBJECT_BYTES)
                .await
                .map_err(|error| S3Error::with_message(S3ErrorCode::EntityTooLarge, error.to_string()))?,
        };
        let content_type = input.content_type.unwrap_or_else(|| "application/octet-stream".to_owned());
        let (objects, key) = (Arc::clone(&self.objects), input.key);
        let written = tokio::task::spawn_blocking(move || objects.put(&key, &content_type, &bytes, first)).await;
        match written.map_err(internal)?.map_err(internal)? {
            Written::Stored => Ok(S3Response::new(PutObjectOutput::default())),
            Written::NotFirst => Err(s3_error!(PreconditionFailed, "there is an object under this key")),
        }
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let object = self.read(&request.input.bucket, request.input.key).await?;
        Ok(S3Response::new(GetObjectOutput {
            content_length: Some(length(&object)?),
            content_type: Some(object.content_type),
            body: Some(StreamingBlob::from(Body::from(object.bytes))),
            ..GetObjectOutput::default()
        }))
    }

    async fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<S3Response<HeadObjectOutput>> {
        let object = self.read(&request.input.bucket, request.input.key).await?;
        Ok(S3Response::new(HeadObjectOutput {
            content_length: Some(length(&object)?),
            content_type: Some(object.content_type),
            ..HeadObjectOutput::default()
        }))
    }
}

fn length(object: &Object) -> S3Result<i64> {
    i64::try_from(object.bytes.len()).map_err(internal)
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> S3Error {
    S3Error::with_source(S3ErrorCode::InternalError, Box::new(error))
}
