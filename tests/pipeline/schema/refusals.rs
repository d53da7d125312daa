//! What a pipeline can not follow: it stops, or tries again, and says why and at which statement.

use super::execute;
use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, all};
use rowferry::mysql::catalog::binlog_position;
use std::net::TcpListener;

#[test]
fn a_table_that_took_a_captured_name_and_is_gone_stops_with_the_place() {
    for (name, server) in all() {
        let (database, other) = (Database::create(&server, "taken"), Database::create(&server, "taker"));
        let mut client = database.connect();
        let made = format!("CREATE TABLE {}.x (k INT PRIMARY KEY, w DATE)", other.name);
        execute(&mut client, &[&made, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)"]);
        let pipeline = Pipeline::to_json(&server, &format!("{}.t", database.name), &[], &[]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        // From where nobody looks to the captured name, and dropped before anybody could ask what it is.
        execute(
            &mut client,
            &[
                &format!("DROP TABLE t; RENAME TABLE {}.x TO t", other.name),
                "INSERT INTO t VALUES (7, '2026-01-01'); DROP TABLE t",
            ],
        );
        let output = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name:?}: {log}");
        for part in ["RF-DDL-003", "RENAME TABLE", &format!("{}.t", database.name), &format!("{}.x", other.name)] {
            assert!(log.contains(part), "{name:?}: {part} is missing: {log}");
        }
        assert!(!String::from_utf8_lossy(&output.stdout).contains("2026-01-01"), "{name:?}: a row by a guess");
    }
}

#[test]
fn a_definition_that_shows_only_in_the_middle_of_a_transaction_stops_before_its_rows() {
    for (name, server) in all() {
        let database = Database::create(&server, "middle");
        let mut client = database.connect();
        execute(&mut client, &["CREATE TABLE old (id INT PRIMARY KEY, v INT)"]);
        let at = binlog_position(&mut client).unwrap().position;
        execute(
            &mut client,
            &[
                "CREATE TABLE fresh (id INT PRIMARY KEY)",
                "START TRANSACTION; INSERT INTO fresh VALUES (1); INSERT INTO old VALUES (1, 11); COMMIT",
                "ALTER TABLE old ADD COLUMN w INT",
            ],
        );
        let source = [
            "scan.startup.mode: specific-offset".to_owned(),
            format!("scan.startup.specific-offset.file: {}", at.file),
            format!("scan.startup.specific-offset.pos: {}", at.pos),
        ];
        let source: Vec<&str> = source.iter().map(String::as_str).collect();
        let pipeline = Pipeline::to_json(&server, &format!("{}.\\.*", database.name), &source, &[]);
        let output = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name:?}: {log}");
        assert!(log.contains("RF-DDL-005") && log.contains(&format!("{}.old", database.name)), "{name:?}: {log}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("11"), "{name:?}: a row of half a transaction");
    }
}

#[test]
fn a_sink_that_does_not_make_a_change_in_time_is_asked_again() {
    // A frontend that takes connections and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let Some((_, server)) = all().next() else { return };
    let database = Database::create(&server, "slow");
    execute(&mut database.connect(), &["CREATE TABLE t (id INT PRIMARY KEY)"]);
    let sink = format!("  type: doris\n  fenodes: {}\n  username: root\n", silent.local_addr().unwrap());
    let limit = ["schema-operator.rpc-timeout: 1 s"];
    let pipeline = Pipeline::new(&server, &format!("{}.t", database.name), &[], &sink, &limit);
    let mut running = pipeline.start(&["run"], &[]);
    running.wait_for_log("RF-DDL-007");
    let log = running.log();
    for part in ["schema-operator.rpc-timeout", "create.table", "1 s", &format!("{}.t", database.name)] {
        assert!(log.contains(part), "{part} is missing: {log}");
    }
    assert!(running.is_running(), "it is tried again: {log}");
}
