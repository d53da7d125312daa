//! What the tests of the StarRocks and the Doris sink share.

pub mod batches;
pub mod delivery;
pub mod fixture;
pub mod golden;
mod https;
pub mod large;
mod log;
mod metadata;
pub mod real;
pub mod real_rows;
pub mod recordings;
#[allow(dead_code, reason = "one of the two uses all of it")]
pub mod tap;
pub mod values;
