//! Schemas, batches and texts for the tests.

use crate::config::{SchemaChangeBehavior, Zone};
use crate::pipeline::evolve::{Options, Planned, Targets};
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, DurationMicrosecondBuilder, Float32Builder,
    Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use rowferry_model::{
    AddedColumn, AlteredColumn, ChangeBatch, Changes, Column, ColumnPosition, DataType, RowOp, SchemaChange,
    SchemaChangeKind, TableId, TableSchema,
};
use rowferry_sinks::text::column_text;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) const ALL: [SchemaChangeKind; 8] = [
    SchemaChangeKind::CreateTable,
    SchemaChangeKind::AddColumns,
    SchemaChangeKind::AlterColumns,
    SchemaChangeKind::RenameColumns,
    SchemaChangeKind::DropColumns,
    SchemaChangeKind::DropTable,
    SchemaChangeKind::TruncateTable,
    SchemaChangeKind::AlterTableComment,
];

pub(super) fn id(text: &str) -> TableId {
    let (database, table) = text.split_once('.').unwrap();
    TableId::new(database, table)
}

pub(super) fn utc() -> Zone {
    Zone::parse_zone_id("UTC").unwrap()
}

/// All kinds but those that the exclude list would name.
pub(super) fn all_but(excluded: &[SchemaChangeKind]) -> BTreeSet<SchemaChangeKind> {
    ALL.into_iter().filter(|kind| !excluded.contains(kind)).collect()
}

pub(super) fn options(behavior: SchemaChangeBehavior) -> Options {
    let excluded: &[SchemaChangeKind] = match behavior {
        SchemaChangeBehavior::Lenient => &[SchemaChangeKind::DropTable, SchemaChangeKind::TruncateTable],
        _ => &[],
    };
    Options { behavior, kinds: all_but(excluded), skip_create_table: false, zone: utc() }
}

/// A type in Flink CDC's spelling.
pub(super) fn data_type(text: &str) -> DataType {
    let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
    let numbers: Vec<u32> = arguments.trim_end_matches(')').split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let small = |i: usize| u8::try_from(numbers[i]).unwrap();
    match name {
        "BOOLEAN" => DataType::Boolean,
        "TINYINT" => DataType::TinyInt,
        "SMALLINT" => DataType::SmallInt,
        "INT" => DataType::Int,
        "BIGINT" => DataType::BigInt,
        "FLOAT" => DataType::Float,
        "DOUBLE" => DataType::Double,
        "DECIMAL" => DataType::Decimal { precision: small(0), scale: small(1) },
        "CHAR" => DataType::Char(numbers[0]),
        "VARCHAR" => DataType::Varchar(numbers[0]),
        "STRING" => DataType::String,
        "BINARY" => DataType::Binary(numbers[0]),
        "VARBINARY" => DataType::Varbinary(numbers[0]),
        "BYTES" => DataType::Bytes,
        "DATE" => DataType::Date,
        "TIME" => DataType::Time(small(0)),
        "TIMESTAMP" => DataType::Timestamp(small(0)),
        "TIMESTAMP_LTZ" => DataType::TimestampLtz(small(0)),
        other => panic!("no type {other}"),
    }
}

/// A column as `name TYPE`, with `NOT NULL` and `DEFAULT x` behind.
pub(super) fn column(text: &str) -> Column {
    let (text, default) = match text.split_once(" DEFAULT ") {
        Some((text, default)) => (text, Some(default.to_owned())),
        None => (text, None),
    };
    let (text, nullable) = match text.strip_suffix(" NOT NULL") {
        Some(text) => (text, false),
        None => (text, true),
    };
    let (name, of) = text.split_once(' ').unwrap();
    Column { nullable, default, ..Column::new(name, data_type(of)) }
}

/// A schema as columns with `;` between, with the key `id` where there is such a column.
pub(super) fn schema(text: &str) -> Arc<TableSchema> {
    let columns: Vec<Column> = text.split(';').map(|c| column(c.trim())).collect();
    let primary_key = columns.iter().filter(|c| c.name == "id").map(|c| c.name.clone()).collect();
    Arc::new(TableSchema { columns, primary_key, ..TableSchema::default() })
}

pub(super) fn add(table: &str, columns: &[(&str, ColumnPosition)]) -> SchemaChange {
    let columns =
        columns.iter().map(|(text, position)| AddedColumn { column: column(text), position: position.clone() });
    SchemaChange::AddColumns { table: id(table), columns: columns.collect() }
}

pub(super) fn add_last(table: &str, columns: &[&str]) -> SchemaChange {
    let columns: Vec<_> = columns.iter().map(|text| (*text, ColumnPosition::Last)).collect();
    add(table, &columns)
}

/// Columns to what they become; `old` is the schema that they come from.
pub(super) fn alter(table: &str, old: &TableSchema, columns: &[&str]) -> SchemaChange {
    let columns = columns.iter().map(|text| {
        let new = column(text);
        let old = old.column(&new.name).map(|c| (c.data_type, c.nullable));
        AlteredColumn { name: new.name, data_type: new.data_type, nullable: new.nullable, old, comment: None }
    });
    SchemaChange::AlterColumns { table: id(table), columns: columns.collect() }
}

pub(super) fn rename(table: &str, names: &[(&str, &str)]) -> SchemaChange {
    let names = names.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
    SchemaChange::RenameColumns { table: id(table), names }
}

pub(super) fn drop(table: &str, names: &[&str]) -> SchemaChange {
    SchemaChange::DropColumns { table: id(table), names: names.iter().map(|n| (*n).to_owned()).collect() }
}

pub(super) fn create(table: &str, schema: &Arc<TableSchema>) -> SchemaChange {
    SchemaChange::CreateTable { table: id(table), schema: schema.clone() }
}

/// A column of values that are written as Flink CDC prints them; `null` is NULL.
pub(super) fn array(of: DataType, texts: &[&str]) -> ArrayRef {
    macro_rules! build {
        ($builder:expr, $parse:expr) => {{
            let mut builder = $builder;
            for text in texts {
                if *text == "null" { builder.append_null() } else { builder.append_value($parse(text)) }
            }
            Arc::new(builder.finish()) as ArrayRef
        }};
    }
    fn micros(text: &str) -> i64 {
        let text = text.replace(' ', "T");
        let full = if text.contains('T') { text } else { format!("{text}T00:00") };
        let parsed = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"]
            .iter()
            .find_map(|format| chrono::NaiveDateTime::parse_from_str(&full, format).ok());
        parsed.unwrap().and_utc().timestamp_micros()
    }
    match of {
        DataType::Boolean => build!(BooleanBuilder::new(), |t: &str| t == "true"),
        DataType::TinyInt => build!(Int8Builder::new(), |t: &str| t.parse().unwrap()),
        DataType::SmallInt => build!(Int16Builder::new(), |t: &str| t.parse().unwrap()),
        DataType::Int => build!(Int32Builder::new(), |t: &str| t.parse().unwrap()),
        DataType::BigInt => build!(Int64Builder::new(), |t: &str| t.parse().unwrap()),
        DataType::Float => build!(Float32Builder::new(), |t: &str| t.parse().unwrap()),
        DataType::Double => build!(Float64Builder::new(), |t: &str| t.parse().unwrap()),
        DataType::Decimal { scale, .. } => {
            build!(Decimal128Builder::new().with_data_type(of.arrow()), |t: &str| {
                let (whole, fraction) = t.split_once('.').unwrap_or((t, ""));
                let scale = usize::from(scale);
                format!("{whole}{fraction:0<scale$}").parse::<i128>().unwrap()
            })
        }
        DataType::Char(_) | DataType::Varchar(_) | DataType::String => {
            build!(StringBuilder::new(), |t: &str| t.to_owned())
        }
        DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes => {
            build!(BinaryBuilder::new(), |t: &str| t.as_bytes().to_vec())
        }
        DataType::Date => build!(Date32Builder::new(), |t: &str| i32::try_from(micros(t) / 86_400_000_000).unwrap()),
        DataType::Time(_) => build!(DurationMicrosecondBuilder::new(), |t: &str| t.parse().unwrap()),
        DataType::Timestamp(_) => build!(TimestampMicrosecondBuilder::new(), micros),
        DataType::TimestampLtz(_) => {
            build!(TimestampMicrosecondBuilder::new().with_data_type(of.arrow()), micros)
        }
    }
}

/// Rows of a table, values as Flink CDC prints them.
pub(super) fn batch(table: &str, schema: &Arc<TableSchema>, ops: &[RowOp], rows: &[&[&str]]) -> ChangeBatch {
    let columns = schema.columns.iter().enumerate().map(|(i, column)| {
        let texts: Vec<&str> = rows.iter().map(|row| row[i]).collect();
        array(column.data_type, &texts)
    });
    let columns = RecordBatch::try_new(schema.arrow(), columns.collect()).unwrap();
    let changes = if ops.is_empty() { Changes::Inserts(rows.len()) } else { Changes::Mixed(ops.to_vec()) };
    ChangeBatch::new(id(table), schema.clone(), changes, columns).unwrap()
}

/// The rows of a batch as Flink CDC prints them.
pub(super) fn rows(batch: &ChangeBatch) -> Vec<String> {
    let columns: Vec<_> = batch
        .schema()
        .columns
        .iter()
        .zip(batch.columns().columns())
        .map(|(column, array)| column_text(&column.data_type, array).unwrap())
        .collect();
    let cell = |column: &arrow_array::StringArray, row: usize| {
        use arrow_array::Array;
        if column.is_null(row) { "null".to_owned() } else { column.value(row).to_owned() }
    };
    (0..batch.num_rows())
        .map(|row| columns.iter().map(|column| cell(column, row)).collect::<Vec<_>>().join(", "))
        .collect()
}

fn typed(of: DataType, nullable: bool) -> String {
    format!("{of}{}", if nullable { "" } else { " NOT NULL" })
}

fn shown(column: &Column) -> String {
    let default = column.default.as_ref().map(|d| format!(" '{d}'")).unwrap_or_default();
    format!("`{}` {}{default}", column.name, typed(column.data_type, column.nullable))
}

/// A change as Flink CDC prints it.
pub(super) fn line(change: &SchemaChange) -> String {
    let table = change.table();
    let list = |items: Vec<String>| items.join(", ");
    match change {
        SchemaChange::CreateTable { schema, .. } => format!(
            "CreateTableEvent{{tableId={table}, schema=columns={{{}}}, primaryKeys={}, options=()}}",
            schema.columns.iter().map(shown).collect::<Vec<_>>().join(","),
            schema.primary_key.join(";")
        ),
        SchemaChange::AddColumns { columns, .. } => {
            let columns = columns.iter().map(|added| {
                let (position, other) = match &added.position {
                    ColumnPosition::Last => ("LAST", "null"),
                    ColumnPosition::First => ("FIRST", "null"),
                    ColumnPosition::After(other) => ("AFTER", other.as_str()),
                    ColumnPosition::Before(other) => ("BEFORE", other.as_str()),
                };
                let column = shown(&added.column);
                format!("ColumnWithPosition{{column={column}, position={position}, existedColumnName={other}}}")
            });
            format!("AddColumnEvent{{tableId={table}, addedColumns=[{}]}}", list(columns.collect()))
        }
        SchemaChange::AlterColumns { columns, .. } => {
            let new = columns.iter().map(|c| format!("{}={}", c.name, typed(c.data_type, c.nullable)));
            let old = columns.iter().map(|c| {
                let (of, nullable) = c.old.unwrap();
                format!("{}={}", c.name, typed(of, nullable))
            });
            let (new, old) = (list(new.collect()), list(old.collect()));
            format!(
                "AlterColumnTypeEvent{{tableId={table}, typeMapping={{{new}}}, oldTypeMapping={{{old}}}, comments={{}}}}"
            )
        }
        SchemaChange::RenameColumns { names, .. } => {
            let names = names.iter().map(|(old, new)| format!("{old}={new}"));
            format!("RenameColumnEvent{{tableId={table}, nameMapping={{{}}}}}", list(names.collect()))
        }
        SchemaChange::DropColumns { names, .. } => {
            format!("DropColumnEvent{{tableId={table}, droppedColumnNames=[{}]}}", names.join(", "))
        }
        SchemaChange::DropTable { .. } => format!("DropTableEvent{{tableId={table}}}"),
        SchemaChange::TruncateTable { .. } => format!("TruncateTableEvent{{tableId={table}}}"),
        SchemaChange::AlterTableComment { comment, .. } => format!("AlterTableCommentEvent{{{table}, {comment:?}}}"),
    }
}

/// Gives a sink all that is planned, and the lines that it would print.
pub(super) fn carry_out(targets: &mut Targets, planned: Vec<Planned>) -> Vec<String> {
    let mut lines = Vec::new();
    for next in planned {
        assert_eq!(next.target, *next.change.table());
        targets.applied(&next);
        assert_eq!(targets.evolved(&next.target), next.after.as_ref());
        lines.push(line(&next.change));
    }
    lines
}
