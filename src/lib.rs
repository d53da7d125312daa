//! rowferry carries MySQL tables, their changes and their schema changes into analytical systems.
//!
//! The modules stand in the order in which data flows.

/// The pipeline's YAML file: read, checked, typed.
pub mod config;
/// The MySQL source: connections, pre-flight, table definitions, binlog, snapshot.
pub mod mysql;
/// The pipeline at work: source, joint, route, sink, checkpoints.
pub mod pipeline;
/// What survives a crash.
pub mod checkpoint;
/// Counters and the page that shows them.
pub mod metrics;
/// `/healthz` and `/metrics`.
pub mod http;
/// The error that reaches the user.
pub mod error;
/// Places where tests make the process die.
pub mod failpoint;
#[doc(hidden)]
pub mod fuzzing;
/// The command line.
pub mod cli;
