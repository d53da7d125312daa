//! The `paimon` sink: tables of an Apache Paimon warehouse in a file system.

#[cfg(feature = "paimon")]
mod applier;
#[cfg(feature = "paimon")]
mod commit;
#[cfg(feature = "paimon")]
mod committable;
#[cfg(feature = "paimon")]
mod config;
#[cfg(feature = "paimon")]
mod convert;
#[cfg(feature = "paimon")]
mod guard;
#[cfg(feature = "paimon")]
mod lake;
mod options;
#[cfg(feature = "paimon")]
mod plan;
#[cfg(feature = "paimon")]
mod rows;
#[cfg(feature = "paimon")]
mod table;
#[cfg(feature = "paimon")]
mod types;
#[cfg(feature = "paimon")]
mod writer;

#[cfg(all(test, feature = "paimon"))]
mod tests;

pub use options::{OPTIONS, check_options};

#[cfg(feature = "paimon")]
use crate::{Sink, SinkContext, SinkError};
#[cfg(feature = "paimon")]
use applier::PaimonApplier;
#[cfg(feature = "paimon")]
use config::Config;
#[cfg(feature = "paimon")]
use lake::Lake;
#[cfg(feature = "paimon")]
use std::collections::BTreeMap;
#[cfg(feature = "paimon")]
use std::sync::Arc;
#[cfg(feature = "paimon")]
use writer::PaimonWriter;

/// A `paimon` sink. Nothing is read or written yet.
///
/// # Errors
/// An option can't be understood, names a catalog that this build can't reach, or would make rows invisible.
#[cfg(feature = "paimon")]
pub fn build(options: &BTreeMap<String, String>, context: &SinkContext) -> Result<Sink, SinkError> {
    let config = Config::parse(options)?;
    let lake = Arc::new(Lake::new(config, &context.instance)?);
    Ok(Sink { events: Box::new(PaimonWriter::new(Arc::clone(&lake))), metadata: Box::new(PaimonApplier::new(lake)) })
}
