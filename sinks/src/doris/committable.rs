//! What a checkpoint's commit needs to know.

use serde::{Deserialize, Serialize};

/// A transaction that waits for its commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PreparedTransaction {
    /// Its number.
    pub(super) id: u64,
    /// Its label.
    pub(super) label: String,
    /// The table's database.
    pub(super) database: String,
    /// The table.
    pub(super) table: String,
}
