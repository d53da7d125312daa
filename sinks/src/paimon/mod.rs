//! The `paimon` sink: tables of an Apache Paimon warehouse in a file system.

mod applier;
mod commit;
mod committable;
mod config;
mod convert;
mod guard;
mod lake;
mod plan;
mod rows;
mod table;
mod types;
mod writer;

#[cfg(test)]
mod tests;

use crate::{Sink, SinkContext, SinkError};
use applier::PaimonApplier;
use config::Config;
use lake::Lake;
use std::collections::BTreeMap;
use std::sync::Arc;
use writer::PaimonWriter;

/// A `paimon` sink. Nothing is read or written yet.
///
/// # Errors
/// An option can't be understood, names a catalog that this build can't reach, or would make rows invisible.
pub fn build(options: &BTreeMap<String, String>, context: &SinkContext) -> Result<Sink, SinkError> {
    let config = Config::parse(options)?;
    let lake = Arc::new(Lake::new(config, &context.instance)?);
    Ok(Sink { events: Box::new(PaimonWriter::new(Arc::clone(&lake))), metadata: Box::new(PaimonApplier::new(lake)) })
}
