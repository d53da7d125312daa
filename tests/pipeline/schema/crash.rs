//! Killed between a schema change and the checkpoint behind it, the pipeline makes the change once and has each row once.

use super::{execute, renames_columns};
use crate::support::lake::{lake_tables, to_lake};
use crate::support::rowferry::server_rows;
use crate::support::servers::{Database, Server, all};
use rowferry::mysql::wire::Connection;

/// One round: statements of a keyed table and of one without a key, rows before and behind the change. `N` is a number of
/// the round's own.
struct Round {
    keyed: &'static str,
    heap: &'static str,
    /// Whether MySQL 5.6 knows the statements.
    old_servers: bool,
}

const ROUNDS: &[Round] = &[
    Round {
        keyed: "ALTER TABLE keyed ADD COLUMN x INT",
        heap: "ALTER TABLE heap ADD COLUMN x INT FIRST",
        old_servers: true,
    },
    Round { keyed: "ALTER TABLE keyed CHANGE x y BIGINT", heap: "ALTER TABLE heap CHANGE x y INT", old_servers: true },
    // The old name is taken at once by another column.
    Round {
        keyed: "ALTER TABLE keyed CHANGE y z BIGINT, ADD COLUMN y VARCHAR(10)",
        heap: "ALTER TABLE heap DROP COLUMN y, ADD COLUMN y VARCHAR(10)",
        old_servers: true,
    },
    Round {
        keyed: "ALTER TABLE keyed RENAME COLUMN a TO b, RENAME COLUMN b TO a",
        heap: "ALTER TABLE heap RENAME COLUMN n TO m",
        old_servers: false,
    },
    Round { keyed: "TRUNCATE TABLE keyed", heap: "TRUNCATE TABLE heap", old_servers: true },
    Round {
        keyed: "ALTER TABLE keyed DROP COLUMN y, ADD COLUMN w INT AFTER id, MODIFY a BIGINT",
        heap: "ALTER TABLE heap COMMENT 'other'",
        old_servers: true,
    },
    Round {
        keyed: "DROP TABLE keyed; CREATE TABLE keyed (id BIGINT PRIMARY KEY, a INT, b INT, x VARCHAR(5))",
        heap: "DROP TABLE heap; CREATE TABLE heap (t VARCHAR(5), k INT)",
        old_servers: true,
    },
];

/// Failpoints in the order in which a DDL passes them, with how often the place is passed before.
const PLACES: &[&str] = &[
    "before-save:1",
    "before-commit:1",
    "ddl-applied:1",
    "ddl-applied:2",
    "ddl-applied:3",
    "after-ddl:1",
    "before-save:2",
    "after-commit:3",
];

const SETUP: &[&str] = &[
    "CREATE TABLE keyed (id BIGINT PRIMARY KEY, a INT, b INT)",
    "CREATE TABLE heap (n INT, t VARCHAR(20))",
    "INSERT INTO keyed VALUES (1,1,10),(2,2,20),(3,3,30)",
    "INSERT INTO heap VALUES (1,'a'),(1,'a'),(2,NULL)",
];

/// The statements of a round, with rows before and behind each change.
fn work(client: &mut Connection, n: usize, round: &Round) {
    let insert = |id: usize| {
        let keyed = format!("INSERT INTO keyed (id, a, b) VALUES ({id}, {n}, {id})");
        let heap = format!("INSERT INTO heap SELECT * FROM heap LIMIT {}", 1 + n % 2);
        [keyed, heap]
    };
    let before = insert(100 + n * 10);
    let behind = insert(105 + n * 10);
    execute(client, &[&before[0], &before[1], "UPDATE keyed SET b = b + 1 WHERE id = 2", round.keyed]);
    execute(client, &["UPDATE keyed SET b = b + 1 WHERE id = 3", &behind[0], round.heap]);
    execute(client, &["INSERT INTO heap () VALUES (), ()", &behind[1], "DELETE FROM keyed WHERE id = 1"]);
}

#[test]
fn killed_around_a_ddl_the_lake_has_each_row_once_and_the_right_columns() {
    for (kind, server) in all() {
        let mut died = 0;
        // All places at one server, and those within a DDL at each.
        let places: Vec<&str> = match kind {
            Server::Mysql97 => PLACES.to_vec(),
            _ => PLACES.iter().copied().filter(|p| p.starts_with("ddl-applied") || *p == "after-ddl:1").collect(),
        };
        for place in &places {
            let database = Database::create(&server, "ddlkill");
            let mut client = database.connect();
            execute(&mut client, SETUP);
            let warehouse = tempfile::TempDir::new().unwrap();
            let pipeline = to_lake(&server, &database, warehouse.path(), &["schema.change.behavior: evolve"]);
            pipeline.run_well(&["run", "--until-caught-up"]);
            for (n, round) in ROUNDS.iter().enumerate() {
                if !round.old_servers && !renames_columns(kind) {
                    continue;
                }
                work(&mut client, n, round);
                let run = pipeline.run(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", place)]);
                let log = String::from_utf8_lossy(&run.stderr);
                assert!(
                    run.status.success() || run.status.code().is_none(),
                    "{place} in round {n} at {kind:?}:\n{log}"
                );
                died += usize::from(run.status.code().is_none());
                if n % 2 == 1 {
                    pipeline.run_well(&["run", "--until-caught-up"]);
                }
            }
            pipeline.run_well(&["run", "--until-caught-up"]);
            let Some(lake) = lake_tables(warehouse.path(), &database.name) else { return };
            for table in ["keyed", "heap"] {
                let columns = super::columns_of(&database, table);
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                let what = format!("{table} killed at {place} at {kind:?}");
                assert_eq!(lake[table].rows(&[]), server_rows(&database, table, &columns), "{what}");
            }
        }
        eprintln!("{kind:?}: died {died} times");
        assert!(died > 4 * places.len(), "{kind:?}: died only {died} times");
    }
}

/// Under LENIENT a change becomes several, and the target another than the source: what a run that is never killed makes of
/// it is what the killed one must make.
#[test]
fn killed_or_not_the_lake_is_the_same_under_lenient() {
    let Some(server) = Server::Mysql97.options() else { return };
    for place in ["ddl-applied:1", "ddl-applied:2", "after-ddl:1", "before-save:2"] {
        let database = Database::create(&server, "lenientkill");
        let mut client = database.connect();
        execute(&mut client, SETUP);
        let warehouses = [tempfile::TempDir::new().unwrap(), tempfile::TempDir::new().unwrap()];
        let pipelines = warehouses.each_ref().map(|w| to_lake(&server, &database, w.path(), &[]));
        for pipeline in &pipelines {
            pipeline.run_well(&["run", "--until-caught-up"]);
        }
        for (n, round) in ROUNDS.iter().enumerate() {
            work(&mut client, n, round);
            pipelines[0].run_well(&["run", "--until-caught-up"]);
            let killed = pipelines[1].run(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", place)]);
            let log = String::from_utf8_lossy(&killed.stderr);
            assert!(killed.status.success() || killed.status.code().is_none(), "{place} in round {n}:\n{log}");
            pipelines[1].run_well(&["run", "--until-caught-up"]);
        }
        let lakes = warehouses.each_ref().map(|w| lake_tables(w.path(), &database.name));
        let [Some(whole), Some(killed)] = lakes else { return };
        for table in ["keyed", "heap"] {
            assert_eq!(killed[table].schema, whole[table].schema, "{table} killed at {place}");
            assert_eq!(killed[table].rows(&[]), whole[table].rows(&[]), "{table} killed at {place}");
        }
    }
}
