//! Flink CDC's text of events.

use rowferry_model::{AddedColumn, AlteredColumn, Column, ColumnPosition, DataType, SchemaChange, TableSchema};
use std::io::Write;

/// Appends a schema change as Flink CDC prints it.
pub(super) fn append_schema_change(out: &mut Vec<u8>, change: &SchemaChange) {
    let (name, table) = (event_name(change), change.table());
    let _ = write!(out, "{name}{{tableId={table}");
    match change {
        SchemaChange::CreateTable { schema, .. } => {
            out.extend_from_slice(b", schema=");
            append_schema(out, schema);
        }
        SchemaChange::AddColumns { columns, .. } => {
            out.extend_from_slice(b", addedColumns=[");
            separated(out, b", ", columns, append_added);
            out.push(b']');
        }
        SchemaChange::AlterColumns { columns, .. } => append_altered(out, columns),
        SchemaChange::RenameColumns { names, .. } => {
            out.extend_from_slice(b", nameMapping={");
            separated(out, b", ", names, |out, (old, new)| {
                let _ = write!(out, "{old}={new}");
            });
            out.push(b'}');
        }
        SchemaChange::DropColumns { names, .. } => {
            out.extend_from_slice(b", droppedColumnNames=[");
            separated(out, b", ", names, |out, name| out.extend_from_slice(name.as_bytes()));
            out.push(b']');
        }
        SchemaChange::AlterTableComment { comment, .. } => {
            let _ = write!(out, ", comment='{}'", comment.as_deref().unwrap_or_default());
        }
        SchemaChange::DropTable { .. } | SchemaChange::TruncateTable { .. } => {}
    }
    out.push(b'}');
}

fn event_name(change: &SchemaChange) -> &'static str {
    match change {
        SchemaChange::CreateTable { .. } => "CreateTableEvent",
        SchemaChange::AddColumns { .. } => "AddColumnEvent",
        SchemaChange::AlterColumns { .. } => "AlterColumnTypeEvent",
        SchemaChange::RenameColumns { .. } => "RenameColumnEvent",
        SchemaChange::DropColumns { .. } => "DropColumnEvent",
        SchemaChange::DropTable { .. } => "DropTableEvent",
        SchemaChange::TruncateTable { .. } => "TruncateTableEvent",
        SchemaChange::AlterTableComment { .. } => "AlterTableCommentEvent",
    }
}

fn append_schema(out: &mut Vec<u8>, schema: &TableSchema) {
    out.extend_from_slice(b"columns={");
    separated(out, b",", &schema.columns, append_column);
    let _ = write!(out, "}}, primaryKeys={}", schema.primary_key.join(";"));
    if !schema.partition_key.is_empty() {
        let _ = write!(out, ", partitionKeys={}", schema.partition_key.join(";"));
    }
    if let Some(comment) = schema.comment.as_deref().filter(|c| !c.trim().is_empty()) {
        let _ = write!(out, ", comment={comment}");
    }
    out.extend_from_slice(b", options=(");
    if !schema.options.is_empty() {
        out.push(b'{');
        separated(out, b", ", &schema.options, |out, (key, value)| {
            let _ = write!(out, "{key}={value}");
        });
        out.push(b'}');
    }
    out.push(b')');
}

/// A column's name is quoted and its comment escaped; the default is not, which Flink CDC leaves as it is, too.
fn append_column(out: &mut Vec<u8>, column: &Column) {
    let _ = write!(out, "`{}` ", column.name.replace('`', "``"));
    append_type(out, &column.data_type, column.nullable);
    if let Some(comment) = &column.comment {
        let _ = write!(out, " '{}'", comment.replace('\'', "''"));
    }
    if let Some(default) = &column.default {
        let _ = write!(out, " '{default}'");
    }
}

fn append_type(out: &mut Vec<u8>, data_type: &DataType, nullable: bool) {
    let _ = write!(out, "{data_type}");
    if !nullable {
        out.extend_from_slice(b" NOT NULL");
    }
}

fn append_added(out: &mut Vec<u8>, added: &AddedColumn) {
    out.extend_from_slice(b"ColumnWithPosition{column=");
    append_column(out, &added.column);
    let (position, neighbour) = match &added.position {
        ColumnPosition::Last => ("LAST", "null"),
        ColumnPosition::First => ("FIRST", "null"),
        ColumnPosition::After(c) => ("AFTER", c.as_str()),
        ColumnPosition::Before(c) => ("BEFORE", c.as_str()),
    };
    let _ = write!(out, ", position={position}, existedColumnName={neighbour}}}");
}

fn append_altered(out: &mut Vec<u8>, columns: &[AlteredColumn]) {
    out.extend_from_slice(b", typeMapping={");
    separated(out, b", ", columns, |out, c| {
        let _ = write!(out, "{}=", c.name);
        append_type(out, &c.data_type, c.nullable);
    });
    if columns.iter().any(|c| c.old.is_some()) {
        out.extend_from_slice(b"}, oldTypeMapping={");
        let known = columns.iter().filter_map(|c| c.old.map(|old| (&c.name, old)));
        separated(out, b", ", known, |out, (name, (data_type, nullable))| {
            let _ = write!(out, "{name}=");
            append_type(out, &data_type, nullable);
        });
    }
    out.extend_from_slice(b"}, comments={");
    let commented = columns.iter().filter_map(|c| c.comment.as_ref().map(|comment| (&c.name, comment)));
    separated(out, b", ", commented, |out, (name, comment)| {
        let _ = write!(out, "{name}={comment}");
    });
    out.push(b'}');
}

fn separated<T>(
    out: &mut Vec<u8>,
    separator: &[u8],
    items: impl IntoIterator<Item = T>,
    append: impl Fn(&mut Vec<u8>, T),
) {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(separator);
        }
        append(out, item);
    }
}
