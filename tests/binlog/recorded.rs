//! A file recorded from MySQL 9.7, whose statements are known: see `tests/data/binlogs/README.md`.

use super::table_of_map::table_of_map;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use rowferry::mysql::binlog::{
    BatchLimits, BinlogFileReader, Checksum, DecodeOptions, Event, EventBody, EventParser, JsonStyle, PlanError,
    RowPlan, RowsDecoder, RowsKind, TableMap,
};
use rowferry_model::{Changes, MysqlGtidSet, RowOp};
use rowferry_sql::{ColumnType, MappingOptions};
use std::path::Path;
use std::sync::Arc;

/// `@@gtid_executed` behind the file.
const EXECUTED: &str = "f7014b9a-ec49-11f1-a580-02fc00000001:1-6:blue_tag:1-2";

#[derive(Default)]
struct Recording {
    gtids: MysqlGtidSet,
    previous: MysqlGtidSet,
    map: Option<TableMap>,
    rows: Vec<(RowsKind, Changes, RecordBatch)>,
    statements: Vec<String>,
    prepared: Vec<Vec<u8>>,
    compressed: usize,
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/binlogs").join(name)).unwrap()
}

fn record(name: &str) -> Recording {
    let file = file(name);
    let mut recording = Recording::default();
    let mut parser = EventParser::new(Checksum::Crc32);
    let mut events = BinlogFileReader::new(&file).unwrap();
    while let Some(event) = events.next_event().unwrap() {
        let event = parser.parse(event).unwrap_or_else(|e| panic!("{e}"));
        recording.event(&event, &parser);
    }
    recording
}

impl Recording {
    fn event(&mut self, event: &Event<'_>, parser: &EventParser) {
        match &event.body {
            EventBody::Gtid(gtid) => self.gtids.add(gtid.uuid, &gtid.tag, gtid.gno),
            EventBody::PreviousGtids(set) => self.previous = set.clone(),
            EventBody::Query(query) => self.statements.push(query.sql_text().unwrap()),
            EventBody::XaPrepare { one_phase: false, gtrid, .. } => self.prepared.push(gtrid.to_vec()),
            EventBody::TableMap(raw) => self.map = Some(raw.columns().unwrap()),
            EventBody::Rows(rows) => {
                let map = self.map.as_ref().unwrap();
                let mut table = table_of_map(map);
                for column in &mut table.columns {
                    match &mut column.column_type {
                        ColumnType::Enum { labels, .. } => *labels = ["x", "ä"].map(Arc::from).into(),
                        ColumnType::Set { labels, .. } => *labels = ["p", "q"].map(Arc::from).into(),
                        _ => {}
                    }
                }
                // The vector has no counterpart in the stream: it is passed over.
                let mut known = table.clone();
                known.columns.retain(|c| !matches!(c.column_type, ColumnType::Vector(_)));
                let schema = Arc::new(known.to_schema(&MappingOptions::default()).unwrap());
                let options = DecodeOptions { json: JsonStyle::Server, ..DecodeOptions::default() };
                let mut decoder = RowsDecoder::new(RowPlan::new(map, &table, &schema, options).unwrap());
                decoder.decode(&rows.images(), 0, &BatchLimits::NONE).unwrap_or_else(|e| panic!("{e}"));
                let (changes, batch) = decoder.finish().unwrap();
                self.rows.push((rows.kind, changes, batch));
            }
            EventBody::TransactionPayload(payload) => {
                self.compressed += 1;
                let mut events = payload.events(1 << 20).unwrap();
                while let Some(inner) = events.next_event().unwrap() {
                    self.event(&parser.parse_inner(inner).unwrap(), parser);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn identifiers_with_and_without_tags_are_those_that_the_server_has() {
    assert_eq!(record("own__mysql-9.7.000001").gtids.to_string(), EXECUTED);
    assert_eq!(record("own__mysql-9.7.000002").previous.to_string(), EXECUTED);
}

#[test]
fn xa_transactions_and_compressed_ones_are_told() {
    let recording = record("own__mysql-9.7.000001");
    assert_eq!(recording.prepared, [b"x1"]);
    assert!(recording.compressed >= 2);
    assert!(recording.statements.iter().any(|s| s.starts_with("XA COMMIT")), "{:?}", recording.statements);
}

#[test]
fn the_table_map_says_everything() {
    let map = record("own__mysql-9.7.000001").map.unwrap();
    let names: Vec<_> = map.columns.iter().map(|c| c.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["id", "d", "e", "s", "v", "g", "h"]);
    assert_eq!(map.columns[0].unsigned, Some(true));
    assert_eq!(map.columns[2].labels, Some(vec![b"x"[..].into(), b"\xe4"[..].into()]));
    assert_eq!(map.columns[3].labels, Some(vec![b"p"[..].into(), b"q"[..].into()]));
    assert_eq!(map.columns[4].dimensions, Some(3));
    assert_eq!(map.columns[5].geometry_type, Some(1));
    let visible: Vec<_> = map.columns.iter().map(|c| c.visible.unwrap()).collect();
    assert_eq!(visible, [true, true, true, true, true, true, false]);
    assert_eq!(map.primary_key, Some(vec![(0, 0)]));
}

#[test]
fn rows_are_those_that_were_written() {
    let recording = record("own__mysql-9.7.000001");
    let kinds: Vec<_> = recording.rows.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(
        kinds,
        [RowsKind::Insert, RowsKind::PartialUpdate, RowsKind::Insert, RowsKind::Delete, RowsKind::Insert]
    );
    let text = |batch: &RecordBatch, column: usize, row| batch.column(column).as_string::<i32>().value(row).to_owned();
    let (_, _, inserted) = &recording.rows[0];
    let values: Vec<_> = (1..6).map(|column| text(inserted, column, 0)).collect();
    let geometry = r#"{"coordinates":[1,2],"type":"Point","srid":0}"#;
    assert_eq!(values, [r#"{"a": "xxxxxxxxxxxxxxxxxxxxxxxx", "b": [1, 2]}"#, "ä", "p,q", geometry, "h"]);
    let (_, changes, updated) = &recording.rows[1];
    assert_eq!((changes.op(0), changes.op(1)), (RowOp::UpdateBefore, RowOp::UpdateAfter));
    assert_eq!(text(updated, 1, 0), values[0]);
    assert_eq!(text(updated, 1, 1), r#"{"a": "y", "b": [1, 2]}"#);
    let ids = |i: usize| recording.rows[i].2.column(0).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!((ids(2), ids(3), ids(4)), (vec![2, 3], vec![2], vec![4]));
}

#[test]
fn a_definition_that_does_not_fit_is_refused() {
    let map = record("own__mysql-9.7.000001").map.unwrap();
    let table = table_of_map(&map);
    let schema = Arc::new(rowferry_model::TableSchema::default());
    let plan = |table: &rowferry_sql::TableDef| RowPlan::new(&map, table, &schema, DecodeOptions::default()).map(drop);
    assert_eq!(plan(&table), Ok(()));
    let mut fewer = table.clone();
    fewer.columns.pop();
    assert!(matches!(plan(&fewer), Err(PlanError::ColumnCount { binlog: 7, tracked: 6, .. })));
    let mut renamed = table.clone();
    renamed.columns.swap(1, 5);
    assert!(matches!(plan(&renamed), Err(PlanError::Name { number: 2, .. })));
    let mut signed = table.clone();
    signed.columns[0].column_type = ColumnType::Int { unsigned: false, zerofill: false, width: None };
    let error = plan(&signed).unwrap_err().to_string();
    assert!(error.contains("`id`") && error.contains("Long unsigned") && error.contains("int"), "{error}");
    let mut other = table.clone();
    other.columns[6].column_type = ColumnType::Varbinary(40);
    assert!(matches!(plan(&other), Err(PlanError::Type { .. })));
}

#[test]
fn damage_is_told() {
    let file = file("own__mysql-9.7.000001");
    let mut events = BinlogFileReader::new(&file).unwrap();
    let mut parser = EventParser::new(Checksum::Crc32);
    parser.parse(events.next_event().unwrap().unwrap()).unwrap();
    let event = events.next_event().unwrap().unwrap();
    for at in 19..event.len() {
        let mut damaged = event.to_vec();
        damaged[at] ^= 4;
        let error = parser.parse(&damaged).unwrap_err();
        assert!(error.to_string().contains("checksum"), "{error}");
        assert!(error.is_transient());
    }
    let error = parser.parse(&event[..event.len() - 1]).unwrap_err();
    assert!(error.to_string().contains("header says"), "{error}");
    let cut = &file[..file.len() - 3];
    let mut events = BinlogFileReader::new(cut).unwrap();
    let error = std::iter::from_fn(|| events.next_event().transpose()).find_map(Result::err).unwrap();
    assert!(error.to_string().contains("cut off"), "{error}");
}

#[test]
fn an_unknown_event_is_refused_unless_it_may_be_ignored() {
    let event = |flags: u16| {
        let mut bytes = vec![0, 0, 0, 0, 99, 1, 0, 0, 0, 23, 0, 0, 0, 77, 0, 0, 0];
        bytes.extend_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(b"body");
        bytes
    };
    let mut parser = EventParser::new(Checksum::None);
    let error = parser.parse(&event(0)).unwrap_err().to_string();
    assert!(error.contains("type-99") && error.contains("77"), "{error}");
    assert!(matches!(parser.parse(&event(0x80)).unwrap().body, EventBody::Ignored));
}

#[test]
fn a_compressed_transaction_beyond_the_limit_is_refused() {
    let file = file("own__mysql-9.7.000001");
    let mut parser = EventParser::new(Checksum::Crc32);
    let mut events = BinlogFileReader::new(&file).unwrap();
    let mut refused = 0;
    while let Some(event) = events.next_event().unwrap() {
        let event = parser.parse(event).unwrap();
        let EventBody::TransactionPayload(payload) = &event.body else { continue };
        let size = payload.uncompressed_size.unwrap();
        let read = |limit| {
            let mut events = payload.events(limit).unwrap();
            let mut bytes = 0;
            while let Some(event) = events.next_event()? {
                bytes += event.len() as u64;
            }
            Ok::<_, rowferry::mysql::binlog::BinlogError>(bytes)
        };
        assert_eq!(read(size).unwrap(), size);
        let error = read(size - 1).unwrap_err().to_string();
        assert!(error.contains("TRANSACTION_PAYLOAD") && error.contains("allowed"), "{error}");
        refused += 1;
    }
    assert!(refused >= 2);
}

/// The form that MySQL's documentation gives: type, length, value, all as length-encoded integers.
#[test]
fn a_heartbeat_carries_a_position_of_64_bits() {
    let body = [&b"\x01\x0dbinlog.000042\x02\x09\xfe"[..], &(1_u64 << 40).to_le_bytes(), b"\x00"].concat();
    let mut event = vec![0, 0, 0, 0, 41, 1, 0, 0, 0];
    event.extend((19 + body.len() as u32).to_le_bytes());
    event.extend([0; 6]);
    event.extend(body);
    let mut parser = EventParser::new(Checksum::None);
    let EventBody::Heartbeat { file, position } = parser.parse(&event).unwrap().body else { panic!("a heartbeat") };
    assert_eq!((file, position), (&b"binlog.000042"[..], Some(1 << 40)));
}
