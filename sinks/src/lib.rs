//! The sinks: where rows and schema changes go. Each is a folder and a cargo feature; none knows where rows come from.

mod error;
mod registry;
mod settings;
mod sink;
#[cfg(feature = "values")]
pub mod values;

pub use error::{Retry, SinkError};
pub use registry::{TYPES, build};
pub use sink::{Capabilities, Committable, EventSink, Gauge, MetadataApplier, Sink, SinkContext};
