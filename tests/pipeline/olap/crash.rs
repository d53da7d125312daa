//! Killed at each step of a checkpoint and of a DDL, and at any moment: source and target are equal in the end, and no
//! row is there twice.

use crate::pipeline::schema::{columns_of, execute};
use crate::support::olap::{Kind, Olap, at_once};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server};
use rowferry::mysql::wire::Connection;
use std::time::{Duration, Instant};

const SETUP: &[&str] = &[
    "CREATE TABLE keyed (id BIGINT PRIMARY KEY, a INT, b INT)",
    "INSERT INTO keyed VALUES (1,1,10),(2,2,20),(3,3,30)",
    // Where a row that comes twice is seen. Only Doris has such tables.
    "CREATE TABLE heap (n INT, t VARCHAR(20))",
    "INSERT INTO heap VALUES (1,'a'),(1,'a'),(2,NULL)",
];

/// Changes of `keyed`: at once and by a job, of each kind.
const CHANGES: &[&str] = &[
    "ALTER TABLE keyed ADD COLUMN x INT NOT NULL DEFAULT 5 AFTER id",
    "ALTER TABLE keyed MODIFY x BIGINT NOT NULL DEFAULT 5",
    "ALTER TABLE keyed CHANGE x y BIGINT NOT NULL",
    "ALTER TABLE keyed DROP COLUMN y, ADD COLUMN w VARCHAR(10), MODIFY a BIGINT",
    "ALTER TABLE keyed MODIFY w VARCHAR(20) COMMENT 'words'",
    "TRUNCATE TABLE keyed",
    "DROP TABLE keyed; CREATE TABLE keyed (id BIGINT PRIMARY KEY, b INT, a INT, z VARCHAR(5))",
];

/// A pipeline of these tables into a stand-in.
struct Ferry {
    database: Database,
    client: Connection,
    olap: Olap,
    pipeline: Pipeline,
    with_heap: bool,
}

impl Ferry {
    /// `None`, with a message: there is no server.
    fn new(kind: Kind, theme: &str, sink: &[&str]) -> Option<Self> {
        let options = Server::Mysql97.options()?;
        let database = Database::create(&options, theme);
        let mut client = database.connect();
        execute(&mut client, SETUP);
        let olap = Olap::start(kind);
        let with_heap = kind == Kind::Doris && sink != at_once(kind);
        let tables = if with_heap { "\\.*" } else { "keyed" };
        let pipeline = olap.pipeline_with(&options, &database, tables, sink, &["schema.change.behavior: evolve"]);
        Some(Self { database, client, olap, pipeline, with_heap })
    }

    /// Rows of both tables: additions, changes with and without the key, deletions.
    fn work(&mut self, n: usize) {
        let id = 100 + n * 10;
        for sql in [
            format!("INSERT INTO keyed (id, a, b) VALUES ({id}, {n}, 0), ({}, {n}, 1)", id + 1),
            format!("UPDATE keyed SET b = b + 1 WHERE id % 3 = {}", n % 3),
            format!("UPDATE keyed SET id = {} WHERE id = {id}", id + 5),
            format!("DELETE FROM keyed WHERE id = {}", id.saturating_sub(9)),
            format!("INSERT INTO heap VALUES ({n}, 'x'), ({n}, 'x')"),
        ] {
            execute(&mut self.client, &[&sql]);
        }
    }

    fn assert_equal(&self, what: &str) {
        for table in ["keyed", "heap"] {
            if table == "heap" && !self.with_heap {
                continue;
            }
            let columns = columns_of(&self.database, table);
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let rows = self.olap.rows(&self.database.name, table, &columns);
            assert_eq!(rows, server_rows(&self.database, table, &columns), "{table}, {what}");
            assert_eq!(self.olap.columns(&self.database.name, table).len(), columns.len(), "{table}, {what}");
        }
        assert_eq!(self.olap.open_transactions(), 0, "{what}");
    }
}

/// In the order in which a run passes them, each behind the one where the run before died.
const PLACES: &[&str] = &[
    "before-prepare:1",
    "before-save:1",
    "before-commit:1",
    "ddl-applied:1",
    "after-ddl:1",
    "before-prepare:1",
    "before-save:1",
    "before-commit:1",
    "after-commit:1",
];

fn killed_at_each_step(kind: Kind) {
    let Some(mut ferry) = Ferry::new(kind, "olapkill", &[]) else { return };
    // The snapshot dies on its way too.
    for place in ["chunk-read:1", "before-save:1", "before-commit:2"] {
        let run = ferry.pipeline.run(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", place)]);
        assert!(run.status.success() || run.status.code().is_none(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let mut died = 0;
    for (n, change) in CHANGES.iter().enumerate() {
        ferry.work(2 * n);
        execute(&mut ferry.client, &[change]);
        ferry.work(2 * n + 1);
        for place in PLACES {
            let run = ferry.pipeline.run(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", place)]);
            let log = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success() || run.status.code().is_none(), "{place} of {change} in {kind:?}: {log}");
            died += usize::from(run.status.code().is_none());
        }
        ferry.pipeline.run_well(&["run", "--until-caught-up"]);
        ferry.assert_equal(&format!("killed around {change} in {kind:?}"));
    }
    eprintln!("{kind:?}: died {died} times");
    assert!(died > 5 * CHANGES.len(), "died only {died} times");
}

#[test]
fn killed_at_each_step_of_a_checkpoint_and_a_ddl_starrocks_is_as_the_source() {
    killed_at_each_step(Kind::StarRocks);
}

#[test]
fn killed_at_each_step_of_a_checkpoint_and_a_ddl_doris_is_as_the_source() {
    killed_at_each_step(Kind::Doris);
}

/// Moments that nobody chose, from before the first connection to well into the stream, with rows and DDL all the while.
fn killed_at_any_moment(kind: Kind, sink: &[&str]) -> Option<Olap> {
    let mut ferry = Ferry::new(kind, "olapany", sink)?;
    for n in 0..14u64 {
        let running = ferry.pipeline.start(&["run"], &[]);
        let until = Instant::now() + Duration::from_millis(15 + n * n * 2);
        let mut m = 0;
        while m < 2 || Instant::now() < until {
            if m == 1 && n % 2 == 1 {
                execute(&mut ferry.client, &[CHANGES[usize::try_from(n / 2).unwrap()]]);
            }
            ferry.work(usize::try_from(n * 100 + m).unwrap());
            m += 1;
        }
        running.kill();
    }
    ferry.work(5000);
    ferry.pipeline.run_well(&["run", "--until-caught-up"]);
    ferry.assert_equal(&format!("killed at any moment in {kind:?}, {sink:?}"));
    Some(ferry.olap)
}

#[test]
fn killed_at_any_moment_the_target_ends_as_the_source() {
    for kind in Kind::BOTH {
        killed_at_any_moment(kind, &[]);
    }
}

/// Rows come again then; by their keys the tables end the same.
#[test]
fn killed_at_any_moment_a_table_with_a_key_ends_as_the_source_at_least_once_too() {
    for kind in Kind::BOTH {
        killed_at_any_moment(kind, at_once(kind));
    }
}

/// Loads of few rows each: many of a transaction, and of a checkpoint.
#[test]
fn killed_at_any_moment_many_loads_of_a_transaction_end_as_the_source() {
    let Some(olap) = killed_at_any_moment(Kind::StarRocks, &["sink.buffer-flush.max-bytes: 300"]) else { return };
    let (loads, transactions) = olap.loads_and_transactions();
    assert!(loads > transactions, "{loads} loads in {transactions} transactions");
}
