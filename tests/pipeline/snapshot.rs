//! The options of the snapshot.

use crate::support::proxy::Proxy;
use crate::support::rowferry::{Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, all};

const ONCE: [&str; 2] = ["run", "--until-caught-up"];

#[test]
fn the_last_chunk_comes_first_where_that_is_asked_for() {
    for (kind, server) in all() {
        let database = Database::create(&server, "last");
        let mut client = database.connect();
        client.execute("CREATE TABLE even (id INT PRIMARY KEY)").unwrap();
        client.execute("CREATE TABLE texts (id VARCHAR(9) PRIMARY KEY)").unwrap();
        client.execute("CREATE TABLE small (id INT PRIMARY KEY)").unwrap();
        let list = |f: &dyn Fn(u32) -> String| (1..=100).map(|n| format!("({})", f(n))).collect::<Vec<_>>().join(",");
        client.execute(&format!("INSERT INTO even VALUES {}", list(&|n| n.to_string()))).unwrap();
        client.execute(&format!("INSERT INTO texts VALUES {}", list(&|n| format!("'k{n:03}'")))).unwrap();
        client.execute("INSERT INTO small VALUES (1), (2)").unwrap();
        client.query("ANALYZE TABLE even, texts, small").unwrap();
        for (table, first) in [("even", "91"), ("texts", "\"k091\""), ("small", "1")] {
            let options = [
                "scan.incremental.snapshot.chunk.size: 10",
                "scan.incremental.snapshot.unbounded-chunk-first.enabled: true",
            ];
            let pipeline = Pipeline::to_json(&server, &format!("{}.{table}", database.name), &options, &[]);
            let output = pipeline.run_well(&ONCE);
            let row = output.lines().find(|l| l.contains("\"event\":\"insert\"")).unwrap();
            assert!(row.contains(&format!("\"id\":{first}}}")), "{kind:?} {table}: {row}");
            let mut target = StrictTarget::default();
            target.apply(&output);
            assert_eq!(target.rows(table, &["id"]), server_rows(&database, table, &["id"]), "{kind:?}");
        }
    }
}

#[test]
fn the_snapshot_is_read_by_as_many_connections_as_the_pool_may_have() {
    let Some((_, server)) = all().next() else { return };
    let database = Database::create(&server, "pool");
    let mut client = database.connect();
    client.execute("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let rows: Vec<String> = (1..=3000).map(|n| format!("({n})")).collect();
    client.execute(&format!("INSERT INTO t VALUES {}", rows.join(","))).unwrap();
    let connections = |pool: u32, readers: usize| {
        let proxy = Proxy::before(&server.host, server.port);
        // No reader gets beyond its first chunk before all of them have one.
        proxy.hold_chunks(&database.name, "t", 0);
        let options = ["scan.incremental.snapshot.chunk.size: 10", &format!("connection.pool.size: {pool}")];
        let tables = format!("{}.t", database.name);
        let pipeline = Pipeline::to_json(&proxy.through(&server), &tables, &options, &["parallelism: 6"]);
        let mut running = pipeline.start(&ONCE, &[]);
        proxy.wait_until_held(&mut running, readers);
        proxy.release();
        let (status, output, log) = running.wait();
        assert!(status.success(), "{log}");
        let mut target = StrictTarget::default();
        target.apply(&output);
        assert_eq!(target.rows("t", &["id"]).len(), 3000);
        proxy.accepted()
    };
    // Six readers, or one beside the connection that plans.
    assert_eq!(connections(20, 6) - connections(2, 1), 5);
}
