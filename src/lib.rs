//! rowferry carries MySQL tables, their changes and their schema changes into analytical systems.
//!
//! The modules stand in the order in which data flows.

/// The command line.
pub mod cli;
/// The pipeline's YAML file: read, checked, typed.
pub mod config;
/// The MySQL source: connections, pre-flight, table definitions, binlog, snapshot.
pub mod mysql;
