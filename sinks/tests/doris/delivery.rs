//! What only Doris has: modes, backends, tables without a key.

use crate::olap::delivery::{PATIENCE, Pipeline, start};
use crate::olap::large::inserts;
use crate::stand_in::{FaultAction, Gate, Settings, When};
use crate::support::{
    EXACTLY_ONCE, StandIn, checkpoint, create, exact, options, rows, shown, simple_schema, sink, table,
};
use rowferry_model::RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{AlteredColumn, DataType, SchemaChange, TableId};
use rowferry_sinks::Retry;
use std::time::{Duration, Instant};

#[tokio::test]
async fn without_enable_delete_no_row_goes() {
    let (server, mut sink) = start(&[("sink.enable-delete", "false")]).await;
    let t = table();
    let changes = [(Insert, 1, Some("a")), (Delete, 1, None), (Insert, 2, Some("b"))];
    sink.events.write(rows(&t, &changes)).await.unwrap();
    sink.events.write(rows(&t, &[(UpdateBefore, 2, Some("b")), (UpdateAfter, 3, Some("c"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &t), ["1|a", "2|b", "3|c"]);
}

/// At least once: rows come again, and the unique key makes nothing of it.
#[tokio::test]
async fn batches_survive_crashes_too() {
    for more in [
        vec![("sink.max-retries", "1")],
        vec![("sink.max-retries", "1"), ("sink.properties.group_commit", "sync_mode")],
    ] {
        for when in [When::Before, When::After] {
            let (server, sink) = start(&more).await;
            assert!(!sink.events.capabilities().exactly_once);
            server.fault("load", when, FaultAction::Drop, 1, 4);
            Pipeline::new().run(&server, sink, &format!("{more:?} {when:?}"), &more).await;
        }
    }
}

/// A backend that is down is gone round: named by a frontend that does not know yet, by a redirect, or by the user.
#[tokio::test]
async fn another_backend_takes_over() {
    for way in ["list", "redirect", "benodes"] {
        let mut server = StandIn::start(Settings { backends: 2, ..Settings::default() });
        let nodes = server.benodes();
        let mut more = vec![EXACTLY_ONCE[0], EXACTLY_ONCE[1], ("table.create.properties.replication_num", "1")];
        match way {
            "redirect" => more.push(("auto-redirect", "true")),
            "benodes" => more.push(("benodes", &nodes)),
            _ => {}
        }
        let mut sink = sink(&server, &more);
        sink.events.recover(None).await.unwrap();
        create(&mut sink, &table()).await;
        server.stop_backend(0, false);
        for i in 1..=4 {
            sink.events.write(rows(&table(), &[(Insert, i, Some("a"))])).await.unwrap();
            checkpoint(&mut sink, u64::try_from(i).unwrap()).await.unwrap();
        }
        assert_eq!(shown(&server, &table()), ["1|a", "2|a", "3|a", "4|a"], "{way}");
        server.stop_backend(1, true);
        sink.events.write(rows(&table(), &[(Insert, 5, Some("a"))])).await.unwrap();
        let error = sink.events.prepare(5).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Transient, "{way}: {error}");
        server.start_backend(1);
        sink.events.recover(None).await.unwrap();
        sink.events.write(rows(&table(), &[(Insert, 5, Some("a"))])).await.unwrap();
        checkpoint(&mut sink, 5).await.unwrap();
        assert_eq!(shown(&server, &table()).len(), 5, "{way}");
    }
}

/// `Publish Timeout` is a success, and a load whose answer got lost is found by its label.
#[tokio::test]
async fn a_batch_is_loaded_once_within_a_run() {
    let (server, mut sink) = start(&[]).await;
    server.fault("load", When::After, FaultAction::Drop, 0, 1);
    server.world().publish_delay = Duration::from_millis(300);
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    assert_eq!(sink.events.prepare(1).await.unwrap(), None);
    sink.events.write(rows(&table(), &[(Insert, 2, Some("b"))])).await.unwrap();
    assert_eq!(sink.events.prepare(2).await.unwrap(), None);
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert_eq!(shown(&server, &table()), ["1|a", "2|b"]);
    let labels: Vec<String> = server.world().transactions.iter().map(|t| t.label.clone()).collect();
    assert_eq!(labels.len(), 2, "the load was tried again under its label: {labels:?}");
}

/// The server puts loads together: they have no label, and the rows are compressed here.
#[tokio::test]
async fn group_commit_and_compression() {
    let more = [("sink.properties.group_commit", "async_mode"), ("sink.properties.compress_type", "gz")];
    let (server, mut sink) = start(&more).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a")), (Delete, 1, None), (Insert, 2, None)])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["2|NULL"]);
    assert!(server.world().transactions[0].label.starts_with("group_commit_"));
}

#[tokio::test]
async fn passwords_are_checked_told_and_never_shown() {
    let server = StandIn::start(Settings::default());
    // Doris repeats user and password in the address that it redirects to.
    server.world().users.insert("cdc".to_owned(), "p:w@d/ü".to_owned());
    let build = |password: &str| {
        let more = [("username", "cdc"), ("password", password), ("auto-redirect", "true")];
        rowferry_sinks::build("selectdb", &options(&server, &more), &crate::support::context()).unwrap()
    };
    let error = build("wrong").metadata.probe().await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("Access denied"), "{error}");
    let mut sink = build("p:w@d/ü");
    sink.metadata.probe().await.unwrap();
    create(&mut sink, &table()).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
    // An error behind a redirect names the node alone.
    for i in 0..3 {
        server.stop_backend(i, false);
    }
    sink.events.write(rows(&table(), &[(Insert, 2, Some("a"))])).await.unwrap();
    let error = sink.events.prepare(2).await.unwrap_err().to_string();
    assert!(!error.contains("w@d") && !error.contains("w%40d") && !error.contains("cdc"), "{error}");
}

#[tokio::test]
async fn a_user_without_rights_is_told_so() {
    let (server, mut sink) = start(&[]).await;
    server.world().without_rights.push("root".to_owned());
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    let error = sink.events.prepare(1).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
    assert!(error.hint_text().unwrap().contains("LOAD"), "{error}");
    let change = SchemaChange::DropTable { table: table() };
    let error = sink.metadata.apply(&change, None).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
    assert!(error.to_string().contains("denied"), "{error}");
}

#[tokio::test]
async fn memory_is_bounded_and_a_slow_table_does_not_hold_up_the_others() {
    let max = 10_485_760;
    let (server, mut sink) = start(&[("sink.flush.queue-size", "1"), ("sink.buffer-flush.interval", "1h")]).await;
    let other = TableId::new("shop", "other");
    create(&mut sink, &other).await;
    // One load of the first table is slow; the second table has a thread of its own.
    let gate = Gate::default();
    server.fault("load", When::Before, FaultAction::Wait(gate.clone()), 0, 1);
    let text = "x".repeat(20);
    let many = |t: &TableId, from: i64| {
        let list: Vec<_> = (from..from + 1000).map(|i| (Insert, i, Some(text.as_str()))).collect();
        rows(t, &list)
    };
    for i in 0..50 {
        sink.events.write(many(&table(), i * 1000)).await.unwrap();
    }
    // Else a load of the other table could come first on a busy machine, and be the slow one.
    let struck = tokio::time::timeout(PATIENCE, async {
        while server.world().faults.iter().any(|fault| fault.times > 0) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    struck.await.expect("the first table is loaded");
    let deadline = Instant::now() + PATIENCE;
    for i in 0..150 {
        let write = tokio::time::timeout(PATIENCE, sink.events.write(many(&other, i * 1000)));
        write.await.expect("the slow load is waited for").unwrap();
        let buffered = sink.events.gauges().iter().find(|g| g.0 == "doris_buffered_bytes").unwrap().2;
        assert!(buffered <= f64::from(max) * 3.0 + 70_000.0, "{buffered} bytes are buffered");
    }
    while server.world().rows("shop", "other").len() < 150_000 {
        sink.events.idle().await.unwrap();
        assert!(Instant::now() < deadline, "the slow load is waited for");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    gate.open();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(server.world().rows("shop", "orders").len(), 50_000);
    let loads = server.world().operations.iter().filter(|o| o.0 == "load").count();
    assert_eq!(loads, 4, "50,000 rows a load");
}

/// Rows wait no longer than the interval.
#[tokio::test]
async fn old_rows_are_flushed() {
    let (server, mut sink) = start(&[("sink.buffer-flush.interval", "1h")]).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    sink.events.idle().await.unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    sink.events.idle().await.unwrap();
    assert!(shown(&server, &table()).is_empty(), "a row is loaded before its time");

    let (server, mut sink) = start(&[("sink.buffer-flush.interval", "1s")]).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    let deadline = Instant::now() + PATIENCE;
    while shown(&server, &table()).is_empty() {
        assert!(Instant::now() < deadline, "the row is never loaded");
        tokio::time::sleep(Duration::from_millis(10)).await;
        sink.events.idle().await.unwrap();
    }
}

/// A table without a key keeps all rows that come; exactly once, where that is asked for.
#[tokio::test]
async fn tables_without_a_key_keep_every_row() {
    use rowferry_model::{Changes, TableSchema};
    let server = StandIn::start(Settings::default());
    let mut sink = exact(&server);
    sink.events.recover(None).await.unwrap();
    let schema = std::sync::Arc::new(TableSchema { primary_key: Vec::new(), ..(*simple_schema()).clone() });
    let change = SchemaChange::CreateTable { table: table(), schema: std::sync::Arc::clone(&schema) };
    sink.metadata.apply(&change, Some(&schema)).await.unwrap();
    let keyless = |list: &[(rowferry_model::RowOp, i64, Option<&str>)]| {
        let simple = rows(&table(), list);
        let ops = list.iter().map(|r| r.0).collect();
        crate::support::batch(&table(), &schema, Changes::Mixed(ops), simple.columns().columns().to_vec())
    };
    server.fault("load", When::After, FaultAction::Drop, 0, 1);
    sink.events.write(keyless(&[(Insert, 1, Some("a")), (Insert, 1, Some("a"))])).await.unwrap();
    sink.events
        .write(keyless(&[(UpdateBefore, 1, Some("a")), (UpdateAfter, 1, Some("b")), (Delete, 1, Some("a"))]))
        .await
        .unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a", "1|a", "1|b"]);
}

/// As CSV too: no record is empty, and none loses what a server takes for a byte order mark.
#[tokio::test]
async fn tables_without_a_key_keep_every_row_of_csv() {
    use arrow_array::{ArrayRef, StringArray};
    use rowferry_model::{Changes, Column};
    let server = StandIn::start(Settings::default());
    let options = [
        ("sink.properties.format", "csv"),
        ("sink.properties.column_separator", "||"),
        ("sink.properties.line_delimiter", "\\x0D0A"),
    ];
    let mut sink = sink(&server, &options);
    sink.events.recover(None).await.unwrap();
    let schema = crate::support::schema(vec![Column::new("v", DataType::Varchar(20))], &[]);
    let change = SchemaChange::CreateTable { table: table(), schema: std::sync::Arc::clone(&schema) };
    sink.metadata.apply(&change, Some(&schema)).await.unwrap();
    let values: ArrayRef = std::sync::Arc::new(StringArray::from(vec!["\u{feff}x", "", "", "a,b\n"]));
    sink.events.write(crate::support::batch(&table(), &schema, Changes::Inserts(4), vec![values])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["\u{feff}x", "", "", "a,b\n"]);
    let values: ArrayRef = std::sync::Arc::new(StringArray::from(vec!["a|b"]));
    let batch = crate::support::batch(&table(), &schema, Changes::Inserts(1), vec![values]);
    assert!(sink.events.write(batch).await.unwrap_err().to_string().contains("separator"));
}

/// Doris takes a carriage return before the line feed for a part of the record's end.
#[tokio::test]
async fn a_carriage_return_that_csv_would_lose_is_refused() {
    use arrow_array::{ArrayRef, StringArray};
    use rowferry_model::{Changes, Column};
    let options = [("sink.properties.format", "csv"), ("sink.properties.line_delimiter", "\\n")];
    let (server, mut sink) = start(&options).await;
    let schema = crate::support::schema(
        vec![Column::new("id", DataType::BigInt).not_null(), Column::new("name", DataType::Varchar(20))],
        &["id"],
    );
    for (id, name, wanted) in [(1, "a\tb", None), (2, "abc\r", Some("separator"))] {
        let values: Vec<ArrayRef> = vec![
            std::sync::Arc::new(arrow_array::Int64Array::from(vec![id])),
            std::sync::Arc::new(StringArray::from(vec![name])),
        ];
        let result = sink.events.write(crate::support::batch(&table(), &schema, Changes::Inserts(1), values)).await;
        match wanted {
            None => result.unwrap(),
            Some(words) => assert!(result.unwrap_err().to_string().contains(words)),
        }
        if wanted.is_none() {
            checkpoint(&mut sink, 1).await.unwrap();
        }
    }
    assert_eq!(shown(&server, &table()), ["1|a\tb"]);
}

/// An earlier run had two phases, this one has not.
#[tokio::test]
async fn an_open_transaction_of_other_options_does_not_block_an_alteration() {
    let (server, mut first) = start(&EXACTLY_ONCE).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    first.events.prepare(1).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = sink(&server, &[("schema.evolution.timeout", "60s")]);
    second.events.recover(None).await.unwrap();
    let mut after = (*simple_schema()).clone();
    after.columns[1].data_type = DataType::String;
    let change = SchemaChange::AlterColumns {
        table: table(),
        columns: vec![AlteredColumn {
            name: "name".to_owned(),
            data_type: DataType::String,
            nullable: true,
            old: None,
            comment: None,
        }],
    };
    second.metadata.apply(&change, Some(&after)).await.unwrap();
    assert_eq!(server.world().jobs.last().unwrap().state, "FINISHED");
}

#[tokio::test]
async fn a_large_batch_becomes_as_many_loads_as_it_needs() {
    let (server, mut sink) = start(&[("sink.buffer-flush.interval", "1h")]).await;
    sink.events.write(inserts(0, 1000, "first")).await.unwrap();
    sink.events.write(inserts(1000, 120_000, "many")).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    let mut world = server.world();
    assert_eq!(world.rows("shop", "orders").len(), 121_000);
    let loads = world.operations.iter().filter(|o| o.0 == "load").count();
    assert_eq!(loads, 3, "50,000 rows a load");
}
