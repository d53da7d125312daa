//! The Doris sink, also under the name `selectdb`: unique-key tables, loaded by stream loads, whose two-phase commits end
//! with the pipeline's checkpoints where that is asked for.

mod arrow;
mod commit;
mod committable;
mod config;
mod dialect;
mod literal;
mod load_client;
mod load_error;
mod loader;
mod nodes;
mod partition;
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
use dialect::Doris;
use shared::shared;
use sql::SqlClient;
use std::collections::BTreeMap;
use std::sync::Arc;
use writer::writer;

/// A Doris sink. Nothing is connected to yet.
///
/// # Errors
/// An option is missing or can't be understood.
pub fn build(options: &BTreeMap<String, String>, context: &SinkContext) -> Result<Sink, SinkError> {
    let config = Arc::new(Config::parse(options, context)?);
    let shared = Arc::new(shared(&config)?);
    let sql = SqlClient::new(&config)?;
    let events = Box::new(writer(Arc::clone(&config), Arc::clone(&shared), &sql));
    Ok(Sink { metadata: Box::new(Applier::new(Doris::new(config), Box::new(sql), shared)), events })
}
