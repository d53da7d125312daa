//! Rows of the suite for real servers: what is written in two checkpoints, and what must be read behind them.

use super::batches::{batch, checkpoint};
use crate::support::{StandIn, bytes};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, Int16Array,
    Int64Array, StringArray, TimestampMicrosecondArray,
};
use async_trait::async_trait;
use rowferry_model::RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{ChangeBatch, Changes, RowOp, TableId, TableSchema};
use rowferry_sinks::{Sink, SinkError};
use std::sync::Arc;

/// Reads a table behind the sink's back.
#[async_trait]
pub trait Reader {
    /// These columns of all rows, as text, by the first of them.
    async fn read(&mut self, table: &TableId, columns: &[String]) -> Vec<Vec<Option<String>>>;

    /// Bytes as the sink writes them.
    fn bytes(&self, bytes: &[u8]) -> String;
}

/// The stand-in's memory.
#[async_trait]
impl Reader for &StandIn {
    async fn read(&mut self, table: &TableId, columns: &[String]) -> Vec<Vec<Option<String>>> {
        let mut world = self.world();
        let there = world.columns(table.database(), table.table());
        let at = |name: &String| there.iter().position(|column| column.split(' ').next() == Some(name)).unwrap();
        let places: Vec<usize> = columns.iter().map(at).collect();
        let rows = world.rows(table.database(), table.table());
        rows.into_iter().map(|row| places.iter().map(|place| row[*place].clone()).collect()).collect()
    }

    fn bytes(&self, value: &[u8]) -> String {
        bytes(value)
    }
}

/// `SELECT` for a reader that asks a server.
pub fn select(table: &TableId, columns: &[String]) -> String {
    let list: Vec<String> = columns.iter().map(|c| format!("CAST(`{c}` AS STRING)")).collect();
    format!("SELECT {} FROM `{}`.`{}` ORDER BY `{}`", list.join(", "), table.database(), table.table(), columns[0])
}

/// The values of a row but for its key and `more`; the text is both `v` and `final`.
#[derive(Clone, Copy)]
struct Values {
    flag: bool,
    n: i64,
    d: i128,
    v: &'static str,
    s: &'static str,
    b: &'static [u8],
    day: (i32, &'static str),
    t: (i64, &'static str),
    at: (i64, &'static str),
    last: &'static str,
}

const MOST: i128 = 10_i128.pow(38) - 1;
const GREATEST: Values = Values {
    flag: true,
    n: i64::MAX,
    d: MOST,
    v: "é中😀 \"\\'",
    s: "line\nfeed, {\"a\": \"b\\c\"}\t",
    b: &[0, 255, 254, 10],
    day: (2_932_896, "9999-12-31"),
    t: (3_020_399_999_000, "838:59:59.999"),
    at: (253_402_300_799_999_999, "9999-12-31 23:59:59.999999"),
    last: "12345",
};
const LEAST: Values = Values {
    flag: false,
    n: i64::MIN,
    d: -MOST,
    v: "",
    s: " ",
    b: &[],
    day: (-719_162, "0001-01-01"),
    t: (-3_020_399_999_000, "-838:59:59.999"),
    // Before it Arrow holds no time of Doris.
    at: (28_800_000_001, "1970-01-01 08:00:00.000001"),
    last: "é",
};

type Row = (RowOp, i64, Option<Values>);

fn rows(table: &TableId, schema: &Arc<TableSchema>, rows: &[Row]) -> ChangeBatch {
    fn each<T, A: FromIterator<Option<T>> + arrow_array::Array + 'static>(
        rows: &[Row],
        value: impl Fn(&Values) -> T,
    ) -> ArrayRef {
        Arc::new(rows.iter().map(|row| row.2.as_ref().map(&value)).collect::<A>())
    }
    let columns = schema.columns.iter().map(|c| match c.name.as_str() {
        "id" => Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()) as ArrayRef,
        "more" => Arc::new(rows.iter().map(|row| i16::try_from(row.1).unwrap()).collect::<Int16Array>()),
        "flag" => each::<_, BooleanArray>(rows, |v| v.flag),
        "n" => each::<_, Int64Array>(rows, |v| v.n),
        "d" => {
            let numbers: Decimal128Array = rows.iter().map(|row| row.2.map(|v| v.d)).collect();
            Arc::new(numbers.with_precision_and_scale(38, 10).unwrap())
        }
        "v" => each::<_, StringArray>(rows, |v| v.v),
        "s" => each::<_, StringArray>(rows, |v| v.s),
        "b" => each::<_, BinaryArray>(rows, |v| v.b),
        "day" => each::<_, Date32Array>(rows, |v| v.day.0),
        "t" => each::<_, DurationMicrosecondArray>(rows, |v| v.t.0),
        "at" => each::<_, TimestampMicrosecondArray>(rows, |v| v.at.0),
        "final" => each::<_, StringArray>(rows, |v| v.last),
        other => panic!("no values for {other}"),
    });
    let ops = rows.iter().map(|row| row.0).collect();
    batch(table, schema, Changes::Mixed(ops), columns.collect())
}

/// Writes rows and commits them, then changes, deletes and moves some.
///
/// # Errors
/// No backend takes rows.
pub async fn load(sink: &mut Sink, table: &TableId, schema: &Arc<TableSchema>) -> Result<(), SinkError> {
    let first = [
        (Insert, 1, Some(GREATEST)),
        (Insert, 2, Some(LEAST)),
        (Insert, 3, None),
        (Insert, 4, Some(LEAST)),
        (Insert, 5, Some(GREATEST)),
    ];
    sink.events.write(rows(table, schema, &first)).await?;
    checkpoint(sink, 1).await?;
    let then = [
        (UpdateBefore, 3, None),
        (UpdateAfter, 3, Some(LEAST)),
        (Delete, 4, Some(LEAST)),
        (UpdateBefore, 5, Some(GREATEST)),
        (UpdateAfter, 6, None),
    ];
    sink.events.write(rows(table, schema, &then)).await?;
    checkpoint(sink, 2).await
}

/// Reads the rows back, and compares them value by value.
pub async fn compare(reader: &mut impl Reader, table: &TableId, schema: &TableSchema) {
    let names: Vec<String> = schema.columns.iter().map(|c| c.name.clone()).collect();
    let mut read = reader.read(table, &names).await;
    read.sort();
    let wanted = [(1, Some(GREATEST)), (2, Some(LEAST)), (3, Some(LEAST)), (6, None)];
    assert_eq!(read.len(), wanted.len(), "{read:?}");
    for ((key, values), row) in wanted.iter().zip(&read) {
        for (name, value) in names.iter().zip(row) {
            let text = |of: &dyn Fn(&Values) -> String| values.as_ref().map(of);
            let wanted = match name.as_str() {
                "id" | "more" => Some(key.to_string()),
                "flag" => text(&|v| u8::from(v.flag).to_string()),
                "n" => text(&|v| v.n.to_string()),
                "d" => text(&|v| {
                    let digits = v.d.unsigned_abs().to_string();
                    let (whole, fraction) = digits.split_at(digits.len() - 10);
                    format!("{}{whole}.{fraction}", if v.d < 0 { "-" } else { "" })
                }),
                "v" => text(&|v| v.v.to_owned()),
                "s" => text(&|v| v.s.to_owned()),
                "b" => text(&|v| reader.bytes(v.b)),
                "day" => text(&|v| v.day.1.to_owned()),
                "t" => text(&|v| v.t.1.to_owned()),
                "at" => text(&|v| v.at.1.to_owned()),
                "final" => text(&|v| v.last.to_owned()),
                other => panic!("no values for {other}"),
            };
            // Servers have two spellings of booleans.
            let value = match (name.as_str(), value.as_deref()) {
                ("flag", Some("true")) => Some("1"),
                ("flag", Some("false")) => Some("0"),
                (_, value) => value,
            };
            assert_eq!(value, wanted.as_deref(), "`{name}` of row {key}");
        }
    }
}
