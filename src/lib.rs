//! rowferry carries MySQL tables, their changes and their schema changes into analytical systems.
//!
//! The modules stand in the order in which data flows.

/// What survives a crash.
pub mod checkpoint;
/// The pipeline's YAML file: read, checked, typed.
pub mod config;
/// The error that reaches the user.
pub mod error;
/// Places where tests make the process die.
pub mod failpoint;
/// `/healthz` and `/metrics`.
pub mod http;
/// Logs.
pub mod logging;
/// Counters and the page that shows them.
pub mod metrics;
/// The MySQL source: connections, pre-flight, table definitions, binlog, snapshot.
pub mod mysql;
/// The pipeline at work: source, joint, route, sink, checkpoints.
pub mod pipeline;
