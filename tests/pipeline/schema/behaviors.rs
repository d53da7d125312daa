//! Every change under every behaviour, into `values` and into Paimon: what the sink is told of, what the target is, and
//! which rows it has.

use super::cells::{BASE, CELLS, Cell, Want};
use super::{execute, renames_columns};
use crate::support::lake::{lake_sink, lake_tables};
use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, Server, all};
use crate::support::target::EvolvingTarget;
use rowferry::mysql::wire::{ConnectOptions, Connection};
use std::collections::BTreeSet;

const COMMENTS: &str = "include-comments.enabled: true";

pub(in crate::pipeline) fn fill(client: &mut Connection, cells: &[&Cell]) {
    for cell in cells {
        let name = cell.name;
        let rows = format!("INSERT INTO {name} VALUES (1,10,'one',100),(2,20,'two',200)");
        let create = format!("CREATE TABLE {name} (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(20), c INT)");
        execute(client, &[&create, &rows]);
    }
}

pub(in crate::pipeline) fn change(client: &mut Connection, cells: &[&Cell]) {
    for cell in cells {
        execute(client, &[cell.ddl, cell.then]);
    }
}

/// What a behaviour is to make of a cell; `None`: the run ends.
fn wanted(cell: &Cell, behavior: &str) -> Option<(BTreeSet<&'static str>, &'static str, Vec<&'static str>)> {
    let of = |want: &Want| (want.changes.iter().copied().collect(), want.schema, want.rows.to_vec());
    match behavior {
        "lenient" => Some(of(&cell.lenient)),
        "ignore" => cell.ignore.map(|rows| (BTreeSet::new(), BASE, rows.to_vec())),
        _ => Some(of(&cell.evolve)),
    }
}

fn cells(server: Server, behavior: &str) -> Vec<&'static Cell> {
    let fits = |cell: &&Cell| wanted(cell, behavior).is_some() && (cell.old_servers || renames_columns(server));
    CELLS.iter().filter(fits).collect()
}

fn into_values(kind: Server, server: &ConnectOptions, behavior: &str) {
    let database = Database::create(server, "cells");
    let mut client = database.connect();
    let cells = cells(kind, behavior);
    fill(&mut client, &cells);
    let line = format!("schema.change.behavior: {behavior}");
    let pipeline = Pipeline::to_json(server, &format!("{}.\\.*", database.name), &[COMMENTS], &[&line]);
    let mut target = EvolvingTarget::with_repeats(behavior != "evolve");
    target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
    change(&mut client, &cells);
    target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
    for cell in cells {
        let what = format!("{} under {behavior} at {kind:?}", cell.name);
        let (changes, schema, rows) = wanted(cell, behavior).expect("chosen");
        let told: BTreeSet<&str> = target.changes_of(cell.name).into_iter().collect();
        assert_eq!(told, changes, "{what}");
        assert_eq!(target.schema(cell.name).unwrap_or_default(), schema, "{what}");
        assert_eq!(target.rows(cell.name, &[]), rows, "{what}");
    }
}

#[test]
fn each_change_reaches_the_values_sink_as_each_behaviour_wants_it() {
    for (kind, server) in all() {
        for behavior in ["lenient", "evolve", "try_evolve", "ignore"] {
            if kind == Server::Mysql97 || matches!(behavior, "lenient" | "evolve") {
                into_values(kind, &server, behavior);
            }
        }
    }
}

#[test]
fn each_change_reaches_paimon_as_each_behaviour_wants_it() {
    for (kind, server) in all() {
        for behavior in ["lenient", "evolve", "try_evolve", "ignore"] {
            if kind != Server::Mysql97 && !matches!(behavior, "lenient" | "evolve") {
                continue;
            }
            let database = Database::create(&server, "lakecells");
            let mut client = database.connect();
            let cells = cells(kind, behavior);
            fill(&mut client, &cells);
            let warehouse = tempfile::TempDir::new().unwrap();
            let line = format!("schema.change.behavior: {behavior}");
            let tables = format!("{}.\\.*", database.name);
            let sink = lake_sink(warehouse.path());
            let pipeline = Pipeline::new(&server, &tables, &[COMMENTS], &sink, &[&line]);
            pipeline.run_well(&["run", "--until-caught-up"]);
            change(&mut client, &cells);
            pipeline.run_well(&["run", "--until-caught-up"]);
            let Some(lake) = lake_tables(warehouse.path(), &database.name) else { return };
            for cell in cells {
                let what = format!("{} under {behavior} at {kind:?}", cell.name);
                let (_, mut schema, rows) = wanted(cell, behavior).expect("chosen");
                match (cell.lake, behavior) {
                    (Some([_, lenient]), "lenient") => schema = lenient,
                    (_, "ignore") | (None, _) => {}
                    (Some([evolve, _]), _) => schema = evolve,
                }
                let Some(table) = lake.get(cell.name) else {
                    assert_eq!(schema, "", "there is no table: {what}");
                    continue;
                };
                assert_eq!(table.schema, schema, "{what}");
                assert_eq!(table.rows(&[]), rows, "{what}");
                let comment = (cell.name == "comment" && behavior != "ignore").then_some("note");
                assert_eq!(table.comment.as_deref().filter(|c| !c.is_empty()), comment, "{what}");
            }
        }
    }
}

/// Runs one change; gives the exit code, what was printed and the log.
fn run_one(server: &ConnectOptions, cell: &Cell, behavior: &str, sink: &str) -> (Option<i32>, EvolvingTarget, String) {
    let database = Database::create(server, "one");
    let mut client = database.connect();
    fill(&mut client, &[cell]);
    let line = format!("schema.change.behavior: {behavior}");
    let tables = format!("{}.\\.*", database.name);
    let sink = format!("  type: values\n  rowferry.format: json\n{sink}");
    let pipeline = Pipeline::new(server, &tables, &[COMMENTS], &sink, &[&line]);
    let mut target = EvolvingTarget::with_repeats(true);
    target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
    change(&mut client, &[cell]);
    let output = pipeline.run(&["run", "--until-caught-up"], &[]);
    target.apply(&String::from_utf8_lossy(&output.stdout));
    (output.status.code(), target, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn under_exception_each_change_ends_the_run_with_statement_and_position() {
    let Some(server) = Server::Mysql97.options() else { return };
    for cell in CELLS {
        let (code, target, log) = run_one(&server, cell, "exception", "");
        if cell.evolve.changes.is_empty() {
            assert_eq!(code, Some(0), "{}: {log}", cell.name);
            assert_eq!(target.rows(cell.name, &[]), cell.evolve.rows, "{}", cell.name);
            continue;
        }
        assert_eq!(code, Some(4), "{}: {log}", cell.name);
        // MySQL writes its own text for DROP TABLE.
        let first = cell.ddl.split(['T', ';']).next().unwrap();
        let told = ["RF-EVO-003", "position: ", &format!("statement: {first}")].iter().all(|part| log.contains(part));
        assert!(told, "{}: {log}", cell.name);
        assert_eq!(target.schema(cell.name).as_deref(), Some(BASE), "{}", cell.name);
        assert_eq!(target.rows(cell.name, &[]).len(), 2, "{}", cell.name);
    }
}

#[test]
fn under_ignore_a_row_without_a_value_for_a_not_null_column_ends_the_run() {
    let Some(server) = Server::Mysql97.options() else { return };
    for cell in CELLS.iter().filter(|cell| cell.ignore.is_none()) {
        let (code, target, log) = run_one(&server, cell, "ignore", "");
        assert_eq!(code, Some(4), "{}: {log}", cell.name);
        assert!(log.contains("RF-EVO-008") && log.contains("column `a`"), "{}: {log}", cell.name);
        assert_eq!(target.schema(cell.name).as_deref(), Some(BASE), "{}", cell.name);
    }
}

/// A sink that refuses every change: under TRY_EVOLVE the rows go on in the old shape, with a warning that says what the
/// target lacks.
#[test]
fn under_try_evolve_a_change_that_the_sink_refuses_is_left_out_with_a_warning() {
    let Some(server) = Server::Mysql97.options() else { return };
    for cell in CELLS.iter().filter(|cell| cell.ignore.is_some() && !cell.evolve.changes.is_empty()) {
        // A value that does not fit stops here: it is not lost in silence.
        let fits = !matches!(cell.name, "widen" | "several");
        let (code, target, log) = run_one(&server, cell, "try_evolve", "  error.on.schema.change: true\n");
        assert!(log.contains("can't follow a schema change"), "{}: {log}", cell.name);
        assert_eq!(code, Some(if fits { 0 } else { 4 }), "{}: {log}", cell.name);
        assert_eq!(target.schema(cell.name).as_deref(), Some(BASE), "{}", cell.name);
        if fits {
            assert_eq!(target.rows(cell.name, &[]), cell.ignore.unwrap(), "{}", cell.name);
        } else {
            assert!(log.contains("RF-EVO-007"), "{}: {log}", cell.name);
        }
        let (code, _, log) = run_one(&server, cell, "evolve", "  error.on.schema.change: true\n");
        assert_eq!(code, Some(4), "{}: {log}", cell.name);
        assert!(log.contains("RF-SNK-001") && log.contains("position: "), "{}: {log}", cell.name);
    }
}

/// Paimon can't change the type of a key's column. TRY_EVOLVE goes on without, as long as the values fit.
#[test]
fn what_paimon_can_not_change_ends_the_run_or_is_left_out_under_try_evolve() {
    let Some(server) = Server::Mysql97.options() else { return };
    for behavior in ["lenient", "evolve", "try_evolve"] {
        let database = Database::create(&server, "cannot");
        let mut client = database.connect();
        execute(&mut client, &["CREATE TABLE t (id INT PRIMARY KEY, a INT)", "INSERT INTO t VALUES (1,1)"]);
        let warehouse = tempfile::TempDir::new().unwrap();
        let line = format!("schema.change.behavior: {behavior}");
        let tables = format!("{}.t", database.name);
        let pipeline = Pipeline::new(&server, &tables, &[], &lake_sink(warehouse.path()), &[&line]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        execute(&mut client, &["ALTER TABLE t MODIFY id BIGINT, ADD COLUMN b INT", "INSERT INTO t VALUES (2,2,2)"]);
        let run = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&run.stderr).into_owned();
        if behavior != "try_evolve" {
            assert_eq!(run.status.code(), Some(4), "{behavior}: {log}");
            assert!(log.contains("RF-SNK-001") && log.contains("statement: ALTER TABLE t"), "{behavior}: {log}");
            continue;
        }
        assert!(run.status.success() && log.contains("keeps the type of `id`"), "{behavior}: {log}");
        if let Some(lake) = lake_tables(warehouse.path(), &database.name) {
            assert_eq!(lake["t"].schema, "id INT NOT NULL, a INT, b INT");
            assert_eq!(lake["t"].rows(&[]), ["1|1|null", "2|2|2"]);
        }
        execute(&mut client, &["INSERT INTO t VALUES (3000000000,3,3)"]);
        let run = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.code() == Some(4) && log.contains("RF-EVO-007"), "{log}");
    }
}
