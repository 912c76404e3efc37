//! The one place where DynamoDB's errors become [`TableError`].

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;

use crate::table::TableError;

/// Most characters of an error's own text that a message repeats.
const TEXT_CHARS: usize = 400;

/// An error of any call but a transaction.
pub(super) fn plain<E, R>(error: &SdkError<E, R>) -> TableError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
    R: std::fmt::Debug,
{
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
    match code {
        // Another transaction holds the item.
        Some("TransactionConflictException") => TableError::Refused { failed: Vec::new() },
        Some("ValidationException" | "ItemCollectionSizeLimitExceededException" | "SerializationException") => {
            TableError::Invalid(text(error))
        }
        _ if matches!(error, SdkError::ConstructionFailure(_)) => TableError::Invalid(text(error)),
        // Throttled, timed out, unreachable, 5xx, a missing table or permission: nothing the request could change.
        _ => TableError::Unavailable(text(error)),
    }
}

/// An error of a transaction.
pub(super) fn transaction<R: std::fmt::Debug>(error: &SdkError<TransactWriteItemsError, R>) -> TableError {
    match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
            cancelled(canceled.cancellation_reasons(), canceled.message().unwrap_or("transaction cancelled"))
        }
        _ => plain(error),
    }
}

/// Why a transaction was cancelled, from the reasons of its operations in their order.
///
/// A document that DynamoDB will never take outranks a condition, because trying again would not help; a condition
/// outranks a conflict, because it says more; a conflict outranks throttling, because both mean try again.
fn cancelled(reasons: &[CancellationReason], message: &str) -> TableError {
    let with = |codes: &'static [&'static str]| {
        reasons
            .iter()
            .enumerate()
            .filter(move |(_, reason)| reason.code().is_some_and(|code| codes.contains(&code)))
            .map(|(index, _)| index)
            .collect::<Vec<usize>>()
    };
    let unfit = with(&["ValidationError", "ItemCollectionSizeLimitExceeded"]);
    if let Some(reason) = unfit.first().and_then(|first| reasons.get(*first)) {
        let why = reason.message().unwrap_or(message);
        return TableError::Invalid(format!("operations {unfit:?}: {why}"));
    }
    let failed = with(&["ConditionalCheckFailed"]);
    if !failed.is_empty() || !with(&["TransactionConflict"]).is_empty() {
        return TableError::Refused { failed };
    }
    TableError::Unavailable(message.chars().take(TEXT_CHARS).collect())
}

fn text<E, R>(error: &SdkError<E, R>) -> String
where
    E: std::error::Error + 'static,
    R: std::fmt::Debug,
{
    DisplayErrorContext(error).to_string().chars().take(TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(codes: &[&str]) -> Vec<CancellationReason> {
        codes.iter().map(|code| CancellationReason::builder().code(*code).message("why").build()).collect()
    }

    #[test]
    fn reasons_become_indexes() {
        let refused = |failed: &[usize]| TableError::Refused { failed: failed.to_vec() };
        let cases: [(&[&str], TableError); 7] = [
            (&["None", "ConditionalCheckFailed", "None", "ConditionalCheckFailed"], refused(&[1, 3])),
            (&["TransactionConflict", "None"], refused(&[])),
            (&["TransactionConflict", "ConditionalCheckFailed"], refused(&[1])),
            (&["ThrottlingError", "ConditionalCheckFailed"], refused(&[1])),
            (&["ThrottlingError", "None"], TableError::Unavailable("cancelled".into())),
            (&["ProvisionedThroughputExceeded", "TransactionConflict"], refused(&[])),
            (&["ConditionalCheckFailed", "ValidationError"], TableError::Invalid("operations [1]: why".into())),
        ];
        for (codes, expected) in cases {
            assert_eq!(cancelled(&reasons(codes), "cancelled"), expected, "{codes:?}");
        }
    }
}
