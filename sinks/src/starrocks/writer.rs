//! What the writer of rows must know of StarRocks.

use super::config::Config;
use super::load_client::LoadClient;
use super::loader::StarRocksLoader;
use super::row_plan::row_plan;
use super::shared::Shared;
use crate::olap::body::Plan;
use crate::olap::load_writer::{LoadTarget, LoadWriter, WriterSettings};
use crate::olap::loads::Limits;
use crate::{Capabilities, SinkError};
use rowferry_model::{TableId, TableSchema};
use std::sync::Arc;

/// Backends refuse JSON of more than 100 MB, and parse it as a whole. Each load makes a version of the table.
const MAX_PIECE: usize = 64 << 20;
/// A transaction is one version, however many loads it has: short ones keep sending and encoding side by side.
const MAX_TRANSACTION_PIECE: usize = 16 << 20;
const MIN_PIECE: usize = 64 << 10;

/// A writer; nothing is connected yet.
pub(super) fn writer(config: Arc<Config>, shared: Arc<Shared>) -> LoadWriter<Config> {
    // So that each thread can load one piece while another fills up.
    let most = if config.transactional { MAX_TRANSACTION_PIECE } else { MAX_PIECE };
    let piece = (config.max_bytes / (config.threads + 1)).clamp(MIN_PIECE, most).min(config.max_bytes.max(1));
    let limits = Limits {
        bytes: config.max_bytes,
        piece,
        piece_rows: u64::MAX,
        interval: config.flush_interval,
        threads: config.threads,
    };
    let loader = StarRocksLoader::new(&config, Arc::clone(&shared));
    let settings = WriterSettings { limits, zone: config.zone.clone(), assume_committed: config.assume_committed };
    LoadWriter::new(config, shared, loader, settings)
}

impl LoadTarget for Config {
    type Client = LoadClient;
    type Loader = StarRocksLoader;

    fn capabilities(&self) -> Capabilities {
        Capabilities { keyless_tables: false, before_images: true, exactly_once: self.transactional }
    }

    fn plan(&self, table: &TableId, schema: &TableSchema) -> Result<Plan, SinkError> {
        row_plan(self, table, schema)
    }
}
