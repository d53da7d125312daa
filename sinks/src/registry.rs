//! From a sink's type to the sink.

use crate::{Sink, SinkContext, SinkError};
use std::collections::BTreeMap;

/// Builds the sink of a YAML file's `sink` block. `options` are its keys and values except `type` and `name`. Nothing
/// is connected to or created yet.
///
/// # Errors
/// There is no such sink in this build, or an option can't be understood.
pub fn build(sink_type: &str, options: &BTreeMap<String, String>, context: &SinkContext) -> Result<Sink, SinkError> {
    match sink_type {
        #[cfg(feature = "values")]
        "values" => crate::values::build(options, context),
        #[cfg(feature = "paimon")]
        "paimon" => crate::paimon::build(options, context),
        #[cfg(feature = "starrocks")]
        "starrocks" => crate::starrocks::build(options, context),
        #[cfg(feature = "doris")]
        "doris" | "selectdb" => crate::doris::build(options, context),
        other => {
            let _ = (options, context);
            Err(SinkError::permanent(format!("this build of rowferry has no sink `{other}`"))
                .hint(format!("sinks of this build: {}", TYPES.join(", "))))
        }
    }
}

/// The types of the sinks in this build.
pub const TYPES: &[&str] = &[
    #[cfg(feature = "values")]
    "values",
    #[cfg(feature = "paimon")]
    "paimon",
    #[cfg(feature = "starrocks")]
    "starrocks",
    #[cfg(feature = "doris")]
    "doris",
    #[cfg(feature = "doris")]
    "selectdb",
];
