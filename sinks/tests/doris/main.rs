//! The Doris sink against a stand-in that keeps to the recorded frontend and to the vendor's manual.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, reason = "tests")]

use rowferry_stand_ins::doris as stand_in;

#[path = "../olap/mod.rs"]
mod olap;
mod support;

mod arrow;
mod delivery;
mod metadata;
mod partitions;
mod real;
mod replay_http;
mod replay_sql;
mod values;
