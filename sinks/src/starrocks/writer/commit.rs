//! Commits of prepared transactions.

use super::super::committable::PreparedTransaction;
use super::super::config::Config;
use super::super::load_client::LabelState;
use super::super::shared::Shared;
use super::loader::StarRocksLoader;
use crate::SinkError;
use crate::olap::each::each;
use crate::olap::load_error::{Cause, LoadError};
use crate::olap::loads::Loader;
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
    let mut tables: Vec<(TableId, Vec<String>)> = Vec::new();
    for transaction in transactions {
        let table = TableId::new(transaction.database, transaction.table);
        match tables.iter_mut().find(|(t, _)| *t == table) {
            Some((_, labels)) => labels.push(transaction.label),
            None => tables.push((table, vec![transaction.label])),
        }
    }
    let assume_committed = config.assume_committed;
    each(StarRocksLoader::SINK, config.threads, tables, |(table, labels)| {
        let shared = Arc::clone(shared);
        move || labels.iter().try_for_each(|label| commit_one(&shared, &table, label, assume_committed))
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
    each(StarRocksLoader::SINK, config.threads, tables, |table| {
        let shared = Arc::clone(shared);
        move || shared.discard_stale(&table)
    })
    .await
}

fn commit_one(shared: &Shared, table: &TableId, label: &str, assume_committed: bool) -> Result<(), LoadError> {
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        let error = match shared.client.commit(table, label) {
            Ok(()) => return wait_until_visible(shared, table, label),
            Err(error) => error,
        };
        // The words differ by version; the label's state does not.
        let state = shared.client.state(table, label);
        match state {
            Ok(LabelState::Committed | LabelState::Visible) => return wait_until_visible(shared, table, label),
            Ok(LabelState::Aborted(reason)) => return Err(lost(table, label, &format!("was aborted ({reason})"))),
            Ok(LabelState::Unknown) if assume_committed => {
                tracing::warn!("starrocks: {label} of {table} is not known any more and counts as committed");
                return Ok(());
            }
            Ok(LabelState::Unknown) => return Err(lost(table, label, "is not known any more")),
            Ok(LabelState::Open) => return Err(lost(table, label, "is open but not prepared")),
            Ok(LabelState::Prepared) | Err(_) => {}
        }
        if attempt == ATTEMPTS || (state.is_err() && !error.may_pass()) {
            return Err(error);
        }
        tracing::warn!("starrocks: committing {label} of {table} again after: {}", error.message);
        sleep(pause);
        pause *= 2;
        attempt += 1;
    }
}

fn lost(table: &TableId, label: &str, what: &str) -> LoadError {
    let mut error = LoadError::new(
        Cause::Refused,
        format!("the transaction {label} of {table} {what}: rows of the checkpoint may be missing"),
    );
    error.hint = Some(
        "if the table is complete (labels are kept for three days), start once with `rowferry.assume-committed: true`; \
         else snapshot the table again",
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
                tracing::warn!("starrocks: {label} of {table} is committed, but its rows are still not visible");
                return Ok(());
            }
            // Once committed, a transaction can't be undone: whatever the state can't tell does not matter.
            _ => return Ok(()),
        }
    }
}
