//! The endpoint on AWS: settings and a store to the router.
//!
//! Invariant: claim keys are fresh before a request is answered, so that a key's rotation never refuses a token.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use cloud::{Cloud, Problems, Settings};
use identity::{HttpFetch, Verifier};
use mcp::{App, EndpointConfig, ProcessTools};

/// Most bytes of a request's body: what a function URL takes.
const BODY_BYTES: usize = 6 * 1024 * 1024;

/// Most bytes that a function may answer with, its own frame included.
const ANSWER_BYTES: usize = 6_291_556;

/// The endpoint of this store.
///
/// # Errors
///
/// Every problem, each naming the variable that leads there.
pub(crate) fn router(settings: &Settings, cloud: Cloud) -> Result<Router, Problems> {
    let Cloud { store, keys, public_url, .. } = cloud;
    let mut problems = Vec::new();
    let url = public_url.unwrap_or_else(|| {
        problems.push("PROCESSION_URL: is not set, and the secret has no publicUrl; set one of them".to_owned());
        String::new()
    });
    let config = EndpointConfig {
        authorization_servers: settings.issuers.issuers.iter().map(|issuer| issuer.issuer.clone()).collect(),
        max_body_bytes: BODY_BYTES,
        max_answer_bytes: Some(ANSWER_BYTES),
        ..EndpointConfig::new(url)
    };
    if problems.is_empty()
        && let Err(found) = config.check()
    {
        problems
            .extend(found.into_iter().map(|problem| format!("PROCESSION_URL, or the secret's publicUrl: {problem}")));
    }
    let verifier = Verifier::new(settings.issuers.clone(), Arc::new(HttpFetch::new()));
    let verifier = verifier.map_err(|found| problems.extend(found)).ok();
    let tools = ProcessTools::new(store).map_err(|error| problems.push(error.to_string())).ok();
    let (Some(verifier), Some(tools), true) = (verifier, tools, problems.is_empty()) else {
        return Err(Problems(problems));
    };
    let app = App { config, verifier, tools: Arc::new(tools) };
    Ok(mcp::router(Arc::new(app)).layer(middleware::from_fn(move |request: Request, next: Next| {
        let keys = Arc::clone(&keys);
        async move {
            keys.refresh().await;
            next.run(request).await
        }
    })))
}
