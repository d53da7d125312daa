//! Commits of prepared transactions.

use super::attempts::{Attempts, Transactions};
use super::each::each;
use super::load_error::{Cause, LoadError};
use crate::SinkError;
use rowferry_model::TableId;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// How long committed rows may take to be seen before the pipeline goes on without waiting.
const VISIBLE_WAIT: Duration = Duration::from_secs(60);

/// What has become of a transaction that was to be committed.
pub(crate) enum Outcome {
    /// It is committed, now or before.
    Committed,
    /// It can't be committed any more: how it ended.
    Lost(String),
    /// The server knows nothing of it: in what words.
    Forgotten(String),
    /// It still waits for its commit.
    #[cfg_attr(not(feature = "starrocks"), expect(dead_code, reason = "only StarRocks has it"))]
    Waiting(LoadError),
}

/// What must be asked of a client to commit transactions.
pub(crate) trait Commits: Transactions + Send + Sync + 'static {
    /// A transaction that waits for its commit.
    type Prepared: Send + Sync + 'static;

    /// Its table.
    fn table(transaction: &Self::Prepared) -> TableId;

    /// Its label.
    fn label(transaction: &Self::Prepared) -> &str;

    /// Commits it once. A second time is no error.
    ///
    /// # Errors
    /// The server refuses, or can't be reached.
    fn commit_once(&self, table: &TableId, transaction: &Self::Prepared) -> Result<Outcome, LoadError>;

    /// Whether it is committed and its rows are not seen yet.
    ///
    /// # Errors
    /// The server refuses to tell, or can't be reached.
    fn is_hidden(&self, table: &TableId, label: &str) -> Result<bool, LoadError>;
}

/// Commits transactions; those of one table one after another, so that later rows win. `assume_committed`: one that
/// the server no longer knows counts as committed.
///
/// # Errors
/// Rows of a transaction may be lost, or no server can be reached.
pub(crate) async fn commit_all<C: Commits>(
    shared: &Arc<Attempts<C>>,
    threads: usize,
    assume_committed: bool,
    transactions: Vec<C::Prepared>,
) -> Result<(), SinkError> {
    let mut tables: Vec<(TableId, Vec<C::Prepared>)> = Vec::new();
    for transaction in transactions {
        let table = C::table(&transaction);
        match tables.iter_mut().find(|(t, _)| *t == table) {
            Some((_, list)) => list.push(transaction),
            None => tables.push((table, vec![transaction])),
        }
    }
    each(C::SINK, threads, tables, |(table, transactions)| {
        let shared = Arc::clone(shared);
        move || {
            let client = &shared.client;
            transactions.iter().try_for_each(|t| commit_one(client, &table, t, assume_committed))?;
            // Versions are seen in the order of their commits: the last one's is that of all.
            if let Some(last) = transactions.last() {
                wait_until_visible(client, &table, C::label(last));
            }
            Ok(())
        }
    })
    .await
}

/// Rolls back what earlier attempts have left open on tables.
///
/// # Errors
/// A server refuses, or can't be reached.
pub(crate) async fn discard_all<C: Commits>(
    shared: &Arc<Attempts<C>>,
    threads: usize,
    mut tables: Vec<TableId>,
) -> Result<(), SinkError> {
    tables.sort();
    tables.dedup();
    each(C::SINK, threads, tables, |table| {
        let shared = Arc::clone(shared);
        move || shared.discard_stale(&table)
    })
    .await
}

fn commit_one<C: Commits>(
    client: &C,
    table: &TableId,
    transaction: &C::Prepared,
    assume_committed: bool,
) -> Result<(), LoadError> {
    let label = C::label(transaction);
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        let error = match client.commit_once(table, transaction) {
            Ok(Outcome::Committed) => return Ok(()),
            Ok(Outcome::Lost(how)) => return Err(lost(table, label, &how)),
            Ok(Outcome::Forgotten(words)) if assume_committed => {
                tracing::warn!("{}: {label} of {table} is not known any more{words} and counts as committed", C::SINK);
                return Ok(());
            }
            Ok(Outcome::Forgotten(words)) => {
                return Err(lost(table, label, &format!("is not known any more{words}")));
            }
            Ok(Outcome::Waiting(error)) => error,
            Err(error) if !error.may_pass() => return Err(error),
            Err(error) => error,
        };
        if attempt == ATTEMPTS {
            return Err(error);
        }
        tracing::warn!("{}: committing {label} of {table} again after: {}", C::SINK, error.message);
        sleep(pause);
        pause *= 2;
        attempt += 1;
    }
}

fn lost(table: &TableId, label: &str, what: &str) -> LoadError {
    let message = format!("the transaction {label} of {table} {what}: rows of the checkpoint may be missing");
    let mut error = LoadError::new(Cause::Refused, message);
    error.hint = Some(
        "if the table is complete (transactions are kept for three days), start once with `rowferry.assume-committed: \
         true`; else snapshot the table again",
    );
    error
}

/// Once committed, a transaction can't be undone: whatever the state can't tell does not matter.
fn wait_until_visible<C: Commits>(client: &C, table: &TableId, label: &str) {
    let deadline = Instant::now() + VISIBLE_WAIT;
    let mut pause = Duration::from_millis(5);
    while client.is_hidden(table, label).is_ok_and(|hidden| hidden) {
        if Instant::now() >= deadline {
            tracing::warn!("{}: {label} of {table} is committed, but its rows are still not visible", C::SINK);
            return;
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}
