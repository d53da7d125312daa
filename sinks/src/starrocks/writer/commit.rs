//! Commits of prepared transactions.

use super::super::committable::PreparedTransaction;
use super::super::config::Config;
use super::super::load_client::{LabelState, LoadClient};
use super::super::shared::Shared;
use crate::SinkError;
use crate::olap::commit::{self, Commits, Outcome};
use crate::olap::load_error::LoadError;
use rowferry_model::TableId;
use std::sync::Arc;

/// Commits transactions.
///
/// # Errors
/// Rows of a transaction may be lost, or no frontend can be reached.
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
/// A frontend refuses, or none can be reached.
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
        let Err(error) = self.commit(table, &transaction.label) else { return Ok(Outcome::Committed) };
        // The words differ by version; the label's state does not.
        Ok(match self.state(table, &transaction.label) {
            Ok(LabelState::Committed | LabelState::Visible) => Outcome::Committed,
            Ok(LabelState::Aborted(reason)) => Outcome::Lost(format!("was aborted ({reason})")),
            Ok(LabelState::Open) => Outcome::Lost("is open but not prepared".to_owned()),
            Ok(LabelState::Unknown) => Outcome::Forgotten(String::new()),
            Ok(LabelState::Prepared) => Outcome::Waiting(error),
            Err(_) => return Err(error),
        })
    }

    fn is_hidden(&self, table: &TableId, label: &str) -> Result<bool, LoadError> {
        Ok(self.state(table, label)? == LabelState::Committed)
    }
}
