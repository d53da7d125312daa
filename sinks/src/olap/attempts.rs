//! What a sink's writer and applier share: the client, and what is left of an attempt that a crash ended.

use super::label::Labels;
use super::load_error::LoadError;
use rowferry_model::TableId;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many checkpoints behind the last saved one an earlier attempt can have begun: the one that was not saved, the
/// one behind it, and one to be safe.
const STALE_CHECKPOINTS: u64 = 3;
/// How many checkpoints before the last saved one are looked at too: each may have been begun by an attempt that loaded
/// a table and died, and saved by a later one that died before it came to the table.
const FORMER_CHECKPOINTS: u64 = 4;
/// How many transactions of one table and checkpoint are looked for.
const STALE_SEQUENCES: u32 = 4096;

/// What is known of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing: it was not used, or long ago.
    Nothing,
    /// Its transaction is open or waits for its commit.
    Open,
    /// Its transaction has ended, one way or the other.
    Over,
}

/// What must be asked of a client to find transactions that are left.
pub(crate) trait Transactions {
    /// The sink's name, for the log.
    const SINK: &'static str;

    /// What is known of a label.
    ///
    /// # Errors
    /// The server refuses to tell, or can't be reached.
    fn known(&self, table: &TableId, label: &str) -> Result<Known, LoadError>;

    /// Ends a transaction without effect.
    ///
    /// # Errors
    /// The server refuses, or can't be reached.
    fn rollback(&self, table: &TableId, label: &str) -> Result<(), LoadError>;
}

/// A client, and which checkpoint its transactions belong to.
pub(crate) struct Attempts<C> {
    /// The client.
    pub(crate) client: C,
    prefix: String,
    instance: String,
    /// The checkpoint that rows belong to now.
    checkpoint: AtomicU64,
    /// The first checkpoint of this attempt.
    first: AtomicU64,
    cleaned: Mutex<HashSet<TableId>>,
}

impl<C: Transactions> Attempts<C> {
    /// For one sink: what its labels begin with, and the pipeline's instance.
    pub(crate) fn new(client: C, prefix: &str, instance: &str) -> Self {
        Self {
            client,
            prefix: prefix.to_owned(),
            instance: instance.to_owned(),
            checkpoint: AtomicU64::new(1),
            first: AtomicU64::new(1),
            cleaned: Mutex::new(HashSet::new()),
        }
    }

    /// The checkpoint that rows belong to now.
    pub(crate) fn checkpoint(&self) -> u64 {
        self.checkpoint.load(Ordering::Acquire)
    }

    /// Rows belong to another checkpoint from now on.
    pub(crate) fn set_checkpoint(&self, checkpoint: u64) {
        self.checkpoint.store(checkpoint, Ordering::Release);
    }

    /// A new attempt begins, with this checkpoint: what was found clean may not be any more.
    pub(crate) fn begin(&self, checkpoint: u64) {
        self.first.store(checkpoint, Ordering::Release);
        self.set_checkpoint(checkpoint);
        self.cleaned.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The labels of a table.
    pub(crate) fn labels(&self, table: &TableId) -> Labels {
        Labels::new(&self.prefix, &self.instance, table)
    }

    /// Rolls back what an earlier attempt has left open on a table: it would block every ALTER of the table until it
    /// times out. Does it once a table; blocking.
    ///
    /// # Errors
    /// No frontend can be reached, or it refuses the rollback.
    pub(crate) fn discard_stale(&self, table: &TableId) -> Result<(), LoadError> {
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
        // Not from the checkpoint of now: a table may have its first rows of an attempt much later. What is saved is
        // committed by now, so that nothing of a former checkpoint waits for more than its end.
        let first = self.first.load(Ordering::Acquire);
        for checkpoint in first.saturating_sub(FORMER_CHECKPOINTS)..first.saturating_add(STALE_CHECKPOINTS) {
            for sequence in 0..STALE_SEQUENCES {
                let label = labels.transaction(checkpoint, sequence);
                match self.client.known(table, &label)? {
                    Known::Nothing => break,
                    Known::Open => {
                        tracing::info!("{}: rolling back {label} on {table}, left by an earlier attempt", C::SINK);
                        self.client.rollback(table, &label)?;
                    }
                    Known::Over => {}
                }
            }
        }
        Ok(())
    }
}
