//! The sinks: where rows and schema changes go. Each is a folder and a cargo feature; none knows where rows come from.

/// All sinks that are known by name, with their options.
pub mod catalog;
mod cells;
mod error;
/// Options of connectors: tables, values, secrets.
pub mod options;
pub mod paimon;
mod registry;
mod settings;
mod sink;
mod temporal;
#[cfg(any(test, feature = "test-util"))]
pub mod testing;
pub mod values;

pub use error::{Retry, SinkError};
pub use registry::{TYPES, build};
pub use sink::{Capabilities, Committable, EventSink, Gauge, MetadataApplier, Sink, SinkContext};
