//! Nodes that die, come back or are slow, while rows and schema changes are on their way.

use crate::pipeline::schema::execute;
use crate::support::olap::{Kind, Olap, at_once};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server};
use rowferry::mysql::wire::Connection;
use rowferry_stand_ins::faults::{FaultAction, Gate, When};
use std::time::Duration;

/// A database with the tables `a` and `b`.
fn source(theme: &str) -> Option<(rowferry::mysql::wire::ConnectOptions, Database, Connection)> {
    let options = Server::Mysql97.options()?;
    let database = Database::create(&options, theme);
    let mut client = database.connect();
    for table in ["a", "b"] {
        execute(&mut client, &[&format!("CREATE TABLE {table} (id INT PRIMARY KEY, v INT)")]);
        insert(&mut client, table, 0..50);
    }
    Some((options, database, client))
}

fn insert(client: &mut Connection, table: &str, ids: std::ops::Range<usize>) {
    let rows: Vec<String> = ids.map(|id| format!("({id}, {id})")).collect();
    execute(client, &[&format!("INSERT INTO {table} (id, v) VALUES {}", rows.join(","))]);
}

fn count(olap: &Olap, database: &Database, table: &str) -> usize {
    olap.values(&database.name, table, &[]).len()
}

fn assert_equal(olap: &Olap, database: &Database, columns: &[&str], what: &str) {
    for table in ["a", "b"] {
        let columns = if table == "a" { columns } else { &["id", "v"] };
        let rows = olap.rows(&database.name, table, columns);
        assert_eq!(rows, server_rows(database, table, columns), "{table}: {what}");
    }
}

/// The first of two frontends dies between a snapshot and rows; schema changes go to the other one too.
#[test]
fn another_frontend_takes_over() {
    for kind in Kind::BOTH {
        let Some((options, database, mut client)) = source("olapfe") else { return };
        let olap = Olap::with_frontends(kind, 2);
        let pipeline = olap.pipeline(&options, &database, "\\.*", &["schema.change.behavior: evolve"]);
        let mut running = pipeline.start(&["run"], &[]);
        olap.wait_for(&mut running, "snapshot", |olap| {
            ["a", "b"].iter().all(|table| count(olap, &database, table) == 50)
        });
        olap.stop_frontend(0);
        insert(&mut client, "a", 50..60);
        execute(&mut client, &["ALTER TABLE a ADD COLUMN x INT"]);
        insert(&mut client, "a", 60..70);
        insert(&mut client, "b", 60..70);
        olap.wait_for(&mut running, "rows by way of the other frontend", |olap| {
            count(olap, &database, "a") == 70 && count(olap, &database, "b") == 60
        });
        let log = running.log();
        assert_eq!(running.interrupt().0, Some(130), "{log}");
        assert_equal(&olap, &database, &["id", "v", "x"], &format!("{kind:?}"));
        // A new process finds the first one dead from the start.
        insert(&mut client, "b", 70..80);
        pipeline.run_well(&["run", "--until-caught-up"]);
        assert_equal(&olap, &database, &["id", "v", "x"], &format!("{kind:?}, started again"));
    }
}

/// No backend takes rows for a while: the pipeline waits and goes on where it was.
#[test]
fn when_all_backends_were_down_rows_arrive_once_they_are_back() {
    for kind in Kind::BOTH {
        let Some((options, database, mut client)) = source("olapbe") else { return };
        let mut olap = Olap::start(kind);
        let pipeline = olap.pipeline(&options, &database, "\\.*", &[]);
        let mut running = pipeline.start(&["run"], &[]);
        olap.wait_for(&mut running, "snapshot", |olap| count(olap, &database, "a") == 50);
        olap.stop_backends();
        insert(&mut client, "a", 50..60);
        running.wait_for_log(" again after: ");
        execute(&mut client, &["UPDATE a SET v = v + 1", "DELETE FROM b WHERE id < 10"]);
        olap.start_backends();
        olap.wait_for(&mut running, "rows behind the break", |olap| {
            count(olap, &database, "a") == 60 && count(olap, &database, "b") == 40
        });
        let log = running.log();
        assert_eq!(running.interrupt().0, Some(130), "{log}");
        pipeline.run_well(&["run", "--until-caught-up"]);
        assert_equal(&olap, &database, &["id", "v"], &format!("{kind:?}"));
    }
}

/// While a load of one table does not end, another table's rows are loaded and seen.
#[test]
fn a_slow_load_does_not_hold_up_another_table() {
    for kind in Kind::BOTH {
        let Some((options, database, mut client)) = source("olapslow") else { return };
        let olap = Olap::start(kind);
        let load = if kind == Kind::StarRocks { "stream_load" } else { "load" };
        let sink = olap.sink(at_once(kind));
        // No checkpoint waits for the slow load.
        let pipeline = Pipeline::new(
            &options,
            &format!("{}.\\.*", database.name),
            &[],
            &sink,
            &["rowferry.checkpoint.interval: 1 h"],
        );
        pipeline.run_well(&["run", "--until-caught-up"]);
        let mut running = pipeline.start(&["run"], &[]);
        let gate = Gate::default();
        olap.fault(load, When::Before, FaultAction::Wait(gate.clone()), 0, 1);
        insert(&mut client, "a", 50..60);
        olap.wait_for(&mut running, "slow load", Olap::all_struck);
        insert(&mut client, "b", 50..60);
        olap.wait_for(&mut running, "fast load", |olap| count(olap, &database, "b") == 60);
        assert_eq!(count(&olap, &database, "a"), 50, "the slow load was waited for in {kind:?}");
        gate.open();
        olap.wait_for(&mut running, "slow rows", |olap| count(olap, &database, "a") == 60);
        assert_eq!(running.interrupt().0, Some(130));
        pipeline.run_well(&["run", "--until-caught-up"]);
        assert_equal(&olap, &database, &["id", "v"], &format!("{kind:?}"));
    }
}

/// A DDL comes while loads of its table and of another are still under way: its rows before and behind have each the right
/// shape, and no job of the server meets an open transaction.
#[test]
fn a_schema_change_waits_for_the_loads_before_it() {
    for kind in Kind::BOTH {
        let Some((options, database, mut client)) = source("olapddl") else { return };
        let olap = Olap::start(kind);
        let pipeline = olap.pipeline(&options, &database, "\\.*", &["schema.change.behavior: evolve"]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        let mut running = pipeline.start(&["run"], &[]);
        for (n, change) in
            ["ADD COLUMN x INT DEFAULT 3 AFTER id", "MODIFY x BIGINT DEFAULT 3", "CHANGE x y BIGINT", "DROP COLUMN y"]
                .iter()
                .enumerate()
        {
            olap.fault("load", When::Before, FaultAction::Delay(Duration::from_millis(300)), 0, 2);
            let from = 100 + n * 20;
            insert(&mut client, "b", from..from + 5);
            insert(&mut client, "a", from..from + 5);
            execute(&mut client, &[&format!("ALTER TABLE a {change}")]);
            insert(&mut client, "a", from + 10..from + 15);
            insert(&mut client, "b", from + 10..from + 15);
            let rows = 60 + n * 10;
            olap.wait_for(&mut running, change, |olap| {
                count(olap, &database, "a") == rows && count(olap, &database, "b") == rows
            });
        }
        let log = running.log();
        assert_eq!(running.interrupt().0, Some(130), "{log}");
        assert_equal(&olap, &database, &["id", "v"], &format!("{kind:?}"));
        assert!(olap.jobs().iter().all(|state| *state == "FINISHED"), "{kind:?}: {:?}", olap.jobs());
    }
}
