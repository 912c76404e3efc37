//! Faults on purpose: calls of AWS that fail, are late, lose their answers, or are the last thing that this process does.
//!
//! Only in test builds: the feature `faults` switches it on, and cannot be had without debug assertions. What strikes
//! stands in a [`Plan`], a file that is read anew at each call, so that a test changes it while functions run.
//!
//! Invariants: without a plan every call passes untouched; a plan that cannot be read fails every call and says why, so
//! that no test passes because its faults were misspelled; a fault strikes each try of a call by itself, below the SDK's
//! own repetitions, as on a wire.

mod answers;
mod call;
mod plan;

use std::path::PathBuf;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient as _, HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;

use call::Called;
pub use plan::{Fault, MATCHES, Plan, Rule, hits};

/// The variable that names the file of the plan. Not set, nothing strikes.
pub const VARIABLE: &str = "PROCESSION_FAULTS";

/// The same client, struck by the faults of the plan in this file. There need not be one yet.
pub fn injected(client: SharedHttpClient, plan: PathBuf) -> SharedHttpClient {
    http_client_fn(move |settings, components| {
        let inner = client.http_connector(settings, components);
        SharedHttpConnector::new(Faulty { inner, plan: plan.clone() })
    })
}

/// The same client, struck by the plan that the environment names, if it names one.
pub(crate) fn of_environment(client: SharedHttpClient) -> SharedHttpClient {
    match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => injected(client, PathBuf::from(path)),
        None => client,
    }
}

#[derive(Debug)]
struct Faulty {
    inner: SharedHttpConnector,
    plan: PathBuf,
}

impl HttpConnector for Faulty {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let called = Called::of(&request);
        let rule = match Plan::read(&self.plan).and_then(|plan| plan.strikes(&self.plan, &called)) {
            Ok(rule) => rule,
            Err(why) => return HttpConnectorFuture::ready(Err(ConnectorError::user(why.into()))),
        };
        let Some(rule) = rule else { return self.inner.call(request) };
        let Called { service, operation, .. } = called;
        tracing::warn!(rule = rule.name, fault = ?rule.fault, service, operation, "a fault strikes");
        let inner = self.inner.clone();
        HttpConnectorFuture::new(async move {
            let broken = |why: &str| Err(ConnectorError::io(why.into()));
            match rule.fault {
                Fault::Throttle => answers::throttled(&service, rule.code.as_deref()),
                Fault::Conflict => answers::conflict(),
                Fault::Fail => answers::failed(&service),
                Fault::Close => broken("the connection was closed on purpose"),
                Fault::Lose => {
                    inner.call(request).await?;
                    broken("the answer was lost on purpose")
                }
                Fault::Delay => {
                    tokio::time::sleep(Duration::from_millis(rule.millis)).await;
                    inner.call(request).await
                }
                // As if killed: nothing is put in order, nothing is told.
                Fault::AbortBefore => std::process::abort(),
                Fault::AbortAfter => {
                    inner.call(request).await?;
                    std::process::abort()
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
