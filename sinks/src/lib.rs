//! The sinks: where rows and schema changes go. Each is a folder and a cargo feature; none knows where rows come from.

#[cfg(any(feature = "paimon", feature = "values"))]
mod cells;
mod error;
#[cfg(feature = "paimon")]
pub mod paimon;
mod registry;
#[cfg(any(feature = "paimon", feature = "values"))]
mod settings;
mod sink;
#[cfg(any(feature = "paimon", feature = "values"))]
mod temporal;
#[cfg(all(feature = "values", any(test, feature = "test-util")))]
pub mod testing;
#[cfg(feature = "values")]
pub mod values;

pub use error::{Retry, SinkError};
pub use registry::{TYPES, build};
pub use sink::{Capabilities, Committable, EventSink, Gauge, MetadataApplier, Sink, SinkContext};
