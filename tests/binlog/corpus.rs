//! Recorded binlog files of many servers: each is decoded like the oracle does, or refused with a reason.

use super::oracle::{self, Cell};
use super::table_of_map::table_of_map;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, RecordBatch};
use rowferry::mysql::binlog::{
    BatchLimits, BinlogFileReader, Checksum, DecodeError, DecodeOptions, Event, EventBody, EventParser, EventType,
    RowPlan, RowsDecoder, TableMap,
};
use rowferry_model::RowOp;
use rowferry_sql::{ColumnType, MappingOptions, TableDef};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What reading a file gave.
#[derive(Default)]
struct Reading {
    events: BTreeMap<u8, usize>,
    /// The rows of each event; an error where they were refused.
    rows: Vec<Result<oracle::Rows, String>>,
    /// Why reading stopped before the end.
    error: Option<String>,
}

/// One value in the oracle's form.
fn cell(column: &dyn Array, column_type: &ColumnType, row: usize) -> Cell {
    use ColumnType as C;
    if column.is_null(row) {
        return Cell::Null;
    }
    let bytes = || match column.as_string_opt::<i32>() {
        Some(text) => text.value(row).as_bytes().to_vec(),
        None => column.as_binary::<i32>().value(row).to_vec(),
    };
    let int = || match column.data_type() {
        arrow_schema::DataType::Int8 => column.as_primitive::<Int8Type>().value(row).into(),
        arrow_schema::DataType::Int16 => column.as_primitive::<Int16Type>().value(row).into(),
        arrow_schema::DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        arrow_schema::DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        _ => column.as_primitive::<Decimal128Type>().value(row),
    };
    let instant = || Cell::Instant(Some(column.as_primitive::<TimestampMicrosecondType>().value(row)));
    match column_type {
        C::TinyInt { .. } | C::SmallInt { .. } | C::MediumInt { .. } | C::Int { .. } | C::BigInt { .. } => {
            Cell::Int(int())
        }
        C::Year => Cell::Bytes(int().to_string().into_bytes()),
        C::Float { .. } => Cell::F32(column.as_primitive::<Float32Type>().value(row)),
        C::Double { .. } => Cell::F64(column.as_primitive::<Float64Type>().value(row)),
        C::Decimal { precision: 39.., .. } => Cell::Bytes(bytes()),
        C::Decimal { .. } => {
            let text = column.as_primitive::<Decimal128Type>().value_as_string(row);
            Cell::Bytes(text.into_bytes())
        }
        C::Bit(1) => Cell::Bytes(vec![column.as_boolean().value(row).into()]),
        C::Bit(_) => Cell::Bytes(bytes().into_iter().rev().collect()),
        C::Date => {
            let days = column.as_primitive::<Date32Type>().value(row);
            Cell::Instant(Some(i64::from(days) * 86_400_000_000))
        }
        C::Time(_) => Cell::Duration(column.as_primitive::<DurationMicrosecondType>().value(row)),
        C::DateTime(_) => instant(),
        C::Timestamp(_) => instant(),
        C::Enum { .. } => Cell::Int(String::from_utf8(bytes()).unwrap().parse().unwrap_or(0)),
        C::Set { .. } => {
            let text = String::from_utf8(bytes()).unwrap();
            let members = text.split(',').filter(|m| !m.is_empty()).map(|m| m.parse::<u32>().unwrap());
            Cell::Int(members.fold(0, |bits, m| bits | 1 << (m - 1)))
        }
        C::Json => Cell::Json(serde_json::from_slice(&bytes()).expect("JSON text")),
        _ => Cell::Bytes(bytes()),
    }
}

/// The oracle has other forms for some types.
fn normal(cell: Cell, column_type: &ColumnType) -> Cell {
    match (cell, column_type) {
        (Cell::Instant(None), _) => Cell::Null,
        (Cell::Int(seconds), ColumnType::Timestamp(_)) => Cell::Instant(Some(seconds as i64 * 1_000_000)),
        (Cell::Bytes(text), ColumnType::Timestamp(_)) => {
            let text = String::from_utf8(text).unwrap();
            let (seconds, micros) = text.split_once('.').unwrap_or((&text, "0"));
            Cell::Instant(Some(seconds.parse::<i64>().unwrap() * 1_000_000 + micros.parse::<i64>().unwrap()))
        }
        (Cell::Bytes(bits), ColumnType::Set { .. }) => {
            Cell::Int(bits.iter().rev().fold(0, |n, byte| n << 8 | i128::from(*byte)))
        }
        (Cell::Bytes(text), ColumnType::Char { .. } | ColumnType::Varchar { .. } | ColumnType::Text { .. }) => {
            Cell::Bytes(String::from_utf8_lossy(&text).into_owned().into_bytes())
        }
        (cell, _) => cell,
    }
}

fn oracle_rows(changes: &rowferry_model::Changes, batch: &RecordBatch, table: &TableDef) -> oracle::Rows {
    let row = |i| {
        let columns = batch.columns().iter().zip(&table.columns);
        Some(columns.map(|(array, column)| cell(array, &column.column_type, i)).collect())
    };
    let mut rows = Vec::new();
    for i in 0..changes.len() {
        match changes.op(i) {
            RowOp::Insert => rows.push((None, row(i))),
            RowOp::UpdateBefore => rows.push((row(i), row(i + 1))),
            RowOp::UpdateAfter => {}
            RowOp::Delete => rows.push((row(i), None)),
        }
    }
    rows
}

/// Reads events as a stream does; decodes rows.
struct Reader {
    tables: HashMap<u64, (TableMap, TableDef, Arc<RowPlan>)>,
    reading: Reading,
}

impl Reader {
    fn event(&mut self, event: &Event<'_>, parser: &EventParser) -> Result<(), String> {
        match &event.body {
            EventBody::TableMap(raw) => {
                let map = raw.columns().map_err(|e| e.to_string())?;
                let table = table_of_map(&map);
                let schema = Arc::new(table.to_schema(&MappingOptions::default()).map_err(|e| e.to_string())?);
                let plan = RowPlan::new(&map, &table, &schema, DecodeOptions::default()).map_err(|e| e.to_string())?;
                self.tables.insert(raw.table_id, (map, table, plan));
            }
            EventBody::Rows(rows) => {
                let (_, table, plan) = self.tables.get(&rows.table_id).ok_or("rows without a table map")?;
                let mut decoder = RowsDecoder::new(Arc::clone(plan));
                let result = decoder.decode(&rows.images(), 0, &BatchLimits::NONE).and_then(|progress| {
                    assert_eq!(progress.next, rows.images.len());
                    let (changes, batch) = decoder.finish()?;
                    Ok(oracle_rows(&changes, &batch, table))
                });
                match result {
                    Ok(rows) => self.reading.rows.push(Ok(rows)),
                    Err(e @ DecodeError::PartialImage { .. }) => self.reading.rows.push(Err(e.to_string())),
                    Err(e) => return Err(e.to_string()),
                }
            }
            EventBody::TransactionPayload(payload) => {
                let mut events = payload.events(1 << 24).map_err(|e| e.to_string())?;
                while let Some(inner) = events.next_event().map_err(|e| e.to_string())? {
                    let inner = parser.parse_inner(inner).map_err(|e| e.to_string())?;
                    self.event(&inner, parser)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn read(file: &[u8]) -> Reading {
    let mut reader = Reader { tables: HashMap::new(), reading: Reading::default() };
    let mut parser = EventParser::new(Checksum::None);
    let mut events = match BinlogFileReader::new(file) {
        Ok(events) => events,
        Err(e) => return Reading { error: Some(e.to_string()), ..Reading::default() },
    };
    loop {
        let result = events.next_event().map_err(|e| e.to_string()).and_then(|event| {
            let Some(event) = event else { return Ok(false) };
            let event = parser.parse(event).map_err(|e| e.to_string())?;
            *reader.reading.events.entry(event.header.event_type.0).or_default() += 1;
            reader.event(&event, &parser)?;
            Ok(true)
        });
        match result {
            Ok(true) => {}
            Ok(false) => return reader.reading,
            Err(error) => {
                reader.reading.error = Some(error);
                return reader.reading;
            }
        }
    }
}

/// Where the whole collection is; `None`, with a message, if it is not there.
fn collection() -> Option<PathBuf> {
    let shared = std::env::var_os("ROWFERRY_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let folder = shared.join("binlogs");
    if folder.join("INDEX.tsv").exists() {
        return Some(folder);
    }
    eprintln!("skipped: {} is not there (ROWFERRY_SHARED)", folder.display());
    None
}

/// The type that a name in the collection's index means.
fn event_type(name: &str) -> EventType {
    match name {
        "FORMAT_DESC" => EventType::FORMAT_DESCRIPTION,
        "ANON_GTID" => EventType::ANONYMOUS_GTID,
        "GTID" => EventType::GTID,
        "PREVIOUS_GTIDS" => EventType::PREVIOUS_GTIDS,
        "QUERY" => EventType::QUERY,
        "ROTATE" => EventType::ROTATE,
        "STOP" => EventType::STOP,
        "TABLE_MAP" => EventType::TABLE_MAP,
        "WRITE_V1" => EventType::WRITE_ROWS_V1,
        "UPDATE_V1" => EventType::UPDATE_ROWS_V1,
        "DELETE_V1" => EventType::DELETE_ROWS_V1,
        "WRITE_V2" => EventType::WRITE_ROWS,
        "UPDATE_V2" => EventType::UPDATE_ROWS,
        "DELETE_V2" => EventType::DELETE_ROWS,
        "PARTIAL_UPDATE" => EventType::PARTIAL_UPDATE_ROWS,
        "TX_PAYLOAD" => EventType::TRANSACTION_PAYLOAD,
        "ROWS_QUERY" => EventType::ROWS_QUERY,
        "XID" => EventType::XID,
        "INTVAR" => EventType::INTVAR,
        "RAND" => EventType::RAND,
        "MARIA_GTID" => EventType::MARIADB_GTID,
        "MARIA_GTID_LIST" => EventType::MARIADB_GTID_LIST,
        "MARIA_CHECKPOINT" => EventType::MARIADB_BINLOG_CHECKPOINT,
        "MARIA_ANNOTATE" => EventType::MARIADB_ANNOTATE_ROWS,
        "T100" => EventType(100),
        _ => panic!("an unknown name in the index: {name}"),
    }
}

fn compare(name: &str, file: &[u8], reading: &Reading) -> usize {
    let expected = oracle::rows_of(file);
    assert_eq!(reading.rows.len(), expected.len(), "{name}: rows events");
    let mut compared = 0;
    for (i, (ours, theirs)) in reading.rows.iter().zip(expected).enumerate() {
        let theirs = match theirs {
            Ok(theirs) => theirs,
            Err(error) => {
                eprintln!("{name}: the oracle can't decode event {i}: {error}");
                continue;
            }
        };
        let Ok(ours) = ours else { continue };
        assert_eq!(ours.len(), theirs.len(), "{name}: rows of event {i}");
        for (ours, theirs) in ours.iter().zip(theirs) {
            for (ours, theirs) in [(&ours.0, theirs.0), (&ours.1, theirs.1)] {
                assert_eq!(ours.is_some(), theirs.is_some(), "{name}: images of event {i}");
                let (Some(ours), Some(theirs)) = (ours, theirs) else { continue };
                assert_eq!(ours.len(), theirs.len(), "{name}: columns of event {i}");
                for (column, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                    if theirs == Cell::Unknown {
                        continue;
                    }
                    let column_type = guess_type(ours);
                    let theirs = normal(theirs, &column_type);
                    let equal = match (ours, &theirs) {
                        (Cell::Null, Cell::Instant(_) | Cell::Null) => true,
                        (Cell::Bytes(a), Cell::Bytes(b)) => a == b || String::from_utf8_lossy(b).as_bytes() == a,
                        (a, b) => a == b,
                    };
                    assert!(equal, "{name}: column {column} of event {i}: {ours:?}, but the oracle has {theirs:?}");
                    compared += 1;
                }
            }
        }
    }
    compared
}

/// The type that decides about the oracle's form, from our own value's kind.
fn guess_type(ours: &Cell) -> ColumnType {
    let charset = || rowferry_sql::CharSet { name: "utf8mb4".into(), collation: "utf8mb4_bin".into() };
    match ours {
        Cell::Instant(_) => ColumnType::Timestamp(6),
        Cell::Int(_) => ColumnType::Set { labels: Arc::new([]), charset: charset() },
        _ => ColumnType::Json,
    }
}

/// Reads all files of a folder's index; says how many files and values there were, and what was refused.
fn check(folder: &Path) -> (usize, usize, BTreeSet<String>) {
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
    let mut refused = BTreeSet::new();
    let (mut files, mut values) = (0, 0);
    for line in index.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let (name, counts) = (fields[0], fields[7]);
        let file = std::fs::read(folder.join(name)).unwrap();
        let reading = read(&file);
        assert_eq!(reading.error, None, "{name}");
        files += 1;
        let expected: BTreeMap<_, _> = counts
            .split(',')
            .map(|c| c.split_once(':').unwrap())
            .map(|(name, n)| (event_type(name).0, n.parse::<usize>().unwrap()))
            .collect();
        assert_eq!(reading.events, expected, "{name}: events");
        for error in reading.rows.iter().filter_map(|rows| rows.as_ref().err()) {
            assert!(error.contains("binlog_row_image=FULL"), "{error}");
            refused.insert(name.to_owned());
        }
        values += compare(name, &file, &reading);
    }
    (files, values, refused)
}

/// Files with rows that were logged under another setting than `binlog_row_image=FULL`.
const PARTIAL: [&str; 2] = ["gh-ost__mysql-bin.000066", "rust_mysql_common__json.binlog.000001"];

#[test]
fn the_whole_collection_is_decoded_like_the_oracle_or_refused() {
    let Some(folder) = collection() else { return };
    let (files, values, refused) = check(&folder);
    assert_eq!(files, 40);
    assert!(values > 290_000, "{values} values were compared");
    assert_eq!(refused, PARTIAL.map(str::to_owned).into());
}

#[test]
fn the_files_that_are_kept_here_are_decoded_like_the_oracle_or_refused() {
    let (files, values, refused) = check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/binlogs"));
    assert_eq!(files, 16);
    assert!(values > 200, "{values} values were compared");
    assert_eq!(refused, PARTIAL.map(str::to_owned).into());
}

/// Expected values: what was written. `oracle` can't read these events.
#[test]
fn compressed_events_of_mariadb_are_unpacked() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/binlogs/own__mariadb-compressed.000001");
    let reading = read(&std::fs::read(file).unwrap());
    assert_eq!(reading.error, None);
    assert!(reading.events.contains_key(&EventType::MARIADB_QUERY_COMPRESSED.0));
    assert!(reading.events.contains_key(&EventType::MARIADB_WRITE_ROWS_COMPRESSED_V1.0));
    assert!(reading.events.contains_key(&EventType::MARIADB_UPDATE_ROWS_COMPRESSED_V1.0));
    let text = |t: &str| Cell::Bytes(t.as_bytes().to_vec());
    let row = |id: i128, name: String, body: Cell| Some(vec![Cell::Int(id), text(&name), body]);
    let (a, b, c) = ("a".repeat(150), "b".to_owned(), "c".repeat(100));
    let (old, new) = (text(&"body ".repeat(100)), text(&"new ".repeat(60)));
    let expected: Vec<oracle::Rows> = vec![
        vec![
            (None, row(1, a.clone(), old.clone())),
            (None, row(2, b.clone(), text("short text"))),
            (None, row(3, c.clone(), Cell::Null)),
        ],
        vec![(row(1, a.clone(), old), row(1, a, new.clone())), (row(2, b.clone(), text("short text")), row(2, b, new))],
        vec![(row(3, c, Cell::Null), None)],
    ];
    let ours: Vec<_> = reading.rows.into_iter().map(Result::unwrap).collect();
    assert_eq!(ours[..3], expected);
}
