//! What must exist before a store can be used: one table and one bucket. A deployment template that makes them must match
//! what is made here.

use crate::dynamo::create_table;
use crate::files::FilesError;
use crate::s3::create_bucket;
use crate::table::TableError;

/// Which of the two could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// The table.
    #[error("the table cannot be made: {0}")]
    Table(#[from] TableError),
    /// The bucket.
    #[error("the evidence bucket cannot be made: {0}")]
    Bucket(#[from] FilesError),
}

/// Makes the table and the bucket, and leaves alone what is there.
///
/// # Errors
///
/// Why one of them cannot be made, or the table that is there has other keys.
pub async fn provision(
    dynamodb: &aws_sdk_dynamodb::Client,
    table: &str,
    s3: &aws_sdk_s3::Client,
    bucket: &str,
) -> Result<(), ProvisionError> {
    create_table(dynamodb, table).await?;
    create_bucket(s3, bucket).await?;
    Ok(())
}
