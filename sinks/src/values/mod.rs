//! The `values` sink: prints events.

mod options;

pub use options::OPTIONS;
