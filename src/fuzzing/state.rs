//! What was saved, damaged.

use crate::checkpoint::{Phase, SavedTargets, TableState};
use crate::mysql::binlog::{JsonStyle, TextPlan};
use crate::mysql::reader::{Bystanders, CapturedTables, HistoryOptions, SchemaHistory, Tracked};
use crate::mysql::snapshot::{ChunkKey, TableJoin};
use rowferry_model::TableId;
use rowferry_sql::MappingOptions;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The JSON texts of the state file: read, written and read again as the same, and used as a start uses them.
pub fn saved_state(data: &[u8]) {
    if let Some(state) = read::<TableState>(data) {
        table(state);
    }
    if let Some(bystanders) = read::<Bystanders>(data) {
        let options = HistoryOptions { mapping: MappingOptions::default(), new_tables: None };
        let _ = SchemaHistory::new(options, CapturedTables::default(), [], bystanders);
    }
    for (_, schema) in read::<SavedTargets>(data).unwrap_or_default() {
        let _ = (schema.arrow(), schema.key_indices());
    }
}

fn read<T: Serialize + DeserializeOwned + PartialEq>(data: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(data).ok()?;
    let again = serde_json::to_vec(&value).ok().and_then(|text| serde_json::from_slice::<T>(&text).ok());
    assert!(again.as_ref() == Some(&value), "what was saved reads back as something else");
    Some(value)
}

fn table(state: TableState) {
    let id = TableId::new("d", "t");
    let Ok(tracked) = Tracked::new(id.clone(), state.def, &MappingOptions::default()) else { return };
    let _ = TextPlan::new("t", &tracked.def, &tracked.schema, JsonStyle::Server);
    let (Phase::Snapshot(progress), Some(key)) = (state.phase, ChunkKey::of(&tracked.def, None)) else { return };
    for (low, high) in &progress.done {
        let _ = key.range_condition(low.as_ref(), high.as_ref());
    }
    if let Ok(join) = TableJoin::new(id, tracked.schema, key, &progress) {
        assert_eq!(join.progress().done, progress.done);
    }
}
