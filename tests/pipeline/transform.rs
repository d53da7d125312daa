//! Transforms in a whole pipeline: what arrives is what the server's own SELECT says.

use crate::support::rowferry::{Pipeline, StrictTarget};
use crate::support::servers::{Database, all};

/// The sink's block and, as it stands behind it, the rules.
fn sink_and_rules(rules: &str) -> String {
    format!("  type: values\n  rowferry.format: json\ntransform:\n{rules}")
}

#[test]
fn rows_that_come_and_go_by_a_filter_and_new_columns_end_as_the_server_says() {
    for (kind, server) in all() {
        let database = Database::create(&server, "transform");
        let mut client = database.connect();
        client.execute("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), qty INT, price DECIMAL(8,2))").unwrap();
        let rows: Vec<String> = (0..300).map(|n| format!("({n}, 'n{n}', {}, {n}.25)", n % 20)).collect();
        client.execute(&format!("INSERT INTO t VALUES {}", rows.join(","))).unwrap();
        let rules = format!(
            "  - source-table: {0}.t\n    projection: \\*, UPPER(name) AS up, qty * 2 AS twice\n    filter: qty > 9 AND name <> 'n17'\n",
            database.name
        );
        let pipeline = Pipeline::new(
            &server,
            &format!("{}.t", database.name),
            &["scan.incremental.snapshot.chunk.size: 40"],
            &sink_and_rules(&rules),
            &["schema.change.behavior: evolve", "parallelism: 2"],
        );
        let mut running = pipeline.start(&["run"], &[]);
        running.wait_for("the snapshot", |out| out.contains("N299"));
        client.execute("UPDATE t SET qty = qty + 10 WHERE id < 20").unwrap();
        client.execute("UPDATE t SET qty = qty - 10 WHERE id BETWEEN 30 AND 60").unwrap();
        client.execute("DELETE FROM t WHERE id % 7 = 0").unwrap();
        client.execute("ALTER TABLE t ADD COLUMN more INT AFTER name").unwrap();
        client.execute("UPDATE t SET more = id, name = CONCAT(name, 'x') WHERE id > 250").unwrap();
        client.execute("INSERT INTO t (id, name, qty, more) VALUES (1000, 'last', 99, 5)").unwrap();
        running.wait_for("the last row", |out| out.contains("LAST"));
        let (_, mut output) = running.interrupt();
        assert!(output.contains("add.column"), "{kind:?}");
        // The last row may come before a chunk in the middle.
        output.push_str(&pipeline.run_well(&["run", "--until-caught-up"]));
        let mut target = StrictTarget::default();
        // A row that was written before the column came is spelled without it.
        target.repeats_allowed = true;
        let rows_only: Vec<&str> = output.lines().filter(|l| !l.contains("\"event\":\"add.column\"")).collect();
        target.apply(&format!("{}\n", rows_only.join("\n")));
        let columns = ["id", "name", "more", "qty", "price", "up", "twice"];
        let mut expected: Vec<String> = client
            .query("SELECT id, name, more, qty, price, UPPER(name), qty * 2 FROM t WHERE qty > 9 AND name <> 'n17'")
            .unwrap()
            .iter()
            .map(|row| (0..columns.len()).map(|i| row.at(i).unwrap_or("null").to_owned()).collect::<Vec<_>>().join("|"))
            .collect();
        expected.sort();
        assert_eq!(target.rows("t", &columns), expected, "{kind:?}");
    }
}

#[test]
fn a_new_key_moves_a_row_and_shards_with_their_name_in_the_key_do_not_collide() {
    for (kind, server) in all() {
        let database = Database::create(&server, "rekey");
        let mut client = database.connect();
        for shard in ["s_1", "s_2"] {
            client
                .execute(&format!("CREATE TABLE {shard} (id INT PRIMARY KEY, region VARCHAR(5) NOT NULL, v INT)"))
                .unwrap();
            client.execute(&format!("INSERT INTO {shard} VALUES (1, 'eu', 1), (2, 'us', 2)")).unwrap();
        }
        let rules = format!(
            "  - source-table: {0}.s_\\.*\n    projection: __table_name__ AS shard, \\*\n    primary-keys: shard, id, region\n\
             route:\n  - source-table: {0}.s_\\.*\n    sink-table: ods.merged\n",
            database.name
        );
        let tables = format!("{}.s_\\.*", database.name);
        let pipeline = Pipeline::new(&server, &tables, &[], &sink_and_rules(&rules), &[]);
        let mut running = pipeline.start(&["run"], &[]);
        running.wait_for("the snapshot", |out| out.matches("\"event\":\"insert\"").count() == 4);
        client.execute("UPDATE s_1 SET region = 'ap', v = 10 WHERE id = 1").unwrap();
        client.execute("UPDATE s_2 SET v = 20 WHERE id = 1").unwrap();
        client.execute("INSERT INTO s_2 VALUES (9, 'xx', 9)").unwrap();
        running.wait_for("the last row", |out| out.contains("\"xx\""));
        let (_, output) = running.interrupt();
        let mut target = StrictTarget::default();
        target.apply(&output);
        let expected = ["s_1|1|ap|10", "s_1|2|us|2", "s_2|1|eu|20", "s_2|2|us|2", "s_2|9|xx|9"];
        assert_eq!(target.rows("merged", &["shard", "id", "region", "v"]), expected, "{kind:?}");
    }
}

#[test]
fn check_tells_what_does_not_fit_the_tables_and_knows_a_key_that_names_the_table() {
    let Some((_, server)) = all().next() else { return };
    let database = Database::create(&server, "rules");
    let mut client = database.connect();
    for shard in ["s_1", "s_2"] {
        client.execute(&format!("CREATE TABLE {shard} (id INT PRIMARY KEY, v INT)")).unwrap();
    }
    let route = format!("route:\n  - source-table: {0}.s_\\.*\n    sink-table: ods.merged\n", database.name);
    let tables = format!("{}.s_\\.*", database.name);
    let check = |rules: &str| {
        let pipeline = Pipeline::new(&server, &tables, &[], &sink_and_rules(&format!("{rules}{route}")), &[]);
        let output = pipeline.run(&["check", "--connect"], &[]);
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let rule = |projection: &str, more: &str| {
        format!("  - source-table: {0}.s_\\.*\n    projection: {projection}\n{more}", database.name)
    };
    let (code, text) = check(&rule("\\*, nowhere + 1 AS n", ""));
    assert!(code == Some(3) && text.contains("nowhere") && text.contains("not ready"), "{text}");
    let (code, text) = check(&rule("\\*", ""));
    assert!(code == Some(0) && text.contains("does not say which one"), "{text}");
    let (code, text) = check(&rule("\\*, __table_name__ AS shard", "    primary-keys: shard, id\n"));
    assert!(code == Some(0) && !text.contains("does not say which one"), "{text}");
}
