//! Schema changes as JSON objects, for `rowferry.format: json`.

use rowferry_model::{Column, ColumnPosition, SchemaChange, TableSchema};
use serde_json::{Map, Value, json};

/// Appends a schema change as a JSON object.
pub(super) fn append_schema_change(out: &mut Vec<u8>, change: &SchemaChange) {
    let mut object = Map::new();
    object.insert("event".into(), change.kind().tag().into());
    object.insert("database".into(), change.table().database().into());
    object.insert("table".into(), change.table().table().into());
    match change {
        SchemaChange::CreateTable { schema, .. } => {
            object.insert("schema".into(), schema_json(schema));
        }
        SchemaChange::AddColumns { columns, .. } => {
            let columns = columns.iter().map(|added| {
                let (position, neighbour) = match &added.position {
                    ColumnPosition::Last => ("last", None),
                    ColumnPosition::First => ("first", None),
                    ColumnPosition::After(c) => ("after", Some(c)),
                    ColumnPosition::Before(c) => ("before", Some(c)),
                };
                json!({"column": column_json(&added.column), "position": position, "neighbour": neighbour})
            });
            object.insert("added".into(), columns.collect());
        }
        SchemaChange::AlterColumns { columns, .. } => {
            let columns = columns.iter().map(|c| {
                let old =
                    c.old.map(|(data_type, nullable)| json!({"type": data_type.to_string(), "nullable": nullable}));
                json!({
                    "name": c.name,
                    "type": c.data_type.to_string(),
                    "nullable": c.nullable,
                    "old": old,
                    "comment": c.comment,
                })
            });
            object.insert("altered".into(), columns.collect());
        }
        SchemaChange::RenameColumns { names, .. } => {
            object.insert("renamed".into(), names.iter().map(|(old, new)| json!({"from": old, "to": new})).collect());
        }
        SchemaChange::DropColumns { names, .. } => {
            object.insert("dropped".into(), names.as_slice().into());
        }
        SchemaChange::AlterTableComment { comment, .. } => {
            object.insert("comment".into(), comment.as_deref().into());
        }
        SchemaChange::DropTable { .. } | SchemaChange::TruncateTable { .. } => {}
    }
    // Writing JSON values to a Vec can't fail.
    let _ = serde_json::to_writer(out, &object);
}

fn schema_json(schema: &TableSchema) -> Value {
    let options: Map<String, Value> = schema.options.iter().map(|(k, v)| (k.clone(), v.as_str().into())).collect();
    json!({
        "columns": schema.columns.iter().map(column_json).collect::<Vec<_>>(),
        "primaryKey": schema.primary_key,
        "partitionKey": schema.partition_key,
        "comment": schema.comment,
        "options": options,
    })
}

fn column_json(column: &Column) -> Value {
    json!({
        "name": column.name,
        "type": column.data_type.to_string(),
        "nullable": column.nullable,
        "comment": column.comment,
        "default": column.default,
    })
}
