//! `describe`: what this server is and offers. True to what runs.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, NAMES, Tool};

pub(crate) struct Describe;

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {}

/// What this server is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Description {
    /// `agentprocess`
    protocol: &'static str,
    /// The version of the protocol.
    version: &'static str,
    /// The profiles this server runs.
    profiles: Vec<String>,
    /// How long a claim lasts, in seconds.
    lease_seconds: u64,
    /// What a `person` value looks like.
    person: PersonForm,
    /// Every tool it offers.
    tools: Vec<String>,
    /// Most bytes of one upload.
    max_upload_bytes: usize,
    /// Its limits.
    limits: Limits,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct PersonForm {
    /// `email`: compared without case.
    format: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Limits {
    /// Most bytes of a run's data, as JSON.
    run_data_bytes: usize,
    /// Yes-probability at which a yes/no check passes when the file does not say.
    check_pass: f64,
    /// Yes-probability below which it fails when the file does not say; null for none.
    check_fail: Option<f64>,
    /// Confidence below which an answer is unsure when the file does not say.
    check_confidence: f64,
    /// Most bytes of run data that a check is shown.
    check_state_bytes: usize,
}

#[async_trait]
impl Tool for Describe {
    const NAME: &'static str = "describe";
    const TITLE: &'static str = "Describe this server";
    const DESCRIPTION: &'static str = "Tells the protocol version, the profiles and tools this server offers, how long a \
        claim lasts (leaseSeconds), what a person value looks like, and the limits on uploads, run data and checks. Needs \
        no arguments and changes nothing.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Description;

    async fn call(call: Call<'_>, _: Arguments) -> Result<Description, store::Error> {
        let settings = call.store.settings();
        Ok(Description {
            protocol: "agentprocess",
            version: "core-2",
            profiles: call.store.profiles().into_iter().map(str::to_owned).collect(),
            lease_seconds: settings.limits.lease_seconds,
            person: PersonForm { format: "email" },
            tools: NAMES.iter().map(|n| (*n).to_owned()).collect(),
            max_upload_bytes: settings.upload_bytes,
            limits: Limits {
                run_data_bytes: settings.limits.run_data_bytes,
                check_pass: settings.limits.check_pass,
                check_fail: settings.limits.check_fail,
                check_confidence: settings.limits.check_confidence,
                check_state_bytes: settings.limits.check_state_bytes,
            },
        })
    }
}
