//! What goes wrong in a server's life.

use crate::support::proxy::Proxy;
use crate::support::rowferry::{PATIENCE, Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, against_replicas, all};

#[test]
fn a_cut_connection_is_taken_up_again_at_a_transaction_start_without_a_doubled_row() {
    for (kind, server) in all() {
        let database = Database::create(&server, "cut");
        let mut client = database.connect();
        client.execute("CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(2000))").unwrap();
        let proxy = Proxy::before(&server.host, server.port);
        let pipeline = Pipeline::to_json(
            &proxy.through(&server),
            &format!("{}.a", database.name),
            &["heartbeat.interval: 1s", "connect.max-retries: 20"],
            &[],
        );
        let mut running = pipeline.start(&["run"], &[]);
        // Cut in its middle, a snapshot goes on from the last checkpoint, and rows come again.
        running.wait_for_log("snapshot of a table is done");
        running.wait_for_log("reading the binlog");
        let mut n = 0;
        for round in 0..6 {
            client.execute("START TRANSACTION").unwrap();
            for _ in 0..300 {
                client.execute(&format!("INSERT INTO a VALUES ({n}, REPEAT('p', 1500))")).unwrap();
                n += 1;
            }
            client.execute("COMMIT").unwrap();
            // Also twice in short succession, before the reader is where it was.
            if round % 2 == 1 {
                proxy.cut();
                std::thread::sleep(std::time::Duration::from_millis(450 + 20 * round));
                proxy.cut();
            }
        }
        client.execute("INSERT INTO a VALUES (1000000, 'end')").unwrap();
        running.wait_for("last row", |out| out.contains("\"id\":1000000"));
        let log = running.log();
        let (code, output) = running.interrupt();
        assert_eq!(code, Some(130), "{log}");
        // A run that goes back to its checkpoint gives rows again: then the log says why.
        eprintln!("{log}");
        let mut target = StrictTarget::default();
        target.apply(&output);
        assert_eq!(target.rows("a", &["id", "v"]), server_rows(&database, "a", &["id", "v"]), "{kind:?}");
        assert!(log.contains("trying again"), "it was never cut: {log}");
    }
}

#[test]
fn xa_transactions_count_when_they_are_committed() {
    for (kind, server) in all() {
        if kind == crate::support::servers::Server::Mysql56 {
            // Before 5.7.7 a prepared XA transaction is not in the binlog at all.
            continue;
        }
        let database = Database::create(&server, "xa");
        let _apart = against_replicas();
        let (mut one, mut two, mut three) = (database.connect(), database.connect(), database.connect());
        one.execute("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))").unwrap();
        let pipeline = Pipeline::to_json(&server, &format!("{}.t", database.name), &[], &[]);
        let mut running = pipeline.start(&["run"], &[]);
        running.wait_for("table", |out| out.contains("create.table"));
        let name = &database.name;
        for sql in [
            format!("XA START '{name}1'"),
            "INSERT INTO t VALUES (10,'no')".into(),
            format!("XA END '{name}1'"),
            format!("XA PREPARE '{name}1'"),
        ] {
            one.execute(&sql).unwrap();
        }
        for sql in [
            format!("XA START '{name}2'"),
            "INSERT INTO t VALUES (11,'yes')".into(),
            format!("XA END '{name}2'"),
            format!("XA PREPARE '{name}2'"),
        ] {
            two.execute(&sql).unwrap();
        }
        three.execute("INSERT INTO t VALUES (12,'plain')").unwrap();
        running.wait_for("plain row", |out| out.contains("\"id\":12"));
        assert!(!running.output().contains("\"id\":11") && !running.output().contains("\"id\":10"));
        two.execute(&format!("XA COMMIT '{name}2'")).unwrap();
        one.execute(&format!("XA ROLLBACK '{name}1'")).unwrap();
        for sql in [
            format!("XA START '{name}3'"),
            "INSERT INTO t VALUES (13,'one')".into(),
            format!("XA END '{name}3'"),
            format!("XA COMMIT '{name}3' ONE PHASE"),
        ] {
            three.execute(&sql).unwrap();
        }
        running.wait_for("last row", |out| out.contains("\"id\":13"));
        let (_, output) = running.interrupt();
        let mut target = StrictTarget::default();
        target.apply(&output);
        assert_eq!(target.rows("t", &["id", "v"]), server_rows(&database, "t", &["id", "v"]), "{kind:?}");
    }
}

#[test]
fn an_xa_transaction_of_other_tables_holds_nothing_up_and_one_from_before_the_start_stops_nothing() {
    for (kind, server) in all() {
        if kind == crate::support::servers::Server::Mysql56 {
            continue;
        }
        let database = Database::create(&server, "xaother");
        let _apart = against_replicas();
        let (mut one, mut two, mut three) = (database.connect(), database.connect(), database.connect());
        one.execute("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
        one.execute("CREATE TABLE other (id INT PRIMARY KEY)").unwrap();
        let prepare = |client: &mut rowferry::mysql::wire::Connection, name: &str, id: u32| {
            for sql in [
                format!("XA START '{name}'"),
                format!("INSERT INTO other VALUES ({id})"),
                format!("XA END '{name}'"),
                format!("XA PREPARE '{name}'"),
            ] {
                client.execute(&sql).unwrap();
            }
        };
        let name = &database.name;
        prepare(&mut one, &format!("{name}a"), 1);
        let pipeline = Pipeline::to_json(&server, &format!("{name}.t"), &[], &["rowferry.checkpoint.interval: 100ms"]);
        let mut running = pipeline.start(&["run"], &[]);
        running.wait_for("table", |out| out.contains("create.table"));
        prepare(&mut two, &format!("{name}b"), 2);
        one.execute(&format!("XA COMMIT '{name}a'")).unwrap();
        three.execute("INSERT INTO t VALUES (7)").unwrap();
        running.wait_for("row", |out| out.contains("\"id\":7"));
        // The second one is still prepared: a DDL needs everything before it to be saved.
        three.execute("ALTER TABLE t ADD COLUMN x INT").unwrap();
        three.execute("INSERT INTO t VALUES (8, 8)").unwrap();
        running.wait_for("row behind the DDL", |out| out.contains("\"id\":8"));
        running.kill();
        two.execute(&format!("XA COMMIT '{name}b'")).unwrap();
        three.execute("INSERT INTO t VALUES (9, 9)").unwrap();
        let output = pipeline.run_well(&["run", "--until-caught-up"]);
        assert!(output.contains("\"id\":9"), "{kind:?}: {output}");
    }
}

#[test]
fn metrics_and_health_are_answered() {
    use std::io::{Read, Write};
    let Some((_, server)) = all().next() else { return };
    let database = Database::create(&server, "http");
    let mut client = database.connect();
    client.execute("CREATE TABLE a (id INT PRIMARY KEY)").unwrap();
    client.execute("INSERT INTO a VALUES (1),(2)").unwrap();
    // A free port, which the log tells.
    let address = "rowferry.http.address: 127.0.0.1:0";
    let pipeline = Pipeline::to_json(&server, &format!("{}.a", database.name), &[], &[address]);
    let mut running = pipeline.start(&["run"], &[]);
    running.wait_for("rows", |out| out.matches("\"event\":\"insert\"").count() == 2);
    running.wait_for_log("snapshot of a table is done");
    let log = running.log();
    let told =
        log.lines().find(|line| line.contains("answering HTTP")).and_then(|line| line.split("127.0.0.1:").nth(1));
    let port = told.unwrap_or_else(|| panic!("no address: {log}"));
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let get = |path: &str| {
        let mut stream = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    assert!(get("/healthz").starts_with("HTTP/1.1 200 OK"));
    // Others write to the server, so that the stream is not at its end all the time.
    let end = std::time::Instant::now() + PATIENCE;
    let mut page = get("/metrics");
    while !page.contains("rowferry_lag_seconds 0\n") && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(20));
        page = get("/metrics");
    }
    assert!(page.contains("rowferry_snapshot_rows_total 2\n"), "{page}");
    assert!(page.contains(&format!("rowferry_table_snapshot_done{{table=\"{}.a\"}} 1\n", database.name)), "{page}");
    assert!(page.contains("rowferry_lag_seconds 0\n"), "{page}");
    assert!(get("/other").starts_with("HTTP/1.1 404"));
    drop(running);
}
