//! The embedded default: DynamoDB, S3, timers and a token issuer on one machine.
