//! What a checkpoint's commit needs to know, as the pipeline saves it.

use crate::olap::committable;
use crate::{Committable, SinkError};
use serde::{Deserialize, Serialize};

/// A transaction that is prepared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PreparedTransaction {
    /// Its label.
    pub(super) label: String,
    /// The table's database.
    pub(super) database: String,
    /// The table.
    pub(super) table: String,
}

/// As the pipeline saves it.
///
/// # Errors
/// Never in practice.
pub(super) fn encode(transactions: Vec<PreparedTransaction>) -> Result<Committable, SinkError> {
    committable::encode("starrocks", transactions)
}

/// The transactions in the order in which they must be committed.
///
/// # Errors
/// The bytes are not of this sink or of a newer version.
pub(super) fn decode(saved: &Committable) -> Result<Vec<PreparedTransaction>, SinkError> {
    committable::decode("starrocks", saved)
}
