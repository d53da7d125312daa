//! What a checkpoint's commit needs to know.

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
