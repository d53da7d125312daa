//! The one ordered stream.

use crate::{ChangeBatch, SchemaChange};

/// The number of a checkpoint of one pipeline; grows by one each, never reused for other rows.
pub type CheckpointId = u64;

/// What flows from the source to the sink, in order.
///
/// A [`SchemaChange::CreateTable`] comes before the first rows of a table; any schema change comes before the first
/// row that needs it.
#[derive(Clone, Debug)]
pub enum Event {
    /// Rows of one table and one schema version.
    Rows(ChangeBatch),
    /// A table changes its shape.
    Schema(SchemaChange),
    /// Everything before it belongs to this checkpoint.
    Barrier(CheckpointId),
}
