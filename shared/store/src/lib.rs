//! The run's journal, attempts, request records, work lists, catalogue, evidence and timers.
//!
//! Everything above [`table`] and [`files`] is written against those two seams; `dynamo` and `s3` implement them with
//! the AWS clients, hosted and embedded alike.

pub mod counting;
pub mod dynamo;
pub mod files;
pub mod memory;
pub mod s3;
pub mod table;
