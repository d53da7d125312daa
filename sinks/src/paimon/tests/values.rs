//! Values at their boundaries, read back by Apache's Python implementation.

use super::{Warehouse, checkpoint, create, inserts, schema};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use rowferry_model::{Column, DataType, TableId};
use serde_json::{Value, json};
use std::sync::Arc;

/// 1000-01-01 00:00:00 and 9999-12-31 23:59:59.999999, the ends of MySQL's DATETIME, in microseconds.
const FIRST: i64 = -30_610_224_000_000_000;
const LAST: i64 = 253_402_300_799_999_999;

struct Case {
    name: &'static str,
    data_type: DataType,
    /// The least value, the greatest value, NULL.
    values: ArrayRef,
    expected: [Value; 2],
}

fn case(
    name: &'static str,
    data_type: DataType,
    values: impl arrow_array::Array + 'static,
    expected: [Value; 2],
) -> Case {
    Case { name, data_type, values: Arc::new(values), expected }
}

fn decimal(values: [i128; 2], precision: u8, scale: i8) -> Decimal128Array {
    Decimal128Array::from(vec![Some(values[0]), Some(values[1]), None])
        .with_precision_and_scale(precision, scale)
        .unwrap()
}

fn micros(values: [i64; 2]) -> TimestampMicrosecondArray {
    TimestampMicrosecondArray::from(vec![Some(values[0]), Some(values[1]), None])
}

fn cases() -> Vec<Case> {
    use DataType::{
        BigInt, Binary, Boolean, Bytes, Char, Date, Decimal, Double, Float, Int, SmallInt, String, Time, Timestamp,
        TimestampLtz, TinyInt, Varbinary, Varchar,
    };
    let nines = 10_i128.pow(38) - 1;
    let seconds = |v: i64| v.div_euclid(1_000_000) * 1_000_000;
    let millis = |v: i64| v.div_euclid(1000) * 1000;
    vec![
        case("bo", Boolean, BooleanArray::from(vec![Some(false), Some(true), None]), [json!(false), json!(true)]),
        case("ti", TinyInt, Int8Array::from(vec![Some(-128), Some(127), None]), [json!(-128), json!(127)]),
        case("si", SmallInt, Int16Array::from(vec![Some(-32768), Some(32767), None]), [json!(-32768), json!(32767)]),
        case(
            "i",
            Int,
            Int32Array::from(vec![Some(i32::MIN), Some(i32::MAX), None]),
            [json!(i32::MIN), json!(i32::MAX)],
        ),
        case(
            "bi",
            BigInt,
            Int64Array::from(vec![Some(i64::MIN), Some(i64::MAX), None]),
            [json!(i64::MIN), json!(i64::MAX)],
        ),
        case("f", Float, Float32Array::from(vec![Some(-1.5), Some(0.25), None]), [json!(-1.5), json!(0.25)]),
        case("d", Double, Float64Array::from(vec![Some(f64::MIN), Some(0.1), None]), [json!(f64::MIN), json!(0.1)]),
        case(
            "u64",
            Decimal { precision: 20, scale: 0 },
            decimal([0, 18_446_744_073_709_551_615], 20, 0),
            [json!("0"), json!("18446744073709551615")],
        ),
        case(
            "dec",
            Decimal { precision: 38, scale: 10 },
            decimal([-nines, nines], 38, 10),
            [json!("-9999999999999999999999999999.9999999999"), json!("9999999999999999999999999999.9999999999")],
        ),
        case(
            "small",
            Decimal { precision: 5, scale: 5 },
            decimal([-1, 99_999], 5, 5),
            [json!("-0.00001"), json!("0.99999")],
        ),
        case(
            "c",
            Char(10),
            StringArray::from(vec![Some(""), Some("abcdefghij"), None]),
            [json!(""), json!("abcdefghij")],
        ),
        case(
            "vc",
            Varchar(3),
            StringArray::from(vec![Some("  "), Some("你好😀"), None]),
            [json!("  "), json!("你好😀")],
        ),
        case(
            "s",
            String,
            StringArray::from(vec![Some("\u{0}\n"), Some("ÿ\u{10ffff}"), None]),
            [json!("\u{0}\n"), json!("ÿ\u{10ffff}")],
        ),
        case(
            "bn",
            Binary(4),
            BinaryArray::from(vec![Some(&b"\0\0\0\0"[..]), Some(b"\xff\x00\xff\x00"), None]),
            [json!("00000000"), json!("ff00ff00")],
        ),
        case(
            "vb",
            Varbinary(8),
            BinaryArray::from(vec![Some(&b""[..]), Some(b"\xca\xfe"), None]),
            [json!(""), json!("cafe")],
        ),
        case("by", Bytes, BinaryArray::from(vec![Some(&b""[..]), Some(b"\x00\xff"), None]), [json!(""), json!("00ff")]),
        case(
            "da",
            Date,
            Date32Array::from(vec![Some(-354_285), Some(2_932_896), None]),
            [json!("1000-01-01"), json!("9999-12-31")],
        ),
        case(
            "t0",
            Time(0),
            DurationMicrosecondArray::from(vec![Some(0), Some(86_399_000_000), None]),
            [json!("00:00:00"), json!("23:59:59")],
        ),
        case(
            "t3",
            Time(3),
            DurationMicrosecondArray::from(vec![Some(1000), Some(86_399_999_000), None]),
            [json!("00:00:00.001000"), json!("23:59:59.999000")],
        ),
        case(
            "ts0",
            Timestamp(0),
            micros([FIRST, seconds(LAST)]),
            [json!("1000-01-01T00:00:00"), json!("9999-12-31T23:59:59")],
        ),
        case(
            "ts3",
            Timestamp(3),
            micros([FIRST, millis(LAST)]),
            [json!("1000-01-01T00:00:00"), json!("9999-12-31T23:59:59.999000")],
        ),
        case(
            "ts6",
            Timestamp(6),
            micros([FIRST, LAST]),
            [json!("1000-01-01T00:00:00"), json!("9999-12-31T23:59:59.999999")],
        ),
        case(
            "ltz0",
            TimestampLtz(0),
            micros([1_000_000, 2_147_483_647_000_000]).with_timezone("UTC"),
            [json!("1970-01-01T00:00:01+00:00"), json!("2038-01-19T03:14:07+00:00")],
        ),
        case(
            "ltz6",
            TimestampLtz(6),
            micros([1_000_001, 2_147_483_647_999_999]).with_timezone("UTC"),
            [json!("1970-01-01T00:00:01.000001+00:00"), json!("2038-01-19T03:14:07.999999+00:00")],
        ),
    ]
}

async fn round_trip(warehouse: &Warehouse, table: &TableId, key: &[&str]) {
    let cases = cases();
    let mut columns = vec![Column::new("id", DataType::Int).not_null()];
    columns.extend(cases.iter().map(|c| Column::new(c.name, c.data_type)));
    let schema = schema(columns, key);
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1, 2, 3]))];
    arrays.extend(cases.iter().map(|c| Arc::clone(&c.values)));
    let mut sink = warehouse.sink();
    create(&mut sink, table, &schema).await;
    sink.events.write(inserts(table, &schema, arrays)).await.unwrap();
    checkpoint(&mut sink, 1).await;
    let Some(rows) = warehouse.python_rows(table) else { return };
    assert_eq!(rows.len(), 3);
    for case in &cases {
        // Numbers are compared as numbers: JSON has several spellings of one.
        let same = |have: &Value, want: &Value| match (have.as_f64(), want.as_f64()) {
            (Some(have), Some(want)) if want.fract() != 0.0 || want.abs() > 1e18 => have == want,
            _ => have == want,
        };
        for (row, want) in rows.iter().zip([&case.expected[0], &case.expected[1], &Value::Null]) {
            assert!(same(&row[case.name], want), "{}: {} where {want} was expected", case.name, row[case.name]);
        }
    }
}

#[tokio::test]
async fn every_type_comes_back_from_a_table_with_a_key() {
    round_trip(&Warehouse::new(&[("table.properties.bucket", "1")]), &TableId::new("types", "keyed"), &["id"]).await;
}

#[tokio::test]
async fn every_type_comes_back_from_a_table_without_a_key() {
    round_trip(&Warehouse::new(&[]), &TableId::new("types", "appended"), &[]).await;
}

#[tokio::test]
async fn a_time_that_paimon_can_not_hold_is_refused_with_its_key_and_the_way_out() {
    let table = TableId::new("types", "times");
    let schema =
        schema(vec![Column::new("id", DataType::Int).not_null(), Column::new("t", DataType::Time(6))], &["id"]);
    for (micros, text) in [
        (-1_000_000, "-00:00:01"),
        (86_400_000_000, "24:00:00"),
        (3_020_399_000_000, "838:59:59"),
        (1, "00:00:00.000001"),
    ] {
        let warehouse = Warehouse::new(&[]);
        let mut sink = warehouse.sink();
        create(&mut sink, &table, &schema).await;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(vec![7, 8])),
            Arc::new(DurationMicrosecondArray::from(vec![None, Some(micros)])),
        ];
        let error = sink.events.write(inserts(&table, &schema, columns)).await.unwrap_err();
        let message = error.to_string();
        for part in ["`t`", "types.times", "id=8", text] {
            assert!(message.contains(part), "{part} is missing in: {message}");
        }
        assert!(error.hint_text().unwrap().contains("rowferry.time-type"));
    }
}

#[tokio::test]
async fn times_as_text_hold_every_time() {
    let warehouse = Warehouse::new(&[("rowferry.time-type", "string")]);
    let table = TableId::new("types", "times");
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        Column::new("t0", DataType::Time(0)),
        Column::new("t6", DataType::Time(6)),
    ];
    let schema = schema(columns, &["id"]);
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2, 3])),
        Arc::new(DurationMicrosecondArray::from(vec![Some(-3_020_399_000_000), Some(43_200_000_000), None])),
        Arc::new(DurationMicrosecondArray::from(vec![Some(-1), Some(3_020_399_999_999), Some(0)])),
    ];
    sink.events.write(inserts(&table, &schema, arrays)).await.unwrap();
    checkpoint(&mut sink, 1).await;
    assert_eq!(
        warehouse.rows(&table).await,
        ["1, -838:59:59, -00:00:00.000001", "2, 12:00:00, 838:59:59.999999", "3, null, 00:00:00.000000"]
    );
}

#[tokio::test]
async fn null_in_a_column_that_refuses_it_names_table_column_and_key() {
    let warehouse = Warehouse::new(&[]);
    let table = TableId::new("types", "nulls");
    let columns = vec![Column::new("id", DataType::Int).not_null(), Column::new("v", DataType::Int).not_null()];
    let schema = schema(columns, &["id"]);
    let mut sink = warehouse.sink();
    create(&mut sink, &table, &schema).await;
    let arrays: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![1, 2])), Arc::new(Int32Array::from(vec![Some(1), None]))];
    let message = sink.events.write(inserts(&table, &schema, arrays)).await.unwrap_err().to_string();
    assert!(message.contains("`v`") && message.contains("types.nulls") && message.contains("id=2"), "{message}");
}

#[test]
fn types_and_names_that_paimon_has_not_are_refused_at_start() {
    let warehouse = Warehouse::new(&[]);
    let sink = warehouse.sink();
    let table = TableId::new("d", "t");
    for data_type in
        [DataType::Varchar(0), DataType::Char(0), DataType::Char(256), DataType::Binary(0), DataType::Varbinary(0)]
    {
        let schema = schema(vec![Column::new("bad", data_type)], &[]);
        let error = sink.events.check(&table, &schema).unwrap_err();
        assert!(error.to_string().contains("`bad`") && error.to_string().contains("d.t"), "{error}");
        assert!(error.hint_text().is_some());
    }
    let fine = schema(vec![Column::new("id", DataType::Int)], &[]);
    for (database, name) in [("d", "a$b"), ("d", "a/b"), ("..", "t"), ("d", " ")] {
        assert!(sink.events.check(&TableId::new(database, name), &fine).is_err(), "{database}.{name}");
    }
    let reserved = schema(vec![Column::new("_KEY_x", DataType::Int)], &[]);
    assert!(sink.events.check(&table, &reserved).is_err());
    assert!(sink.events.check(&table, &fine).is_ok());
}
