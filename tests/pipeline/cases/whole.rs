//! Cases that are a course of events rather than rows.

use crate::support::proxy::Proxy;
use crate::support::rowferry::{PATIENCE, Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, Server, all, unique};

const CATCH_UP: [&str; 2] = ["run", "--until-caught-up"];

fn insert_numbers(client: &mut rowferry::mysql::wire::Connection, table: &str, ids: std::ops::Range<u32>, value: &str) {
    let rows: Vec<String> = ids.map(|id| format!("({id},{value})")).collect();
    client.execute(&format!("INSERT INTO {table} VALUES {}", rows.join(","))).unwrap();
}

#[test]
fn a_large_transaction_is_read_again_from_its_start_after_a_kill_in_its_middle() {
    for (kind, server) in all() {
        let database = Database::create(&server, "bulk");
        let mut client = database.connect();
        client.execute("CREATE TABLE bulk (id INT PRIMARY KEY, v VARCHAR(200))").unwrap();
        client.execute("INSERT INTO bulk VALUES (0, 'first')").unwrap();
        // Segments of 1 to 2 MiB: the transaction goes to the sink in many parts.
        let options = ["rowferry.memory: 16 mb", "rowferry.checkpoint.interval: 50 ms"];
        let pipeline = Pipeline::to_json(&server, &format!("{}.bulk", database.name), &[], &options);
        let mut target = StrictTarget::default();
        target.repeats_allowed = true;
        target.apply(&pipeline.run_well(&CATCH_UP));
        client.execute("START TRANSACTION").unwrap();
        for part in 0..20 {
            insert_numbers(&mut client, "bulk", 1 + part * 1000..1001 + part * 1000, "REPEAT('q', 200)");
        }
        client.execute("UPDATE bulk SET v = 'done' WHERE id % 2 = 0").unwrap();
        client.execute("COMMIT").unwrap();
        // In the middle for certain, however fast the machine is: 8 MB are more than three segments.
        let died = pipeline.run(&["run"], &[("ROWFERRY_FAILPOINT", "rows-written:3")]);
        assert!(!died.status.success(), "{kind:?}: it did not die");
        let output = String::from_utf8_lossy(&died.stdout);
        let rows = output.lines().count();
        assert!((1000..30_000).contains(&rows), "{kind:?}: {rows} of 30000 rows were printed");
        target.apply(&output);
        let again = pipeline.run_well(&CATCH_UP);
        // From its start: with the first row of the transaction.
        assert!(again.contains("\"id\":1,"), "{kind:?}");
        target.apply(&again);
        assert_eq!(target.rows("bulk", &["id", "v"]), server_rows(&database, "bulk", &["id", "v"]), "{kind:?}");
    }
}

#[test]
fn chunks_that_are_done_are_not_read_again_after_a_crash() {
    for (kind, server) in all() {
        let database = Database::create(&server, "again");
        let mut client = database.connect();
        client.execute("CREATE TABLE orders (id INT PRIMARY KEY, st VARCHAR(10))").unwrap();
        insert_numbers(&mut client, "orders", 1..1001, "'new'");
        let source = ["scan.incremental.snapshot.chunk.size: 50", "scan.newly-added-table.enabled: true"];
        let options = ["rowferry.checkpoint.interval: 1 ms"];
        // The snapshot stays in its middle until what was read is saved, and dies there.
        let proxy = Proxy::before(&server.host, server.port);
        proxy.hold_chunks(&database.name, "orders", 11);
        let tables = format!("{}.orders", database.name);
        let pipeline = Pipeline::to_json(&proxy.through(&server), &tables, &source, &options);
        let mut running = pipeline.start(&["run"], &[]);
        proxy.wait_until_held(&mut running, 1);
        let end = std::time::Instant::now() + PATIENCE;
        while pipeline.saved_rows() < 500 {
            assert!(std::time::Instant::now() < end, "{kind:?}: {} rows are saved", pipeline.saved_rows());
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let output = running.output();
        running.kill();
        proxy.release();
        let saved = pipeline.saved_rows();
        let mut target = StrictTarget::default();
        target.repeats_allowed = true;
        target.apply(&output);
        client.execute("UPDATE orders SET st = 'paid' WHERE id <= 10").unwrap();
        client.execute("DELETE FROM orders WHERE id = 500").unwrap();
        client.execute("INSERT INTO orders VALUES (2000, 'new')").unwrap();
        let again = pipeline.run_well(&CATCH_UP);
        let read = again.matches("\"event\":\"insert\"").count() as u64;
        // The rest, and the new row, which may come by itself and with the last chunk.
        assert!((1..=1002 - saved).contains(&read), "{kind:?}: {read} rows were read again, {saved} were saved");
        target.apply(&again);
        assert_eq!(target.rows("orders", &["id", "st"]), server_rows(&database, "orders", &["id", "st"]), "{kind:?}");
    }
}

#[test]
fn a_hole_in_the_gtids_is_read_when_it_is_filled() {
    let Some(server) = Server::Mysql97.options() else { return };
    let database = Database::create(&server, "holes");
    let mut client = database.connect();
    client.execute("CREATE TABLE g (id INT PRIMARY KEY)").unwrap();
    let pipeline = Pipeline::to_json(&server, &format!("{}.g", database.name), &[], &[]);
    let mut target = StrictTarget::default();
    target.apply(&pipeline.run_well(&CATCH_UP));
    let origin = format!("aaaaaaaa-0000-0000-0000-{:012}", unique());
    let mut insert = |n: u32| {
        client.execute(&format!("SET GTID_NEXT = '{origin}:{n}'")).unwrap();
        client.execute(&format!("INSERT INTO g VALUES ({n})")).unwrap();
        client.execute("SET GTID_NEXT = AUTOMATIC").unwrap();
    };
    insert(1);
    insert(3);
    target.apply(&pipeline.run_well(&CATCH_UP));
    assert_eq!(target.rows("g", &["id"]), ["1", "3"]);
    let status = pipeline.run_well(&["status", "--json"]);
    assert!(status.contains(&format!("{origin}:1:3")), "{status}");
    insert(2);
    target.apply(&pipeline.run_well(&CATCH_UP));
    assert_eq!(target.rows("g", &["id"]), ["1", "2", "3"]);
}

/// MySQL tells replicas apart by their UUID, of which every pipeline has its own; MariaDB only by the id, and ends the
/// older one.
#[test]
fn of_two_readers_with_one_server_id_none_is_silent() {
    for (kind, server) in all() {
        let database = Database::create(&server, "twins");
        let mut client = database.connect();
        let id = unique();
        let mut start = |table: &str| {
            client.execute(&format!("CREATE TABLE {table} (id INT PRIMARY KEY)")).unwrap();
            let pipeline = Pipeline::from_text(&format!(
                "source:\n  type: mysql\n  hostname: {}\n  port: {}\n  username: {}\n  password: '{}'\n  tables: {}.{table}\n  \
                 server-time-zone: UTC\n  server-id: {id}\n  jdbc.properties.useSSL: false\nsink:\n  type: values\n  \
                 rowferry.format: json\n",
                server.host,
                server.port,
                server.user,
                server.password.reveal(),
                database.name
            ));
            let mut running = pipeline.start(&["run"], &[]);
            running.wait_for("table", |out| out.contains("create.table"));
            client.execute(&format!("INSERT INTO {table} VALUES (1)")).unwrap();
            running.wait_for("row", |out| out.contains("\"id\":1"));
            (pipeline, running)
        };
        let (_first_files, mut first) = start("t");
        let (_second_files, mut second) = start("u");
        for n in 2..10 {
            client.execute(&format!("INSERT INTO t VALUES ({n})")).unwrap();
            client.execute(&format!("INSERT INTO u VALUES ({n})")).unwrap();
        }
        second.wait_for("last row", |out| out.contains("\"id\":9"));
        if kind == Server::Mariadb {
            let (status, _, log) = first.wait();
            assert!(!status.success() && log.contains("server-id"), "{status}: {log}");
            assert!(log.matches("trying again").count() < 3, "it fights for the stream: {log}");
        } else {
            first.wait_for("last row", |out| out.contains("\"id\":9"));
            assert_eq!(first.output().matches("\"event\":\"insert\"").count(), 9, "{kind:?}");
        }
        assert_eq!(second.output().matches("\"event\":\"insert\"").count(), 9, "{kind:?}");
    }
}
