//! rowferry carries MySQL tables, their changes and their schema changes into analytical systems.
//!
//! The modules stand in the order in which data flows.

/// The pipeline's YAML file: read, checked, typed.
pub mod config;
#[doc(hidden)]
pub mod fuzzing;
/// The MySQL source: connections, pre-flight, table definitions, binlog, snapshot.
pub mod mysql;
