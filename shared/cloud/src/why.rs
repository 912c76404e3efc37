//! Why a call of AWS came to nothing, in few words for the operator's log: a code or a kind, never a message of AWS's,
//! which may repeat what was sent.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;

/// The code, or the kind of fault.
pub(crate) fn why<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> String {
    match error {
        SdkError::TimeoutError(_) => "no answer in time".to_owned(),
        SdkError::DispatchFailure(failure) if failure.is_timeout() => "no answer in time".to_owned(),
        SdkError::DispatchFailure(failure) if failure.is_io() => "no connection".to_owned(),
        SdkError::ServiceError(service) => {
            let code = service.err().code().filter(|code| code.chars().all(|c| c.is_ascii_alphanumeric()));
            let status = service.raw().status().as_u16();
            code.map_or_else(|| format!("answered {status}"), |code| format!("answered {status} ({code})"))
        }
        SdkError::ResponseError(response) => {
            format!("answered {} with something that cannot be read", response.raw().status().as_u16())
        }
        // No credentials among them; the SDK's own log says more.
        _ => "could not be asked".to_owned(),
    }
}

/// The code of an error that the service itself gave.
pub(crate) fn code<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> Option<&str> {
    match error {
        SdkError::ServiceError(service) => service.err().code(),
        _ => None,
    }
}

/// Codes that pass by themselves though the service calls them the caller's fault.
const PASSING: [&str; 6] = [
    "ConflictException",
    "ExpiredTokenException",
    "RequestExpired",
    "RequestTimeoutException",
    "ThrottlingException",
    "TooManyRequestsException",
];

/// Whether the same call would come to the same end, for as long as the operator changes nothing: what is named is not there
/// or not allowed, a quota is used up, or the request is none.
pub(crate) fn lasting<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    let SdkError::ServiceError(service) = error else { return false };
    let passing = service.err().code().is_none_or(|code| PASSING.contains(&code));
    (400..500).contains(&service.raw().status().as_u16()) && !passing
}
