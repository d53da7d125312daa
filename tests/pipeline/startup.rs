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
