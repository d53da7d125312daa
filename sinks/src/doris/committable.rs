//! What a checkpoint's commit needs to know, as the pipeline saves it.

use crate::{Committable, SinkError};
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

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

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    transactions: Vec<PreparedTransaction>,
}

/// As the pipeline saves it.
///
/// # Errors
/// Never in practice.
pub(super) fn encode(transactions: Vec<PreparedTransaction>) -> Result<Committable, SinkError> {
    serde_json::to_vec(&Saved { version: VERSION, transactions })
        .map(Committable)
        .map_err(|e| SinkError::permanent("doris sink: the checkpoint's transactions can't be written").caused_by(e))
}

/// The transactions in the order in which they must be committed.
///
/// # Errors
/// The bytes are not of this sink or of a newer version.
pub(super) fn decode(committable: &Committable) -> Result<Vec<PreparedTransaction>, SinkError> {
    let saved: Saved = serde_json::from_slice(&committable.0)
        .map_err(|e| SinkError::permanent("doris sink: the state's transactions can't be read").caused_by(e))?;
    if saved.version != VERSION {
        return Err(SinkError::permanent(format!(
            "doris sink: the state's transactions are of version {}, this build knows {VERSION}",
            saved.version
        ))
        .hint("run the version of rowferry that wrote the state"));
    }
    Ok(saved.transactions)
}
