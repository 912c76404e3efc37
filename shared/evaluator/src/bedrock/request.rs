//! What Converse is asked, and which parts of it a model refuses. Pure.

use std::collections::HashMap;
use std::fmt;

use aws_sdk_bedrockruntime::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_bedrockruntime::operation::converse::ConverseError;
use aws_sdk_bedrockruntime::operation::converse::builders::ConverseInputBuilder;
use aws_sdk_bedrockruntime::types::{
    AnyToolChoice, AutoToolChoice, ContentBlock, ConversationRole, InferenceConfiguration, Message, SpecificToolChoice,
    SystemContentBlock, Tool, ToolChoice, ToolConfiguration, ToolInputSchema, ToolSpecification,
};
use aws_smithy_types::{Document, Number};
use process::QuestionKind;
use serde_json::Value;

use crate::prompt::Prompt;
use crate::schema;

/// Most tokens of an answer, those of thinking before it included: more than come in the time there is.
const ANSWER_TOKENS: i32 = 4_096;

/// The tool whose input is the answer.
pub(super) const TOOL: &str = "answer";

/// Parts that are left out of a request, or asked for more mildly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Refused(pub(super) u8);

impl Refused {
    /// The temperature.
    const TEMPERATURE: u8 = 1;
    /// That the model must use this tool; it must use any then, and this is the only one.
    const TOOL: u8 = 2;
    /// That it must use a tool; it may then.
    const ANY: u8 = 4;

    fn has(self, part: u8) -> bool {
        self.0 & part != 0
    }

    /// These and those that an error refuses; `None` when it refuses nothing that was sent.
    pub(super) fn and_named_in<R>(self, error: &SdkError<ConverseError, R>) -> Option<Refused> {
        let error = error.as_service_error().filter(|error| error.is_validation_exception())?;
        self.and_named(error.message()?)
    }

    fn and_named(self, message: &str) -> Option<Refused> {
        let message = message.to_ascii_lowercase();
        let mut more = self.0;
        if message.contains("temperature") {
            more |= Refused::TEMPERATURE;
        }
        if message.contains("toolchoice") || message.contains("tool_choice") {
            more |= if self.has(Refused::TOOL) { Refused::ANY } else { Refused::TOOL };
        }
        (more != self.0).then_some(Refused(more))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Refused::TEMPERATURE, "temperature"),
            (Refused::TOOL, "toolChoice.tool"),
            (Refused::ANY, "toolChoice.any"),
        ];
        let left: Vec<&str> = names.iter().filter(|(part, _)| self.has(*part)).map(|(_, name)| *name).collect();
        f.write_str(&left.join(", "))
    }
}

/// The request for one answer.
///
/// # Errors
///
/// A part that the SDK does not take, which is a fault here.
pub(super) fn converse(
    model: &str,
    prompt: &Prompt,
    kind: &QuestionKind,
    refused: Refused,
) -> Result<ConverseInputBuilder, String> {
    let fault = |error: aws_sdk_bedrockruntime::error::BuildError| format!("no request: {error}");
    let message = Message::builder()
        .role(ConversationRole::User)
        .content(ContentBlock::Text(prompt.user.clone()))
        .build()
        .map_err(fault)?;
    let tool = ToolSpecification::builder()
        .name(TOOL)
        .description("Takes the answer to the question. Use it exactly once.")
        .input_schema(ToolInputSchema::Json(document(&schema::of(kind))))
        .build()
        .map_err(fault)?;
    let choice = if refused.has(Refused::ANY) {
        ToolChoice::Auto(AutoToolChoice::builder().build())
    } else if refused.has(Refused::TOOL) {
        ToolChoice::Any(AnyToolChoice::builder().build())
    } else {
        ToolChoice::Tool(SpecificToolChoice::builder().name(TOOL).build().map_err(fault)?)
    };
    let tools = ToolConfiguration::builder().tools(Tool::ToolSpec(tool)).tool_choice(choice).build().map_err(fault)?;
    let temperature = (!refused.has(Refused::TEMPERATURE)).then_some(0.0);
    let inference = InferenceConfiguration::builder().max_tokens(ANSWER_TOKENS).set_temperature(temperature).build();
    let system = format!("{}\nGive that object as the input of the tool `{TOOL}`.", prompt.system);
    Ok(ConverseInputBuilder::default()
        .model_id(model)
        .system(SystemContentBlock::Text(system))
        .messages(message)
        .inference_config(inference)
        .tool_config(tools))
}

/// A schema as the SDK's kind of JSON. A schema is never deep.
fn document(value: &Value) -> Document {
    match value {
        Value::Null => Document::Null,
        Value::Bool(held) => Document::Bool(*held),
        Value::Number(number) => Document::Number(match number.as_u64() {
            Some(whole) => Number::PosInt(whole),
            None => Number::Float(number.as_f64().unwrap_or_default()),
        }),
        Value::String(text) => Document::String(text.clone()),
        Value::Array(items) => Document::Array(items.iter().map(document).collect()),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, item)| (key.clone(), document(item)));
            Document::Object(entries.collect::<HashMap<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_as_models_word_them_are_understood() {
        for (before, message, after) in [
            (0, "`temperature` is deprecated for this model.", Some(Refused::TEMPERATURE)),
            (
                0,
                "This model doesn't support the toolConfig.toolChoice.tool field. Remove toolConfig.toolChoice.tool and try again.",
                Some(Refused::TOOL),
            ),
            (
                Refused::TOOL,
                "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again.",
                Some(Refused::TOOL | Refused::ANY),
            ),
            (0, "Thinking may not be enabled when tool_choice forces tool use.", Some(Refused::TOOL)),
            (Refused::TOOL | Refused::ANY, "toolChoice", None),
            (Refused::TEMPERATURE, "`temperature` is deprecated for this model.", None),
            (0, "Input is too long for requested model.", None),
        ] {
            assert_eq!(Refused(before).and_named(message), after.map(Refused), "{message}");
        }
    }
}
