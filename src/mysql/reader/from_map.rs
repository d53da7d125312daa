//! A table's definition out of the log's own metadata (`binlog_row_metadata=FULL`).

use crate::mysql::binlog::{TableMap, WireColumn, WireType};
use rowferry_sql::{CharSet, ColumnDef, ColumnType, ServerVersion, TableDef};

/// The id of the collation `binary`.
const BINARY: u32 = 63;

/// The definition that a table had when an event was written, as far as its TABLE_MAP tells it. What it does not tell
/// (defaults, comments, display widths, how columns are generated) is taken from `newer`, a later definition of the
/// table, for columns of the same name and kind. `None`: the server does not write the names.
pub(super) fn definition_of(map: &TableMap, newer: &TableDef, server: ServerVersion) -> Option<TableDef> {
    let columns = map.columns.iter().map(|c| column(c, newer, server)).collect::<Option<Vec<_>>>()?;
    let name = |i: &usize| columns.get(*i).map(|c: &ColumnDef| c.name.clone());
    let primary_key = match &map.primary_key {
        Some(key) => key.iter().map(|(i, _)| name(i)).collect::<Option<Vec<_>>>()?,
        None => Vec::new(),
    };
    let there = |n: &Option<String>| n.as_ref().is_none_or(|n| columns.iter().any(|c| c.name.eq_ignore_ascii_case(n)));
    let keys = newer.keys.iter().filter(|k| k.parts.iter().all(|(c, _)| there(c))).cloned().collect();
    Some(TableDef { columns, primary_key, keys, ..newer.clone() })
}

/// Whether ENUM or SET columns had other labels than the definition has: their numbers would mean something else.
pub(super) fn labels_differ(map: &TableMap, def: &TableDef) -> bool {
    map.columns.iter().zip(&def.columns).any(|(wire, column)| match (&wire.labels, &column.column_type) {
        (Some(labels), ColumnType::Enum { labels: known, charset } | ColumnType::Set { labels: known, charset }) => {
            // Only charsets whose letters are bytes of UTF-8 can be compared here.
            let utf8 = matches!(&*charset.name, "utf8mb4" | "utf8mb3" | "utf8" | "ascii");
            utf8 && (labels.len() != known.len() || labels.iter().zip(known.iter()).any(|(a, b)| **a != *b.as_bytes()))
        }
        _ => false,
    })
}

fn column(wire: &WireColumn, newer: &TableDef, server: ServerVersion) -> Option<ColumnDef> {
    let name = wire.name.clone()?;
    let known = newer.index_of(&name).and_then(|i| newer.columns.get(i));
    let charset = match wire.collation {
        Some(BINARY) | None => None,
        Some(id) => CharSet::of_id(u16::try_from(id).ok()?, server),
    };
    let text = type_text(wire, charset.as_ref())?;
    let parsed = ColumnType::parse(&text, charset.as_ref()).ok()?;
    let column_type = match known {
        // TINYINT(1) and ZEROFILL are display matters that the log does not tell.
        Some(known) if same_kind(&parsed, &known.column_type) => known.column_type.clone(),
        _ => parsed,
    };
    let mut column = known.cloned().unwrap_or_else(|| ColumnDef {
        name: name.clone(),
        column_type: column_type.clone(),
        nullable: wire.nullable,
        default: None,
        on_update: false,
        auto_increment: false,
        comment: String::new(),
        generated: None,
        invisible: false,
    });
    column.name = name;
    column.column_type = column_type;
    column.nullable = wire.nullable;
    column.invisible = wire.visible.is_some_and(|visible| !visible);
    Some(column)
}

/// Whether two types are the same but for how numbers are shown.
fn same_kind(a: &ColumnType, b: &ColumnType) -> bool {
    use ColumnType as C;
    match (a, b) {
        (C::TinyInt { unsigned: a, .. }, C::TinyInt { unsigned: b, .. })
        | (C::SmallInt { unsigned: a, .. }, C::SmallInt { unsigned: b, .. })
        | (C::MediumInt { unsigned: a, .. }, C::MediumInt { unsigned: b, .. })
        | (C::Int { unsigned: a, .. }, C::Int { unsigned: b, .. })
        | (C::BigInt { unsigned: a, .. }, C::BigInt { unsigned: b, .. }) => a == b,
        (C::Float { .. }, C::Float { .. }) | (C::Double { .. }, C::Double { .. }) => true,
        (a, b) => a == b,
    }
}

/// The type as a definition spells it.
fn type_text(wire: &WireColumn, charset: Option<&CharSet>) -> Option<String> {
    let sign = if wire.unsigned == Some(true) { " unsigned" } else { "" };
    let characters = |bytes: u16| match charset.and_then(CharSet::max_bytes) {
        Some(width) => u32::from(bytes) / width.max(1),
        None => u32::from(bytes),
    };
    let binary = wire.collation == Some(BINARY);
    let labels = || {
        let labels = wire
            .labels
            .as_ref()?
            .iter()
            .map(|l| std::str::from_utf8(l).ok().map(|l| format!("'{}'", l.replace('\'', "''"))));
        Some(labels.collect::<Option<Vec<_>>>()?.join(","))
    };
    Some(match wire.wire_type {
        WireType::Tiny => format!("tinyint{sign}"),
        WireType::Short => format!("smallint{sign}"),
        WireType::Int24 => format!("mediumint{sign}"),
        WireType::Long => format!("int{sign}"),
        WireType::LongLong => format!("bigint{sign}"),
        WireType::Float => format!("float{sign}"),
        WireType::Double => format!("double{sign}"),
        WireType::Decimal { precision, scale } => format!("decimal({precision},{scale}){sign}"),
        WireType::Bit(n) => format!("bit({n})"),
        WireType::Year => "year".to_owned(),
        WireType::Date => "date".to_owned(),
        WireType::OldTime => "time".to_owned(),
        WireType::OldDateTime => "datetime".to_owned(),
        WireType::OldTimestamp => "timestamp".to_owned(),
        WireType::Time(p) => format!("time({p})"),
        WireType::DateTime(p) => format!("datetime({p})"),
        WireType::Timestamp(p) => format!("timestamp({p})"),
        WireType::Varchar(n) if binary => format!("varbinary({n})"),
        WireType::Varchar(n) => format!("varchar({})", characters(n)),
        WireType::Char(n) if binary => format!("binary({n})"),
        WireType::Char(n) => format!("char({})", characters(n)),
        WireType::Blob(size) => {
            let size = match size {
                1 => "tiny",
                2 => "",
                3 => "medium",
                _ => "long",
            };
            format!("{size}{}", if binary { "blob" } else { "text" })
        }
        WireType::Json(_) => "json".to_owned(),
        WireType::Geometry(_) => {
            let kinds = ["geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"];
            let kind = usize::try_from(wire.geometry_type?).ok()?;
            kinds.get(kind).copied().unwrap_or("geometrycollection").to_owned()
        }
        WireType::Vector(_) => format!("vector({})", wire.dimensions?),
        WireType::Enum(_) => format!("enum({})", labels()?),
        WireType::Set(_) => format!("set({})", labels()?),
    })
}
