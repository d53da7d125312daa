//! Commits of prepared transactions.

use super::committable::PreparedTransaction;
use super::load_client::{LabelState, LoadClient};
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
