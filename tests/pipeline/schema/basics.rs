//! Schema changes of a real server through a whole pipeline.

use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server, against_replicas, all};
use serde_json::Value;

/// The kinds of events, in order, and the last row's text.
fn events(output: &str) -> Vec<Value> {
    output.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{l}: {e}"))).collect()
}

#[test]
fn a_ddl_is_followed_and_one_on_other_tables_is_not_told() {
    for (_, server) in all() {
        let database = Database::create(&server, "ddl");
        let mut client = database.connect();
        client.execute("CREATE TABLE a (id INT PRIMARY KEY)").unwrap();
        let pipeline =
            Pipeline::to_json(&server, &format!("{}.a", database.name), &[], &["schema.change.behavior: evolve"]);
        let mut running = pipeline.start(&["run"], &[]);
        running.wait_for("table", |out| out.contains("create.table"));
        client.execute("CREATE TABLE other (id INT PRIMARY KEY)").unwrap();
        client.execute("ALTER TABLE other ADD COLUMN x INT").unwrap();
        client.execute("DROP TABLE other").unwrap();
        client.execute("INSERT INTO a VALUES (1)").unwrap();
        client.execute("/* why */ ALTER TABLE a ADD COLUMN wanted_here INT").unwrap();
        client.execute("INSERT INTO a VALUES (2, 22)").unwrap();
        running.wait_for("row", |out| out.contains("\"wanted_here\":22"));
        let kinds: Vec<String> =
            events(&running.output()).iter().map(|e| e["event"].as_str().unwrap().to_owned()).collect();
        assert_eq!(kinds, ["create.table", "insert", "add.column", "insert"], "{}", running.log());

        let (code, _) = running.interrupt();
        assert_eq!(code, Some(130));
        // The tracked schema is the server's.
        let status: Value = serde_json::from_str(&pipeline.run_well(&["status", "--json", "--schemas"])).unwrap();
        let columns = status["tables"][0]["schema"]["columns"].as_array().unwrap().len();
        assert_eq!(columns, 2, "{status:#}");
        assert_eq!(server_rows(&database, "a", &["id", "wanted_here"]), ["1|null", "2|22"]);
    }
}

/// What an XA transaction has prepared stands before the DDL and can't be made visible before it is committed.
#[test]
fn a_ddl_while_an_xa_transaction_is_prepared_ends_the_run_with_the_way_out() {
    let Some(server) = Server::Mysql97.options() else { return };
    let database = Database::create(&server, "xaddl");
    let mut client = database.connect();
    for sql in ["CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)"] {
        client.execute(sql).unwrap();
    }
    let pipeline =
        Pipeline::to_json(&server, &format!("{}.\\.*", database.name), &[], &["schema.change.behavior: evolve"]);
    pipeline.run_well(&["run", "--until-caught-up"]);
    let name = &database.name;
    let mut other = database.connect();
    let _apart = against_replicas();
    for sql in ["XA START '@'", "INSERT INTO a VALUES (1)", "XA END '@'", "XA PREPARE '@'"] {
        other.execute(&sql.replace('@', name)).unwrap();
    }
    client.execute("ALTER TABLE b ADD COLUMN x INT").unwrap();
    other.execute(&format!("XA COMMIT '{name}'")).unwrap();
    let run = pipeline.run(&["run", "--until-caught-up"], &[]);
    let log = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(4), "{log}");
    assert!(log.contains("RF-DDL-004") && log.contains("ALTER TABLE b") && log.contains("XA RECOVER"), "{log}");
}
