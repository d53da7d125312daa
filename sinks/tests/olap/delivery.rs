//! Rows arrive once, in order, whatever breaks: what holds for both sinks.

use crate::stand_in::{FaultAction, Settings, When};
use crate::support::{
    CHANGE_TIMEOUT, EXACTLY_ONCE, FORGOTTEN_AFTER, KEYED_MODES, PASSES, QUICK, REFUSAL, STEPS, StandIn, WAYS,
    checkpoint, create, narrower, rows, shown, simple_schema, sink, table, wider,
};
use rowferry_model::RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{AlteredColumn, SchemaChange, TableId};
use rowferry_sinks::{Committable, Retry, Sink, SinkError};
use std::time::Duration;

/// How long anything is waited for that must come. Only a safety net: a busy machine may be very slow.
pub const PATIENCE: Duration = Duration::from_secs(240);

/// A stand-in, and a sink of it with the simple table.
pub async fn start(more: &[(&str, &str)]) -> (StandIn, Sink) {
    let server = StandIn::start(Settings::default());
    let mut sink = sink(&server, more);
    sink.events.recover(None).await.unwrap();
    create(&mut sink, &table()).await;
    (server, sink)
}

/// What makes the sink deliver exactly once, and more.
fn exactly_once<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&EXACTLY_ONCE, more].concat()
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
    for mode in KEYED_MODES {
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

/// A run of the pipeline over checkpoints that a crash may end anywhere: what it saves, and what it does again.
pub struct Pipeline {
    saved: Option<(u64, Option<Committable>)>,
}

impl Pipeline {
    pub fn new() -> Self {
        Self { saved: None }
    }

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
    pub async fn run(&mut self, server: &StandIn, mut sink: Sink, what: &str, more: &[(&str, &str)]) {
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
    let more = exactly_once(&[QUICK]);
    for operation in STEPS {
        for when in [When::Before, When::After] {
            for skip in 0..3 {
                let what = format!("{operation} {when:?} {skip}");
                let (server, sink) = start(&more).await;
                // Longer than the sink tries.
                server.fault(operation, when, FaultAction::Drop, skip, 6);
                Pipeline::new().run(&server, sink, &what, &more).await;
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

#[tokio::test]
async fn what_was_prepared_but_not_saved_is_rolled_back() {
    let (server, mut first) = start(&EXACTLY_ONCE).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("saved"))])).await.unwrap();
    let saved = first.events.prepare(1).await.unwrap();
    first.events.commit(1, saved.clone().unwrap()).await.unwrap();
    first.events.write(rows(&table(), &[(Insert, 2, Some("lost"))])).await.unwrap();
    first.events.prepare(2).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = sink(&server, &EXACTLY_ONCE);
    second.events.recover(Some((1, saved))).await.unwrap();
    let states: Vec<&str> = server.world().transactions.iter().map(|t| t.state).collect();
    assert_eq!(states, ["VISIBLE", "ABORTED"]);
    second.events.write(rows(&table(), &[(Insert, 2, Some("again"))])).await.unwrap();
    checkpoint(&mut second, 2).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|saved", "2|again"]);
}

/// A table that comes to its first rows some checkpoints after a crash: what the crash left is rolled back all the same. It
/// would block every ALTER of the table until it times out.
#[tokio::test]
async fn what_a_crash_left_is_rolled_back_however_late_its_table_comes() {
    for (checkpoints, crashes_again) in [(1, false), (3, false), (30, false), (1, true), (3, true)] {
        let what = format!("{checkpoints} checkpoints, crashes again: {crashes_again}");
        let (server, mut first) = start(&EXACTLY_ONCE).await;
        let late = TableId::new("shop", "other");
        create(&mut first, &late).await;
        for t in [&table(), &late] {
            first.events.write(rows(t, &[(Insert, 1, Some("lost"))])).await.unwrap();
        }
        first.events.prepare(1).await.unwrap().unwrap();
        std::mem::forget(first);

        let mut next = sink(&server, &EXACTLY_ONCE);
        next.events.recover(None).await.unwrap();
        let mut saved = None;
        for id in 1..=checkpoints {
            next.events.write(rows(&table(), &[(Insert, 1, Some("again"))])).await.unwrap();
            let committable = next.events.prepare(id).await.unwrap().unwrap();
            next.events.commit(id, committable.clone()).await.unwrap();
            saved = Some((id, Some(committable)));
        }
        if crashes_again {
            std::mem::forget(next);
            next = sink(&server, &EXACTLY_ONCE);
            next.events.recover(saved).await.unwrap();
        }
        next.events.write(rows(&late, &[(Insert, 1, Some("late"))])).await.unwrap();
        checkpoint(&mut next, checkpoints + 1).await.unwrap();
        assert_eq!(shown(&server, &late), ["1|late"], "{what}");
        let open = server.world().transactions.iter().filter(|t| !t.is_over()).count();
        assert_eq!(open, 0, "{what}");
    }
}

#[tokio::test]
async fn an_open_transaction_of_a_crash_does_not_block_an_alteration() {
    let (server, mut first) = start(&EXACTLY_ONCE).await;
    first.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    first.events.prepare(1).await.unwrap().unwrap();
    std::mem::forget(first);
    let mut second = sink(&server, &exactly_once(&[(CHANGE_TIMEOUT, "60s")]));
    second.events.recover(None).await.unwrap();
    let mut after = (*simple_schema()).clone();
    after.columns[1].data_type = wider();
    let change = SchemaChange::AlterColumns {
        table: table(),
        columns: vec![AlteredColumn {
            name: "name".to_owned(),
            data_type: wider(),
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
    let (option, time) = FORGOTTEN_AFTER;
    let (server, mut sink) = start(&exactly_once(option)).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    let committable = sink.events.prepare(1).await.unwrap().unwrap();
    server.world().skip(time);
    let error = sink.events.commit(1, committable.clone()).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("timeout by txn manager"), "{error}");
    // Behind the days that they are kept, the user may know better.
    server.world().transactions.clear();
    let error = sink.events.commit(1, committable.clone()).await.unwrap_err();
    assert!(error.hint_text().unwrap().contains("rowferry.assume-committed"), "{error}");
    let mut lenient = crate::support::sink(&server, &exactly_once(&[("rowferry.assume-committed", "true")]));
    lenient.events.recover(Some((1, Some(committable)))).await.unwrap();
}

#[tokio::test]
async fn refused_rows_are_quoted_and_stop_the_sink() {
    for mode in KEYED_MODES {
        let (server, mut sink) = start(mode).await;
        // Somebody has made the column narrower than the sink would.
        server.world().table_mut("shop", "orders").unwrap().columns[1].ty = narrower();
        sink.events.write(rows(&table(), &[(Insert, 7, Some("too long a text"))])).await.unwrap();
        let error = sink.events.prepare(1).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Permanent);
        let text = error.to_string();
        assert!(text.contains("too many filtered rows") && text.contains(REFUSAL), "{text}");
        assert!(text.contains("too long a text"), "the first refused row is quoted: {text}");
        assert!(shown(&server, &table()).is_empty());
        // Rows are lost: nothing more is taken until the pipeline starts again.
        assert!(sink.events.write(rows(&table(), &[(Insert, 8, Some("ok"))])).await.is_err());
        assert!(sink.events.prepare(2).await.is_err());
    }
}

#[tokio::test]
async fn another_frontend_takes_over() {
    for way in WAYS {
        let server = StandIn::start(Settings { frontends: 2, ..Settings::default() });
        let mut sink = sink(&server, &exactly_once(way));
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
        assert_eq!(shown(&server, &table()), ["1|a", "2|b"], "{way:?}");
    }
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    for action in [FaultAction::Status500, FaultAction::Refuse(PASSES.to_owned())] {
        for mode in KEYED_MODES {
            let (server, mut sink) = start(mode).await;
            server.fault("load", When::Before, action.clone(), 0, 2);
            server.fault("commit", When::After, FaultAction::Drop, 0, 1);
            server.fault("prepare", When::After, FaultAction::Drop, 0, 1);
            sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
            checkpoint(&mut sink, 1).await.unwrap();
            assert_eq!(shown(&server, &table()), ["1|a"], "{action:?}");
        }
    }
}
