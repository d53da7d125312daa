//! `include.schema.changes`, `exclude.schema.changes`, and the switches of source and pipeline.

use super::execute;
use crate::support::lake::{lake_sink, lake_tables};
use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, Server};
use crate::support::target::EvolvingTarget;

const SETUP: &[&str] = &[
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20) COMMENT 'of b') COMMENT = 'of t'",
    "INSERT INTO t VALUES (1,10,'one')",
];

const CHANGES: &[&str] = &[
    "ALTER TABLE t ADD COLUMN x INT COMMENT 'of x'",
    "INSERT INTO t VALUES (2,20,'two',200)",
    "ALTER TABLE t DROP COLUMN a",
    "INSERT INTO t VALUES (3,'three',300)",
    "ALTER TABLE t CHANGE b y VARCHAR(30)",
    "INSERT INTO t VALUES (4,'four',400)",
    "ALTER TABLE t COMMENT = 'other'",
    "TRUNCATE TABLE t",
    "INSERT INTO t VALUES (5,'five',500)",
];

/// The target behind all changes, with further lines of the source, the sink and the pipeline.
fn run(source: &[&str], sink: &str, pipeline: &[&str]) -> Option<EvolvingTarget> {
    let server = Server::Mysql97.options()?;
    let database = Database::create(&server, "lists");
    let mut client = database.connect();
    execute(&mut client, SETUP);
    let sink = format!("  type: values\n  rowferry.format: json\n{sink}");
    let pipeline = Pipeline::new(&server, &format!("{}.t", database.name), source, &sink, pipeline);
    let mut target = EvolvingTarget::with_repeats(true);
    target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
    execute(&mut client, CHANGES);
    target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
    Some(target)
}

const EVOLVE: &[&str] = &["schema.change.behavior: evolve"];

#[test]
fn only_included_changes_reach_the_sink() {
    let Some(target) = run(&[], "  include.schema.changes: [add, truncate.table]\n", EVOLVE) else { return };
    assert_eq!(target.changes_of("t"), ["add.column x INT last", "truncate.table"]);
    assert_eq!(target.schema("t").unwrap(), "id INT NOT NULL, a INT, b VARCHAR(20), x INT");
    assert_eq!(target.rows("t", &[]), ["5|null|null|500"]);
}

#[test]
fn excluded_changes_do_not_reach_the_sink() {
    let Some(target) = run(&[], "  exclude.schema.changes: [drop, truncate.table, rename.column]\n", EVOLVE) else {
        return;
    };
    // The old column's type is still the source's when it is renamed.
    assert_eq!(target.changes_of("t"), ["add.column x INT last", "alter.column.type b VARCHAR(30)"]);
    assert_eq!(
        target.rows("t", &[]),
        ["1|10|one|null", "2|20|two|200", "3|null|three|300", "4|null|null|400", "5|null|null|500"]
    );
}

#[test]
fn lenient_leaves_truncation_out_unless_a_list_says_otherwise() {
    let Some(target) = run(&[], "", &[]) else { return };
    assert!(!target.changes_of("t").contains(&"truncate.table"), "{:?}", target.changes_of("t"));
    assert_eq!(target.rows("t", &["id"]), ["1", "2", "3", "4", "5"]);
    for list in ["  exclude.schema.changes: []\n", "  include.schema.changes: [column, truncate.table]\n"] {
        let Some(target) = run(&[], list, &[]) else { return };
        assert!(target.changes_of("t").contains(&"truncate.table"), "{list}: {:?}", target.changes_of("t"));
        assert_eq!(target.rows("t", &["id"]), ["5"], "{list}");
    }
}

#[test]
fn without_schema_changes_of_the_source_the_target_stays_as_it_was_created() {
    let Some(target) = run(&["schema-change.enabled: false"], "", EVOLVE) else { return };
    assert!(target.changes_of("t").is_empty(), "{:?}", target.changes_of("t"));
    assert_eq!(target.schema("t").unwrap(), "id INT NOT NULL, a INT, b VARCHAR(20)");
    assert_eq!(target.rows("t", &[]), ["1|10|one", "2|20|two", "3|null|three", "4|null|null", "5|null|null"]);
}

#[test]
fn comments_are_carried_where_they_are_asked_for() {
    let Some(target) = run(&["include-comments.enabled: true"], "", EVOLVE) else { return };
    assert_eq!(target.schema("t").unwrap(), "id INT NOT NULL, y VARCHAR(30), x INT 'of x'");
    assert_eq!(target.comment("t"), Some("other"));
    let Some(target) = run(&[], "", EVOLVE) else { return };
    assert_eq!(target.schema("t").unwrap(), "id INT NOT NULL, y VARCHAR(30), x INT");
}

/// With `schema.change.skip-create-table.enabled`, and without it, a table that is there already is used and follows.
#[test]
fn tables_that_are_there_already_are_used_and_follow() {
    let Some(server) = Server::Mysql97.options() else { return };
    for skip in ["true", "false"] {
        let database = Database::create(&server, "there");
        let mut client = database.connect();
        execute(&mut client, SETUP);
        let warehouse = tempfile::TempDir::new().unwrap();
        let tables = format!("{}.t", database.name);
        let sink = lake_sink(warehouse.path());
        let lines =
            ["schema.change.behavior: evolve".to_owned(), format!("schema.change.skip-create-table.enabled: {skip}")];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        // One pipeline makes the table, another one, which knows nothing of it, takes it over.
        Pipeline::new(&server, &tables, &[], &sink, &EVOLVE[..1]).run_well(&["run", "--until-caught-up"]);
        execute(&mut client, &["INSERT INTO t VALUES (9,90,'nine')"]);
        let second = Pipeline::new(&server, &tables, &[], &sink, &lines);
        second.run_well(&["run", "--until-caught-up"]);
        execute(&mut client, CHANGES);
        execute(&mut client, &["ALTER TABLE t ADD COLUMN z INT AFTER id", "INSERT INTO t VALUES (6,66,'six',600)"]);
        second.run_well(&["run", "--until-caught-up"]);
        let Some(lake) = lake_tables(warehouse.path(), &database.name) else { return };
        assert_eq!(lake["t"].schema, "id INT NOT NULL, z INT, y VARCHAR(30), x INT", "skip: {skip}");
        assert_eq!(lake["t"].rows(&[]), ["5|null|five|500", "6|66|six|600"], "skip: {skip}");
    }
}

/// With a table that is not there, `skip-create-table` makes the sink fail rather than create it.
#[test]
fn a_table_that_is_to_be_there_and_is_not_is_told() {
    let Some(server) = Server::Mysql97.options() else { return };
    let database = Database::create(&server, "nothere");
    let mut client = database.connect();
    execute(&mut client, SETUP);
    let warehouse = tempfile::TempDir::new().unwrap();
    let lines = ["schema.change.skip-create-table.enabled: true"];
    let sink = lake_sink(warehouse.path());
    let pipeline = Pipeline::new(&server, &format!("{}.t", database.name), &[], &sink, &lines);
    let output = pipeline.run(&["run", "--until-caught-up"], &[]);
    assert_eq!(output.status.code(), Some(4));
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(log.contains("RF-SNK-001") && log.contains(".t"), "{log}");
}
