//! The MySQL source.

pub mod binlog;
pub mod catalog;
pub mod preflight;
pub mod reader;
pub mod snapshot;
pub mod wire;
