//! Which schema changes reach the sink: `include.schema.changes` and `exclude.schema.changes`.

use super::diagnostic::Diagnostics;
use super::suggest::did_you_mean;
use super::yaml::{Entry, Map, Value};
use rowferry_model::SchemaChangeKind as Kind;
use std::collections::BTreeSet;

const ALL: [Kind; 8] = [
    Kind::CreateTable,
    Kind::AddColumns,
    Kind::AlterColumns,
    Kind::RenameColumns,
    Kind::DropColumns,
    Kind::DropTable,
    Kind::TruncateTable,
    Kind::AlterTableComment,
];

/// The words that may stand in the lists: single changes and families of them.
const FAMILIES: [&str; 8] = ["all", "add", "alter", "create", "drop", "rename", "table", "column"];

fn family(word: &str) -> Option<Vec<Kind>> {
    Some(match word {
        "all" => ALL.to_vec(),
        "add" => vec![Kind::AddColumns],
        "alter" => vec![Kind::AlterColumns],
        "create" => vec![Kind::CreateTable],
        "drop" => vec![Kind::DropColumns, Kind::DropTable],
        "rename" => vec![Kind::RenameColumns],
        "table" => vec![Kind::CreateTable, Kind::DropTable, Kind::TruncateTable, Kind::AlterTableComment],
        "column" => vec![Kind::AddColumns, Kind::AlterColumns, Kind::DropColumns, Kind::RenameColumns],
        tag => vec![*ALL.iter().find(|kind| kind.tag() == tag)?],
    })
}

/// Resolves both lists. `lenient`: the file's own `schema.change.behavior` is LENIENT, given or by default.
pub(crate) fn resolve(map: &Map, lenient: bool, diagnostics: &mut Diagnostics) -> BTreeSet<Kind> {
    let include = map.get("include.schema.changes").map(|entry| words(entry, diagnostics));
    let exclude = map.get("exclude.schema.changes").map(|entry| words(entry, diagnostics));
    let include: BTreeSet<Kind> = include.into_iter().flatten().collect();
    let exclude: BTreeSet<Kind> = match exclude {
        Some(kinds) => kinds.into_iter().collect(),
        // What is asked for by name is not left out.
        None if lenient => {
            [Kind::DropTable, Kind::TruncateTable].into_iter().filter(|k| !include.contains(k)).collect()
        }
        None => BTreeSet::new(),
    };
    let mut kinds: BTreeSet<Kind> = if include.is_empty() { ALL.into_iter().collect() } else { include };
    kinds.insert(Kind::CreateTable);
    kinds.retain(|kind| !exclude.contains(kind));
    kinds
}

fn words(entry: &Entry, diagnostics: &mut Diagnostics) -> Vec<Kind> {
    let key = format!("sink.{}", entry.key);
    let items = match &entry.value.value {
        Value::List(items) => items,
        // Flink CDC takes any other value for an empty list; for nothing at all that is what is meant.
        Value::Null | Value::Unresolved => return Vec::new(),
        Value::Scalar(scalar) => {
            let hint = format!("write `[{}]`", scalar.shown());
            diagnostics.invalid(entry.value.position, key, "must be a list, not a single value").hint(hint);
            return Vec::new();
        }
        Value::Map(_) => {
            diagnostics.invalid(entry.value.position, key, "must be a list, not a map").maybe(None);
            return Vec::new();
        }
    };
    let mut kinds = Vec::new();
    for item in items {
        let Value::Scalar(scalar) = &item.value else {
            if !matches!(item.value, Value::Unresolved) {
                let message = format!("must hold names of schema changes, not {}", item.describe());
                diagnostics.invalid(item.position, key.as_str(), message).maybe(None);
            }
            continue;
        };
        match family(&scalar.text) {
            Some(found) => kinds.extend(found),
            None => {
                let names = || ALL.iter().map(|kind| kind.tag()).chain(FAMILIES);
                let starts = names().find(|name| name.starts_with(&format!("{}.", scalar.text)));
                let hint = starts
                    .map(|name| format!("did you mean `{name}`?"))
                    .or_else(|| did_you_mean(&scalar.text, names()))
                    .unwrap_or_else(|| format!("there are {}", names().collect::<Vec<_>>().join(", ")));
                let message = format!("`{}` is not a schema change", scalar.shown());
                diagnostics.invalid(item.position, key.as_str(), message).hint(hint);
            }
        }
    }
    kinds
}
