//! What goes to the sink: rows, and checkpoints.

use super::attempt::Attempt;
use super::tables::{TablePhase, batch_error};
use crate::checkpoint::{Checkpoint, Phase, SnapshotProgress, TableState};
use crate::error::Result;
use crate::failpoint;
use crate::metrics::{Metrics, now_millis};
use arrow_array::Int64Array;
use rowferry_model::ChangeBatch;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Attempt<'_> {
    /// Writes rows of a snapshot: their event has no time, which is 0 where times are asked for.
    pub(super) async fn write_snapshot(&mut self, batch: ChangeBatch) -> Result<()> {
        Metrics::add(&self.metrics.snapshot_rows, batch.num_rows() as u64);
        let batch = if self.settings.op_ts {
            let zeros = Int64Array::from(vec![0; batch.num_rows()]);
            batch.with_op_ts(Arc::new(zeros)).map_err(batch_error)?
        } else {
            batch
        };
        self.write_routed(batch, true).await
    }

    /// Writes rows to each target of their table.
    pub(super) async fn write(&mut self, batch: ChangeBatch) -> Result<()> {
        self.write_routed(batch, false).await?;
        failpoint::pass("rows-written");
        Ok(())
    }

    async fn write_routed(&mut self, batch: ChangeBatch, snapshot: bool) -> Result<()> {
        let batch = match self.tables.get(batch.table()) {
            // A model that is asked may take long: the runtime's thread is given to others meanwhile.
            Some(entry) if entry.transform.is_active() => tokio::task::block_in_place(|| entry.transform.rows(batch))?,
            _ => Some(batch),
        };
        let Some(batch) = batch else { return Ok(()) };
        Metrics::add(&self.metrics.sink_bytes, batch.num_bytes() as u64);
        let source = (snapshot && self.collisions.is_some()).then(|| batch.table().clone());
        for batch in self.targets.route(batch)? {
            if let (Some(source), Some(watch)) = (&source, &mut self.collisions) {
                watch.look(source, &batch);
            }
            self.sink.events.write(batch).await?;
        }
        self.metrics.lost_values.store(self.targets.lost(), Ordering::Relaxed);
        Ok(())
    }

    /// Makes everything up to the stream's place durable, saves the state, and makes it visible.
    pub(super) async fn checkpoint(&mut self) -> Result<()> {
        let id = self.last_checkpoint + 1;
        failpoint::pass("before-prepare");
        let committable = self.sink.events.prepare(id).await?;
        let tables = self
            .tables
            .iter()
            .map(|(table, entry)| {
                let phase = match &entry.phase {
                    TablePhase::Chunks(join) => Phase::Snapshot(join.progress()),
                    TablePhase::WholeWaiting => {
                        Phase::Snapshot(SnapshotProgress { estimated_rows: entry.estimated_rows, ..Default::default() })
                    }
                    TablePhase::WholeAt(at) => Phase::StreamingFrom(at.clone()),
                    TablePhase::Streaming => Phase::Streaming,
                    TablePhase::Gone(None) => Phase::Gone,
                    TablePhase::Gone(Some(progress)) => Phase::GoneInSnapshot(progress.clone()),
                };
                let def = Arc::clone(&entry.tracked.def);
                let since = entry.tracked.since.clone().filter(|since| *since > self.point.offset.position);
                (table.clone(), TableState { def, phase, since })
            })
            .collect();
        let targets = self.targets.saved();
        if targets != *self.saved_targets {
            self.saved_targets = Arc::new(targets);
        }
        let checkpoint = Checkpoint {
            id,
            saved_at: now_millis(),
            offset: self.point.offset.clone(),
            server: self.point.server.to_string(),
            committable: committable.clone(),
            tables,
            bystanders: self.bystanders.clone(),
            targets: self.saved_targets.clone(),
        };
        failpoint::pass("before-save");
        self.store.save(&checkpoint).map_err(super::run::store_error)?;
        self.last_checkpoint = id;
        failpoint::pass("before-commit");
        if let Some(committable) = committable {
            self.sink.events.commit(id, committable).await?;
        }
        failpoint::pass("after-commit");
        self.metrics.checkpoint_at.store(checkpoint.saved_at, Ordering::Relaxed);
        self.metrics.checkpoint_id.store(id, Ordering::Relaxed);
        tracing::debug!(id, offset = %checkpoint.offset, "checkpoint");
        Ok(())
    }
}
