//! The sinks: where rows and schema changes go. Each is a folder and a cargo feature; none knows where rows come from.

mod error;
mod sink;

pub use error::{Retry, SinkError};
pub use sink::{Capabilities, Committable, EventSink, MetadataApplier, Sink, SinkContext};
