//! `agent-graph resource verify-host`.

use clap::Args;
use graph::Failure;
use graph::documents::ResourceLocation;
use serde_json::json;

use crate::call::{Done, Global};
use crate::values;

/// Checks what the host made for a Resource: the handler, the digest of the input, the identity of the output, and an inline
/// output against its schema.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph resource verify-host change.request --result @result.json --revision sha256:…

The input_digest of a result is the one that `agent-graph resource locate` tells people of the Resource: `sha256:` over the
canonical JSON of {handler, input: {schema, value}}.

Exit codes: 0 the result is one of what was asked for; 1 it is not, and why.")]
pub struct ResourceVerifyHost {
    /// The Resource's id, or its path below the Provider root.
    resource: String,
    /// What the host returned: agent-graph.host-action-result.v1.
    #[arg(long, value_name = "JSON|@FILE")]
    result: String,
    /// The revision of the Route that selected it.
    #[arg(long, value_name = "DIGEST")]
    revision: Option<String>,
}

impl ResourceVerifyHost {
    /// Checks it.
    pub fn run(self, global: &Global) -> Done {
        let revision = self.revision.as_deref().map(values::revision).transpose()?;
        let result = values::value("--result", &self.result)?;
        let opened = global.open(None)?;
        let location = match graph::locate(&opened.provider, &opened.places, &self.resource)? {
            ResourceLocation::HostAction(location) => location,
            other => {
                let message = format!("Resource {} is not made by the host, so there is no result of it", other.id());
                return Err(Failure::new("materializer-runner-invalid", message));
            }
        };
        let result = graph::validate_host_action_result_of(&opened.provider, &location, &result)?;
        let mut answer = json!({ "state": "valid", "resource": location.id });
        if let (Some(revision), Some(answer)) = (revision, answer.as_object_mut()) {
            answer.insert("revision".to_owned(), json!(revision));
        }
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("result".to_owned(), json!(result));
        }
        global.tell(&answer, |paint| {
            let by = format!("{} {}", result.receipt.adapter, result.receipt.adapter_version);
            vec![format!("{} {} made by {} ({by})", paint.good("valid"), location.id, result.handler)]
        })
    }
}
