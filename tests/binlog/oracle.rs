//! What `mysql_common`'s decoder makes of a file, in a form that can be compared.
//!
//! Known differences, where it is wrong: YEAR 0 is 1900 there; the hours of an old TIME are cut to eight bits and its
//! sign is lost; a TIMESTAMP beyond 2038 is negative. None of these is in the files.

use chrono::NaiveDate;
use mysql_common::binlog::EventStreamReader;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::{Event, EventData};
use mysql_common::binlog::row::BinlogRow;
use mysql_common::binlog::value::BinlogValue;
use mysql_common::value::Value;
use std::io::Cursor;

/// A value of the oracle.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i128),
    F32(f32),
    F64(f64),
    Bytes(Vec<u8>),
    /// Microseconds since the epoch; `None` for a date without a day.
    Instant(Option<i64>),
    Duration(i64),
    Json(serde_json::Value),
    /// The oracle can't say.
    Unknown,
}

pub(super) type Row = Vec<Cell>;

/// The rows of one event, before and after.
pub(super) type Rows = Vec<(Option<Row>, Option<Row>)>;

fn cell(value: Option<&BinlogValue<'_>>) -> Cell {
    let value = match value {
        None => return Cell::Null,
        Some(BinlogValue::Jsonb(json)) => {
            return match serde_json::Value::try_from(json.clone()) {
                Ok(json) => Cell::Json(json),
                Err(_) => Cell::Unknown,
            };
        }
        Some(BinlogValue::JsonDiff(_)) => return Cell::Unknown,
        Some(BinlogValue::Value(value)) => value,
    };
    match value {
        Value::NULL => Cell::Null,
        Value::Int(n) => Cell::Int((*n).into()),
        Value::UInt(n) => Cell::Int((*n).into()),
        Value::Float(x) => Cell::F32(*x),
        Value::Double(x) => Cell::F64(*x),
        Value::Bytes(b) => Cell::Bytes(b.clone()),
        Value::Date(y, m, d, h, min, s, us) => {
            let date = NaiveDate::from_ymd_opt((*y).into(), (*m).into(), (*d).into());
            let time = date.and_then(|d| d.and_hms_micro_opt((*h).into(), (*min).into(), (*s).into(), *us));
            Cell::Instant(time.map(|t| t.and_utc().timestamp_micros()))
        }
        Value::Time(negative, d, h, m, s, us) => {
            let seconds = i64::from(*d) * 86_400 + i64::from(*h) * 3600 + i64::from(*m) * 60 + i64::from(*s);
            let micros = seconds * 1_000_000 + i64::from(*us);
            Cell::Duration(if *negative { -micros } else { micros })
        }
    }
}

/// All rows of a file, an entry an event; an error where the oracle can't decode them.
pub(super) fn rows_of(file: &[u8]) -> Vec<Result<Rows, String>> {
    let mut input = Cursor::new(&file[4..]);
    let mut reader = EventStreamReader::new(BinlogVersion::Version4);
    let mut all = Vec::new();
    while let Some(event) = reader.read(&mut input).expect("the oracle reads the file") {
        if let Ok(Some(EventData::TransactionPayloadEvent(payload))) = event.read_data() {
            let mut inner = payload.decompressed().expect("the oracle unpacks the transaction");
            while let Some(event) = reader.read_decompressed(&mut inner).expect("the oracle reads the transaction") {
                all.extend(rows_of_event(&reader, &event));
            }
        } else {
            all.extend(rows_of_event(&reader, &event));
        }
    }
    all
}

fn rows_of_event(reader: &EventStreamReader, event: &Event) -> Option<Result<Rows, String>> {
    let Ok(Some(EventData::RowsEvent(rows))) = event.read_data() else { return None };
    let map = reader.get_tme(rows.table_id()).expect("the oracle has the table map");
    let row = |row: BinlogRow| (0..row.len()).map(|i| cell(row.as_ref(i))).collect();
    let rows = rows.rows(map).map(|r| r.map(|(before, after)| (before.map(row), after.map(row))));
    Some(rows.collect::<Result<_, _>>().map_err(|e| e.to_string()))
}
