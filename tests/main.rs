//! The integration tests: one binary, a module per theme.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod binlog;
mod mysql_catalog;
mod mysql_wire;
mod pipeline;
mod repository;
mod support;
mod transform;
