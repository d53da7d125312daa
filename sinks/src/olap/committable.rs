//! What a checkpoint's commit needs to know, as the pipeline saves it.

use crate::{Committable, SinkError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Saved<T> {
    version: u32,
    transactions: Vec<T>,
}

/// Transactions as the pipeline saves them. `sink` is for messages.
///
/// # Errors
/// Never in practice.
pub(crate) fn encode<T: Serialize>(sink: &str, transactions: Vec<T>) -> Result<Committable, SinkError> {
    serde_json::to_vec(&Saved { version: VERSION, transactions }).map(Committable).map_err(|e| {
        SinkError::permanent(format!("{sink} sink: the checkpoint's transactions can't be written")).caused_by(e)
    })
}

/// The transactions in the order in which they must be committed.
///
/// # Errors
/// The bytes are not of this sink or of a newer version.
pub(crate) fn decode<T: DeserializeOwned>(sink: &str, committable: &Committable) -> Result<Vec<T>, SinkError> {
    let saved: Saved<T> = serde_json::from_slice(&committable.0).map_err(|e| {
        SinkError::permanent(format!("{sink} sink: the state's transactions can't be read")).caused_by(e)
    })?;
    if saved.version != VERSION {
        return Err(SinkError::permanent(format!(
            "{sink} sink: the state's transactions are of version {}, this build knows {VERSION}",
            saved.version
        ))
        .hint("run the version of rowferry that wrote the state"));
    }
    Ok(saved.transactions)
}
