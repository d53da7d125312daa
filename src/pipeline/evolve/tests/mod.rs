//! Schema evolution, cell by cell. Right values come from the recordings of Flink CDC and from MySQL's rules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;
mod behavior;
mod lattice;
mod coerce;
mod targets;
mod collisions;
mod golden;
mod properties;
mod documentation;
