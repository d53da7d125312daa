//! Batches with limits, resuming within an event, and what goes wrong; with images made by hand.

use super::table_of_map::table_of_map;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use rowferry::mysql::binlog::{
    BatchLimits, BeforeImages, DecodeError, DecodeOptions, JsonStyle, RowImages, RowPlan, RowsDecoder, RowsKind,
    TableMap, TextDecoder, TextPlan, WireColumn, WireType,
};
use rowferry_model::{Changes, RowOp};
use rowferry_sql::{MappingOptions, TableDef};
use std::sync::Arc;

fn map(types: &[WireType]) -> TableMap {
    let column = |wire_type| WireColumn {
        wire_type,
        nullable: true,
        unsigned: None,
        collation: None,
        name: None,
        labels: None,
        visible: None,
        geometry_type: None,
        dimensions: None,
    };
    TableMap {
        table_id: 1,
        database: "d".into(),
        table: "t".into(),
        columns: types.iter().copied().map(column).collect(),
        primary_key: None,
    }
}

fn plan(table: &TableDef, types: &[WireType], before_images: BeforeImages) -> Arc<RowPlan> {
    let schema = Arc::new(table.to_schema(&MappingOptions::default()).unwrap());
    RowPlan::new(&map(types), table, &schema, DecodeOptions { json: JsonStyle::Server, before_images }).unwrap()
}

/// A key and a number.
fn two_ints(before_images: BeforeImages) -> Arc<RowPlan> {
    let types = [WireType::Long, WireType::Long];
    let mut table = table_of_map(&map(&types));
    table.primary_key = vec!["c0".into()];
    plan(&table, &types, before_images)
}

fn image(id: i32, value: Option<i32>) -> Vec<u8> {
    let mut bytes = vec![if value.is_none() { 0b10 } else { 0 }];
    bytes.extend(id.to_le_bytes());
    bytes.extend(value.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

fn images(kind: RowsKind, bytes: &[u8]) -> RowImages<'_> {
    RowImages { kind, columns: 2, present: &[0b11], present_after: &[0b11], bytes }
}

#[test]
fn a_full_batch_stops_and_goes_on_where_it_stopped() {
    let bytes: Vec<u8> = (0..10).flat_map(|i| image(i, (i != 4).then_some(i * i))).collect();
    let images = images(RowsKind::Insert, &bytes);
    let mut decoder = RowsDecoder::new(two_ints(BeforeImages::All));
    let limits = BatchLimits { rows: 4, bytes: usize::MAX };
    let (mut from, mut sizes, mut values) = (0, vec![], vec![]);
    while from < bytes.len() {
        let progress = decoder.decode(&images, from, &limits).unwrap();
        from = progress.next;
        let (changes, batch) = decoder.finish().unwrap();
        assert_eq!(changes, Changes::Inserts(progress.changes));
        sizes.push(batch.num_rows());
        values.extend(batch.column(1).as_primitive::<Int32Type>().iter());
    }
    assert_eq!(sizes, [4, 4, 2]);
    let expected: Vec<_> = (0..10).map(|i| (i != 4).then_some(i * i)).collect();
    assert_eq!(values, expected);
    // By bytes: nine a row.
    let progress = decoder.decode(&images, 0, &BatchLimits { rows: usize::MAX, bytes: 10 }).unwrap();
    assert_eq!((progress.changes, progress.next, decoder.batch().bytes()), (2, 18, 18));
}

#[test]
fn rows_that_were_taken_before_are_passed_over() {
    let bytes: Vec<u8> = (0..5).flat_map(|i| [image(i, Some(i)), image(i, None)].concat()).collect();
    let images = images(RowsKind::Update, &bytes);
    let mut decoder = RowsDecoder::new(two_ints(BeforeImages::KeyChanges));
    let skipped = decoder.skip(&images, 0, 3).unwrap();
    assert_eq!(skipped.changes, 3);
    let progress = decoder.decode(&images, skipped.next, &BatchLimits::NONE).unwrap();
    assert_eq!((progress.changes, progress.next), (2, bytes.len()));
    let (changes, batch) = decoder.finish().unwrap();
    assert_eq!(changes, Changes::Inserts(2));
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[3, 4]);
    assert_eq!(decoder.skip(&images, 0, 100).unwrap().changes, 5);
}

#[test]
fn a_table_without_a_key_has_pairs_under_either_option() {
    let types = [WireType::Long, WireType::Long];
    let bytes = [image(1, Some(1)), image(2, None)].concat();
    for before_images in [BeforeImages::All, BeforeImages::KeyChanges] {
        let mut decoder = RowsDecoder::new(plan(&table_of_map(&map(&types)), &types, before_images));
        decoder.decode(&images(RowsKind::Update, &bytes), 0, &BatchLimits::NONE).unwrap();
        let (changes, _) = decoder.finish().unwrap();
        assert_eq!(changes, Changes::Mixed(vec![RowOp::UpdateBefore, RowOp::UpdateAfter]));
    }
}

#[test]
fn a_row_that_is_cut_off_spoils_its_batch() {
    let bytes = [image(1, Some(1)), image(2, Some(2))].concat();
    let mut decoder = RowsDecoder::new(two_ints(BeforeImages::All));
    let cut = images(RowsKind::Insert, &bytes[..bytes.len() - 1]);
    let error = decoder.decode(&cut, 0, &BatchLimits::NONE).unwrap_err();
    assert!(matches!(&error, DecodeError::Column { column, .. } if column == "c1"), "{error}");
    assert!(matches!(decoder.finish(), Err(DecodeError::Broken)));
}

#[test]
fn rows_without_all_columns_are_refused_with_their_names() {
    let mut decoder = RowsDecoder::new(two_ints(BeforeImages::All));
    let bytes = image(1, None);
    let partial = RowImages { present: &[0b01], ..images(RowsKind::Delete, &bytes) };
    let error = decoder.decode(&partial, 0, &BatchLimits::NONE).unwrap_err().to_string();
    assert!(error.contains("`c1`") && error.contains("binlog_row_image=FULL"), "{error}");
    let wrong = RowImages { columns: 3, ..images(RowsKind::Insert, &bytes) };
    assert!(matches!(decoder.decode(&wrong, 0, &BatchLimits::NONE), Err(DecodeError::ColumnCount { got: 3, want: 2 })));
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_counted() {
    let types = [WireType::Varchar(40)];
    let mut decoder = RowsDecoder::new(plan(&table_of_map(&map(&types)), &types, BeforeImages::All));
    // One character split between two values looks whole when they stand together.
    let bytes = [&[0, 2][..], b"a\xc3", &[0, 2], b"\xa9b", &[0, 2], "é".as_bytes()].concat();
    let images = RowImages { kind: RowsKind::Insert, columns: 1, present: &[1], present_after: &[], bytes: &bytes };
    decoder.decode(&images, 0, &BatchLimits::NONE).unwrap();
    let (_, batch) = decoder.finish().unwrap();
    let texts: Vec<_> = batch.column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(texts, ["a\u{fffd}", "\u{fffd}b", "é"]);
    assert_eq!(decoder.stats().invalid_texts, 2);
}

#[test]
fn text_rows_with_too_few_or_many_values_are_refused() {
    let types = [WireType::Long, WireType::Long];
    let table = table_of_map(&map(&types));
    let schema = Arc::new(table.to_schema(&MappingOptions::default()).unwrap());
    let plan = Arc::new(TextPlan::new("d.t", &table, &schema, JsonStyle::Server).unwrap());
    assert_eq!(plan.select_list(), ["`c0`", "`c1`"]);
    let decode = |row: &[u8]| {
        let mut decoder = TextDecoder::new(Arc::clone(&plan));
        decoder.decode(row).and_then(|()| decoder.finish())
    };
    let (changes, batch) = decode(b"\x03-12\xfb").unwrap();
    assert_eq!(changes, Changes::Inserts(1));
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[-12]);
    assert!(matches!(decode(b"\x011"), Err(DecodeError::ValueCount { want: 2 })));
    assert!(matches!(decode(b"\x011\x012\xfb"), Err(DecodeError::ValueCount { want: 2 })));
    let error = decode(b"\x011\x0a2147483648").unwrap_err().to_string();
    assert!(error.contains("`c1`") && error.contains("range"), "{error}");
}
