//! What the writer of rows must know of Doris.

use super::config::{Config, Mode};
use super::load_client::LoadClient;
use super::loader::DorisLoader;
use super::row_plan::load_plan;
use super::shared::Shared;
use crate::olap::body::Plan;
use crate::olap::load_writer::{LoadTarget, LoadWriter, WriterSettings};
use crate::olap::loads::Limits;
use crate::{Capabilities, SinkError};
use rowferry_model::{TableId, TableSchema};
use std::sync::Arc;

/// A writer; nothing is connected yet.
pub(super) fn writer(config: Arc<Config>, shared: Arc<Shared>) -> LoadWriter<Config> {
    let limits = Limits {
        bytes: config.max_bytes,
        piece: config.piece_bytes,
        piece_rows: config.piece_rows,
        interval: config.flush_interval,
        threads: config.threads,
    };
    let loader = DorisLoader::new(&config, Arc::clone(&shared));
    let settings = WriterSettings { limits, zone: config.zone.clone(), assume_committed: config.assume_committed };
    LoadWriter::new(config, shared, loader, settings)
}

impl LoadTarget for Config {
    type Client = LoadClient;
    type Loader = DorisLoader;

    fn capabilities(&self) -> Capabilities {
        Capabilities { keyless_tables: true, before_images: self.deletes, exactly_once: self.mode == Mode::TwoPhase }
    }

    fn plan(&self, table: &TableId, schema: &TableSchema) -> Result<Plan, SinkError> {
        load_plan(self, table, schema)
    }
}
