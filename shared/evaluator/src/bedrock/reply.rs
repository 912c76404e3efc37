//! Reading what Converse answered. Pure.
//!
//! Invariant: an error names a status, a code of AWS, or what is missing; never a text of AWS or of the model, which may
//! repeat what was submitted.

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_bedrockruntime::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_bedrockruntime::operation::converse::{ConverseError, ConverseOutput};
use aws_sdk_bedrockruntime::types::{ContentBlock, StopReason, ToolUseBlock};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_types::{Document, Number};
use outbound::Fault;
use process::QuestionKind;
use run::Answer;
use serde_json::{Map, Value};

use super::request::TOOL;
use crate::schema;

/// The answer in what Converse brought.
pub(super) fn read(kind: &QuestionKind, output: ConverseOutput) -> Result<Answer, String> {
    match &output.stop_reason {
        StopReason::MaxTokens | StopReason::ModelContextWindowExceeded => {
            return Err("the answer was cut off at the limit of tokens".to_owned());
        }
        StopReason::GuardrailIntervened => return Err("a guardrail kept the answer back".to_owned()),
        StopReason::ContentFiltered => return Err("a content filter kept the answer back".to_owned()),
        StopReason::MalformedModelOutput | StopReason::MalformedToolUse => {
            return Err("the model's answer has no form".to_owned());
        }
        // Otherwise it ended by itself, whatever a model calls that.
        _ => {}
    }
    let message = output.output.and_then(|output| output.as_message().ok().cloned());
    let content = message.ok_or_else(|| "answered with no message".to_owned())?.content;
    // Thinking and small talk beside the tool are none of the answer.
    let uses: Vec<&ToolUseBlock> = content.iter().filter_map(|block| block.as_tool_use().ok()).collect();
    let [used] = uses.as_slice() else {
        let prose = uses.is_empty() && content.iter().any(ContentBlock::is_text);
        return Err(match prose {
            true => "the model answers in prose or refuses to answer".to_owned(),
            false => format!("answered with {} answers where one was asked for", uses.len()),
        });
    };
    if used.name != TOOL {
        return Err("the model called a tool that it does not have".to_owned());
    }
    schema::answer(kind, &text(&used.input))
}

/// The input of the tool as JSON. What is not flat is no answer anyway, and is left empty.
fn text(input: &Document) -> String {
    let Document::Object(entries) = input else { return String::new() };
    let flat = |value: &Document| match value {
        Document::String(text) => Value::from(text.as_str()),
        Document::Number(Number::PosInt(whole)) => Value::from(*whole),
        Document::Number(Number::NegInt(whole)) => Value::from(*whole),
        Document::Number(Number::Float(number)) => Value::from(*number),
        _ => Value::Null,
    };
    let entries: Map<String, Value> = entries.iter().map(|(key, value)| (key.clone(), flat(value))).collect();
    Value::Object(entries).to_string()
}

/// Why there is no answer.
pub(super) fn failure(error: &SdkError<ConverseError, HttpResponse>) -> String {
    if let Some(why) = caused::<CredentialsError>(error) {
        // Only its kind: what is within it may name files and addresses, and is in the SDK's own log.
        return format!("has no AWS credentials: {why}");
    }
    if let Some(fault) = caused::<Fault>(error) {
        return fault.to_string();
    }
    match error {
        SdkError::TimeoutError(_) => "did not answer in time".to_owned(),
        SdkError::DispatchFailure(failure) if failure.is_timeout() => "did not answer in time".to_owned(),
        SdkError::DispatchFailure(_) | SdkError::ConstructionFailure(_) => "could not be asked".to_owned(),
        // What the SDK cannot read comes as either, whatever the status.
        SdkError::ResponseError(response) => strange(response.raw()),
        SdkError::ServiceError(service) if service.raw().status().is_success() => strange(service.raw()),
        SdkError::ServiceError(service) => {
            let code = service.err().code().filter(|code| code.chars().all(|c| c.is_ascii_alphanumeric()));
            let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
            let hint = match service.err() {
                ConverseError::AccessDeniedException(_) => {
                    ": the credentials may not invoke this model, or it is not enabled in this account and region"
                }
                ConverseError::ResourceNotFoundException(_) => ": there is no such model in this region",
                ConverseError::ThrottlingException(_) => ": too many requests, or a quota is used up",
                _ => "",
            };
            format!("answered {}{code}{hint}", service.raw().status().as_u16())
        }
        _ => "could not be asked".to_owned(),
    }
}

fn strange(response: &HttpResponse) -> String {
    format!("answered {} with something else than a conversation", response.status().as_u16())
}

/// The first error of this type among an error and its causes.
fn caused<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
