//! Where a pipeline without state begins.

use crate::support::rowferry::{Pipeline, StrictTarget};
use crate::support::servers::{Database, Server, all};
use rowferry::mysql::wire::Connection;
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
    // What `late` was before these does not matter: it has no rows there.
    "ALTER TABLE late DROP COLUMN x",
    "ALTER TABLE late MODIFY v BIGINT",
    "INSERT INTO late VALUES (1, 5)",
    "ALTER TABLE late ADD COLUMN z INT",
    "INSERT INTO late VALUES (2, 6, 7)",
];

#[test]
fn rows_from_before_a_ddl_are_read_by_the_definition_they_were_written_with() {
    for (server_kind, server) in all() {
        let database = Database::create(&server, "old");
        let mut client = database.connect();
        client.execute("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10))").unwrap();
        client.execute("CREATE TABLE late (id INT PRIMARY KEY, x INT, v INT)").unwrap();
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
        assert_eq!(target.rows("late", &["id", "v", "z"]), ["1|5|null", "2|6|7"], "{server_kind:?}\n{output}");
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

/// How many events `SHOW BINLOG EVENTS` lists from the first BEGIN behind a place to the first rows event behind it, both
/// included.
fn events_to_first_rows(client: &mut Connection, file: &str, pos: &str) -> u64 {
    let events = client.query(&format!("SHOW BINLOG EVENTS IN '{file}' FROM {pos}")).unwrap();
    let is_begin = |row: &rowferry::mysql::wire::Row| {
        let info = row.get("Info").unwrap_or_default();
        info.starts_with("BEGIN")
    };
    let begin = events.iter().position(is_begin).expect("a BEGIN");
    let rows = |t: &str| t.starts_with("Write_rows");
    let first = events.iter().skip(begin).position(|row| row.get("Event_type").is_some_and(rows)).expect("rows");
    first as u64 + 1
}

#[test]
fn a_specific_offset_leaves_out_events_and_rows_also_after_a_crash() {
    for (kind, server) in all() {
        let database = Database::create(&server, "skip");
        let mut client = database.connect();
        client.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT)").unwrap();
        let status = if kind == Server::Mysql97 { "SHOW BINARY LOG STATUS" } else { "SHOW MASTER STATUS" };
        let status = client.query_first(status).unwrap().unwrap();
        let (file, pos) = (status.require("File").unwrap().to_owned(), status.require("Position").unwrap().to_owned());
        for sql in [
            "START TRANSACTION",
            "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
            "INSERT INTO t VALUES (4, 4), (5, 5), (6, 6)",
            "UPDATE t SET v = 50 WHERE id = 5",
            "COMMIT",
            "INSERT INTO t VALUES (7, 7)",
        ] {
            client.execute(sql).unwrap();
        }
        let events = events_to_first_rows(&mut client, &file, &pos);
        // Other tests write as well: their transactions may come first in the log.
        let first = client.query(&format!("SHOW BINLOG EVENTS IN '{file}' FROM {pos}")).unwrap();
        let ours = first.iter().find(|row| row.get("Event_type") == Some("Table_map")).unwrap();
        if !ours.get("Info").unwrap().contains(&database.name) {
            eprintln!("{kind:?}: another test has written in between");
            continue;
        }
        let options = [
            "scan.startup.mode: specific-offset".to_owned(),
            format!("scan.startup.specific-offset.file: {file}"),
            format!("scan.startup.specific-offset.pos: {pos}"),
            format!("scan.startup.specific-offset.skip-events: {events}"),
            "scan.startup.specific-offset.skip-rows: 2".to_owned(),
        ];
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let pipeline = Pipeline::to_json(&server, &format!("{}.t", database.name), &options, &[]);
        let died = pipeline.run(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", "after-commit")]);
        assert!(!died.status.success(), "{kind:?}: it did not die");
        let output = pipeline.run_well(&["run", "--until-caught-up"]);
        let ids: Vec<&str> = ["1", "2", "3", "4", "5", "6", "7"]
            .into_iter()
            .filter(|id| output.lines().any(|l| l.contains("\"insert\"") && l.contains(&format!("\"id\":{id},"))))
            .collect();
        assert_eq!(ids, ["6", "7"], "{kind:?}: {output}");
        assert_eq!(output.matches("\"update\"").count(), 1, "{kind:?}: the next event counts wholly: {output}");
    }
}
