//! Tables that come later: found at a restart, or made while the log is read.

use super::{columns_of, execute};
use crate::support::lake::{lake_sink, lake_tables};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server, all};
use crate::support::target::EvolvingTarget;
use crate::support::writers::Dice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn assert_equal(target: &EvolvingTarget, database: &Database, tables: &[&str], what: &str) {
    for table in tables {
        let columns = columns_of(database, table);
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        assert_eq!(target.rows(table, &columns), server_rows(database, table, &columns), "{table} {what}");
    }
}

/// Tables that were made, filled and changed between the saved place and the restart, with writers at work afterwards.
#[test]
fn tables_found_at_a_restart_are_read_and_followed() {
    for (kind, server) in all() {
        let database = Database::create(&server, "found");
        let mut client = database.connect();
        execute(&mut client, &["CREATE TABLE a (id INT PRIMARY KEY, v INT)", "INSERT INTO a VALUES (1,1)"]);
        let source = ["scan.newly-added-table.enabled: true", "scan.incremental.snapshot.chunk.size: 7"];
        let lines = ["schema.change.behavior: evolve", "parallelism: 2", "rowferry.checkpoint.interval: 50 ms"];
        let tables = format!("{}.\\.*", database.name);
        let pipeline = Pipeline::to_json(&server, &tables, &source, &lines);
        let warehouse = tempfile::TempDir::new().unwrap();
        let lake = Pipeline::new(&server, &tables, &source, &lake_sink(warehouse.path()), &lines);
        let mut target = EvolvingTarget::with_repeats(true);
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        lake.run_well(&["run", "--until-caught-up"]);

        let values: Vec<_> = (0..300).map(|n| format!("({n},{n})")).collect();
        let rows = values.join(",");
        execute(
            &mut client,
            &[
                "CREATE TABLE b (id INT PRIMARY KEY, v INT)",
                &format!("INSERT INTO b VALUES {rows}"),
                "ALTER TABLE b ADD COLUMN x VARCHAR(10) FIRST, MODIFY v BIGINT",
                "UPDATE b SET x = 'some' WHERE id % 3 = 0",
                "INSERT INTO a VALUES (2,2)",
                "CREATE TABLE c (n INT, t VARCHAR(10))",
                "INSERT INTO c VALUES (1,'a'),(1,'a'),(2,'b')",
                "ALTER TABLE c DROP COLUMN t",
                "TRUNCATE TABLE c",
                "INSERT INTO c VALUES (5),(5),(6)",
                "CREATE TABLE d (id INT PRIMARY KEY)",
                "DROP TABLE d",
            ],
        );
        let stop = Arc::new(AtomicBool::new(false));
        let writer = {
            let (mut client, stop) = (database.connect(), stop.clone());
            std::thread::spawn(move || {
                let mut dice = Dice(0x1234_5678_9ABC_DEF1);
                while !stop.load(Ordering::Relaxed) {
                    let (id, v) = (dice.roll(400), dice.roll(1000));
                    let sql = match dice.roll(6) {
                        0 => format!("REPLACE INTO b (id, v) VALUES ({id}, {v})"),
                        1 => format!("DELETE FROM b WHERE id = {id}"),
                        2 => format!("INSERT INTO c VALUES ({v})"),
                        3 => format!("REPLACE INTO a VALUES ({id}, {v})"),
                        _ => format!("UPDATE b SET v = {v}, x = 'w{v}' WHERE id = {id}"),
                    };
                    client.execute(&sql).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            })
        };
        target.apply(&pipeline.run_well(&["run", "--stop-after", "snapshot"]));
        lake.run_well(&["run", "--stop-after", "snapshot"]);
        execute(&mut client, &["ALTER TABLE b ADD COLUMN y INT AFTER x", "UPDATE b SET y = 1 WHERE id < 9"]);
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        lake.run_well(&["run", "--until-caught-up"]);
        assert_eq!(target.names(), ["a", "b", "c"], "{kind:?}");
        assert_equal(&target, &database, &["a", "b", "c"], &format!("at {kind:?}"));
        let Some(lake) = lake_tables(warehouse.path(), &database.name) else { return };
        for table in ["a", "b", "c"] {
            let columns = columns_of(&database, table);
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            assert_eq!(lake[table].rows(&columns), server_rows(&database, table, &columns), "{table} at {kind:?}");
        }
    }
}

#[test]
fn tables_found_at_a_restart_stay_out_without_the_option_and_it_is_said() {
    let Some(server) = Server::Mysql97.options() else { return };
    let database = Database::create(&server, "stayout");
    let mut client = database.connect();
    execute(&mut client, &["CREATE TABLE a (id INT PRIMARY KEY)"]);
    let pipeline = Pipeline::to_json(&server, &format!("{}.\\.*", database.name), &[], &[]);
    let mut target = EvolvingTarget::default();
    target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
    execute(
        &mut client,
        &["CREATE TABLE b (id INT PRIMARY KEY)", "INSERT INTO b VALUES (1)", "INSERT INTO a VALUES (1)"],
    );
    let output = pipeline.run(&["run", "--until-caught-up"], &[]);
    target.apply(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(target.names(), ["a"]);
    assert_eq!(target.rows("a", &[]), ["1"]);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(log.contains("it is left out: scan.newly-added-table.enabled is off"), "{log}");
}

const MADE: &[&str] = &[
    "CREATE TABLE plain (id INT PRIMARY KEY, v INT)",
    "INSERT INTO plain VALUES (1,1)",
    "CREATE TABLE alike LIKE a",
    "INSERT INTO alike VALUES (1,1)",
    "ALTER TABLE alike ADD COLUMN x INT FIRST",
    "INSERT INTO alike VALUES (7,2,2)",
    "CREATE TABLE brief (id INT PRIMARY KEY)",
    "INSERT INTO brief VALUES (1)",
    "DROP TABLE brief",
    "ALTER TABLE plain DROP COLUMN v",
    "INSERT INTO plain VALUES (2)",
];

/// Made while the pipeline runs, and while it is stopped.
#[test]
fn tables_that_are_made_while_the_log_is_read_are_followed_from_their_first_row() {
    for (kind, server) in all() {
        for running in [true, false] {
            let database = Database::create(&server, "made");
            let mut client = database.connect();
            execute(&mut client, &["CREATE TABLE a (id INT PRIMARY KEY, v INT)", "INSERT INTO a VALUES (1,1)"]);
            let source = ["scan.binlog.newly-added-table.enabled: true"];
            let lines = ["schema.change.behavior: evolve"];
            let pipeline = Pipeline::to_json(&server, &format!("{}.\\.*", database.name), &source, &lines);
            let mut target = EvolvingTarget::default();
            let mut statements = MADE.to_vec();
            // A table out of a query has its rows in the log; MySQL writes both as one transaction. MySQL 5.6 with GTIDs
            // has only the two statements.
            statements.push(match kind {
                Server::Mysql56 => "CREATE TABLE chosen (id INT, v INT); INSERT INTO chosen SELECT id, v FROM a",
                _ => "CREATE TABLE chosen AS SELECT id, v FROM a",
            });
            if running {
                let mut run = pipeline.start(&["run"], &[]);
                run.wait_for("snapshot", |out| out.contains("\"event\":\"insert\""));
                execute(&mut client, &statements);
                execute(&mut client, &["INSERT INTO a VALUES (99,99)"]);
                run.wait_for("the end", |out| out.contains("\"id\":99"));
                let (_, output) = run.interrupt();
                target.apply(&output);
            } else {
                target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
                execute(&mut client, &statements);
            }
            target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
            execute(&mut client, &["INSERT INTO chosen VALUES (5,5)", "INSERT INTO alike VALUES (8,8,8)"]);
            target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
            let what = format!("running {running} at {kind:?}");
            assert_equal(&target, &database, &["a", "plain", "alike", "chosen"], &what);
            assert!(target.schema("brief").is_none(), "{what}");
        }
    }
}

/// A table that is renamed into the pattern is captured from there on; its rows of before are not in the log, which is
/// said.
#[test]
fn a_table_renamed_into_the_pattern_is_followed_from_there() {
    for (kind, server) in all() {
        let database = Database::create(&server, "into");
        let mut client = database.connect();
        execute(
            &mut client,
            &[
                "CREATE TABLE in_a (id INT PRIMARY KEY)",
                "CREATE TABLE outside (id INT PRIMARY KEY, v INT)",
                "INSERT INTO outside VALUES (1,1)",
            ],
        );
        let source = ["scan.binlog.newly-added-table.enabled: true"];
        let pipeline = Pipeline::to_json(&server, &format!("{}.in_\\.*", database.name), &source, &[]);
        let mut target = EvolvingTarget::default();
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        execute(
            &mut client,
            &[
                "ALTER TABLE outside ADD COLUMN x INT",
                "RENAME TABLE outside TO in_b",
                "INSERT INTO in_b VALUES (2,2,2)",
            ],
        );
        let output = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{kind:?}: {log}");
        target.apply(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(target.rows("in_b", &["id", "v", "x"]), ["2|2|2"], "{kind:?}: {log}");
        assert!(log.contains("the rows that it has already are not in the binlog"), "{kind:?}: {log}");
    }
}
