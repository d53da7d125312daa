//! Takes rows: encodes them table by table, and keeps loads of several tables under way.

mod commit;
mod loader;

use super::committable::{self, PreparedTransaction};
use super::config::Config;
use super::row_plan::{RowPlan, row_plan};
use super::shared::Shared;
use crate::olap::json::BatchEncoder;
use crate::olap::loads::{Limits, Loads};
use crate::{Capabilities, Committable, EventSink, Gauge, SinkError};
use async_trait::async_trait;
use loader::StarRocksLoader;
use rowferry_model::{ChangeBatch, CheckpointId, TableId, TableSchema};
use std::collections::HashMap;
use std::sync::Arc;

/// Backends refuse JSON of more than 100 MB, and parse it as a whole.
const MAX_PIECE: usize = 64 << 20;
const MIN_PIECE: usize = 64 << 10;

/// Takes rows for StarRocks.
pub(super) struct StarRocksWriter {
    config: Arc<Config>,
    shared: Arc<Shared>,
    loads: Loads<StarRocksLoader>,
    plans: HashMap<TableId, (Arc<TableSchema>, Arc<RowPlan>)>,
    /// Why nothing more is taken: rows of this attempt are lost.
    failed: Option<String>,
}

impl StarRocksWriter {
    /// A writer; nothing is connected yet.
    pub(super) fn new(config: Arc<Config>, shared: Arc<Shared>) -> Self {
        // So that each thread can load one piece while another fills up.
        let piece = (config.max_bytes / (config.threads + 1)).clamp(MIN_PIECE, MAX_PIECE).min(config.max_bytes.max(1));
        let limits = Limits {
            bytes: config.max_bytes,
            piece,
            piece_rows: u64::MAX,
            interval: config.flush_interval,
            threads: config.threads,
        };
        let loads = Loads::new(Arc::new(StarRocksLoader::new(&config, Arc::clone(&shared))), limits);
        Self { config, shared, loads, plans: HashMap::new(), failed: None }
    }

    fn plan(&mut self, batch: &ChangeBatch) -> Result<Arc<RowPlan>, SinkError> {
        if let Some((schema, plan)) = self.plans.get(batch.table())
            && (Arc::ptr_eq(schema, batch.schema()) || schema == batch.schema())
        {
            return Ok(Arc::clone(plan));
        }
        let plan =
            Arc::new(row_plan(batch.table(), batch.schema(), self.config.char_bytes, self.config.has_own_columns())?);
        self.plans.insert(batch.table().clone(), (Arc::clone(batch.schema()), Arc::clone(&plan)));
        Ok(plan)
    }

    async fn take(&mut self, batch: &ChangeBatch) -> Result<(), SinkError> {
        let plan = self.plan(batch)?;
        let mut encoder = BatchEncoder::new(&plan.json, batch, &self.config.zone)?;
        while !encoder.is_done() {
            self.loads.make_room().await?;
            self.loads.append(batch.table(), plan.columns_header.as_deref(), |out, limit, rows| {
                encoder.fill(out, limit, rows)
            })?;
        }
        self.loads.start()
    }

    /// Remembers a failure: a transaction that lost rows must not be prepared later.
    fn guard<T>(&mut self, result: Result<T, SinkError>) -> Result<T, SinkError> {
        if let Err(error) = &result {
            self.failed = Some(error.to_string());
        }
        result
    }

    fn check_alive(&self) -> Result<(), SinkError> {
        match &self.failed {
            None => Ok(()),
            Some(reason) => Err(SinkError::transient(format!(
                "starrocks sink: rows were lost since the last checkpoint and must come again: {reason}"
            ))),
        }
    }
}

#[async_trait]
impl EventSink for StarRocksWriter {
    fn capabilities(&self) -> Capabilities {
        Capabilities { keyless_tables: false, before_images: true, exactly_once: self.config.transactional }
    }

    fn check(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        row_plan(table, schema, self.config.char_bytes, self.config.has_own_columns()).map(|_| ())
    }

    async fn write(&mut self, batch: ChangeBatch) -> Result<(), SinkError> {
        self.check_alive()?;
        let result = self.take(&batch).await;
        self.guard(result)
    }

    async fn idle(&mut self) -> Result<(), SinkError> {
        self.check_alive()?;
        let result = self.loads.flush_old().await;
        self.guard(result)
    }

    async fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Committable>, SinkError> {
        self.check_alive()?;
        let result = self.loads.prepare().await;
        let prepared: Vec<PreparedTransaction> = self.guard(result)?;
        self.shared.set_checkpoint(checkpoint.saturating_add(1));
        if prepared.is_empty() { Ok(None) } else { committable::encode(prepared).map(Some) }
    }

    async fn commit(&mut self, _checkpoint: CheckpointId, committable: Committable) -> Result<(), SinkError> {
        let transactions = committable::decode(&committable)?;
        commit::commit_all(&self.config, &self.shared, transactions).await
    }

    async fn recover(&mut self, last: Option<(CheckpointId, Option<Committable>)>) -> Result<(), SinkError> {
        self.loads.abandon().await;
        self.plans.clear();
        self.failed = None;
        let Some((checkpoint, committable)) = last else {
            self.shared.begin(1);
            return Ok(());
        };
        self.shared.begin(checkpoint.saturating_add(1));
        let Some(committable) = committable else { return Ok(()) };
        let transactions = committable::decode(&committable)?;
        let tables: Vec<TableId> =
            transactions.iter().map(|t| TableId::new(t.database.as_str(), t.table.as_str())).collect();
        commit::commit_all(&self.config, &self.shared, transactions).await?;
        commit::discard_all(&self.config, &self.shared, tables).await
    }

    fn gauges(&self) -> Vec<Gauge> {
        self.loads.gauges()
    }

    async fn close(&mut self) -> Result<(), SinkError> {
        self.loads.abandon().await;
        Ok(())
    }
}
