//! What only StarRocks has.

use crate::olap::delivery::{PATIENCE, start};
use crate::olap::large::inserts;
use crate::stand_in::{FaultAction, Gate, Settings, When};
use crate::support::{StandIn, checkpoint, create, rows, shown, sink, table};
use rowferry_model::RowOp::Insert;
use rowferry_model::TableId;
use rowferry_sinks::Retry;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_backend_that_dies_takes_its_open_transaction_along() {
    let mut server = StandIn::start(Settings { backends: 3, ..Settings::default() });
    let mut first = sink(&server, &[("sink.buffer-flush.interval-ms", "0"), ("sink.connect.timeout-ms", "500")]);
    first.events.recover(None).await.unwrap();
    create(&mut first, &table()).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    first.events.idle().await.unwrap();
    let deadline = Instant::now() + PATIENCE;
    let backend = loop {
        let loaded = server.world().transactions.iter().find(|t| !t.changes.is_empty()).map(|t| t.own.backend);
        match loaded {
            Some(backend) => break backend,
            None => assert!(Instant::now() < deadline, "the row is never loaded"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    server.stop_backend(backend, true);
    let error = first.events.prepare(1).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Transient, "{error}");
    first.events.recover(None).await.unwrap();
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    checkpoint(&mut first, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
    server.start_backend(backend);
}

#[tokio::test]
async fn a_wrong_password_is_told_at_once() {
    let server = StandIn::start(Settings::default());
    server.world().users.insert("cdc".to_owned(), "right".to_owned());
    let options = crate::support::options(&server, &[("username", "cdc"), ("password", "wrong")]);
    let mut sink = rowferry_sinks::build("starrocks", &options, &crate::support::context()).unwrap();
    let error = sink.metadata.probe().await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("Access denied"), "{error}");
    let options = crate::support::options(&server, &[("username", "cdc"), ("password", "right")]);
    let mut sink = rowferry_sinks::build("starrocks", &options, &crate::support::context()).unwrap();
    sink.metadata.probe().await.unwrap();
}

#[tokio::test]
async fn without_transactions_rows_are_seen_at_once() {
    let (server, mut sink) = start(&[("sink.at-least-once.use-transaction-stream-load", "false")]).await;
    assert!(!sink.events.capabilities().exactly_once);
    server.fault("stream_load", When::After, FaultAction::Drop, 0, 1);
    server.world().publish_delay = Duration::from_millis(50);
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    assert_eq!(sink.events.prepare(1).await.unwrap(), None);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(shown(&server, &table()), ["1|a"]);
    let labels: Vec<String> = server.world().transactions.iter().map(|t| t.label.clone()).collect();
    assert_eq!(labels.len(), 1, "the load was tried again under its label: {labels:?}");
}

#[tokio::test]
async fn memory_is_bounded_and_a_slow_table_does_not_hold_up_the_others() {
    let max = 400_000;
    let (server, mut sink) = start(&[("sink.buffer-flush.max-bytes", &max.to_string())]).await;
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
    for i in 0..4 {
        sink.events.write(many(&table(), i * 1000)).await.unwrap();
    }
    // Else a load of the other table could come first on a busy machine, and be the slow one.
    let struck = tokio::time::timeout(PATIENCE, async {
        while server.world().faults.iter().any(|fault| fault.times > 0) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    struck.await.expect("the first table is loaded");
    for i in 0..12 {
        let write = tokio::time::timeout(PATIENCE, sink.events.write(many(&other, i * 1000)));
        write.await.expect("the slow load is waited for").unwrap();
        let buffered = sink.events.gauges().iter().find(|g| g.0 == "starrocks_buffered_bytes").unwrap().2;
        assert!(buffered <= f64::from(max) + 70_000.0, "{buffered} bytes are buffered");
    }
    gate.open();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(server.world().rows("shop", "orders").len(), 4000);
    assert_eq!(server.world().rows("shop", "other").len(), 12_000);
    let loads = server.world().operations.iter().filter(|o| o.0 == "load").count();
    assert!(loads > 3, "{loads} loads");
    assert_eq!(server.world().transactions.len(), 2, "loads of a table share a transaction");
}

#[tokio::test]
async fn a_large_batch_becomes_as_many_loads_as_it_needs() {
    let (server, mut sink) = start(&[("sink.buffer-flush.max-bytes", "300000")]).await;
    for round in 0..3 {
        sink.events.write(inserts(round * 10_000, 10_000, "a name of twenty b..")).await.unwrap();
    }
    checkpoint(&mut sink, 1).await.unwrap();
    let mut world = server.world();
    assert_eq!(world.rows("shop", "orders").len(), 30_000);
    let loads = world.operations.iter().filter(|o| o.0 == "load").count();
    assert!((15..30).contains(&loads), "{loads} loads of 100 kB");
}

#[tokio::test]
async fn tables_without_a_key_are_refused() {
    let (_server, sink) = start(&[]).await;
    let mut schema = (*crate::support::simple_schema()).clone();
    schema.primary_key.clear();
    let error = sink.events.check(&table(), &schema).unwrap_err();
    assert!(error.to_string().contains("Only support StarRocks primary key table"), "{error}");
}
