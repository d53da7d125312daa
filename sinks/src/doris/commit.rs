//! Commits of prepared transactions.

use super::committable::PreparedTransaction;
use super::config::Config;
use super::load_client::{Committed, LabelState, LoadClient};
use super::shared::Shared;
use crate::SinkError;
use crate::olap::commit::{self, Commits, Outcome};
use crate::olap::load_error::LoadError;
use rowferry_model::TableId;
use std::sync::Arc;

/// Commits transactions.
///
/// # Errors
/// Rows of a transaction may be lost, or no backend can be reached.
pub(super) async fn commit_all(
    config: &Config,
    shared: &Arc<Shared>,
    transactions: Vec<PreparedTransaction>,
) -> Result<(), SinkError> {
    commit::commit_all(shared, config.threads, config.assume_committed, transactions).await
}

/// Rolls back what earlier attempts have left open on tables.
///
/// # Errors
/// A server refuses, or none can be reached.
pub(super) async fn discard_all(config: &Config, shared: &Arc<Shared>, tables: Vec<TableId>) -> Result<(), SinkError> {
    commit::discard_all(shared, config.threads, tables).await
}

impl Commits for LoadClient {
    type Prepared = PreparedTransaction;

    fn table(transaction: &PreparedTransaction) -> TableId {
        TableId::new(transaction.database.as_str(), transaction.table.as_str())
    }

    fn label(transaction: &PreparedTransaction) -> &str {
        &transaction.label
    }

    fn commit_once(&self, table: &TableId, transaction: &PreparedTransaction) -> Result<Outcome, LoadError> {
        Ok(match self.commit(table, transaction.id)? {
            Committed::Yes => Outcome::Committed,
            Committed::Aborted(said) => Outcome::Lost(format!("was aborted ({said})")),
            Committed::Unknown(said) => Outcome::Forgotten(format!(" ({said})")),
        })
    }

    fn is_hidden(&self, table: &TableId, label: &str) -> Result<bool, LoadError> {
        Ok(self.state(table, label)? == LabelState::Committed)
    }
}
