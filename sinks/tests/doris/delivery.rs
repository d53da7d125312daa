//! Rows arrive as each mode promises, whatever breaks.

use crate::stand_in::{FaultAction, Settings, StandIn, Ty, When};
use crate::support::{EXACTLY_ONCE, checkpoint, create, exact, options, rows, shown, simple_schema, sink, table};
use rowferry_model::RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{AlteredColumn, DataType, SchemaChange, TableId};
use rowferry_sinks::{Committable, Retry, Sink, SinkError};
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
    let (server, mut sink) = start(&EXACTLY_ONCE).await;
    assert!(sink.events.capabilities().exactly_once);
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
    for mode in [&EXACTLY_ONCE[..], &[]] {
        let (server, mut sink) = start(mode).await;
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
}

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

/// A run of the pipeline over checkpoints that a crash may end anywhere: what it saves, and what it does again.
struct Pipeline {
    saved: Option<(u64, Option<Committable>)>,
}

impl Pipeline {
    /// The rows of a checkpoint: each writes, changes and deletes.
    async fn step(&mut self, sink: &mut Sink, id: u64) -> Result<(), SinkError> {
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

    /// Three checkpoints; after each failure a new process, as after kill -9.
    async fn run(&mut self, server: &StandIn, mut sink: Sink, what: &str, more: &[(&str, &str)]) {
        let (mut id, mut crashes) = (1, 0);
        while id <= 3 {
            match self.step(&mut sink, id).await {
                Ok(()) => id += 1,
                Err(_) => {
                    crashes += 1;
                    assert!(crashes < 20, "{what} never gets through");
                    // The old process rolls nothing back.
                    std::mem::forget(sink);
                    sink = crate::support::sink(server, more);
                    let mut tries = 0;
                    while let Err(error) = sink.events.recover(self.saved.clone()).await {
                        tries += 1;
                        assert!(tries < 10, "{what}: {error}");
                    }
                    id = self.saved.as_ref().map_or(1, |(id, _)| id + 1);
                }
            }
        }
        assert_eq!(shown(server, &table()), ["12|z", "22|z", "31|y", "32|z"], "{what}, {crashes} crashes");
    }
}

/// Breaks at every operation, before and behind its effect, and restarts from what was saved.
#[tokio::test]
async fn a_crash_at_any_step_loses_nothing_and_doubles_nothing() {
    let more = [EXACTLY_ONCE[0], EXACTLY_ONCE[1], ("sink.max-retries", "1")];
    for operation in ["load", "commit", "state", "abort", "backends"] {
        for when in [When::Before, When::After] {
            for skip in 0..3 {
                let what = format!("{operation} {when:?} {skip}");
                let (server, sink) = start(&more).await;
                // Longer than the sink tries.
                server.fault(operation, when, FaultAction::Drop, skip, 6);
                Pipeline { saved: None }.run(&server, sink, &what, &more).await;
                let world = server.world();
                let open: Vec<_> = world.transactions.iter().filter(|t| !t.is_over()).collect();
                assert!(open.is_empty(), "{what}: transactions are left open: {open:?}");
                // Exactly once: no row was committed twice.
                let seen = world.transactions.iter().filter(|t| t.state == "VISIBLE").count();
                assert_eq!(seen, 3, "{what}");
            }
        }
    }
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
            Pipeline { saved: None }.run(&server, sink, &format!("{more:?} {when:?}"), &more).await;
        }
    }
}

#[tokio::test]
async fn what_was_prepared_but_not_saved_is_rolled_back() {
    let (server, mut first) = start(&EXACTLY_ONCE).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("saved"))])).await.unwrap();
    let saved = first.events.prepare(1).await.unwrap();
    first.events.commit(1, saved.clone().unwrap()).await.unwrap();
    first.events.write(rows(&table(), &[(Insert, 2, Some("lost"))])).await.unwrap();
    first.events.prepare(2).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = exact(&server);
    second.events.recover(Some((1, saved))).await.unwrap();
    let states: Vec<&str> = server.world().transactions.iter().map(|t| t.state).collect();
    assert_eq!(states, ["VISIBLE", "ABORTED"]);
    second.events.write(rows(&table(), &[(Insert, 2, Some("again"))])).await.unwrap();
    checkpoint(&mut second, 2).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|saved", "2|again"]);
}

#[tokio::test]
async fn an_open_transaction_of_a_crash_does_not_block_an_alteration() {
    let (server, mut first) = start(&EXACTLY_ONCE).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    first.events.prepare(1).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = sink(&server, &[EXACTLY_ONCE[0], EXACTLY_ONCE[1], ("schema.evolution.timeout", "20s")]);
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
async fn rows_of_a_transaction_that_timed_out_are_missed_loudly() {
    let (server, mut sink) = start(&EXACTLY_ONCE).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    let committable = sink.events.prepare(1).await.unwrap().unwrap();
    server.world().skip(Duration::from_secs(3601));
    let error = sink.events.commit(1, committable.clone()).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("timeout by txn manager"), "{error}");
    // Behind the days that transactions are kept, the user may know better.
    server.world().transactions.clear();
    let error = sink.events.commit(1, committable.clone()).await.unwrap_err();
    assert!(error.hint_text().unwrap().contains("rowferry.assume-committed"), "{error}");
    let more = [EXACTLY_ONCE[0], EXACTLY_ONCE[1], ("rowferry.assume-committed", "true")];
    let mut lenient = crate::support::sink(&server, &more);
    lenient.events.recover(Some((1, Some(committable)))).await.unwrap();
}

#[tokio::test]
async fn refused_rows_are_quoted_and_stop_the_sink() {
    for mode in [&EXACTLY_ONCE[..], &[]] {
        let (server, mut sink) = start(mode).await;
        // Somebody has made the column narrower than the sink would.
        server.world().table_mut("shop", "orders").unwrap().columns[1].ty = Ty::Varchar(3);
        sink.events.write(rows(&table(), &[(Insert, 7, Some("too long a text"))])).await.unwrap();
        let error = sink.events.prepare(1).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Permanent);
        let text = error.to_string();
        assert!(text.contains("too many filtered rows") && text.contains("column_name[name]"), "{text}");
        assert!(text.contains("too long a text"), "the first refused row is quoted: {text}");
        assert!(shown(&server, &table()).is_empty());
        // Rows are lost: nothing more is taken until the pipeline starts again.
        assert!(sink.events.write(rows(&table(), &[(Insert, 8, Some("ok"))])).await.is_err());
        assert!(sink.events.prepare(2).await.is_err());
    }
}

#[tokio::test]
async fn another_frontend_takes_over() {
    for redirect in ["false", "true"] {
        let server = StandIn::start(Settings { frontends: 2, ..Settings::default() });
        let mut sink = sink(&server, &[EXACTLY_ONCE[0], EXACTLY_ONCE[1], ("auto-redirect", redirect)]);
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
        assert_eq!(shown(&server, &table()), ["1|a", "2|b"], "auto-redirect: {redirect}");
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

#[tokio::test]
async fn passing_failures_are_tried_again() {
    for action in [FaultAction::Status500, FaultAction::Refuse("[E-235]too many versions".to_owned())] {
        for mode in [&EXACTLY_ONCE[..], &[]] {
            let (server, mut sink) = start(mode).await;
            server.fault("load", When::Before, action.clone(), 0, 2);
            server.fault("commit", When::After, FaultAction::Drop, 0, 1);
            sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
            checkpoint(&mut sink, 1).await.unwrap();
            assert_eq!(shown(&server, &table()), ["1|a"], "{action:?}");
        }
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
    let (server, mut sink) = start(&[("sink.flush.queue-size", "1")]).await;
    let other = TableId::new("shop", "other");
    create(&mut sink, &other).await;
    // One load of the first table is slow; the second table has a thread of its own.
    server.fault("load", When::Before, FaultAction::Delay(Duration::from_secs(8)), 0, 1);
    let text = "x".repeat(20);
    let many = |t: &TableId, from: i64| {
        let list: Vec<_> = (from..from + 1000).map(|i| (Insert, i, Some(text.as_str()))).collect();
        rows(t, &list)
    };
    for i in 0..50 {
        sink.events.write(many(&table(), i * 1000)).await.unwrap();
    }
    let begin = Instant::now();
    for i in 0..150 {
        sink.events.write(many(&other, i * 1000)).await.unwrap();
        let buffered = sink.events.gauges().iter().find(|g| g.0 == "doris_buffered_bytes").unwrap().2;
        assert!(buffered <= f64::from(max) * 3.0 + 70_000.0, "{buffered} bytes are buffered");
    }
    while server.world().rows("shop", "other").len() < 150_000 {
        sink.events.idle().await.unwrap();
        assert!(begin.elapsed() < Duration::from_millis(7900), "the slow load was waited for: {:?}", begin.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(server.world().rows("shop", "orders").len(), 50_000);
    let loads = server.world().operations.iter().filter(|o| o.0 == "load").count();
    assert_eq!(loads, 4, "50,000 rows a load");
}

/// Rows wait no longer than the interval.
#[tokio::test]
async fn old_rows_are_flushed() {
    let (server, mut sink) = start(&[("sink.buffer-flush.interval", "1s")]).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    sink.events.idle().await.unwrap();
    assert!(shown(&server, &table()).is_empty());
    tokio::time::sleep(Duration::from_millis(1100)).await;
    sink.events.idle().await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while shown(&server, &table()).is_empty() {
        assert!(Instant::now() < deadline, "the row is never loaded");
        tokio::time::sleep(Duration::from_millis(10)).await;
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

/// An earlier run had two phases, this one has not.
#[tokio::test]
async fn an_open_transaction_of_other_options_does_not_block_an_alteration() {
    let (server, mut first) = start(&EXACTLY_ONCE).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    first.events.prepare(1).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = sink(&server, &[("schema.evolution.timeout", "5s")]);
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
