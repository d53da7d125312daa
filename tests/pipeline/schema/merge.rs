//! Several tables merged into one target by routes.

use super::execute;
use crate::support::lake::{lake_sink, lake_tables};
use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, Server, all};
use crate::support::target::EvolvingTarget;
use rowferry::mysql::wire::ConnectOptions;

/// The same pipeline into `values` and into a lake.
struct Both {
    values: Pipeline,
    target: EvolvingTarget,
    lake: Pipeline,
    warehouse: tempfile::TempDir,
}

/// The sink's lines, and a route of all shards into `merged.m`.
fn with_route(sink: &str, routes: &str) -> String {
    format!("{sink}route:\n{routes}")
}

fn one_route(database: &Database) -> String {
    format!("  - source-table: {}.s_\\.*\n    sink-table: merged.m\n", database.name)
}

impl Both {
    fn new(server: &ConnectOptions, database: &Database, lines: &[&str]) -> Self {
        let tables = format!("{}.s_\\.*", database.name);
        let route = one_route(database);
        let warehouse = tempfile::TempDir::new().unwrap();
        let values = with_route("  type: values\n  rowferry.format: json\n", &route);
        let lake = with_route(&lake_sink(warehouse.path()), &route);
        Self {
            values: Pipeline::new(server, &tables, &[], &values, lines),
            lake: Pipeline::new(server, &tables, &[], &lake, lines),
            target: EvolvingTarget::with_repeats(true),
            warehouse,
        }
    }

    fn catch_up(&mut self) {
        self.target.apply(&self.values.run_well(&["run", "--until-caught-up"]));
        self.lake.run_well(&["run", "--until-caught-up"]);
    }

    /// Both targets must be this.
    fn assert(&self, schema: &str, rows: &[&str], what: &str) {
        assert_eq!(self.target.schema("m").as_deref(), Some(schema), "{what}");
        assert_eq!(self.target.rows("m", &[]), rows, "{what}");
        let Some(lake) = lake_tables(self.warehouse.path(), "merged") else { return };
        assert_eq!(lake["m"].schema, schema, "in the lake: {what}");
        assert_eq!(lake["m"].rows(&[]), rows, "in the lake: {what}");
    }
}

/// The case C58 of public reports: columns that only one shard has, types that differ, and DDL on one shard after the
/// other. The types are those of Flink CDC's lattice.
#[test]
fn shards_of_different_schemas_are_merged_and_follow_one_by_one() {
    for (kind, server) in all() {
        let database = Database::create(&server, "shards");
        let mut client = database.connect();
        execute(
            &mut client,
            &[
                "CREATE TABLE s_1 (id INT PRIMARY KEY, amt DECIMAL(10,2), name VARCHAR(10), only1 INT)",
                "CREATE TABLE s_2 (id BIGINT PRIMARY KEY, name VARCHAR(50), amt DECIMAL(20,6), flag SMALLINT)",
                "INSERT INTO s_1 VALUES (1,1.25,'x',7)",
                "INSERT INTO s_2 VALUES (5000000000,'y',2.000001,1)",
            ],
        );
        let mut both = Both::new(&server, &database, &["schema.change.behavior: evolve"]);
        both.catch_up();
        both.assert(
            "id BIGINT NOT NULL, amt DECIMAL(20, 6), name STRING, only1 INT, flag SMALLINT",
            &["1|1.250000|x|7|null", "5000000000|2.000001|y|null|1"],
            &format!("at the start at {kind:?}"),
        );
        execute(
            &mut client,
            &[
                // One shard has the column, the other lags behind; then it gets it with another type.
                "ALTER TABLE s_1 ADD COLUMN c INT",
                "INSERT INTO s_1 VALUES (2,3,'z',8,9)",
                "INSERT INTO s_2 VALUES (5000000001,'lags',4,2)",
                "ALTER TABLE s_2 ADD COLUMN c VARCHAR(10)",
                "INSERT INTO s_2 VALUES (5000000002,'has',5,3,'text')",
                "INSERT INTO s_1 VALUES (3,6,'still',10,11)",
                // Dropped in one shard, and in the last one that had it: the target keeps it.
                "ALTER TABLE s_1 DROP COLUMN only1",
                "INSERT INTO s_1 VALUES (4,7,'less',12)",
                // Renamed in one shard: a new column beside the old one.
                "ALTER TABLE s_2 CHANGE flag sign SMALLINT",
                "INSERT INTO s_2 VALUES (5000000003,'named',8,4,NULL)",
            ],
        );
        both.catch_up();
        let schema =
            "id BIGINT NOT NULL, amt DECIMAL(20, 6), name STRING, only1 INT, flag SMALLINT, c STRING, sign SMALLINT";
        let rows = [
            "1|1.250000|x|7|null|null|null",
            "2|3.000000|z|8|null|9|null",
            "3|6.000000|still|10|null|11|null",
            "4|7.000000|less|null|null|12|null",
            "5000000000|2.000001|y|null|1|null|null",
            "5000000001|4.000000|lags|null|2|null|null",
            "5000000002|5.000000|has|null|3|text|null",
            "5000000003|8.000000|named|null|null|null|4",
        ];
        both.assert(schema, &rows, &format!("behind the changes at {kind:?}"));
        // A shard that is emptied or dropped takes nothing with it.
        execute(
            &mut client,
            &[
                "TRUNCATE TABLE s_1",
                "INSERT INTO s_1 VALUES (6,9,'anew',13)",
                "DROP TABLE s_2",
                "UPDATE s_1 SET c = 14",
            ],
        );
        both.catch_up();
        let mut rows = rows.to_vec();
        rows.push("6|9.000000|anew|null|null|14|null");
        both.assert(schema, &rows, &format!("behind TRUNCATE and DROP at {kind:?}"));
    }
}

/// In every behaviour a merged target only grows: new columns at the end, nullable.
#[test]
fn a_new_shard_joins_a_merge_that_is_there() {
    for behavior in ["lenient", "evolve", "try_evolve"] {
        for option in ["scan.newly-added-table.enabled: true", "scan.binlog.newly-added-table.enabled: true"] {
            let Some(server) = Server::Mysql97.options() else { return };
            let database = Database::create(&server, "joins");
            let mut client = database.connect();
            execute(
                &mut client,
                &["CREATE TABLE s_1 (id INT PRIMARY KEY, a INT NOT NULL)", "INSERT INTO s_1 VALUES (1,1)"],
            );
            let line = format!("schema.change.behavior: {behavior}");
            let tables = format!("{}.s_\\.*", database.name);
            let sink = with_route("  type: values\n  rowferry.format: json\n", &one_route(&database));
            let pipeline = Pipeline::new(&server, &tables, &[option], &sink, &[&line]);
            let mut target = EvolvingTarget::default();
            target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
            let second = ["CREATE TABLE s_2 (id BIGINT PRIMARY KEY, b INT NOT NULL)", "INSERT INTO s_2 VALUES (2,2)"];
            execute(&mut client, &second);
            target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
            execute(&mut client, &["INSERT INTO s_1 VALUES (10,10)", "INSERT INTO s_2 VALUES (20,20)"]);
            target.apply(&pipeline.run_well(&["run", "--until-caught-up"]));
            let what = format!("{behavior}, {option}");
            assert_eq!(target.schema("m").as_deref(), Some("id BIGINT NOT NULL, a INT, b INT"), "{what}");
            assert_eq!(target.rows("m", &[]), ["10|10|null", "1|1|null", "20|null|20", "2|null|2"], "{what}");
        }
    }
}

#[test]
fn equal_keys_of_merged_tables_are_warned_of_and_found() {
    let Some(server) = Server::Mysql97.options() else { return };
    let database = Database::create(&server, "collide");
    let mut client = database.connect();
    for n in 1..=3 {
        execute(&mut client, &[&format!("CREATE TABLE s_{n} (id INT PRIMARY KEY, v INT)")]);
        let values: Vec<_> = (0..50).map(|i| format!("({}, {n})", n * 1000 + i)).collect();
        execute(&mut client, &[&format!("INSERT INTO s_{n} VALUES {}", values.join(","))]);
    }
    execute(&mut client, &["INSERT INTO s_1 VALUES (7,1)", "INSERT INTO s_3 VALUES (7,3), (1001,3)"]);
    let tables = format!("{}.s_\\.*", database.name);
    let sink = with_route("  type: values\n  rowferry.format: json\n", &one_route(&database));
    let pipeline = Pipeline::new(&server, &tables, &["scan.incremental.snapshot.chunk.size: 10"], &sink, &[]);
    let run = pipeline.run(&["run", "--until-caught-up"], &[]);
    let log = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success(), "{log}");
    assert!(log.contains("3 tables go to merged.m, whose key (id) does not say which one"), "{log}");
    assert!(log.contains("`primary-keys: __schema_name__, __table_name__, id`"), "{log}");
    let found: Vec<&str> = log.lines().filter(|l| l.contains("one overwrites the other")).collect();
    assert_eq!(found.len(), 1, "each pair of tables once: {log}");
    assert!(found[0].contains(".s_1") && found[0].contains(".s_3"), "{log}");
    assert!(found[0].contains("id=7") || found[0].contains("id=1001"), "{log}");

    let check = pipeline.run_well(&["check", "--connect"]);
    assert!(check.contains("3 tables go to merged.m, whose key (id) does not say which one"), "{check}");
}

#[test]
fn check_tells_what_the_routes_do() {
    let Some(server) = Server::Mysql97.options() else { return };
    let database = Database::create(&server, "routes");
    let mut client = database.connect();
    for table in ["s_1", "s_2", "other"] {
        execute(&mut client, &[&format!("CREATE TABLE {table} (id INT PRIMARY KEY)")]);
    }
    let name = &database.name;
    let routes = format!(
        "  - source-table: {name}.s_\\.*\n    sink-table: merged.m\n  - source-table: {name}.s_2\n    sink-table: merged.two\n  \
         - source-table: {name}.nothing_\\.*\n    sink-table: merged.none\n"
    );
    for (mode, second, hidden) in [("FIRST_MATCH", "merged.m", true), ("ALL_MATCH", "merged.m, merged.two", false)] {
        let sink = with_route("  type: values\n  rowferry.format: json\n", &routes);
        let line = format!("route-mode: {mode}");
        let pipeline = Pipeline::new(&server, &format!("{name}.\\.*"), &[], &sink, &[&line]);
        let check = pipeline.run_well(&["check", "--connect"]);
        for line in [
            format!("route {name}.s_1 -> merged.m\n"),
            format!("route {name}.s_2 -> {second}\n"),
            format!("route: no rule matches {name}.other, which keeps its name\n"),
            format!("warning: route[2] `{name}.nothing_\\.*` matches no table\n"),
        ] {
            assert!(check.contains(&line), "{mode}: {line}\n{check}");
        }
        let told = check.contains(&format!("warning: route[1] `{name}.s_2` has no effect"));
        assert_eq!(told, hidden, "{mode}: {check}");
        let json: serde_json::Value =
            serde_json::from_str(&pipeline.run_well(&["check", "--connect", "--json"])).unwrap();
        assert_eq!(json["unmatched"], serde_json::json!([format!("{name}.other")]), "{json:#}");
        assert_eq!(json["routes"][1]["tables"], serde_json::json!([format!("{name}.s_2")]), "{json:#}");
        assert_eq!(json["routes"][1]["taken_by_earlier_rules"].as_array().unwrap().len(), usize::from(hidden));
        assert_eq!(json["routes"][2]["tables"], serde_json::json!([]), "{json:#}");
    }
}
