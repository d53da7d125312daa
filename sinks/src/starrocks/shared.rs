//! What the writer and the applier share: the client, and what is left of an attempt that a crash ended.

use super::config::Config;
use super::label::Labels;
use super::load_client::{LabelState, LoadClient};
use super::load_error::LoadError;
use crate::SinkError;
use rowferry_model::TableId;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many checkpoints behind the last saved one an earlier attempt can have begun: the one that was not saved, the
/// one behind it, and one to be safe.
const STALE_CHECKPOINTS: u64 = 3;
/// How many transactions of one table and checkpoint are looked for.
const STALE_SEQUENCES: u32 = 64;

/// What the writer and the applier share.
pub(super) struct Shared {
    /// The client.
    pub(super) client: LoadClient,
    prefix: String,
    instance: String,
    /// The checkpoint that rows belong to now.
    checkpoint: AtomicU64,
    cleaned: Mutex<HashSet<TableId>>,
}

impl Shared {
    /// For one sink.
    ///
    /// # Errors
    /// The client can't be made.
    pub(super) fn new(config: &Config) -> Result<Self, SinkError> {
        Ok(Self {
            client: LoadClient::new(config)?,
            prefix: config.label_prefix.clone(),
            instance: config.instance.clone(),
            checkpoint: AtomicU64::new(1),
            cleaned: Mutex::new(HashSet::new()),
        })
    }

    /// The checkpoint that rows belong to now.
    pub(super) fn checkpoint(&self) -> u64 {
        self.checkpoint.load(Ordering::Acquire)
    }

    /// Rows belong to another checkpoint from now on.
    pub(super) fn set_checkpoint(&self, checkpoint: u64) {
        self.checkpoint.store(checkpoint, Ordering::Release);
    }

    /// After a restart: what was found clean may not be any more.
    pub(super) fn forget_cleaned(&self) {
        self.cleaned.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The labels of a table.
    pub(super) fn labels(&self, table: &TableId) -> Labels {
        Labels::new(&self.prefix, &self.instance, table)
    }

    /// Rolls back what an earlier attempt has left open on a table: it would block every ALTER of the table until it
    /// times out. Does it once a table; blocking.
    ///
    /// # Errors
    /// No frontend can be reached, or it refuses the rollback.
    pub(super) fn discard_stale(&self, table: &TableId) -> Result<(), LoadError> {
        if !self.cleaned.lock().unwrap_or_else(PoisonError::into_inner).insert(table.clone()) {
            return Ok(());
        }
        let result = self.discard(table);
        if result.is_err() {
            self.cleaned.lock().unwrap_or_else(PoisonError::into_inner).remove(table);
        }
        result
    }

    fn discard(&self, table: &TableId) -> Result<(), LoadError> {
        let labels = self.labels(table);
        let first = self.checkpoint();
        for checkpoint in first..first + STALE_CHECKPOINTS {
            for sequence in 0..STALE_SEQUENCES {
                let label = labels.transaction(checkpoint, sequence);
                match self.client.state(table, &label)? {
                    LabelState::Unknown => break,
                    LabelState::Open | LabelState::Prepared => {
                        tracing::info!("starrocks: rolling back {label} on {table}, left by an earlier attempt");
                        self.client.rollback(table, &label)?;
                    }
                    LabelState::Aborted(_) | LabelState::Committed | LabelState::Visible => {}
                }
            }
        }
        Ok(())
    }
}
