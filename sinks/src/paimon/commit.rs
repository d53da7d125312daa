//! Making prepared files visible: one snapshot a table and checkpoint.

use super::committable::Prepared;
use super::lake;
use crate::SinkError;
use paimon::table::Table;
use rowferry_model::CheckpointId;

/// Whether a commit may have been made already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// This process prepared the checkpoint and has not tried to commit it.
    First,
    /// It may have been committed, wholly or for some of its tables.
    Again,
}

/// Commits the files of one table under the checkpoint's number.
///
/// Where it may have been committed already, Paimon skips a number that this user has committed, and compares the files
/// with all that the table has. The comparison reads the whole list of files, so it is kept for those cases: a first
/// attempt costs the same however many files there are.
///
/// # Errors
/// The table refuses the commit, or can't be reached.
pub(super) async fn commit(
    checkpoint: CheckpointId,
    user: &str,
    prepared: Prepared,
    table: &Table,
    attempt: Attempt,
) -> Result<(), SinkError> {
    let what = || format!("paimon sink: checkpoint {checkpoint} of table {} can't be committed", prepared.table);
    let identifier = i64::try_from(checkpoint).map_err(|e| SinkError::permanent(what()).caused_by(e))?;
    let builder = table.new_write_builder().with_commit_user(user).map_err(|e| lake::failed(e, what()))?;
    let commit = builder.new_commit();
    let committed = match attempt {
        Attempt::First => commit.commit_with_identifier(prepared.messages, identifier).await,
        Attempt::Again => commit.filter_and_commit(vec![(identifier, prepared.messages)]).await.map(|_| ()),
    };
    committed.map_err(|e| match e {
        // The library's word for a commit of which it does not know whether it was made: asking again tells.
        paimon::Error::UnexpectedError { .. } => SinkError::transient(what()).caused_by(e),
        e => lake::failed(e, what()),
    })
}

/// Whether a table is the one that files were written for: not dropped and created again since.
///
/// # Errors
/// The table's schemas can't be read.
pub(super) async fn is_same_table(prepared: &Prepared, table: &Table) -> Result<bool, SinkError> {
    let what = || format!("paimon sink: the schemas of table {} can't be read", prepared.table);
    let schemas = table.schema_manager();
    let path = schemas.schema_path(prepared.schema_id);
    if !table.file_io().exists(&path).await.map_err(|e| lake::failed(e, what()))? {
        return Ok(false);
    }
    let schema = schemas.schema(prepared.schema_id).await.map_err(|e| lake::failed(e, what()))?;
    Ok(schema.time_millis() == prepared.schema_millis)
}
