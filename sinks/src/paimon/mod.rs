//! The `paimon` sink.

mod options;

pub use options::{OPTIONS, check_options};
