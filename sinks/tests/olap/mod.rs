//! What the tests of the StarRocks and the Doris sink share.

pub mod batches;
pub mod delivery;
pub mod fixture;
pub mod golden;
mod metadata;
pub mod real;
pub mod recordings;
pub mod values;
