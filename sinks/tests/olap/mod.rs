//! What the tests of the StarRocks and the Doris sink share.

pub mod batches;
pub mod delivery;
pub mod golden;
pub mod real;
pub mod recordings;
