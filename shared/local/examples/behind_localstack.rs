//! What stands behind LocalStack: `cargo run -p local --example behind_localstack -- FOLDER`.
//!
//! DynamoDB over HTTP on a free port of loopback, by the engine that the product embeds, and the key set of a development
//! issuer whose key lies in the folder. Tells where they are as one line of JSON, and serves until it is ended. The table
//! lives in memory: what is not kept anywhere needs no cleaning up.

use std::path::PathBuf;

use dynoxide::Database;
use local::issuer::{Issuer, JWKS_PATH};
use serde_json::json;
use tokio::net::TcpListener;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("name the folder of the issuer's key")?.into();
    let issuer = Issuer::open(&folder)?;
    let keys = TcpListener::bind("127.0.0.1:0").await?;
    let table = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", keys.local_addr()?);
    let issuers = issuer.config(&format!("{base}{JWKS_PATH}"));
    println!("{}", json!({ "table": format!("http://{}", table.local_addr()?), "issuers": issuers }));

    let database = Database::memory()?;
    let router = issuer.router(&base);
    let keys = tokio::spawn(async move { axum::serve(keys, router).await });
    let table = tokio::spawn(async move { dynoxide::server::serve_on(table, database).await });
    // Neither ends by itself.
    tokio::select! {
        served = keys => served??,
        served = table => served?,
    }
    Err("a server ended by itself".into())
}
