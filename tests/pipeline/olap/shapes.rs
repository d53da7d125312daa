//! Tables that become one, keys that change, tables without a key.

use crate::pipeline::schema::execute;
use crate::support::olap::{Kind, Olap, run_well};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server, all};

/// Shards with keys of their own become one table; what one of them gains or changes, the target follows.
#[test]
fn shards_are_merged_into_one_table_and_follow_one_by_one() {
    for (server, options) in all() {
        let database = Database::create(&options, "olapmerge");
        let mut client = database.connect();
        execute(
            &mut client,
            &[
                "CREATE TABLE s_1 (id INT PRIMARY KEY, amt DECIMAL(10,2), name VARCHAR(10))",
                "CREATE TABLE s_2 (id BIGINT PRIMARY KEY, name VARCHAR(50), amt DECIMAL(20,6), flag SMALLINT)",
                "INSERT INTO s_1 VALUES (1,1.25,'x'),(2,2.5,NULL)",
                "INSERT INTO s_2 VALUES (5000000000,'y',2.000001,1)",
            ],
        );
        let merged = format!("{}_merged", database.name);
        let targets = Kind::BOTH.map(Olap::start);
        let pipelines = targets.each_ref().map(|olap| {
            let route = format!("route:\n  - source-table: {}.s_\\.*\n    sink-table: {merged}.m\n", database.name);
            let tables = format!("{}.s_\\.*", database.name);
            let lines = ["schema.change.behavior: evolve", "rowferry.checkpoint.interval: 20 ms"];
            Pipeline::new(&options, &tables, &[], &(olap.sink(&[]) + &route), &lines)
        });
        run_well(&pipelines, &["run", "--until-caught-up"]);
        execute(
            &mut client,
            &[
                "UPDATE s_1 SET amt = 3, id = 20 WHERE id = 2",
                "ALTER TABLE s_1 ADD COLUMN c INT",
                "INSERT INTO s_1 VALUES (3,3,'z',9)",
                "INSERT INTO s_2 VALUES (5000000001,'lags',4,2)",
                "ALTER TABLE s_2 ADD COLUMN c VARCHAR(10)",
                "INSERT INTO s_2 VALUES (5000000002,'has',5,3,'text')",
                "DELETE FROM s_1 WHERE id = 1",
            ],
        );
        run_well(&pipelines, &["run", "--until-caught-up"]);
        for olap in &targets {
            let what = format!("{server:?} into {:?}", olap.kind);
            // An id that is not in the other shard's type is of the wider one.
            let (null, text) = match olap.kind {
                Kind::StarRocks => (" not null", "varchar(1048576)"),
                Kind::Doris => ("", "text"),
            };
            let columns = [
                format!("id bigint{null}"),
                "amt decimal(20,6)".to_owned(),
                format!("name {text}"),
                "flag smallint".to_owned(),
                format!("c {text}"),
            ];
            assert_eq!(olap.columns(&merged, "m"), columns, "{what}");
            let rows = [
                "20|3.000000|null|null|null",
                "3|3.000000|z|null|9",
                "5000000000|2.000001|y|1|null",
                "5000000001|4.000000|lags|2|null",
                "5000000002|5.000000|has|3|text",
            ];
            assert_eq!(olap.rows(&merged, "m", &[]), rows, "{what}");
        }
    }
}

/// A merged table has the key of the first of its tables. An update of another one may change it and leave that table's own
/// key as it is: the row goes where it was all the same.
#[test]
fn an_update_that_changes_only_the_targets_key_takes_the_old_row_away() {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "olapkeys");
    let mut client = database.connect();
    execute(
        &mut client,
        &[
            "CREATE TABLE s_1 (id INT PRIMARY KEY, code INT NOT NULL, v INT)",
            "CREATE TABLE s_2 (code INT PRIMARY KEY, id INT NOT NULL, v INT)",
            "INSERT INTO s_1 VALUES (1,10,1)",
            "INSERT INTO s_2 (code,id,v) VALUES (20,2,2),(30,3,3)",
        ],
    );
    let merged = format!("{}_merged", database.name);
    for kind in Kind::BOTH {
        let olap = Olap::start(kind);
        let tables = format!("{}.s_\\.*", database.name);
        let route = format!("route:\n  - source-table: {tables}\n    sink-table: {merged}.m\n");
        let pipeline = Pipeline::new(&options, &tables, &[], &(olap.sink(&[]) + &route), &[]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        let id = if kind == Kind::StarRocks { 200 } else { 300 };
        execute(&mut client, &[&format!("UPDATE s_2 SET id = {id} WHERE code = 20")]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        let mut wanted = vec!["1|10".to_owned(), format!("{id}|20"), "3|30".to_owned()];
        wanted.sort();
        assert_eq!(olap.rows(&merged, "m", &["id", "code"]), wanted, "{kind:?}");
    }
}

/// An update that changes the key deletes the old row, of keys of one column and of several, back and forth in one
/// transaction too.
#[test]
fn a_change_of_the_key_takes_the_old_row_away() {
    for (server, options) in all() {
        let database = Database::create(&options, "olapkey");
        let mut client = database.connect();
        execute(
            &mut client,
            &[
                "CREATE TABLE one (id INT PRIMARY KEY, v VARCHAR(10) NOT NULL)",
                "CREATE TABLE two (v INT NOT NULL, b VARCHAR(10), a INT, PRIMARY KEY (a, b))",
                "INSERT INTO one VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d')",
                "INSERT INTO two VALUES (1,'x',1),(2,'y',1),(3,'x',2)",
            ],
        );
        let targets = Kind::BOTH.map(Olap::start);
        let pipelines = targets.each_ref().map(|olap| olap.pipeline(&options, &database, "\\.*", &[]));
        run_well(&pipelines, &["run", "--until-caught-up"]);
        execute(
            &mut client,
            &[
                "UPDATE one SET id = 10 WHERE id = 1",
                "START TRANSACTION",
                "UPDATE one SET id = 20 WHERE id = 2",
                "UPDATE one SET id = 2, v = 'again' WHERE id = 3",
                "UPDATE one SET id = 3 WHERE id = 20",
                "DELETE FROM one WHERE id = 4",
                "INSERT INTO one VALUES (4, 'new')",
                "COMMIT",
                "UPDATE two SET a = 5 WHERE a = 1 AND b = 'x'",
                "UPDATE two SET b = 'z', v = 20 WHERE b = 'y'",
                "DELETE FROM two WHERE a = 2",
            ],
        );
        run_well(&pipelines, &["run", "--until-caught-up"]);
        for olap in &targets {
            for (table, columns) in [("one", ["id", "v"].as_slice()), ("two", &["a", "b", "v"])] {
                let rows = olap.rows(&database.name, table, columns);
                let what = format!("{table} of {server:?} in {:?}", olap.kind);
                assert_eq!(rows, server_rows(&database, table, columns), "{what}");
            }
        }
    }
}

#[test]
fn starrocks_refuses_tables_without_a_key_before_rows_come() {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "olapnokey");
    execute(&mut database.connect(), &["CREATE TABLE heap (n INT)", "INSERT INTO heap VALUES (1)"]);
    let olap = Olap::start(Kind::StarRocks);
    let run = olap.pipeline(&options, &database, "heap", &[]).run(&["run", "--until-caught-up"], &[]);
    let log = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(4), "{log}");
    assert!(log.contains("Only support StarRocks primary key table") && log.contains("heap"), "{log}");
    assert!(olap.columns(&database.name, "heap").is_empty());
}

/// As the page says: every row that comes stays, an update adds its new row, a delete is left out, and the log says so
/// once.
#[test]
fn doris_keeps_every_row_of_a_table_without_a_key() {
    for (server, options) in all() {
        let database = Database::create(&options, "olapnokey");
        let mut client = database.connect();
        execute(&mut client, &["CREATE TABLE heap (t VARCHAR(5), n INT)", "INSERT INTO heap VALUES ('a',1),('a',1)"]);
        let olap = Olap::start(Kind::Doris);
        let pipeline = olap.pipeline(&options, &database, "heap", &["schema.change.behavior: evolve"]);
        pipeline.run_well(&["run", "--until-caught-up"]);
        execute(
            &mut client,
            &[
                "INSERT INTO heap VALUES (NULL,2)",
                "UPDATE heap SET n = 3 WHERE t = 'a' LIMIT 1",
                "DELETE FROM heap WHERE n = 2",
                "ALTER TABLE heap ADD COLUMN x INT FIRST",
                "INSERT INTO heap VALUES (7,'b',4)",
                "DELETE FROM heap WHERE n = 3",
            ],
        );
        let run = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{log}");
        let rows = olap.rows(&database.name, "heap", &["t", "n", "x"]);
        assert_eq!(rows, ["a|1|null", "a|1|null", "a|3|null", "b|4|7", "null|2|null"], "{server:?}");
        assert_eq!(log.matches("has no key").count(), 1, "{log}");
    }
}

/// A charset alone changes no target: what does not fit then stops the pipeline, and nothing of it is lost in silence.
#[test]
fn a_value_that_only_a_new_charset_allows_stops_the_pipeline() {
    let Some(options) = Server::Mysql97.options() else { return };
    let database = Database::create(&options, "olapcharset");
    let mut client = database.connect();
    execute(&mut client, &["CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(5) CHARACTER SET latin1)"]);
    let targets = Kind::BOTH.map(Olap::start);
    let line = "schema.change.behavior: evolve";
    let pipelines = targets.each_ref().map(|olap| olap.pipeline(&options, &database, "t", &[line]));
    run_well(&pipelines, &["run", "--until-caught-up"]);
    execute(&mut client, &["INSERT INTO t VALUES (1,'ééééé')", "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4"]);
    execute(&mut client, &["INSERT INTO t VALUES (2,'日本語日本')"]);
    run_well(&pipelines, &["run", "--until-caught-up"]);
    execute(&mut client, &["INSERT INTO t VALUES (3,'😀😀😀😀😀')"]);
    for (olap, pipeline) in targets.iter().zip(&pipelines) {
        let run = pipeline.run(&["run", "--until-caught-up"], &[]);
        let log = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(4), "{:?}: {log}", olap.kind);
        assert!(log.contains("too long") || log.contains("20 bytes"), "{:?}: {log}", olap.kind);
        assert_eq!(olap.rows(&database.name, "t", &["id", "v"]), ["1|ééééé", "2|日本語日本"], "{:?}", olap.kind);
    }
}
