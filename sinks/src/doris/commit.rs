//! Commits of prepared transactions.

use super::committable::PreparedTransaction;
use super::config::Config;
use super::load_client::{Committed, LabelState};
use super::shared::Shared;
use crate::SinkError;
use crate::olap::each::each;
use crate::olap::load_error::{Cause, LoadError};
use rowferry_model::TableId;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How long committed rows may take to be seen before the pipeline goes on without waiting.
const VISIBLE_WAIT: Duration = Duration::from_secs(60);

/// Commits transactions; those of one table one after another, so that later rows win.
pub(super) async fn commit_all(
    config: &Config,
    shared: &Arc<Shared>,
    transactions: Vec<PreparedTransaction>,
) -> Result<(), SinkError> {
    let mut tables: Vec<(TableId, Vec<PreparedTransaction>)> = Vec::new();
    for transaction in transactions {
        let table = TableId::new(transaction.database.as_str(), transaction.table.as_str());
        match tables.iter_mut().find(|(t, _)| *t == table) {
            Some((_, list)) => list.push(transaction),
            None => tables.push((table, vec![transaction])),
        }
    }
    let assume_committed = config.assume_committed;
    each("doris", config.threads, tables, |(table, transactions)| {
        let shared = Arc::clone(shared);
        move || {
            transactions
                .iter()
                .try_for_each(|transaction| commit_one(&shared, &table, transaction, assume_committed))?;
            // Versions are seen in the order of their commits: the last one's is that of all.
            transactions.last().map_or(Ok(()), |last| wait_until_visible(&shared, &table, &last.label))
        }
    })
    .await
}

/// Rolls back what earlier attempts have left open on tables.
pub(super) async fn discard_all(
    config: &Config,
    shared: &Arc<Shared>,
    mut tables: Vec<TableId>,
) -> Result<(), SinkError> {
    tables.sort();
    tables.dedup();
    each("doris", config.threads, tables, |table| {
        let shared = Arc::clone(shared);
        move || shared.discard_stale(&table)
    })
    .await
}

fn commit_one(
    shared: &Shared,
    table: &TableId,
    transaction: &PreparedTransaction,
    assume_committed: bool,
) -> Result<(), LoadError> {
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        let error = match shared.client.commit(table, transaction.id) {
            Ok(Committed::Yes) => return Ok(()),
            Ok(Committed::Aborted(said)) => return Err(lost(table, transaction, &format!("was aborted ({said})"))),
            Ok(Committed::Unknown(said)) if assume_committed => {
                tracing::warn!(
                    "doris: {} of {table} is not known any more ({said}) and counts as committed",
                    transaction.label
                );
                return Ok(());
            }
            Ok(Committed::Unknown(said)) => {
                return Err(lost(table, transaction, &format!("is not known any more ({said})")));
            }
            Err(error) => error,
        };
        if attempt == ATTEMPTS || !error.may_pass() {
            return Err(error);
        }
        tracing::warn!("doris: committing {} of {table} again after: {}", transaction.label, error.message);
        sleep(pause);
        pause *= 2;
        attempt += 1;
    }
}

fn lost(table: &TableId, transaction: &PreparedTransaction, what: &str) -> LoadError {
    let mut error = LoadError::new(
        Cause::Refused,
        format!(
            "the transaction {} ({}) of {table} {what}: rows of the checkpoint may be missing",
            transaction.id, transaction.label
        ),
    );
    error.hint = Some(
        "if the table is complete (transactions are kept for three days), start once with `rowferry.assume-committed: \
         true`; else snapshot the table again",
    );
    error
}

fn wait_until_visible(shared: &Shared, table: &TableId, label: &str) -> Result<(), LoadError> {
    let deadline = Instant::now() + VISIBLE_WAIT;
    let mut pause = Duration::from_millis(5);
    loop {
        match shared.client.state(table, label) {
            Ok(LabelState::Committed) if Instant::now() < deadline => {
                sleep(pause);
                pause = (pause * 2).min(Duration::from_secs(1));
            }
            Ok(LabelState::Committed) => {
                tracing::warn!("doris: {label} of {table} is committed, but its rows are still not visible");
                return Ok(());
            }
            // Once committed, a transaction can't be undone: whatever the state can't tell does not matter.
            _ => return Ok(()),
        }
    }
}
