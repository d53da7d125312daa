//! rowferry carries MySQL tables, their changes and their schema changes into analytical systems.
//!
//! The modules stand in the order in which data flows.

pub mod config;
pub mod mysql;
pub mod transforms;
pub mod pipeline;
pub mod checkpoint;
pub mod metrics;
pub mod http;
pub mod error;
pub mod failpoint;
#[doc(hidden)]
pub mod fuzzing;
pub mod cli;
