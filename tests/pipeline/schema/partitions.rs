//! Partitions of a table: what the log says of them, and what it does not.

use super::execute;
use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, all};
use crate::support::target::EvolvingTarget;

#[test]
fn statements_about_partitions_change_no_column_and_lost_rows_are_told() {
    for (name, server) in all() {
        let database = Database::create(&server, "parts");
        let mut client = database.connect();
        execute(
            &mut client,
            &[
                "CREATE TABLE p (id INT, d DATE, PRIMARY KEY (id, d)) PARTITION BY RANGE COLUMNS(d) \
                 (PARTITION p0 VALUES LESS THAN ('2024-01-01'), PARTITION pm VALUES LESS THAN (MAXVALUE))",
                "INSERT INTO p VALUES (1,'2023-05-05'),(2,'2024-05-05')",
                "CREATE TABLE x (id INT, d DATE, PRIMARY KEY (id, d))",
            ],
        );
        let pipeline = Pipeline::to_json(&server, &format!("{}.p", database.name), &[], &[]);
        let mut target = EvolvingTarget::with_repeats(false);
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        let schema = target.schema("p");
        // Nothing of these is to be told.
        execute(
            &mut client,
            &[
                "ALTER TABLE p REORGANIZE PARTITION pm INTO (PARTITION p1 VALUES LESS THAN ('2025-01-01'), \
                 PARTITION pm VALUES LESS THAN (MAXVALUE))",
                "INSERT INTO p VALUES (3,'2026-01-01')",
            ],
        );
        client.query("ALTER TABLE p ANALYZE PARTITION p0").unwrap();
        let run = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && !log.contains("without a trace"), "{name:?}: {log}");
        target.apply(&String::from_utf8_lossy(&run.stdout));
        assert_eq!(target.rows("p", &["id"]), ["1", "2", "3"], "{name:?}");
        for (statement, clause) in [
            ("ALTER TABLE p TRUNCATE PARTITION p0", "TRUNCATE PARTITION"),
            ("ALTER TABLE p DROP PARTITION p1", "DROP PARTITION"),
            ("ALTER TABLE p EXCHANGE PARTITION pm WITH TABLE x", "EXCHANGE PARTITION"),
        ] {
            execute(&mut client, &[statement]);
            let run = pipeline.run(&["run", "--until-caught-up"], &[]);
            let log = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{name:?}: {log}");
            let told = ["WARN", "without a trace", clause, &format!("{}.p", database.name)];
            assert!(told.iter().all(|part| log.contains(part)), "{name:?} {statement}: {log}");
            target.apply(&String::from_utf8_lossy(&run.stdout));
        }
        execute(&mut client, &["ALTER TABLE p REMOVE PARTITIONING; INSERT INTO p VALUES (9,'2026-09-09')"]);
        target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
        assert_eq!(target.rows("p", &["id"]), ["1", "2", "3", "9"], "{name:?}: the target keeps its rows");
        assert_eq!(target.schema("p"), schema, "{name:?}");
    }
}
