//! Servers for tests: a StarRocks and a Doris that are none. Each keeps tables in memory and is as strict as the vendor's
//! manual and the recorded answers of a real frontend say. They are written from these, and know nothing of the sinks
//! that are tested against them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    reason = "only tests use it, and they fail by panicking"
)]

mod csv;
pub mod doris;
pub mod faults;
pub mod http;
mod jobs;
mod port;
mod scalar;
mod server;
mod sql;
pub mod starrocks;
pub mod tls;
pub mod trickle;
mod world;
