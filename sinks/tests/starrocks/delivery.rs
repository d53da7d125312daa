//! Rows arrive once, in order, whatever breaks.

use crate::stand_in::{FaultAction, Settings, StandIn, When};
use crate::support::{checkpoint, create, rows, shown, sink, table};
use rowferry_model::RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{Changes, SchemaChange, TableId};
use rowferry_sinks::{Committable, Retry, Sink};
use std::time::{Duration, Instant};

async fn start(more: &[(&str, &str)]) -> (StandIn, Sink) {
    let server = StandIn::start(Settings::default());
    let mut sink = sink(&server, more);
    sink.events.recover(None).await.unwrap();
    create(&mut sink, &table()).await;
    (server, sink)
}

#[tokio::test]
async fn rows_are_seen_with_the_commit_and_not_before() {
    let (server, mut sink) = start(&[]).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a")), (Insert, 2, None)])).await.unwrap();
    let committable = sink.events.prepare(1).await.unwrap().unwrap();
    assert!(shown(&server, &table()).is_empty());
    sink.events.commit(1, committable.clone()).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a", "2|NULL"]);
    // A second commit changes nothing.
    sink.events.commit(1, committable).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a", "2|NULL"]);
    assert_eq!(sink.events.prepare(2).await.unwrap(), None, "nothing was written");
}

#[tokio::test]
async fn deletions_updates_and_changes_of_the_key() {
    let (server, mut sink) = start(&[]).await;
    let t = table();
    sink.events
        .write(rows(&t, &[(Insert, 1, Some("a")), (Insert, 2, Some("b")), (Insert, 3, Some("c"))]))
        .await
        .unwrap();
    let changes = [
        (UpdateBefore, 1, Some("a")),
        (UpdateAfter, 1, Some("a2")),
        (Delete, 2, Some("b")),
        (UpdateBefore, 3, Some("c")),
        (UpdateAfter, 30, Some("c2")),
        (Insert, 2, Some("again")),
    ];
    sink.events.write(rows(&t, &changes)).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &t), ["1|a2", "2|again", "30|c2"]);
}

/// A run of the pipeline over checkpoints that a crash may end anywhere: what it saves, and what it does again.
struct Pipeline {
    saved: Option<(u64, Option<Committable>)>,
}

impl Pipeline {
    /// The rows of a checkpoint: each writes, changes and deletes.
    async fn step(&mut self, sink: &mut Sink, id: u64) -> Result<(), rowferry_sinks::SinkError> {
        let n = i64::try_from(id).unwrap() * 10;
        sink.events.write(rows(&table(), &[(Insert, n, Some("x")), (Insert, n + 1, Some("y"))])).await?;
        sink.events
            .write(rows(
                &table(),
                &[(UpdateBefore, n, Some("x")), (UpdateAfter, n + 2, Some("z")), (Delete, n - 9, None)],
            ))
            .await?;
        let committable = sink.events.prepare(id).await?;
        self.saved = Some((id, committable.clone()));
        match committable {
            Some(c) => sink.events.commit(id, c).await,
            None => Ok(()),
        }
    }
}

/// Breaks at every operation, before and behind its effect, and restarts from what was saved.
#[tokio::test]
async fn a_crash_at_any_step_loses_nothing_and_doubles_nothing() {
    for operation in ["begin", "load", "prepare", "commit", "state", "rollback"] {
        for when in [When::Before, When::After] {
            for skip in 0..3 {
                let (server, mut sink) = start(&[("sink.socket.timeout-ms", "2000")]).await;
                // Longer than the sink tries.
                server.fault(operation, when, FaultAction::Drop, skip, 6);
                let mut pipeline = Pipeline { saved: None };
                let (mut id, mut crashes) = (1, 0);
                while id <= 3 {
                    match pipeline.step(&mut sink, id).await {
                        Ok(()) => id += 1,
                        Err(_) => {
                            crashes += 1;
                            assert!(crashes < 20, "{operation} {when:?} {skip} never gets through");
                            // kill -9: the old process rolls nothing back.
                            std::mem::forget(sink);
                            sink = crate::support::sink(&server, &[("sink.socket.timeout-ms", "2000")]);
                            let mut tries = 0;
                            while let Err(error) = sink.events.recover(pipeline.saved.clone()).await {
                                tries += 1;
                                assert!(tries < 10, "{operation} {when:?} {skip}: {error}");
                            }
                            id = pipeline.saved.as_ref().map_or(1, |(id, _)| id + 1);
                        }
                    }
                }
                assert_eq!(
                    shown(&server, &table()),
                    ["12|z", "22|z", "31|y", "32|z"],
                    "{operation} {when:?} {skip}, {crashes} crashes"
                );
                let open = server.world().transactions.iter().filter(|t| !t.is_over()).count();
                assert_eq!(open, 0, "{operation} {when:?} {skip}: transactions are left open");
            }
        }
    }
}

#[tokio::test]
async fn what_was_prepared_but_not_saved_is_rolled_back() {
    let (server, mut first) = start(&[]).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("saved"))])).await.unwrap();
    let saved = first.events.prepare(1).await.unwrap();
    first.events.commit(1, saved.clone().unwrap()).await.unwrap();
    first.events.write(rows(&table(), &[(Insert, 2, Some("lost"))])).await.unwrap();
    first.events.prepare(2).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = sink(&server, &[]);
    second.events.recover(Some((1, saved))).await.unwrap();
    let states: Vec<&str> = server.world().transactions.iter().map(|t| t.state).collect();
    assert_eq!(states, ["VISIBLE", "ABORTED"]);
    second.events.write(rows(&table(), &[(Insert, 2, Some("again"))])).await.unwrap();
    checkpoint(&mut second, 2).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|saved", "2|again"]);
}

#[tokio::test]
async fn an_open_transaction_of_a_crash_does_not_block_an_alteration() {
    let (server, mut first) = start(&[]).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    first.events.prepare(1).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = sink(&server, &[("table.schema-change.timeout", "20s")]);
    second.events.recover(None).await.unwrap();
    let schema = crate::support::simple_schema();
    let mut after = (*schema).clone();
    after.columns[1].data_type = rowferry_model::DataType::Varchar(40);
    let change = SchemaChange::AlterColumns {
        table: table(),
        columns: vec![rowferry_model::AlteredColumn {
            name: "name".to_owned(),
            data_type: rowferry_model::DataType::Varchar(40),
            nullable: true,
            old: None,
            comment: None,
        }],
    };
    second.metadata.apply(&change, Some(&after)).await.unwrap();
    assert_eq!(server.world().jobs.last().unwrap().state, "FINISHED");
}

#[tokio::test]
async fn rows_of_a_transaction_that_timed_out_are_missed_loudly() {
    let (server, mut sink) = start(&[("sink.properties.timeout", "5")]).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    let committable = sink.events.prepare(1).await.unwrap().unwrap();
    server.world().skip(Duration::from_secs(100_000));
    let error = sink.events.commit(1, committable.clone()).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("timeout by txn manager"), "{error}");
    // Behind the days that labels are kept, the user may know better.
    server.world().transactions.clear();
    let error = sink.events.commit(1, committable.clone()).await.unwrap_err();
    assert!(error.hint_text().unwrap().contains("rowferry.assume-committed"), "{error}");
    let mut lenient = crate::support::sink(&server, &[("rowferry.assume-committed", "true")]);
    lenient.events.recover(Some((1, Some(committable)))).await.unwrap();
}

#[tokio::test]
async fn refused_rows_are_quoted_and_stop_the_sink() {
    let (server, mut sink) = start(&[]).await;
    // Somebody has made the column narrower than the sink would.
    server.world().table_mut("shop", "orders").unwrap().columns[1].ty = crate::stand_in::varchar(3);
    sink.events.write(rows(&table(), &[(Insert, 7, Some("too long"))])).await.unwrap();
    let error = sink.events.prepare(1).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("too many filtered rows") && error.to_string().contains("too long"), "{error}");
    assert!(shown(&server, &table()).is_empty());
    // Rows are lost: nothing more is taken until the pipeline starts again.
    assert!(sink.events.write(rows(&table(), &[(Insert, 8, Some("ok"))])).await.is_err());
    assert!(sink.events.prepare(2).await.is_err());
}

#[tokio::test]
async fn another_frontend_takes_over() {
    let server = StandIn::start(Settings { frontends: 2, ..Settings::default() });
    let mut sink = sink(&server, &[("sink.connect.timeout-ms", "500")]);
    sink.events.recover(None).await.unwrap();
    create(&mut sink, &table()).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    let committable = sink.events.prepare(1).await.unwrap().unwrap();
    server.stop_frontend(0);
    sink.events.commit(1, committable).await.unwrap();
    sink.events.write(rows(&table(), &[(Insert, 2, Some("b"))])).await.unwrap();
    checkpoint(&mut sink, 2).await.unwrap();
    let change = SchemaChange::TruncateTable { table: TableId::new("shop", "none") };
    sink.metadata.apply(&change, None).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a", "2|b"]);
}

#[tokio::test]
async fn a_backend_that_dies_takes_its_open_transaction_along() {
    let mut server = StandIn::start(Settings { backends: 3, ..Settings::default() });
    let mut first = sink(&server, &[("sink.buffer-flush.interval-ms", "0"), ("sink.connect.timeout-ms", "500")]);
    first.events.recover(None).await.unwrap();
    create(&mut first, &table()).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    first.events.idle().await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let backend = loop {
        let loaded = server.world().transactions.iter().find(|t| !t.changes.is_empty()).map(|t| t.backend);
        match loaded {
            Some(backend) => break backend,
            None => assert!(Instant::now() < deadline, "the row is never loaded"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    server.stop_backend(backend);
    let error = first.events.prepare(1).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Transient, "{error}");
    first.events.recover(None).await.unwrap();
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    checkpoint(&mut first, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
    server.start_backend(backend);
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    for action in [FaultAction::Status500, FaultAction::Refuse("Cancelled: memory limit exceeded".to_owned())] {
        let (server, mut sink) = start(&[]).await;
        server.fault("load", When::Before, action.clone(), 0, 2);
        server.fault("commit", When::After, FaultAction::Drop, 0, 1);
        server.fault("prepare", When::After, FaultAction::Drop, 0, 1);
        sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
        checkpoint(&mut sink, 1).await.unwrap();
        assert_eq!(shown(&server, &table()), ["1|a"], "{action:?}");
    }
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
    server.fault("load", When::Before, FaultAction::Delay(Duration::from_secs(6)), 0, 1);
    let text = "x".repeat(20);
    let many = |t: &TableId, from: i64| {
        let list: Vec<_> = (from..from + 1000).map(|i| (Insert, i, Some(text.as_str()))).collect();
        rows(t, &list)
    };
    let begin = Instant::now();
    for i in 0..4 {
        sink.events.write(many(&table(), i * 1000)).await.unwrap();
    }
    for i in 0..12 {
        sink.events.write(many(&other, i * 1000)).await.unwrap();
        let buffered = sink.events.gauges().iter().find(|g| g.0 == "starrocks_buffered_bytes").unwrap().2;
        assert!(buffered <= f64::from(max) + 70_000.0, "{buffered} bytes are buffered");
    }
    assert!(begin.elapsed() < Duration::from_millis(5900), "the slow load was waited for: {:?}", begin.elapsed());
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(server.world().rows("shop", "orders").len(), 4000);
    assert_eq!(server.world().rows("shop", "other").len(), 12_000);
    let loads = server.world().operations.iter().filter(|o| o.0 == "load").count();
    assert!(loads > 3, "{loads} loads");
    assert_eq!(server.world().transactions.len(), 2, "loads of a table share a transaction");
}

#[tokio::test]
async fn tables_without_a_key_are_refused() {
    let (_server, sink) = start(&[]).await;
    let mut schema = (*crate::support::simple_schema()).clone();
    schema.primary_key.clear();
    let error = sink.events.check(&table(), &schema).unwrap_err();
    assert!(error.to_string().contains("Only support StarRocks primary key table"), "{error}");
    let _ = Changes::Inserts(0);
}
