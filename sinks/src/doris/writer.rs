//! Takes rows: encodes them table by table, and keeps loads of several tables under way.

use super::commit;
use super::committable::{self, PreparedTransaction};
use super::config::{Config, Mode};
use super::loader::DorisLoader;
use super::row_plan::load_plan;
use super::shared::Shared;
use crate::olap::json::{BatchEncoder, Plan};
use crate::olap::loads::{Limits, Loads};
use crate::{Capabilities, Committable, EventSink, Gauge, SinkError};
use async_trait::async_trait;
use rowferry_model::{ChangeBatch, CheckpointId, TableId, TableSchema};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Takes rows for Doris.
pub(super) struct DorisWriter {
    config: Arc<Config>,
    shared: Arc<Shared>,
    loads: Loads<DorisLoader>,
    plans: HashMap<TableId, (Arc<TableSchema>, Arc<Plan>)>,
    /// Tables without a key whose changes can't be followed, as the log has said.
    warned: HashSet<TableId>,
    /// Why nothing more is taken: rows of this attempt are lost.
    failed: Option<String>,
}

impl DorisWriter {
    /// A writer; nothing is connected yet.
    pub(super) fn new(config: Arc<Config>, shared: Arc<Shared>) -> Self {
        let limits = Limits {
            bytes: config.max_bytes,
            piece: config.piece_bytes,
            piece_rows: config.piece_rows,
            interval: config.flush_interval,
            threads: config.threads,
        };
        let loads = Loads::new(Arc::new(DorisLoader::new(&config, Arc::clone(&shared))), limits);
        Self { config, shared, loads, plans: HashMap::new(), warned: HashSet::new(), failed: None }
    }

    fn plan(&mut self, batch: &ChangeBatch) -> Result<Arc<Plan>, SinkError> {
        if let Some((schema, plan)) = self.plans.get(batch.table())
            && (Arc::ptr_eq(schema, batch.schema()) || schema == batch.schema())
        {
            return Ok(Arc::clone(plan));
        }
        let plan = Arc::new(load_plan(&self.config, batch.table(), batch.schema())?);
        self.plans.insert(batch.table().clone(), (Arc::clone(batch.schema()), Arc::clone(&plan)));
        Ok(plan)
    }

    async fn take(&mut self, batch: &ChangeBatch) -> Result<(), SinkError> {
        let plan = self.plan(batch)?;
        if plan.keys.is_empty() && !batch.changes().all_inserts() && self.warned.insert(batch.table().clone()) {
            tracing::warn!("doris: {} has no key: its updates add rows, and its deletions are left out", batch.table());
        }
        let mut encoder = BatchEncoder::new(&plan, batch, &self.config.zone)?;
        while !encoder.is_done() {
            self.loads.make_room().await?;
            self.loads.append(batch.table(), None, |out, limit, rows| encoder.fill(out, limit, rows))?;
        }
        self.loads.start()
    }

    /// Remembers a failure: a checkpoint that lost rows must not be prepared later.
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
                "doris sink: rows were lost since the last checkpoint and must come again: {reason}"
            ))),
        }
    }
}

#[async_trait]
impl EventSink for DorisWriter {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            keyless_tables: true,
            before_images: self.config.deletes,
            exactly_once: self.config.mode == Mode::TwoPhase,
        }
    }

    fn check(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        load_plan(&self.config, table, schema).map(|_| ())
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
