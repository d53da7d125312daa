//! What a commit needs, as bytes that survive a crash.

use crate::{Committable, SinkError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use paimon::CommitMessage;
use paimon::table::COMMIT_MESSAGE_SERIALIZER_VERSION;
use rowferry_model::TableId;
use serde::{Deserialize, Serialize};

/// The version of this layout.
const VERSION: u32 = 1;

/// The files of a checkpoint that wait for their commit.
#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    version: u32,
    /// Of Paimon's own layout of a message.
    message_version: i32,
    /// The commit user at that time: a repeated commit is recognised by user and identifier, so the user must be the
    /// same even if the options have changed since.
    commit_user: String,
    tables: Vec<SavedTable>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedTable {
    table: TableId,
    /// The schema that the rows were written with, and when it was made: a table that was dropped and created again
    /// has another one.
    schema_id: i64,
    schema_millis: i64,
    /// Paimon's messages, each as base64.
    messages: Vec<String>,
}

/// The files of one table.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The table.
    pub(super) table: TableId,
    /// The id of the schema that the rows were written with.
    pub(super) schema_id: i64,
    /// When that schema was made, in milliseconds since the epoch.
    pub(super) schema_millis: i64,
    /// What Paimon's commit needs.
    pub(super) messages: Vec<CommitMessage>,
}

/// Puts the files of a checkpoint into bytes.
///
/// # Errors
/// A message can't be written.
pub(super) fn encode(commit_user: &str, tables: &[Prepared]) -> Result<Committable, SinkError> {
    let failed = |e: Box<dyn std::error::Error + Send + Sync>| {
        SinkError::permanent("paimon sink: a commit can't be put into bytes").caused_by(e)
    };
    let mut saved = Saved {
        version: VERSION,
        message_version: COMMIT_MESSAGE_SERIALIZER_VERSION,
        commit_user: commit_user.to_owned(),
        tables: Vec::with_capacity(tables.len()),
    };
    for prepared in tables {
        let mut messages = Vec::with_capacity(prepared.messages.len());
        for message in &prepared.messages {
            messages.push(STANDARD.encode(message.serialize().map_err(|e| failed(e.into()))?));
        }
        saved.tables.push(SavedTable {
            table: prepared.table.clone(),
            schema_id: prepared.schema_id,
            schema_millis: prepared.schema_millis,
            messages,
        });
    }
    serde_json::to_vec(&saved).map(Committable).map_err(|e| failed(e.into()))
}

/// The commit user and the files that are in the bytes.
///
/// # Errors
/// The bytes are not ours, or of another version.
pub(super) fn decode(committable: &Committable) -> Result<(String, Vec<Prepared>), SinkError> {
    let broken = |e: Box<dyn std::error::Error + Send + Sync>| {
        SinkError::permanent("paimon sink: a saved commit can't be read")
            .hint("it was saved by another version of rowferry, or the state is damaged")
            .caused_by(e)
    };
    let saved: Saved = serde_json::from_slice(&committable.0).map_err(|e| broken(e.into()))?;
    if saved.version != VERSION {
        return Err(broken(format!("version {} where {VERSION} was expected", saved.version).into()));
    }
    let mut tables = Vec::with_capacity(saved.tables.len());
    for table in saved.tables {
        let mut messages = Vec::with_capacity(table.messages.len());
        for text in &table.messages {
            let bytes = STANDARD.decode(text).map_err(|e| broken(e.into()))?;
            let message = CommitMessage::deserialize(saved.message_version, &bytes);
            messages.push(message.map_err(|e| broken(e.into()))?);
        }
        tables.push(Prepared {
            table: table.table,
            schema_id: table.schema_id,
            schema_millis: table.schema_millis,
            messages,
        });
    }
    Ok((saved.commit_user, tables))
}
