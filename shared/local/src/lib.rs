//! The embedded default: DynamoDB, S3, timers and a token issuer on one machine.
//!
//! The AWS clients are the product's own; behind them stand an engine and a file backend in this process. `folder`
//! describes what lies in the data folder.

pub mod clock;
mod database;
mod error;
mod evidence;
mod folder;
pub mod issuer;
pub mod timers;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use store::dynamo::DynamoTable;
use store::files::Files;
use store::s3::S3Files;
use store::table::Table;

pub use error::LocalError;
use folder::Folder;

/// The name of the one table.
const TABLE: &str = "procession";

/// Where the embedded server keeps its data, and how it is reached.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// The data folder; made if it is missing. It must be empty or one that a server made.
    pub dir: PathBuf,
    /// The scheme, host and port under which the server answers, such as `http://127.0.0.1:8484`. Links to evidence
    /// begin with it, and open only under it.
    pub public_url: String,
}

/// The embedded storage, open. The data folder stays locked until this, and all that was taken from it, is dropped.
#[derive(Debug, Clone)]
pub struct Local {
    folder: Arc<Folder>,
    dynamodb: aws_sdk_dynamodb::Client,
    s3: aws_sdk_s3::Client,
    links: Router,
}

impl Local {
    /// Opens the data folder, making what is missing in it.
    ///
    /// # Errors
    ///
    /// [`LocalError`] when another server holds the folder, the folder belongs to something else, or a file cannot be
    /// made or read. Nothing that was there before is changed then.
    pub async fn open(options: LocalOptions) -> Result<Self, LocalError> {
        let public_url = origin(&options.public_url)?;
        let folder = Arc::new(Folder::open(&options.dir)?);
        let dynamodb = database::open(Arc::clone(&folder))?;
        let (s3, links) = evidence::open(Arc::clone(&folder), &public_url)?;
        store::provision(&dynamodb, TABLE, &s3, evidence::BUCKET).await?;
        Ok(Self { folder, dynamodb, s3, links })
    }

    /// The table.
    pub fn table(&self) -> Arc<dyn Table> {
        Arc::new(DynamoTable::new(self.dynamodb.clone(), TABLE.to_owned()))
    }

    /// The evidence.
    pub fn files(&self) -> Arc<dyn Files> {
        Arc::new(S3Files::new(self.s3.clone(), evidence::BUCKET.to_owned()))
    }

    /// The routes that open links to evidence, to be merged into the server's router at its root.
    pub fn links(&self) -> Router {
        self.links.clone()
    }

    /// The client that reaches the table, and the table's name.
    pub fn dynamodb(&self) -> (&aws_sdk_dynamodb::Client, &'static str) {
        (&self.dynamodb, TABLE)
    }

    /// The client that reaches the evidence, and the bucket's name.
    pub fn s3(&self) -> (&aws_sdk_s3::Client, &'static str) {
        (&self.s3, evidence::BUCKET)
    }

    /// The text of the key of this name, 64 random hex digits, made on the first call.
    ///
    /// # Errors
    ///
    /// [`LocalError::Io`] when its file cannot be made or read.
    pub fn key(&self, name: &str) -> Result<String, LocalError> {
        self.folder.key(name, || run::hex(&rand::random::<[u8; 32]>()))
    }

    /// The folder of this server's own keys, which only its owner may enter.
    pub fn keys(&self) -> PathBuf {
        self.folder.keys()
    }
}

/// The public address without a slash at its end, if it is one that links can begin with.
fn origin(url: &str) -> Result<String, LocalError> {
    let fault = |why| LocalError::PublicUrl { url: url.to_owned(), why };
    let uri: http::Uri = url.parse().map_err(|_| fault("it is no address"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(fault("it begins with neither http:// nor https://"));
    }
    let host =
        uri.authority().filter(|host| !host.as_str().contains('@')).ok_or_else(|| fault("it has no plain host"))?;
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() || url.contains('#') {
        return Err(fault("it has a path, which links would have to be signed with"));
    }
    Ok(format!("{}://{host}", uri.scheme_str().unwrap_or("http")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_an_origin() {
        assert_eq!(origin("http://127.0.0.1:8484").unwrap(), "http://127.0.0.1:8484");
        assert_eq!(origin("https://procession.test/").unwrap(), "https://procession.test");
        for bad in ["", "127.0.0.1:8484", "/x", "ftp://a", "http://a/b", "http://a/?b", "http://u:p@a", "http://a#b"] {
            assert!(origin(bad).is_err(), "{bad:?}");
        }
    }
}
