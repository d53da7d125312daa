//! Every type at its bounds, from the stream to what a query shows.

use crate::stand_in::Settings;
use crate::support::{ARROW, StandIn, batch, bytes, checkpoint, schema, shown, sink, stamp, table};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use proptest::prelude::*;
use rowferry_model::{Changes, Column, DataType, RowOp, SchemaChange, TableSchema};
use rowferry_sinks::SinkError;
use std::sync::Arc;

/// Options under which rows are loaded as JSON, and as CSV.
pub const JSON: &[(&str, &str)] = &[];
pub const CSV: &[(&str, &str)] = &[("sink.properties.format", "csv")];

fn formats() -> Vec<&'static [(&'static str, &'static str)]> {
    [JSON, CSV].into_iter().chain(ARROW).collect()
}

/// Loads one column's values behind a key in each format, which must all end alike, and gives what a query shows for each.
pub async fn round_trip(ty: DataType, values: ArrayRef) -> Result<Vec<Option<String>>, SinkError> {
    round_trip_but(ty, values, &[]).await
}

/// The same where Arrow refuses some of the rows, and takes the others.
pub async fn round_trip_but(
    ty: DataType,
    values: ArrayRef,
    refused: &[usize],
) -> Result<Vec<Option<String>>, SinkError> {
    let json = loaded(JSON, ty, Arc::clone(&values)).await;
    same(ty, &json, &loaded(CSV, ty, Arc::clone(&values)).await);
    let Some(arrow) = ARROW else { return json };
    if refused.is_empty() {
        same(ty, &json, &loaded(arrow, ty, values).await);
        return json;
    }
    let json = json?;
    for (i, shown) in json.iter().enumerate() {
        match loaded(arrow, ty, values.slice(i, 1)).await {
            Ok(one) => assert_eq!((&one[..], refused.contains(&i)), (&[shown.clone()][..], false), "{ty}"),
            Err(error) => {
                let words = error.to_string();
                assert!(refused.contains(&i), "{ty} {shown:?}: {words}");
                assert!(words.contains("`v` of shop.orders") && words.contains("\"id\":0"), "{words}");
                assert!(error.hint_text().unwrap().contains("sink.properties.format"), "{error:?}");
            }
        }
    }
    Ok(json)
}

type Shown = Result<Vec<Option<String>>, SinkError>;

fn same(ty: DataType, json: &Shown, other: &Shown) {
    match (json, other) {
        (Ok(json), Ok(other)) => assert_eq!(json, other, "{ty}"),
        (Err(json), Err(other)) => assert_eq!(json.retry(), other.retry(), "{json}, {other}"),
        _ => panic!("{ty}: {json:?}, but {other:?}"),
    }
}

/// Loads one column's values behind a key, and gives what a query shows for each.
pub async fn loaded(
    options: &[(&str, &str)],
    ty: DataType,
    values: ArrayRef,
) -> Result<Vec<Option<String>>, SinkError> {
    let server = StandIn::start(Settings::default());
    let mut sink = sink(&server, options);
    sink.events.recover(None).await?;
    let schema = schema(vec![Column::new("v", ty), Column::new("id", DataType::Int).not_null()], &["id"]);
    let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    sink.metadata.apply(&change, Some(&schema)).await?;
    let n = values.len();
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..i32::try_from(n).unwrap()));
    sink.events.check(&table(), &schema)?;
    sink.events.write(batch(&table(), &schema, Changes::Inserts(n), vec![values, ids])).await?;
    checkpoint(&mut sink, 1).await?;
    // The key is text there: `10` sorts before `2`.
    let mut rows = server.world().rows("shop", "orders");
    rows.sort_by_key(|r| r[0].as_ref().unwrap().parse::<i32>().unwrap());
    Ok(rows.into_iter().map(|mut r| r.swap_remove(1)).collect())
}

pub fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|t| if *t == "NULL" { None } else { Some((*t).to_owned()) }).collect()
}

#[tokio::test]
async fn numbers() {
    let cases: Vec<(DataType, ArrayRef, Vec<Option<String>>)> = vec![
        (
            DataType::Boolean,
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
            some(&["1", "0", "NULL"]),
        ),
        (
            DataType::TinyInt,
            Arc::new(Int8Array::from(vec![Some(i8::MIN), Some(i8::MAX), None])),
            some(&["-128", "127", "NULL"]),
        ),
        (DataType::SmallInt, Arc::new(Int16Array::from(vec![i16::MIN, i16::MAX])), some(&["-32768", "32767"])),
        (
            DataType::Int,
            Arc::new(Int32Array::from(vec![i32::MIN, 0, i32::MAX])),
            some(&["-2147483648", "0", "2147483647"]),
        ),
        (
            DataType::BigInt,
            Arc::new(Int64Array::from(vec![i64::MIN, i64::MAX, 10, 99, 100])),
            some(&["-9223372036854775808", "9223372036854775807", "10", "99", "100"]),
        ),
        (
            DataType::Float,
            Arc::new(Float32Array::from(vec![0.1, -0.0, 3.402_823_5e38, 1e-45])),
            some(&[
                "0.1",
                "0",
                "340282350000000000000000000000000000000",
                "0.000000000000000000000000000000000000000000001",
            ]),
        ),
        (
            DataType::Double,
            Arc::new(Float64Array::from(vec![0.1, 1e22, 123_456_789.125])),
            some(&["0.1", "10000000000000000000000", "123456789.125"]),
        ),
    ];
    for (ty, values, wanted) in cases {
        assert_eq!(round_trip(ty, values).await.unwrap(), wanted, "{ty}");
    }
}

#[tokio::test]
async fn decimals_are_exact() {
    let big = "9".repeat(38).parse::<i128>().unwrap();
    for (precision, scale, values, wanted) in [
        (20, 0, vec![18_446_744_073_709_551_615, 0], vec!["18446744073709551615".to_owned(), "0".to_owned()]),
        (38, 0, vec![big, -big], vec!["9".repeat(38), format!("-{}", "9".repeat(38))]),
        (38, 38, vec![big, -1], vec![format!("0.{}", "9".repeat(38)), format!("-0.{}1", "0".repeat(37))]),
        (
            38,
            18,
            vec![big, 1_000_000_000_000_000_000],
            vec![format!("{}.{}", "9".repeat(20), "9".repeat(18)), format!("1.{}", "0".repeat(18))],
        ),
        (5, 2, vec![99_999, -5, 10], vec!["999.99".to_owned(), "-0.05".to_owned(), "0.10".to_owned()]),
    ] {
        let array = Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap();
        let ty = DataType::Decimal { precision, scale: u8::try_from(scale).unwrap() };
        let shown: Vec<String> = round_trip(ty, Arc::new(array)).await.unwrap().into_iter().flatten().collect();
        assert_eq!(shown, wanted, "{ty}");
    }
}

#[tokio::test]
async fn text_and_bytes() {
    let texts = ["", "a\"b\\c", "line\nfeed\ttab\r", "\u{1}\u{1f}\u{7f}", "中文😀", "null", "\\N", "{\"a\":1}"];
    let shown = loaded(JSON, DataType::Varchar(20), Arc::new(StringArray::from(texts.to_vec()))).await.unwrap();
    assert_eq!(shown, some_text(&texts));
    let (in_csv, not_in_csv): (Vec<_>, Vec<_>) = texts.iter().partition(|t| **t != "\\N" && !t.contains('\u{1}'));
    let shown = loaded(CSV, DataType::Varchar(20), Arc::new(StringArray::from(in_csv.clone()))).await.unwrap();
    assert_eq!(shown, some_text(&in_csv));
    assert_eq!(not_in_csv.len(), 2);
    for text in not_in_csv {
        let values = Arc::new(StringArray::from(vec!["ok", text]));
        let error = loaded(CSV, DataType::Varchar(20), values).await.unwrap_err();
        let words = error.to_string();
        assert!(words.contains("`v` of shop.orders") && words.contains("\"id\":1"), "{words}");
        assert!(error.hint_text().unwrap().contains("sink.properties.format"), "{error:?}");
    }
    let values: Vec<Option<&[u8]>> = vec![Some(b""), Some(b"\x00\xff\x80"), None, Some(b"abcd")];
    let shown = round_trip(DataType::Bytes, Arc::new(BinaryArray::from(values.clone()))).await.unwrap();
    assert_eq!(shown, values.iter().map(|v| v.map(bytes)).collect::<Vec<_>>());
}

#[tokio::test]
async fn four_bytes_a_character_fit_and_more_is_refused_with_its_key() {
    let full = "😀".repeat(20);
    assert_eq!(
        round_trip(DataType::Varchar(20), Arc::new(StringArray::from(vec![full.as_str()]))).await.unwrap(),
        [Some(full.clone())]
    );
    let long = "x".repeat(81);
    let error =
        round_trip(DataType::Varchar(20), Arc::new(StringArray::from(vec!["ok", long.as_str()]))).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`v` of shop.orders") && text.contains("\"id\":1") && text.contains("81 bytes"), "{text}");
}

#[tokio::test]
async fn days_and_times() {
    let days = Date32Array::from(vec![0, -719_528, 2_932_896, 19_782, -1]);
    assert_eq!(
        round_trip_but(DataType::Date, Arc::new(days), &[1]).await.unwrap(),
        some(&["1970-01-01", "0000-01-01", "9999-12-31", "2024-02-29", "1969-12-31"])
    );
    let times = DurationMicrosecondArray::from(vec![0, 86_399_999_999, -3_020_399_000_000, 3_020_399_000_000]);
    assert_eq!(
        round_trip(DataType::Time(6), Arc::new(times)).await.unwrap(),
        some(&["00:00:00.000000", "23:59:59.999999", "-838:59:59.000000", "838:59:59.000000"])
    );
    let times = DurationMicrosecondArray::from(vec![3_661_000_000, -1_000_000]);
    assert_eq!(round_trip(DataType::Time(0), Arc::new(times)).await.unwrap(), some(&["01:01:01", "-00:00:01"]));
    let stamps = TimestampMicrosecondArray::from(vec![0, 1, 253_402_300_799_999_999, -62_135_596_800_000_000]);
    assert_eq!(
        round_trip_but(DataType::Timestamp(6), Arc::new(stamps), &[0, 1, 3]).await.unwrap(),
        [
            "1970-01-01 00:00:00.000000",
            "1970-01-01 00:00:00.000001",
            "9999-12-31 23:59:59.999999",
            "0001-01-01 00:00:00.000000"
        ]
        .map(|text| Some(stamp(text)))
    );
    // The context's zone is +08:00.
    let instants = TimestampMicrosecondArray::from(vec![0, 1_500_000]).with_timezone("UTC");
    assert_eq!(
        round_trip(DataType::TimestampLtz(6), Arc::new(instants)).await.unwrap(),
        ["1970-01-01 08:00:00.000000", "1970-01-01 08:00:01.500000"].map(|text| Some(stamp(text)))
    );
    let error = round_trip(DataType::Date, Arc::new(Date32Array::from(vec![2_932_897]))).await.unwrap_err();
    assert!(error.to_string().contains("outside the years 0 to 9999"), "{error}");
}

/// Key types that a server refuses are mapped to those that it takes.
#[tokio::test]
async fn keys_of_every_type() {
    let mut binary = [format!("{}|a", bytes(b"\x00\x01")), format!("{}|a", bytes(b"\xff\xfe"))];
    binary.sort();
    let cases: Vec<(DataType, ArrayRef, Vec<&str>)> = vec![
        (
            DataType::Decimal { precision: 20, scale: 0 },
            Arc::new(
                Decimal128Array::from(vec![18_446_744_073_709_551_615, 1]).with_precision_and_scale(20, 0).unwrap(),
            ),
            vec!["1|a", "18446744073709551615|a"],
        ),
        (
            DataType::Decimal { precision: 5, scale: 2 },
            Arc::new(Decimal128Array::from(vec![-99_999, 1]).with_precision_and_scale(5, 2).unwrap()),
            vec!["-999.99|a", "0.01|a"],
        ),
        (
            DataType::Binary(2),
            Arc::new(BinaryArray::from(vec![b"\x00\x01".as_slice(), b"\xff\xfe"])),
            binary.iter().map(String::as_str).collect(),
        ),
        (DataType::Char(3), Arc::new(StringArray::from(vec!["b", "A"])), vec!["A|a", "b|a"]),
        (DataType::Double, Arc::new(Float64Array::from(vec![1.5, -0.0])), vec!["0|a", "1.5|a"]),
        (DataType::Date, Arc::new(Date32Array::from(vec![0, 1])), vec!["1970-01-01|a", "1970-01-02|a"]),
        (DataType::Boolean, Arc::new(BooleanArray::from(vec![true, false])), vec!["0|a", "1|a"]),
        (
            DataType::Time(0),
            Arc::new(DurationMicrosecondArray::from(vec![0, -3_020_399_000_000])),
            vec!["-838:59:59|a", "00:00:00|a"],
        ),
    ];
    for ((ty, keys, wanted), options) in
        cases.into_iter().flat_map(|case| formats().into_iter().map(move |o| (case.clone(), o)))
    {
        let server = StandIn::start(Settings::default());
        let mut sink = sink(&server, options);
        sink.events.recover(None).await.unwrap();
        let schema = schema(vec![Column::new("n", DataType::Varchar(5)), Column::new("k", ty).not_null()], &["k"]);
        let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
        sink.metadata.apply(&change, Some(&schema)).await.unwrap();
        let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "a"]));
        sink.events.write(batch(&table(), &schema, Changes::Inserts(2), vec![names, Arc::clone(&keys)])).await.unwrap();
        checkpoint(&mut sink, 1).await.unwrap();
        assert_eq!(shown(&server, &table()), wanted, "{ty}");
        // The same keys again, to be deleted: without the other values, as a minimal row image gives them.
        let names: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>, None]));
        sink.events
            .write(batch(&table(), &schema, Changes::Mixed(vec![RowOp::Delete; 2]), vec![names, keys]))
            .await
            .unwrap();
        checkpoint(&mut sink, 2).await.unwrap();
        assert!(shown(&server, &table()).is_empty(), "{ty}");
    }
}

/// A minimal row image leaves out what the target must not leave out.
#[tokio::test]
async fn deletions_need_the_key_only() {
    for options in formats() {
        deletion_by_key(options).await;
    }
}

async fn deletion_by_key(options: &[(&str, &str)]) {
    let server = StandIn::start(Settings::default());
    let mut sink = sink(&server, options);
    sink.events.recover(None).await.unwrap();
    let types = [
        DataType::Boolean,
        DataType::BigInt,
        DataType::Double,
        DataType::Decimal { precision: 10, scale: 2 },
        DataType::Varchar(5),
        DataType::Bytes,
        DataType::Date,
        DataType::Timestamp(6),
        DataType::Time(3),
    ];
    let mut columns = vec![Column::new("id", DataType::Int).not_null()];
    columns.extend(types.iter().enumerate().map(|(i, t)| Column::new(format!("c{i}"), *t).not_null()));
    let schema: Arc<TableSchema> = schema(columns, &["id"]);
    let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    sink.metadata.apply(&change, Some(&schema)).await.unwrap();
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1]))];
    arrays.extend(types.iter().map(|t| arrow_array::new_null_array(&t.arrow(), 1)));
    sink.events.write(batch(&table(), &schema, Changes::Mixed(vec![RowOp::Delete]), arrays)).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn any_text_and_any_bytes_survive(
        texts in proptest::collection::vec(".{0,40}", 1..20),
        binary in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..20),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
            let shown = loaded(JSON, DataType::Varchar(40), Arc::new(StringArray::from(refs.clone()))).await.unwrap();
            assert_eq!(shown, some_text(&refs));
            let csv = loaded(CSV, DataType::Varchar(40), Arc::new(StringArray::from(refs.clone()))).await;
            let refused = refs.iter().any(|t| *t == "\\N" || t.contains(['\u{1}', '\u{2}']));
            assert_eq!(csv.as_ref().ok(), (!refused).then(|| some_text(&refs)).as_ref(), "{csv:?}");
            if let Some(arrow) = ARROW {
                let same = loaded(arrow, DataType::Varchar(40), Arc::new(StringArray::from(refs.clone()))).await;
                assert_eq!(same.unwrap(), shown);
            }
            let refs: Vec<&[u8]> = binary.iter().map(Vec::as_slice).collect();
            let shown = round_trip(DataType::Varbinary(40), Arc::new(BinaryArray::from(refs.clone()))).await.unwrap();
            let wanted: Vec<Option<String>> = refs.iter().map(|b| Some(bytes(b))).collect();
            assert_eq!(shown, wanted);
        });
    }
}

fn some_text(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|t| Some((*t).to_owned())).collect()
}
