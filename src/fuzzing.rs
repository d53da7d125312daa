//! What the fuzz targets run: every parser of outside bytes, with the invariants that must hold for any input. Not part
//! of the library's interface.

use crate::mysql::binlog::{
    BatchLimits, BinlogFileReader, Checksum, DecodeOptions, EventBody, EventParser, JsonStyle, RowImages, RowPlan,
    RowsDecoder, RowsKind, TextDecoder, TextPlan, WireType, apply_json_diff, write_geometry, write_json,
};
use rowferry_model::{GtidSet, TableSchema};
use rowferry_sql::{CharSet, ColumnDef, ColumnType, MappingOptions, TableDef};
use std::sync::{Arc, LazyLock};

/// Unpacked bytes of a compressed transaction that are looked at.
const MAX_UNPACKED: u64 = 1 << 20;

/// An event, or a file of events, with the events inside compressed ones.
pub fn event(data: &[u8]) {
    let mut parser = EventParser::new(Checksum::None).without_verification();
    if let Ok(mut events) = BinlogFileReader::new(data) {
        while let Ok(Some(event)) = events.next_event() {
            one_event(&mut parser, event);
        }
    } else {
        one_event(&mut parser, data);
    }
}

fn one_event(parser: &mut EventParser, bytes: &[u8]) {
    let Ok(event) = parser.parse(bytes) else { return };
    match &event.body {
        EventBody::TableMap(raw) => drop(raw.columns()),
        EventBody::Query(query) => drop(query.sql_text()),
        EventBody::TransactionPayload(payload) => {
            let Ok(mut events) = payload.events(MAX_UNPACKED) else { return };
            while let Ok(Some(inner)) = events.next_event() {
                if let Ok(event) = parser.parse_inner(inner)
                    && let EventBody::TableMap(raw) = event.body
                {
                    drop(raw.columns());
                }
            }
        }
        _ => {}
    }
}

/// The body of a TABLE_MAP event.
pub fn table_map(data: &[u8]) {
    let mut event = vec![0; 4];
    event.push(19);
    event.extend_from_slice(&[0; 4]);
    event.extend_from_slice(&(data.len() as u32 + 19).to_le_bytes());
    event.extend_from_slice(&[0; 6]);
    event.extend_from_slice(data);
    self::event(&event);
}

/// Row images of a table with a column of every type. The first byte chooses the kind of event.
pub fn rows(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    static PLAN: LazyLock<Option<Arc<RowPlan>>> = LazyLock::new(|| {
        let (map, table, schema) = every_type()?;
        RowPlan::new(&map, &table, &schema, DecodeOptions::default()).ok()
    });
    let Some(plan) = PLAN.as_ref() else { return };
    let kind = match kind % 4 {
        0 => RowsKind::Insert,
        1 => RowsKind::Update,
        2 => RowsKind::PartialUpdate,
        _ => RowsKind::Delete,
    };
    let columns = plan.schema().columns.len();
    let all = vec![0xff; columns.div_ceil(8)];
    let images = RowImages { kind, columns, present: &all, present_after: &all, bytes };
    let mut decoder = RowsDecoder::new(Arc::clone(plan));
    let _ = decoder.skip(&images, 0, 3);
    let limits = BatchLimits { rows: 2, bytes: 1 << 16 };
    let mut from = 0;
    while let Ok(progress) = decoder.decode(&images, from, &limits) {
        let _ = decoder.finish();
        if progress.next >= bytes.len() || progress.next == from {
            break;
        }
        from = progress.next;
    }
    let _ = decoder.finish();
}

/// A JSON document; what can be written must be valid JSON.
pub fn jsonb(data: &[u8]) {
    let mut text = Vec::new();
    if write_json(data, JsonStyle::Server, &mut text).is_ok() {
        let mut compact = Vec::new();
        let again = write_json(data, JsonStyle::Compact, &mut compact);
        assert!(again.is_ok() && compact.len() <= text.len(), "a document was written only once");
    }
    let _ = write_geometry(data, &mut text);
}

/// Differences to a JSON document. The first byte says how long the document is.
pub fn json_diff(data: &[u8]) {
    let Some((length, rest)) = data.split_first() else { return };
    let (document, differences) = rest.split_at(usize::from(*length).min(rest.len()));
    let _ = apply_json_diff(document, differences, JsonStyle::Server, &mut Vec::new());
}

/// A row of a text result.
pub fn text_row(data: &[u8]) {
    static PLAN: LazyLock<Option<Arc<TextPlan>>> = LazyLock::new(|| {
        let (_, table, schema) = every_type()?;
        TextPlan::new("t", &table, &schema, JsonStyle::Compact).ok().map(Arc::new)
    });
    let Some(plan) = PLAN.as_ref() else { return };
    let mut decoder = TextDecoder::new(Arc::clone(plan));
    let _ = decoder.decode(data);
    let _ = decoder.finish();
}

/// A GTID set as text: what was read is written and read again as the same.
pub fn gtid_set(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(set) = text.parse::<GtidSet>()
        && !set.is_empty()
    {
        assert_eq!(set.to_string().parse::<GtidSet>().ok(), Some(set), "a GTID set reads back as another one");
    }
}

/// A table with a column of every type, as the binlog and as the server describe it.
fn every_type() -> Option<(crate::mysql::binlog::TableMap, TableDef, Arc<TableSchema>)> {
    use crate::mysql::binlog::{TableMap, WireColumn};
    let types = [
        ("tinyint", WireType::Tiny),
        ("tinyint(1)", WireType::Tiny),
        ("smallint unsigned", WireType::Short),
        ("mediumint", WireType::Int24),
        ("int", WireType::Long),
        ("bigint unsigned", WireType::LongLong),
        ("float", WireType::Float),
        ("double(10,3)", WireType::Double),
        ("decimal(20,5)", WireType::Decimal { precision: 20, scale: 5 }),
        ("decimal(65,30)", WireType::Decimal { precision: 65, scale: 30 }),
        ("bit(11)", WireType::Bit(11)),
        ("year", WireType::Year),
        ("date", WireType::Date),
        ("time", WireType::OldTime),
        ("datetime", WireType::OldDateTime),
        ("timestamp", WireType::OldTimestamp),
        ("time(6)", WireType::Time(6)),
        ("datetime(3)", WireType::DateTime(3)),
        ("timestamp(1)", WireType::Timestamp(1)),
        ("varchar(10)", WireType::Varchar(40)),
        ("char(100)", WireType::Char(400)),
        ("longtext", WireType::Blob(4)),
        ("binary(5)", WireType::Char(5)),
        ("blob", WireType::Blob(2)),
        ("enum('a','b')", WireType::Enum(1)),
        ("set('a','b')", WireType::Set(1)),
        ("json", WireType::Json(4)),
        ("geometry", WireType::Geometry(4)),
    ];
    let charsets = ["utf8mb4", "gb18030", "ujis", "latin1", "utf16le"];
    let mut map =
        TableMap { table_id: 1, database: "d".into(), table: "t".into(), columns: Vec::new(), primary_key: None };
    let mut columns = Vec::new();
    for (i, (text, wire_type)) in types.into_iter().enumerate() {
        let name = charsets.get(i % charsets.len())?;
        let charset = CharSet { name: (*name).into(), collation: (*name).into() };
        columns.push(ColumnDef {
            name: format!("c{i}"),
            column_type: ColumnType::parse(text, Some(&charset)).ok()?,
            nullable: i % 2 == 0,
            default: None,
            on_update: false,
            auto_increment: false,
            comment: String::new(),
            generated: None,
            invisible: false,
        });
        map.columns.push(WireColumn {
            wire_type,
            nullable: true,
            unsigned: None,
            collation: None,
            name: None,
            labels: None,
            visible: None,
            geometry_type: None,
            dimensions: None,
        });
    }
    let table = TableDef {
        columns,
        primary_key: vec!["c4".into()],
        keys: vec![],
        charset: "utf8mb4".into(),
        collation: "utf8mb4_bin".into(),
        comment: String::new(),
    };
    let schema = Arc::new(table.to_schema(&MappingOptions::default()).ok()?);
    Some((map, table, schema))
}

#[cfg(test)]
mod tests;
