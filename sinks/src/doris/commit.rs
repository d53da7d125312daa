//! Commits of prepared transactions.

use super::committable::PreparedTransaction;
use super::load_client::{Committed, LabelState, LoadClient};
use crate::olap::commit::{Commits, Outcome};
use crate::olap::load_error::LoadError;
use rowferry_model::TableId;

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
