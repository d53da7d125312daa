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
