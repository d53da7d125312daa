//! The StarRocks sink: primary-key tables, loaded by stream load transactions that end with the pipeline's checkpoints.

mod commit;
mod committable;
mod config;
mod dialect;
mod jdbc_url;
mod load_client;
mod load_error;
mod loader;
mod row_plan;
mod shared;
mod shown;
mod sql;
mod target_type;
mod writer;

#[cfg(test)]
mod tests;

use crate::olap::applier::Applier;
use crate::{Sink, SinkContext, SinkError};
use config::Config;
use dialect::StarRocks;
use shared::shared;
use std::collections::BTreeMap;
use std::sync::Arc;
use writer::writer;

/// A StarRocks sink. Nothing is connected to yet.
///
/// # Errors
/// An option is missing or can't be understood.
pub fn build(options: &BTreeMap<String, String>, context: &SinkContext) -> Result<Sink, SinkError> {
    let config = Arc::new(Config::parse(options, context)?);
    let shared = Arc::new(shared(&config)?);
    Ok(Sink {
        events: Box::new(writer(Arc::clone(&config), Arc::clone(&shared))),
        metadata: Box::new(Applier::new(StarRocks::new(Arc::clone(&config)), Box::new(sql::client(&config)), shared)),
    })
}
