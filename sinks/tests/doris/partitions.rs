//! Tables that Doris partitions by itself.

use crate::olap::fixture::{Fixture, add};
use crate::stand_in::Settings;
use crate::support::{StandIn, batch, checkpoint, schema, shown, sink, table};
use arrow_array::{ArrayRef, Date32Array, Int64Array, TimestampMicrosecondArray};
use rowferry_model::{Changes, Column, ColumnPosition, DataType, RowOp, SchemaChange, TableSchema};
use rowferry_sinks::Retry;
use std::sync::Arc;

const BY_MONTH: [(&str, &str); 3] = [
    ("table.create.auto-partition.properties.include", "shop.orders"),
    ("table.create.auto-partition.properties.default-partition-key", "at"),
    ("table.create.auto-partition.properties.default-partition-unit", "month"),
];
const DAY: i64 = 86_400_000_000;

/// `at` stands behind `v`, and takes NULL at the source.
fn orders() -> TableSchema {
    let columns = vec![
        Column::new("id", DataType::BigInt).not_null(),
        Column::new("v", DataType::BigInt),
        Column::new("at", DataType::Timestamp(6)),
    ];
    (*schema(columns, &["id"])).clone()
}

async fn write(f: &mut Fixture, checkpoint_id: u64, rows: &[(RowOp, i64, i64, Option<i64>)]) {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1))),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.2))),
        Arc::new(TimestampMicrosecondArray::from_iter(rows.iter().map(|r| r.3))),
    ];
    let ops = Changes::Mixed(rows.iter().map(|r| r.0).collect());
    let batch = batch(&table(), &Arc::new(f.schema.clone()), ops, columns);
    f.sink.events.write(batch).await.unwrap();
    checkpoint(&mut f.sink, checkpoint_id).await.unwrap();
}

#[tokio::test]
async fn the_column_ends_the_key_and_rows_move_between_partitions() {
    use RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
    let mut f = Fixture::with(orders(), &BY_MONTH).await;
    assert_eq!(
        f.made[1],
        "CREATE TABLE IF NOT EXISTS `shop`.`orders` (`id` BIGINT NULL, `at` DATETIMEV2(6) NOT NULL, `v` BIGINT NULL) UNIQUE \
         KEY (`id`, `at`) AUTO PARTITION BY RANGE (date_trunc(`at`, 'month'))() DISTRIBUTED BY HASH (`id`) BUCKETS AUTO"
    );
    assert!(f.sink.events.capabilities().before_images, "the source does not know that the column is of the key");
    let inserts = [
        (Insert, 1, 10, Some(0)),
        (Insert, 2, 20, None),
        (Insert, 3, 30, None),
        (Insert, 4, 40, Some(40 * DAY)),
        (Insert, 5, 50, Some(50 * DAY)),
    ];
    write(&mut f, 1, &inserts).await;
    let changes = [
        // To another partition, from none, to none, and where it was.
        (UpdateBefore, 1, 10, Some(0)),
        (UpdateAfter, 1, 11, Some(100 * DAY)),
        (UpdateBefore, 2, 20, None),
        (UpdateAfter, 2, 21, Some(200 * DAY)),
        (UpdateBefore, 4, 40, Some(40 * DAY)),
        (UpdateAfter, 4, 41, None),
        (UpdateBefore, 5, 50, Some(50 * DAY)),
        (UpdateAfter, 5, 51, Some(50 * DAY)),
        (Delete, 3, 30, None),
    ];
    write(&mut f, 2, &changes).await;
    let mut rows = shown(&f.server, &table());
    rows.sort();
    assert_eq!(
        rows,
        [
            "1|1970-04-11 00:00:00.000000|11",
            "2|1970-07-20 00:00:00.000000|21",
            "4|1970-01-01 00:00:00.000000|41",
            "5|1970-02-20 00:00:00.000000|51"
        ]
    );
}

#[tokio::test]
async fn the_table_changes_but_not_what_it_is_partitioned_by() {
    let mut f = Fixture::with(orders(), &BY_MONTH).await;
    f.apply(add(Column::new("note", DataType::Varchar(10)), ColumnPosition::Last)).await.unwrap();
    let names = vec![("at".to_owned(), "made_at".to_owned())];
    for change in [
        SchemaChange::DropColumns { table: table(), names: vec!["at".to_owned()] },
        SchemaChange::RenameColumns { table: table(), names },
    ] {
        let error = f.apply(change).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Unsupported, "{error}");
    }
    assert!(f.columns().iter().any(|c| c == "at datetime(6) not null"), "{:?}", f.columns());
}

#[tokio::test]
async fn tables_without_a_key_are_partitioned_too() {
    let columns = vec![Column::new("day", DataType::Date), Column::new("v", DataType::BigInt)];
    let by_day = [
        ("table.create.auto-partition.properties.shop.orders.partition-key", "day"),
        ("table.create.auto-partition.properties.shop.orders.partition-unit", "day"),
    ];
    let mut f = Fixture::with((*schema(columns, &[])).clone(), &by_day).await;
    assert!(f.made[1].contains("AUTO PARTITION BY RANGE (date_trunc(`day`, 'day'))() DISTRIBUTED BY RANDOM"));
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Date32Array::from(vec![Some(31), None])), Arc::new(Int64Array::from(vec![1, 2]))];
    let batch = batch(&table(), &Arc::new(f.schema.clone()), Changes::Inserts(2), columns);
    f.sink.events.write(batch).await.unwrap();
    checkpoint(&mut f.sink, 1).await.unwrap();
    let mut rows = shown(&f.server, &table());
    rows.sort();
    assert_eq!(rows, ["1970-01-01|2", "1970-02-01|1"]);
}

#[tokio::test]
async fn a_table_that_is_there_without_partitions_is_told() {
    let server = StandIn::start(Settings::default());
    let schema = Arc::new(orders());
    let create = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    sink(&server, &[]).metadata.apply(&create, Some(&schema)).await.unwrap();
    let error = sink(&server, &BY_MONTH).metadata.apply(&create, Some(&schema)).await.unwrap_err();
    assert!(error.to_string().contains("the key (id), but its rows have the key (id, at)"), "{error}");
}
