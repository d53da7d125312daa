//! Each DDL under LENIENT and EVOLVE: the rows of the seed matrix, from real statements to the target's columns and rows.

use crate::pipeline::schema::behaviors::{change, fill};
use crate::pipeline::schema::cells::{CELLS, Cell, Want};
use crate::pipeline::schema::{execute, renames_columns};
use crate::support::olap::{Kind, Olap, run_well};
use crate::support::servers::{Database, Server, all};

const BASE: &[&str] = &["id int not null", "a int not null", "b varchar(80)", "c int"];

/// The columns of a cell's table in StarRocks behind its change, under EVOLVE and LENIENT; `None`: the run ends. As the
/// page says: keys first, new columns are nullable, NOT NULL does not come back, four bytes a character.
fn columns(cell: &str) -> (Option<Vec<&'static str>>, Vec<&'static str>) {
    let [id, a, b, c] = [BASE[0], BASE[1], BASE[2], BASE[3]];
    let both = |columns: &[&'static str]| (Some(columns.to_vec()), columns.to_vec());
    let two = |evolve: &[&'static str], lenient: &[&'static str]| (Some(evolve.to_vec()), lenient.to_vec());
    match cell {
        "add_last" => both(&[id, a, b, c, "x int // new"]),
        "add_first" => two(&[id, "x int", a, b, c], &[id, a, b, c, "x int"]),
        "add_after" => two(&[id, "x int", "y int", a, b, c], &[id, a, b, c, "x int", "y int"]),
        // The default is what gives the rows that are there the zero that they have at the source.
        "add_not_null" => two(&[id, a, b, c, "x int = 0"], &[id, a, b, c, "x int"]),
        "drop_nullable" => two(&[id, a, c], BASE),
        "drop_not_null" => two(&[id, b, c], &[id, "a int", b, c]),
        "rename_nullable" => two(&[id, a, "y varchar(80)", c], &[id, a, b, c, "y varchar(80)"]),
        "rename_not_null" => two(&[id, "y int not null", b, c], &[id, "a int", b, c, "y int"]),
        "widen" => both(&[id, a, "b varchar(160)", "c bigint"]),
        "to_nullable" => both(&[id, "a int", b, c]),
        "to_not_null" | "moved" | "comment" | "truncated" => both(BASE),
        "several" => two(&[id, "x int", a, "c bigint"], &[id, a, b, "c bigint", "x int"]),
        // Nothing would tell the two apart if the change came again.
        "swapped" => (None, vec![id, "a int", b, c]),
        "dropped" => two(&[], BASE),
        "made_anew" => two(&[id, "b varchar(120)", "z int"], &[id, "a int", "b varchar(120)", c, "z int"]),
        other => panic!("a cell that is not here: {other}"),
    }
}

/// The rows, in the order of the stream's columns; where they are not those of the cell.
fn rows(cell: &Cell, behavior: &str) -> Vec<&'static str> {
    match (cell.name, behavior) {
        ("add_not_null", "evolve") => vec!["1|10|one|100|0", "2|20|two|201|0", "3|30|three|300|7"],
        (_, "evolve") => cell.evolve.rows.to_vec(),
        _ => cell.lenient.rows.to_vec(),
    }
}

/// The names of a definition's columns.
fn names(want: &Want) -> Vec<&'static str> {
    want.schema.split(", ").filter_map(|column| column.split(' ').next()).collect()
}

fn assert_cell(olap: &Olap, database: &str, cell: &Cell, behavior: &str, what: &str) {
    let (evolve, lenient) = columns(cell.name);
    let (wanted, want) = match behavior {
        "evolve" => (evolve.expect("one that goes on"), &cell.evolve),
        _ => (lenient, &cell.lenient),
    };
    let nullable = |column: &&str| match olap.kind {
        Kind::StarRocks => (*column).to_owned(),
        // All columns take NULL.
        Kind::Doris => column.replace(" not null", ""),
    };
    let wanted: Vec<String> = wanted.iter().map(nullable).collect();
    assert_eq!(olap.columns(database, cell.name), wanted, "{what}");
    if !wanted.is_empty() {
        assert_eq!(olap.rows(database, cell.name, &names(want)), rows(cell, behavior), "{what}");
    }
    let comment = olap.table_comment(database, cell.name).unwrap_or_default();
    assert_eq!(comment, if cell.name == "comment" { "note" } else { "" }, "{what}");
}

#[test]
fn each_change_reaches_the_target_as_each_behaviour_wants_it() {
    for (server, options) in all() {
        for behavior in ["lenient", "evolve"] {
            if server == Server::Mysql56 && behavior == "lenient" {
                continue;
            }
            let fits = |cell: &&Cell| {
                (behavior == "lenient" || columns(cell.name).0.is_some())
                    && (cell.old_servers || renames_columns(server))
            };
            let cells: Vec<&Cell> = CELLS.iter().filter(fits).collect();
            let database = Database::create(&options, "olapcells");
            let mut client = database.connect();
            fill(&mut client, &cells);
            let targets = Kind::BOTH.map(Olap::start);
            let line = format!("schema.change.behavior: {behavior}");
            let pipelines = targets.each_ref().map(|olap| olap.pipeline(&options, &database, "\\.*", &[&line]));
            run_well(&pipelines, &["run", "--until-caught-up"]);
            change(&mut client, &cells);
            run_well(&pipelines, &["run", "--until-caught-up"]);
            for olap in &targets {
                for cell in &cells {
                    let what = format!("{} under {behavior} of {server:?} in {:?}", cell.name, olap.kind);
                    assert_cell(olap, &database.name, cell, behavior, &what);
                }
            }
        }
    }
}

/// What a server can't do ends the run under EVOLVE and names the statement; under TRY_EVOLVE rows go on in the old shape.
#[test]
fn what_the_server_can_not_change_ends_the_run_or_is_left_out_under_try_evolve() {
    let Some(options) = Server::Mysql97.options() else { return };
    for (setup, ddl, old_shape) in [
        ("d DATE, e INT", "ALTER TABLE t MODIFY d VARCHAR(20)", "the type of `d`"),
        ("d INT, e INT", "ALTER TABLE t RENAME COLUMN d TO e, RENAME COLUMN e TO d", ""),
        ("d INT, e INT", "ALTER TABLE t MODIFY id BIGINT", "the type of `id`"),
    ] {
        for kind in Kind::BOTH {
            for behavior in ["evolve", "try_evolve"] {
                let what = format!("{ddl} under {behavior} in {kind:?}");
                let database = Database::create(&options, "olapcannot");
                let mut client = database.connect();
                execute(&mut client, &[&format!("CREATE TABLE t (id INT PRIMARY KEY, {setup})")]);
                execute(&mut client, &["INSERT INTO t (id) VALUES (1)"]);
                let olap = Olap::start(kind);
                let line = format!("schema.change.behavior: {behavior}");
                let pipeline = olap.pipeline(&options, &database, "t", &[&line]);
                pipeline.run_well(&["run", "--until-caught-up"]);
                let before = olap.columns(&database.name, "t");
                execute(&mut client, &[ddl, "INSERT INTO t (id) VALUES (2)"]);
                let run = pipeline.run(&["run", "--until-caught-up"], &[]);
                let log = String::from_utf8_lossy(&run.stderr).into_owned();
                assert_eq!(olap.columns(&database.name, "t"), before, "{what}");
                if behavior == "evolve" {
                    assert_eq!(run.status.code(), Some(4), "{what}: {log}");
                    assert!(log.contains("RF-SNK-001") && log.contains("statement: ALTER TABLE t"), "{what}: {log}");
                    assert_eq!(olap.rows(&database.name, "t", &["id"]), ["1"], "{what}");
                } else {
                    assert!(run.status.success() && log.contains(old_shape), "{what}: {log}");
                    assert_eq!(olap.rows(&database.name, "t", &["id"]), ["1", "2"], "{what}");
                }
            }
        }
    }
}
