//! Loads as Arrow: what is the same as with JSON, what is refused, and what a change of the table or another server does.

use crate::olap::delivery::{Pipeline, start};
use crate::olap::values::{loaded, round_trip_but};
use crate::stand_in::{FaultAction, Gate, Settings, Ty, When};
use crate::support::{
    AS_ARROW, EXACTLY_ONCE, QUICK, STEPS, StandIn, batch, checkpoint, create, rows, schema, shown, simple_schema, sink,
    table,
};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Int8Array, Int16Array, Int32Array, Int64Array,
    StringArray, TimestampMicrosecondArray,
};
use rowferry_model::RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{Changes, Column, DataType, RowOp, SchemaChange, TableId, TableSchema};
use rowferry_sinks::{Retry, Sink, SinkError};
use std::sync::Arc;
use std::time::Duration;

const EXACTLY: [(&str, &str); 3] = [EXACTLY_ONCE[0], EXACTLY_ONCE[1], AS_ARROW];
const CHECK: &str = "rowferry_arrow_check_0123456789abcdef0123456789abcdef";
/// 1970-01-01 08:00:00, the first wall time that can be sent.
const FIRST: i64 = 28_800_000_000;

fn decimals(precision: u8, scale: i8, values: Vec<i128>) -> ArrayRef {
    Arc::new(Decimal128Array::from(values).with_precision_and_scale(precision, scale).unwrap())
}

#[tokio::test]
async fn the_first_moment_and_the_first_day_that_can_be_sent() {
    let stamps = TimestampMicrosecondArray::from(vec![FIRST, FIRST - 1, -1, FIRST + 1]);
    round_trip_but(DataType::Timestamp(6), Arc::new(stamps), &[1, 2]).await.unwrap();
    // The pipeline's zone is +08:00, so that an instant is what it is.
    let instants = TimestampMicrosecondArray::from(vec![0, -1]).with_timezone("UTC");
    round_trip_but(DataType::TimestampLtz(6), Arc::new(instants), &[1]).await.unwrap();
    let days = Date32Array::from(vec![-719_162, -719_163, -719_528]);
    round_trip_but(DataType::Date, Arc::new(days), &[1, 2]).await.unwrap();
}

/// One column `v` of a table whose column has another type than the sink gives.
async fn into(
    options: &[(&str, &str)],
    target: &Ty,
    ty: DataType,
    values: ArrayRef,
) -> Result<Vec<Option<String>>, SinkError> {
    let server = StandIn::start(Settings::default());
    let mut sink = sink(&server, options);
    sink.events.recover(None).await?;
    let schema = schema(vec![Column::new("id", DataType::Int).not_null(), Column::new("v", ty)], &["id"]);
    let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    sink.metadata.apply(&change, Some(&schema)).await?;
    server.world().table_mut("shop", "orders").unwrap().columns[1].ty = target.clone();
    let n = values.len();
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..i32::try_from(n).unwrap()));
    sink.events.write(batch(&table(), &schema, Changes::Inserts(n), vec![ids, values])).await?;
    checkpoint(&mut sink, 1).await?;
    Ok(server.world().rows("shop", "orders").into_iter().map(|mut row| row.swap_remove(1)).collect())
}

/// As LENIENT leaves them.
#[tokio::test]
async fn wider_columns_get_the_rows_that_json_gives_them() {
    let tiny: ArrayRef = Arc::new(Int8Array::from(vec![Some(i8::MIN), None, Some(i8::MAX)]));
    let small: ArrayRef = Arc::new(Int16Array::from(vec![Some(i16::MIN), None, Some(i16::MAX)]));
    let int: ArrayRef = Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)]));
    let big: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)]));
    let float: ArrayRef = Arc::new(Float32Array::from(vec![Some(0.1), None, Some(-0.0), Some(f32::MAX), Some(1e-45)]));
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("中文"), Some("")]));
    let stamps: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(FIRST + 1_000_000), None]));
    let decimal = |precision, scale| DataType::Decimal { precision, scale };
    let most = 10_i128.pow(38) - 1;
    for (ty, target, values) in [
        (DataType::TinyInt, Ty::SmallInt, &tiny),
        (DataType::TinyInt, Ty::Int, &tiny),
        (DataType::TinyInt, Ty::BigInt, &tiny),
        (DataType::TinyInt, Ty::LargeInt, &tiny),
        (DataType::TinyInt, Ty::Float, &tiny),
        (DataType::TinyInt, Ty::Double, &tiny),
        (DataType::TinyInt, Ty::Decimal(5, 2), &tiny),
        (DataType::TinyInt, Ty::String, &tiny),
        (DataType::SmallInt, Ty::Int, &small),
        (DataType::SmallInt, Ty::BigInt, &small),
        (DataType::SmallInt, Ty::Float, &small),
        (DataType::SmallInt, Ty::Double, &small),
        (DataType::SmallInt, Ty::Decimal(9, 4), &small),
        (DataType::Int, Ty::BigInt, &int),
        (DataType::Int, Ty::LargeInt, &int),
        (DataType::Int, Ty::Double, &int),
        (DataType::Int, Ty::Decimal(18, 8), &int),
        (DataType::Int, Ty::Varchar(11), &int),
        (DataType::BigInt, Ty::LargeInt, &big),
        (DataType::BigInt, Ty::Decimal(20, 1), &big),
        (DataType::BigInt, Ty::Decimal(38, 19), &big),
        (DataType::BigInt, Ty::String, &big),
        (DataType::Float, Ty::Double, &float),
        (decimal(5, 2), Ty::Decimal(9, 4), &decimals(5, 2, vec![-99_999, 1])),
        (decimal(5, 2), Ty::Decimal(18, 2), &decimals(5, 2, vec![-99_999, 1])),
        (decimal(20, 4), Ty::Decimal(38, 10), &decimals(20, 4, vec![10_i128.pow(20) - 1, -7])),
        (decimal(38, 0), Ty::LargeInt, &decimals(38, 0, vec![most, -most])),
        (decimal(5, 2), Ty::String, &decimals(5, 2, vec![-99_999, 10])),
        (DataType::Varchar(3), Ty::Varchar(200), &text),
        (DataType::Varchar(3), Ty::String, &text),
        (DataType::Char(3), Ty::Varchar(30), &text),
        (DataType::Timestamp(0), Ty::DateTime(6), &stamps),
        (DataType::Timestamp(0), Ty::DateTime(3), &stamps),
        (DataType::Timestamp(0), Ty::String, &stamps),
    ] {
        let json = into(&[], &target, ty, Arc::clone(values)).await.unwrap();
        let arrow = into(&[AS_ARROW], &target, ty, Arc::clone(values)).await.unwrap();
        assert_eq!(arrow, json, "{ty} into {target}");
    }
}

#[tokio::test]
async fn a_type_without_an_exact_form_stops_the_run() {
    let int: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let big: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let boolean: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let float: ArrayRef = Arc::new(Float32Array::from(vec![0.5]));
    let day: ArrayRef = Arc::new(Date32Array::from(vec![1]));
    let stamp: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![FIRST]));
    for (ty, target, values) in [
        (DataType::Int, Ty::SmallInt, &int),
        (DataType::Int, Ty::Boolean, &int),
        (DataType::Int, Ty::Float, &int),
        (DataType::Int, Ty::Decimal(9, 0), &int),
        (DataType::Int, Ty::Json, &int),
        (DataType::BigInt, Ty::Double, &big),
        (DataType::Boolean, Ty::TinyInt, &boolean),
        (DataType::Boolean, Ty::String, &boolean),
        (DataType::Float, Ty::String, &float),
        (DataType::Date, Ty::DateTime(0), &day),
        (DataType::Timestamp(6), Ty::DateTime(3), &stamp),
        (DataType::Timestamp(0), Ty::Date, &stamp),
        (DataType::Decimal { precision: 9, scale: 2 }, Ty::Decimal(9, 3), &decimals(9, 2, vec![1])),
        (DataType::Decimal { precision: 9, scale: 2 }, Ty::Decimal(9, 1), &decimals(9, 2, vec![1])),
    ] {
        let error = into(&[AS_ARROW], &target, ty, Arc::clone(values)).await.unwrap_err();
        let words = error.to_string();
        assert_eq!(error.retry(), Retry::Permanent, "{words}");
        assert!(words.contains("`v` of shop.orders") && words.contains(&ty.to_string()), "{words}");
        assert!(error.hint_text().unwrap().contains("sink.properties.format"), "{error:?}");
    }
}

/// Values that their type allows and their column does not.
#[tokio::test]
async fn single_values_that_do_not_fit_are_named() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["ok", "longer"]));
    let error = into(&[AS_ARROW], &Ty::Varchar(3), DataType::Varchar(9), text).await.unwrap_err();
    assert!(error.to_string().contains("has 6 bytes where the target takes 3; its row's key is \"id\":1"), "{error}");
    let int: ArrayRef = Arc::new(Int32Array::from(vec![1, 1000]));
    let error = into(&[AS_ARROW], &Ty::Varchar(3), DataType::Int, int).await.unwrap_err();
    assert!(error.to_string().contains("has 4 bytes where the target takes 3; its row's key is \"id\":1"), "{error}");
    // More than the source's own type has: a column of four bytes would keep the lowest.
    let wrong = Decimal128Array::from(vec![1, 10_i128.pow(12)])
        .with_data_type(DataType::Decimal { precision: 9, scale: 2 }.arrow());
    let error = loaded(&[AS_ARROW], DataType::Decimal { precision: 9, scale: 2 }, Arc::new(wrong)).await.unwrap_err();
    assert!(error.to_string().contains("has more digits than its column"), "{error}");
    let stamp = TimestampMicrosecondArray::from(vec![FIRST + 10]);
    let error = loaded(&[AS_ARROW], DataType::Timestamp(3), Arc::new(stamp)).await.unwrap_err();
    assert!(error.to_string().contains("has more digits than its column"), "{error}");
}

fn change_type(server: &StandIn, ty: Ty) {
    server.world().table_mut("shop", "orders").unwrap().columns[0].ty = ty;
}

/// What was encoded for one type is never loaded into another: it is encoded again.
#[tokio::test]
async fn a_table_that_changes_before_its_load_is_looked_at_again() {
    for mode in [&EXACTLY[..], &[AS_ARROW]] {
        let (server, mut sink) = start(mode).await;
        sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
        change_type(&server, Ty::LargeInt);
        let error = sink.events.prepare(1).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Transient, "{error}");
        assert!(error.to_string().contains("column `id` is LARGEINT now; nothing was loaded"), "{error}");
        assert!(loads_of_orders(&server).is_empty());
        sink.events.recover(None).await.unwrap();
        sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
        checkpoint(&mut sink, 1).await.unwrap();
        assert_eq!(shown(&server, &table()), ["1|a"]);
    }
}

/// The states of the loads into the table.
fn loads_of_orders(server: &StandIn) -> Vec<&'static str> {
    let world = server.world();
    let id = world.table("shop", "orders").unwrap().id;
    world.transactions.iter().filter(|t| t.table_id == id).map(|t| t.state).collect()
}

/// Changes the type while a load is under way, and gives what comes of it.
async fn changed_under_way(
    mode: &[(&str, &str)],
    ty: Ty,
    lost_rollbacks: u32,
) -> (StandIn, Sink, Result<(), SinkError>) {
    let (server, mut sink) = start(mode).await;
    sink.events.write(rows(&table(), &[(Insert, 0, Some("first"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    let gate = Gate::default();
    server.fault("load", When::After, FaultAction::Wait(gate.clone()), 0, 1);
    server.fault("abort", When::Before, FaultAction::Drop, 0, lost_rollbacks);
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    let (result, ()) = tokio::join!(checkpoint(&mut sink, 2), async {
        while loads_of_orders(&server).len() < 2 || loads_of_orders(&server)[1] == "PREPARE" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        change_type(&server, ty);
        gate.open();
    });
    (server, sink, result)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_changes_during_a_load_gets_nothing_of_it() {
    // Also where it can't be rolled back at once.
    for (lost, then) in [(0, "ABORTED"), (1, "PRECOMMITTED")] {
        let (server, mut sink, result) = changed_under_way(&EXACTLY, Ty::LargeInt, lost).await;
        let error = result.unwrap_err();
        assert_eq!(error.retry(), Retry::Transient, "{error}");
        assert!(error.to_string().contains("rolled back"), "{error}");
        assert_eq!(loads_of_orders(&server), ["VISIBLE", then]);
        // From the last checkpoint, whose rows are committed.
        sink.events.recover(Some((1, None))).await.unwrap();
        sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
        checkpoint(&mut sink, 2).await.unwrap();
        assert_eq!(shown(&server, &table()), ["0|first", "1|a"]);
        assert_eq!(loads_of_orders(&server), ["VISIBLE", "ABORTED", "VISIBLE"]);
    }
}

/// Rows that are seen can't be taken back: the run stops, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn without_two_phases_a_change_during_a_load_stops_the_run() {
    let (_server, _sink, result) = changed_under_way(&[AS_ARROW], Ty::LargeInt, 0).await;
    let error = result.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
    assert!(error.to_string().contains("some of its rows may be wrong"), "{error}");
    assert!(error.hint_text().unwrap().contains("snapshot the table again"), "{error:?}");
}

/// A load whose answer is lost may be seen as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_during_a_load_of_which_nothing_is_known_stops_the_run_too() {
    for changes in [true, false] {
        let (server, mut sink) = start(&[AS_ARROW, QUICK]).await;
        sink.events.write(rows(&table(), &[(Insert, 0, Some("first"))])).await.unwrap();
        checkpoint(&mut sink, 1).await.unwrap();
        let gate = Gate::default();
        server.fault("load", When::After, FaultAction::Drop, 0, 1);
        server.fault("load", When::Before, FaultAction::Wait(gate.clone()), 1, 1);
        server.fault("state", When::Before, FaultAction::Drop, 0, 100);
        sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
        let (result, ()) = tokio::join!(checkpoint(&mut sink, 2), async {
            while loads_of_orders(&server) != ["VISIBLE", "VISIBLE"] {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            if changes {
                change_type(&server, Ty::LargeInt);
            }
            gate.open();
        });
        let error = result.unwrap_err();
        assert_eq!(error.retry() == Retry::Permanent, changes, "{error}");
        assert_eq!(error.to_string().contains("some of its rows may be wrong"), changes, "{error}");
    }
}

/// Without two phases its rows are seen already.
#[tokio::test]
async fn a_table_is_looked_at_behind_a_load_until_it_can_be() {
    let (server, mut sink) = start(&[AS_ARROW]).await;
    let look = "sql:SHOW FULL COLUMNS FROM `shop`.`orders`";
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    // More than one look has tries.
    server.fault(look, When::Before, FaultAction::Drop, 1, 9);
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
}

#[tokio::test]
async fn a_check_table_that_can_not_be_read_yet_is_read_again() {
    let (server, mut sink) = start(&EXACTLY).await;
    let passing = FaultAction::Refuse("failed to initialize storage reader, version not found".to_owned());
    server.fault("sql:SELECT", When::Before, passing, 0, 3);
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
}

/// A longer VARCHAR changes nothing in how a backend reads.
#[tokio::test]
async fn a_longer_text_column_is_no_change() {
    let (server, mut sink) = start(&EXACTLY).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    server.world().table_mut("shop", "orders").unwrap().columns[1].ty = Ty::String;
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
}

fn has_check_table(server: &StandIn) -> bool {
    server.world().table("shop", CHECK).is_some()
}

#[tokio::test]
async fn a_version_that_reads_timestamps_at_utc_is_found_out() {
    let (server, mut sink) = start(&EXACTLY).await;
    server.world().arrow_hours = 0;
    let error = sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap_err();
    let words = error.to_string();
    assert_eq!(error.retry(), Retry::Permanent, "{words}");
    assert!(words.contains("`1970-01-01 08:00:00` was sent as DATETIMEV2(0)"), "{words}");
    assert!(words.contains("came back as `1970-01-01 00:00:00`"), "{words}");
    assert!(error.hint_text().unwrap().contains("leave `sink.properties.format` out"), "{error:?}");
    assert!(!has_check_table(&server) && loads_of_orders(&server).is_empty());
}

#[tokio::test]
async fn a_user_who_may_not_make_the_check_table_is_told_so() {
    let (server, mut sink) = start(&EXACTLY).await;
    let create = format!("sql:CREATE TABLE `shop`.`{CHECK}`");
    let denied = "CREATE command denied to user 'cdc'@'127.0.0.1' for table 'x'";
    server.fault(&create, When::Before, FaultAction::Refuse(denied.to_owned()), 0, 1);
    let error = sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
    assert!(error.to_string().contains("denied") && error.to_string().contains("table of its own"), "{error}");
    let hint = error.hint_text().unwrap();
    assert!(hint.contains("CREATE") && hint.contains("leave `sink.properties.format` out"), "{hint}");
    // The next attempt may make it.
    sink.events.recover(None).await.unwrap();
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
}

/// One that a crash has left is dropped, what is seen late is waited for, and one check an attempt is enough.
#[tokio::test]
async fn the_check_is_made_once_an_attempt() {
    let (server, mut sink) = start(&EXACTLY).await;
    let other = TableId::new("shop", "other");
    create(&mut sink, &other).await;
    let left = format!("CREATE TABLE {CHECK} (a INT) DUPLICATE KEY(a) DISTRIBUTED BY HASH(a)");
    server.world().execute("shop", "root", &left).unwrap();
    server.world().publish_delay = Duration::from_millis(200);
    for (id, t) in [(1, &table()), (2, &other), (3, &table())] {
        sink.events.write(rows(t, &[(Insert, 1, Some("a"))])).await.unwrap();
        checkpoint(&mut sink, id).await.unwrap();
    }
    assert!(!has_check_table(&server));
    let made =
        server.world().statements.iter().filter(|(s, _)| s.starts_with("CREATE TABLE `shop`.`rowferry_")).count();
    assert_eq!(made, 1);
}

#[tokio::test]
async fn deletions_updates_and_changes_of_the_key() {
    for mode in [&EXACTLY[..], &[AS_ARROW], &[AS_ARROW, ("sink.properties.group_commit", "sync_mode")]] {
        let (server, mut sink) = start(mode).await;
        let t = table();
        let inserts = [(Insert, 1, Some("a")), (Insert, 2, Some("b")), (Insert, 3, Some("c"))];
        sink.events.write(rows(&t, &inserts)).await.unwrap();
        let changes = [
            (UpdateBefore, 1, Some("a")),
            (UpdateAfter, 1, Some("a2")),
            (Delete, 2, Some("b")),
            (UpdateBefore, 3, Some("c")),
            (UpdateAfter, 30, Some("c2")),
            (Insert, 2, None),
        ];
        sink.events.write(rows(&t, &changes)).await.unwrap();
        checkpoint(&mut sink, 1).await.unwrap();
        assert_eq!(shown(&server, &t), ["1|a2", "2|NULL", "30|c2"]);
    }
}

#[tokio::test]
async fn without_enable_delete_no_row_goes() {
    let more = [AS_ARROW, ("sink.enable-delete", "false")];
    let (server, mut sink) = start(&more).await;
    let t = table();
    sink.events.write(rows(&t, &[(Delete, 9, None)])).await.unwrap();
    let changes = [(Insert, 1, Some("a")), (Delete, 1, None), (Insert, 2, Some("b"))];
    sink.events.write(rows(&t, &changes)).await.unwrap();
    sink.events.write(rows(&t, &[(UpdateBefore, 2, Some("b")), (UpdateAfter, 3, Some("c"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &t), ["1|a", "2|b", "3|c"]);
}

#[tokio::test]
async fn tables_without_a_key_keep_every_row() {
    let server = StandIn::start(Settings::default());
    let mut sink = sink(&server, &EXACTLY);
    sink.events.recover(None).await.unwrap();
    let schema = Arc::new(TableSchema { primary_key: Vec::new(), ..(*simple_schema()).clone() });
    let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    sink.metadata.apply(&change, Some(&schema)).await.unwrap();
    let keyless = |list: &[(RowOp, i64, Option<&str>)]| {
        let simple = rows(&table(), list);
        let ops = list.iter().map(|r| r.0).collect();
        batch(&table(), &schema, Changes::Mixed(ops), simple.columns().columns().to_vec())
    };
    sink.events.write(keyless(&[(Insert, 1, Some("a")), (Insert, 1, Some("a"))])).await.unwrap();
    let changes = [(UpdateBefore, 1, Some("a")), (UpdateAfter, 1, Some("b")), (Delete, 1, Some("a"))];
    sink.events.write(keyless(&changes)).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a", "1|a", "1|b"]);
}

/// NULL in a partition's column is the first day; the first midnight can't be sent.
#[tokio::test]
async fn what_partitions_have_for_null() {
    let by = |unit| {
        [
            AS_ARROW,
            ("table.create.auto-partition.properties.default-partition-key", "at"),
            ("table.create.auto-partition.properties.default-partition-unit", unit),
        ]
    };
    for (ty, nothing, day) in [
        (DataType::Date, Arc::new(Date32Array::from(vec![None, Some(31)])) as ArrayRef, true),
        (DataType::Timestamp(0), Arc::new(TimestampMicrosecondArray::from(vec![None, Some(FIRST)])), false),
    ] {
        let server = StandIn::start(Settings::default());
        let mut sink = sink(&server, &by("month"));
        sink.events.recover(None).await.unwrap();
        let schema = schema(vec![Column::new("id", DataType::BigInt).not_null(), Column::new("at", ty)], &["id"]);
        let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
        sink.metadata.apply(&change, Some(&schema)).await.unwrap();
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let result = sink
            .events
            .write(batch(&table(), &schema, Changes::Inserts(2), vec![Arc::clone(&ids), Arc::clone(&nothing)]))
            .await;
        if !day {
            let error = result.unwrap_err();
            assert!(error.to_string().contains("`at` of shop.orders is before 1970-01-01 08:00:00"), "{error}");
            assert!(error.to_string().contains("\"id\":1"), "{error}");
            continue;
        }
        result.unwrap();
        checkpoint(&mut sink, 1).await.unwrap();
        assert_eq!(shown(&server, &table()), ["1|1970-01-01", "2|1970-02-01"]);
        let gone = Changes::Mixed(vec![Delete; 2]);
        sink.events.write(batch(&table(), &schema, gone, vec![ids, nothing])).await.unwrap();
        checkpoint(&mut sink, 2).await.unwrap();
        assert!(shown(&server, &table()).is_empty());
    }
}

/// Breaks at every operation, before and behind its effect, and restarts from what was saved.
#[tokio::test]
async fn a_crash_at_any_step_loses_nothing_and_doubles_nothing() {
    let more = [&EXACTLY[..], &[QUICK]].concat();
    let steps =
        STEPS.iter().copied().chain(["sql:SHOW FULL COLUMNS", "sql:CREATE TABLE `shop`.`r", "sql:SELECT", "sql:DROP"]);
    for operation in steps {
        for when in [When::Before, When::After] {
            for skip in 0..3 {
                let what = format!("{operation} {when:?} {skip}");
                let (server, sink) = start(&more).await;
                // Longer than the sink tries.
                server.fault(operation, when, FaultAction::Drop, skip, 6);
                Pipeline::new().run(&server, sink, &what, &more).await;
                let open = server.world().transactions.iter().filter(|t| !t.is_over()).count();
                assert_eq!(open, 0, "{what}: transactions are left open");
                let seen = loads_of_orders(&server).into_iter().filter(|state| *state == "VISIBLE").count();
                assert_eq!(seen, 3, "{what}");
            }
        }
    }
}

/// As many rows in a load as the option says.
#[tokio::test]
async fn loads_have_as_many_rows_as_they_should() {
    let more = [AS_ARROW, ("sink.buffer-flush.max-rows", "10000"), ("sink.buffer-flush.interval", "1h")];
    let (server, mut sink) = start(&more).await;
    for from in 0..7 {
        let list: Vec<_> = (0..5000).map(|i| (Insert, from * 5000 + i, Some("x"))).collect();
        sink.events.write(rows(&table(), &list)).await.unwrap();
    }
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(server.world().rows("shop", "orders").len(), 35_000);
    assert_eq!(loads_of_orders(&server).len(), 4);
}
