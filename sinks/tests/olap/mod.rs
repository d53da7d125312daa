//! What the tests of the StarRocks and the Doris sink share.

pub mod batches;
pub mod faults;
pub mod golden;
pub mod http;
pub mod port;
pub mod real;
pub mod recordings;
