//! What the writer of rows must know of Doris.

use super::arrow::{ArrowTables, Guard};
use super::config::{Config, Mode, RowFormat};
use super::load_client::LoadClient;
use super::loader::DorisLoader;
use super::row_plan::load_plan;
use super::shared::Shared;
use super::sql::SqlClient;
use crate::olap::body::Plan;
use crate::olap::load_writer::{LoadTarget, LoadWriter, WriterSettings};
use crate::olap::loads::Limits;
use crate::{Capabilities, SinkError};
use async_trait::async_trait;
use rowferry_model::{TableId, TableSchema};
use std::sync::Arc;

/// A Doris with the user's options.
pub(super) struct Target {
    config: Arc<Config>,
    /// Where rows are sent as Arrow.
    arrow: Option<ArrowTables>,
}

/// A writer; nothing is connected yet. `sql`: asks for the columns of tables.
pub(super) fn writer(config: Arc<Config>, shared: Arc<Shared>, sql: &SqlClient) -> LoadWriter<Target> {
    let limits = Limits {
        bytes: config.max_bytes,
        piece: config.piece_bytes,
        piece_rows: config.piece_rows,
        interval: config.flush_interval,
        threads: config.threads,
    };
    let loader = DorisLoader::new(&config, Arc::clone(&shared), Guard::new(sql.clone()));
    let settings = WriterSettings { limits, zone: config.zone.clone(), assume_committed: config.assume_committed };
    let arrow = (config.format == RowFormat::Arrow)
        .then(|| ArrowTables::new(Arc::clone(&config), Arc::clone(&shared), sql.clone()));
    LoadWriter::new(Arc::new(Target { config, arrow }), shared, loader, settings)
}

#[async_trait]
impl LoadTarget for Target {
    type Client = LoadClient;
    type Loader = DorisLoader;

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            keyless_tables: true,
            before_images: self.config.deletes,
            exactly_once: self.config.mode == Mode::TwoPhase,
        }
    }

    fn plan(&self, table: &TableId, schema: &TableSchema) -> Result<Plan, SinkError> {
        load_plan(&self.config, table, schema)
    }

    async fn settle(&self, table: &TableId, schema: &TableSchema, plan: Plan) -> Result<Plan, SinkError> {
        match &self.arrow {
            Some(arrow) => arrow.settle(table, schema, plan).await,
            None => Ok(plan),
        }
    }
}
