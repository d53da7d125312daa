//! Killed while the server is at one of the steps of a load: before it has done what it was asked, or behind that. What
//! the dead process asked for may also be done late, when another run is at work already.

use crate::pipeline::schema::{columns_of, execute};
use crate::support::olap::{Kind, Olap};
use crate::support::rowferry::server_rows;
use crate::support::servers::{Database, Server};
use rowferry_stand_ins::faults::{FaultAction, When};
use std::time::Duration;

/// Statements of a schema change: those that look, those that change, those that wait for a job.
const STATEMENTS: &[&str] = &["sql:SHOW FULL COLUMNS", "sql:ALTER TABLE", "sql:SHOW ALTER"];

/// How late the server is.
const LATE: Duration = Duration::from_millis(150);

fn steps(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::StarRocks => &["begin", "load", "prepare", "commit"],
        Kind::Doris => &["load", "commit"],
    }
}

#[test]
fn killed_at_each_step_of_a_load_no_row_is_lost_or_doubled() {
    let Some(options) = Server::Mysql97.options() else { return };
    for kind in Kind::BOTH {
        let database = Database::create(&options, "olapsteps");
        let mut client = database.connect();
        execute(&mut client, &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)"]);
        // Every row that comes stays, so that one that comes twice is seen.
        execute(&mut client, &["CREATE TABLE heap (n INT)", "INSERT INTO heap VALUES (1)"]);
        let tables = if kind == Kind::Doris { ["t", "heap"].as_slice() } else { &["t"] };
        let olap = Olap::start(kind);
        let pattern = if kind == Kind::Doris { "\\.*" } else { "t" };
        let pipeline = olap.pipeline(&options, &database, pattern, &[]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        let mut n = 1;
        for step in steps(kind) {
            for when in [When::Before, When::After] {
                for waits in [false, true] {
                    let what = format!("{step} {when:?} in {kind:?}, {}", if waits { "awaited" } else { "late" });
                    n += 1;
                    let write = |client: &mut _, n: usize| {
                        let rows = format!("INSERT INTO t VALUES ({n}, {n})");
                        let update = format!("UPDATE t SET v = v + 1 WHERE id = {}", n - 1);
                        execute(client, &[&rows, &update, &format!("INSERT INTO heap VALUES ({n}), ({n})")]);
                    };
                    olap.fault(step, when, FaultAction::Delay(LATE), 0, 1);
                    let mut running = pipeline.start(&["run"], &[]);
                    write(&mut client, n);
                    olap.wait_for(&mut running, &what, Olap::all_struck);
                    if when == When::After {
                        // It has had its effect, and the answer is still to come.
                        std::thread::sleep(LATE / 3);
                    }
                    running.kill();
                    if waits {
                        std::thread::sleep(LATE);
                    }
                    n += 1;
                    write(&mut client, n);
                    pipeline.run_well(&["run", "--until-caught-up"]);
                    for table in tables {
                        let columns = if *table == "t" { ["id", "v"].as_slice() } else { &["n"] };
                        let rows = olap.rows(&database.name, table, columns);
                        assert_eq!(rows, server_rows(&database, table, columns), "{table}: {what}");
                    }
                }
            }
        }
    }
}

/// The same with a schema change. What the dead process asked for may be done when the next one has already done it.
fn killed_at_each_step_of_a_schema_change(kind: Kind) {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "olapddlsteps");
    let mut client = database.connect();
    execute(&mut client, &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (0, 0)"]);
    let olap = Olap::start(kind);
    let pipeline = olap.pipeline(&options, &database, "t", &["schema.change.behavior: evolve"]);
    pipeline.run_well(&["run", "--until-caught-up"]);
    let places = STATEMENTS.iter().flat_map(|statement| {
        [When::Before, When::After]
            .into_iter()
            .flat_map(move |when| [true, false].map(|waits| (*statement, when, waits)))
    });
    let mut died = 0;
    for (n, (statement, when, waits)) in places.enumerate() {
        let (c, d) = (format!("c{}", n / 4), format!("d{}", n / 4));
        let change = match n % 4 {
            0 => format!("ADD COLUMN {c} INT NOT NULL DEFAULT 7 AFTER id"),
            1 => format!("MODIFY {c} BIGINT NOT NULL DEFAULT 7"),
            2 => format!("CHANGE {c} {d} BIGINT NOT NULL DEFAULT 7"),
            _ => format!("DROP COLUMN {d}"),
        };
        let what = format!("{statement} {when:?} of {change} in {kind:?}, {}", if waits { "awaited" } else { "late" });
        olap.fault(statement, when, FaultAction::Delay(LATE), 0, 1);
        let mut running = pipeline.start(&["run"], &[]);
        let insert = |id: usize| format!("INSERT INTO t (id, v) VALUES ({id}, {n})");
        execute(&mut client, &[&insert(10 * n + 1), &format!("ALTER TABLE t {change}"), &insert(10 * n + 2)]);
        let rows = 2 * n + 3;
        olap.wait_for(&mut running, &what, |olap| {
            olap.all_struck() || olap.values(&database.name, "t", &[]).len() == rows
        });
        died += usize::from(olap.all_struck());
        running.kill();
        if waits {
            std::thread::sleep(LATE);
        }
        execute(&mut client, &["UPDATE t SET v = v + 1"]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        let columns = columns_of(&database, "t");
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        assert_eq!(olap.columns(&database.name, "t").len(), columns.len(), "{what}");
        assert_eq!(olap.rows(&database.name, "t", &columns), server_rows(&database, "t", &columns), "{what}");
    }
    assert!(died > 8, "only {died} died at a statement");
}

#[test]
fn killed_at_each_step_of_a_schema_change_starrocks_is_as_the_source() {
    killed_at_each_step_of_a_schema_change(Kind::StarRocks);
}

#[test]
fn killed_at_each_step_of_a_schema_change_doris_is_as_the_source() {
    killed_at_each_step_of_a_schema_change(Kind::Doris);
}
