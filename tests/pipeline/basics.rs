//! What anybody tries first.

use crate::support::rowferry::{Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, all};
use rowferry::mysql::wire::ConnectOptions;

#[test]
fn a_snapshot_and_the_changes_after_it_reach_the_sink() {
    for (_, server) in all() {
        let database = Database::create(&server, "basics");
        let mut client = database.connect();
        client.execute("CREATE TABLE a (id BIGINT PRIMARY KEY, v VARCHAR(20), d DECIMAL(10,2))").unwrap();
        client.execute("INSERT INTO a VALUES (1,'x',1.50),(2,NULL,NULL),(3,'z',-0.01)").unwrap();
        client.execute("CREATE TABLE nokey (x INT, y TEXT)").unwrap();
        client.execute("INSERT INTO nokey VALUES (1,'q'),(1,'q'),(NULL,'r')").unwrap();
        let tables = format!("{}.\\.*", database.name);
        let pipeline = Pipeline::to_json(&server, &tables, &[], &[]);
        let mut running = pipeline.start(&["run"], &[]);
        running.wait_for("snapshot", |out| out.matches("\"event\":\"insert\"").count() >= 6);
        client.execute("INSERT INTO a VALUES (4,'new',4.00)").unwrap();
        client.execute("UPDATE a SET v='y' WHERE id=2").unwrap();
        client.execute("UPDATE a SET id=30 WHERE id=3").unwrap();
        client.execute("DELETE FROM a WHERE id=1").unwrap();
        client.execute("INSERT INTO nokey VALUES (2,'s')").unwrap();
        client.execute("DELETE FROM nokey WHERE y='r'").unwrap();
        running.wait_for("delete", |out| out.matches("\"event\":\"delete\"").count() >= 3);
        let (code, output) = running.interrupt();
        assert_eq!(code, Some(130));
        let mut target = StrictTarget::default();
        target.apply(&output);
        assert_eq!(target.rows("a", &["id", "v", "d"]), server_rows(&database, "a", &["id", "v", "d"]));
        assert_eq!(target.rows("nokey", &["x", "y"]), server_rows(&database, "nokey", &["x", "y"]));

        // It goes on where it stopped.
        client.execute("INSERT INTO a VALUES (5,'later',NULL)").unwrap();
        let output = pipeline.run_well(&["run", "--until-caught-up"]);
        assert!(!output.contains("create.table"), "{output}");
        target.apply(&output);
        assert_eq!(target.rows("a", &["id", "v", "d"]), server_rows(&database, "a", &["id", "v", "d"]));
        let status = pipeline.run_well(&["status", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        assert_eq!(status["phase"], "streaming");
        assert_eq!(status["running"], false);
    }
}

/// `status` may look at any moment, also when the state's file has just been made.
#[test]
fn a_state_that_is_only_begun_is_a_new_one() {
    let pipeline = Pipeline::to_json(&ConnectOptions::new("127.0.0.1", 1, "root"), "d.t", &[], &[]);
    let directory = pipeline.state_directory();
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("state.sqlite"), "").unwrap();
    let status: serde_json::Value = serde_json::from_str(&pipeline.run_well(&["status", "--json"])).unwrap();
    assert_eq!(status["phase"], "new", "{status}");
}

#[test]
fn two_processes_can_not_run_one_pipeline() {
    let Some((_, server)) = all().next() else { return };
    let database = Database::create(&server, "lock");
    database.connect().execute("CREATE TABLE a (id INT PRIMARY KEY)").unwrap();
    let pipeline = Pipeline::to_json(&server, &format!("{}.a", database.name), &[], &[]);
    let mut running = pipeline.start(&["run"], &[]);
    running.wait_for("table", |out| out.contains("create.table"));
    let second = pipeline.run(&["run"], &[]);
    assert_eq!(second.status.code(), Some(3));
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(message.contains("RF-STA-002") && message.contains("another process"), "{message}");
    drop(running);
}

#[test]
fn one_shot_ends_by_itself_with_a_summary() {
    for (_, server) in all() {
        let database = Database::create(&server, "batch");
        let mut client = database.connect();
        client.execute("CREATE TABLE a (id INT PRIMARY KEY, v INT)").unwrap();
        let values: Vec<_> = (0..500).map(|n| format!("({n},{n})")).collect();
        client.execute(&format!("INSERT INTO a VALUES {}", values.join(","))).unwrap();
        client.execute("CREATE TABLE nothing (id INT PRIMARY KEY)").unwrap();
        let source = ["scan.startup.mode: snapshot", "scan.incremental.snapshot.chunk.size: 50"];
        let pipeline = Pipeline::to_json(
            &server,
            &format!("{}.\\.*", database.name),
            &source,
            &["execution.runtime-mode: BATCH", "parallelism: 3"],
        );
        let output = pipeline.run(&["run"], &[]);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{log}");
        let mut target = StrictTarget::default();
        target.apply(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(target.rows("a", &["id", "v"]), server_rows(&database, "a", &["id", "v"]));
        assert_eq!(String::from_utf8_lossy(&output.stdout).matches("create.table").count(), 2);
        assert!(log.contains("done: 2 tables, 500 rows"), "{log}");
    }
}
