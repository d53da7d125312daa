//! The sinks: where rows and schema changes go. Each is a folder and a cargo feature; none knows where rows come from.

pub mod catalog;
mod cells;
#[cfg(feature = "doris")]
pub mod doris;
mod error;
#[cfg(feature = "olap")]
mod olap;
pub mod options;
pub mod paimon;
mod registry;
mod settings;
mod sink;
#[cfg(feature = "starrocks")]
pub mod starrocks;
mod temporal;
#[cfg(any(test, feature = "test-util"))]
pub mod testing;
#[cfg(feature = "values")]
pub mod text;
pub mod values;

pub use error::{Retry, SinkError};
pub use registry::{TYPES, build};
pub use sink::{Capabilities, Committable, EventSink, Gauge, MetadataApplier, Sink, SinkContext, TableSelector};
