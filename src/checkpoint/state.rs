//! The shape of the saved state.

use crate::mysql::reader::Bystanders;
use crate::mysql::snapshot::KeyBound;
use rowferry_model::{BinlogPosition, CheckpointId, Offset, TableId, TableSchema};
use rowferry_sinks::Committable;
use rowferry_sql::TableDef;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How far a table's snapshot has come: the ranges of its key that are in the sink, in order, disjoint, merged where
/// they touch. As chunks are read from the lowest key upwards this is one range and at most as many more as chunks are
/// read at once, whatever the table's size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotProgress {
    /// Half-open ranges `[low, high)`; `None` is the end of all keys on that side.
    pub done: Vec<(Option<KeyBound>, Option<KeyBound>)>,
    /// Rows written so far.
    pub rows: u64,
    /// Rows that the table was thought to have when its snapshot began.
    pub estimated_rows: u64,
}

/// What a table is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Its rows are still being read.
    Snapshot(SnapshotProgress),
    /// Its snapshot was read as a whole and shows this place of the log: changes up to it are in it.
    StreamingFrom(BinlogPosition),
    /// Its snapshot is over, or it had none: changes only.
    Streaming,
    /// It was dropped or renamed; if a table of the name comes again, it is captured again.
    Gone,
    /// As `Gone`, and it went while its rows were being read: a table that takes the name with rows is read on.
    GoneInSnapshot(SnapshotProgress),
}

/// What is remembered of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableState {
    /// Its definition at the checkpoint's offset.
    pub def: Arc<TableDef>,
    /// What it is in.
    pub phase: Phase,
    /// The definition was read at this place of the log: rows and DDL before it are in it or in the snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<BinlogPosition>,
}

/// One consistent cut through the pipeline.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Its number; grows by one each.
    pub id: CheckpointId,
    /// Milliseconds since the epoch when it was saved.
    pub saved_at: i64,
    /// Where reading resumes; always a transaction's boundary.
    pub offset: Offset,
    /// The UUID or id of the server that was read: file positions mean nothing elsewhere.
    pub server: String,
    /// What the sink needs to make its rows visible.
    pub committable: Option<Committable>,
    /// Every table of the pipeline.
    pub tables: Vec<(TableId, TableState)>,
    /// What is known of tables that are not captured: a captured table may be made from them.
    pub bystanders: Arc<Bystanders>,
    /// The targets that were created, as they are by now.
    pub targets: Arc<SavedTargets>,
}

/// The targets that were created, with their schema.
pub type SavedTargets = Vec<(TableId, Arc<TableSchema>)>;

/// How far the sink has come with the changes of one DDL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DdlProgress {
    /// The server whose log the DDL stands in.
    pub server: String,
    /// Where it stands there.
    pub position: BinlogPosition,
    /// What became of each change so far, in order: `true`, it was made; `false`, the sink could not, and goes on without.
    pub made: Vec<bool>,
}
