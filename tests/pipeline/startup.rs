//! Where a pipeline without state begins.

use crate::support::rowferry::{Pipeline, StrictTarget};
use crate::support::servers::{Database, all};
use std::time::Duration;

#[test]
fn a_start_at_a_time_leaves_out_what_lies_before_it_also_after_a_crash() {
    for (name, server) in all() {
        let database = Database::create(&server, "time");
        let mut client = database.connect();
        client.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)").unwrap();
        client.execute("INSERT INTO t VALUES (1, 1), (2, 2)").unwrap();
        std::thread::sleep(Duration::from_millis(2100));
        let rows = client.query("SELECT UNIX_TIMESTAMP() * 1000 AS now").unwrap();
        let now = rows[0].at(0).unwrap().split('.').next().unwrap().to_owned();
        client.execute("INSERT INTO t VALUES (3, 3)").unwrap();
        let source = ["scan.startup.mode: timestamp".to_owned(), format!("scan.startup.timestamp-millis: {now}")];
        let source: Vec<&str> = source.iter().map(String::as_str).collect();
        let pipeline = Pipeline::to_json(&server, &format!("{}.t", database.name), &source, &[]);
        let died = pipeline.run(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", "after-commit")]);
        assert!(!died.status.success(), "{name:?}: it did not die");
        let mut target = StrictTarget::default();
        target.repeats_allowed = true;
        target.apply(&String::from_utf8_lossy(&died.stdout));
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        assert_eq!(target.rows("t", &["id", "v"]), ["3|3"], "{name:?}");
    }
}

/// Statements between the place where reading begins and now, and what the rows of `t` are in the end.
const HISTORY: &[&str] = &[
    "INSERT INTO t VALUES (1, 'one')",
    "ALTER TABLE t ADD COLUMN n INT FIRST",
    "INSERT INTO t (n, id, a) VALUES (20, 2, 'two')",
    "ALTER TABLE t ADD KEY (n), COMMENT = 'x'",
    "ALTER TABLE t ADD COLUMN b VARCHAR(9), ADD COLUMN c DATETIME AFTER id",
    "INSERT INTO t (n, id, a, b) VALUES (30, 3, 'three', 'bee')",
    "UPDATE t SET b = 'late' WHERE id = 1",
    "DELETE FROM t WHERE id = 2",
    "CREATE TABLE made (id INT PRIMARY KEY)",
    "ALTER TABLE made ADD COLUMN v INT",
    "ALTER TABLE made DROP COLUMN v",
    "ALTER TABLE made ADD COLUMN w INT",
    "INSERT INTO made VALUES (1, 11)",
];

#[test]
fn rows_from_before_a_ddl_are_read_by_the_definition_they_were_written_with() {
    for (server_kind, server) in all() {
        let database = Database::create(&server, "old");
        let mut client = database.connect();
        client.execute("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10))").unwrap();
        let at = rowferry::mysql::catalog::binlog_position(&mut client).unwrap().position;
        for sql in HISTORY {
            client.execute(sql).unwrap_or_else(|e| panic!("{server_kind:?} {sql}: {e}"));
        }
        let source = [
            "scan.startup.mode: specific-offset".to_owned(),
            format!("scan.startup.specific-offset.file: {}", at.file),
            format!("scan.startup.specific-offset.pos: {}", at.pos),
        ];
        let source: Vec<&str> = source.iter().map(String::as_str).collect();
        let options = ["schema.change.behavior: evolve"];
        let pipeline = Pipeline::to_json(&server, &format!("{}.\\.*", database.name), &source, &options);
        let output = pipeline.run_well(&["run", "--until-caught-up"]);
        let mut target = StrictTarget::default();
        let rows_only: String = output
            .lines()
            .filter(|l| {
                ["create.table", "insert", "update", "delete"].iter().any(|e| l.contains(&format!("\"event\":\"{e}\"")))
            })
            .map(|l| format!("{l}\n"))
            .collect();
        // Rows written before a column was added do not have it: the strict comparison is of the last row's columns.
        target.repeats_allowed = true;
        target.apply(&rows_only);
        assert_eq!(
            target.rows("t", &["id", "a", "n", "b"]),
            ["1|one|null|late", "3|three|30|bee"],
            "{server_kind:?}\n{output}"
        );
        assert_eq!(target.rows("made", &["id", "w"]), ["1|11"], "{server_kind:?}\n{output}");
        assert!(output.contains("\"one\""), "{server_kind:?}: the row from before the DDL is missing\n{output}");
    }
}

#[test]
fn what_can_not_be_told_stops_with_the_statement() {
    // MySQL 9.7 may write the columns' names, and then it can be told.
    for (server_kind, server) in all() {
        if server_kind == crate::support::servers::Server::Mysql97 {
            continue;
        }
        let database = Database::create(&server, "lost");
        let mut client = database.connect();
        client.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)").unwrap();
        let at = rowferry::mysql::catalog::binlog_position(&mut client).unwrap().position;
        client.execute("INSERT INTO t VALUES (1, 1, 2)").unwrap();
        // Of the same types as before: read by the new definition, the values would change places.
        client.execute("ALTER TABLE t DROP COLUMN a, ADD COLUMN c INT").unwrap();
        client.execute("INSERT INTO t VALUES (2, 3, 4)").unwrap();
        let source = [
            "scan.startup.mode: specific-offset".to_owned(),
            format!("scan.startup.specific-offset.file: {}", at.file),
            format!("scan.startup.specific-offset.pos: {}", at.pos),
        ];
        let source: Vec<&str> = source.iter().map(String::as_str).collect();
        let pipeline = Pipeline::to_json(&server, &format!("{}.t", database.name), &source, &[]);
        let output = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{server_kind:?}: {log}");
        assert!(log.contains("RF-DDL-006") && log.contains("DROP COLUMN a"), "{server_kind:?}: {log}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("insert"), "{server_kind:?}: rows came");
    }
}
