//! One server goes and another takes over: a MySQL 9.7 and its replica by GTID, behind a proxy that turns from one to the
//! other.

use crate::support::proxy::Proxy;
use crate::support::rowferry::{PATIENCE, Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, Server, over_replicas};
use rowferry::mysql::wire::{ConnectOptions, Connection};
use std::sync::RwLockWriteGuard;
use std::time::{Duration, Instant};

/// A server and its replica.
struct Pair {
    first: ConnectOptions,
    second: ConnectOptions,
    replica: Connection,
    _alone: RwLockWriteGuard<'static, ()>,
}

impl Pair {
    /// Makes the second server a replica of the first from here on, of the tests' databases only. `None`, with a
    /// message, where the servers are not named.
    fn new() -> Option<Self> {
        let alone = over_replicas();
        let (first, second) = (Server::Mysql97.options()?, Server::Mysql97.second()?);
        let mut replica = Connection::connect(&second).unwrap();
        let mut source = Connection::connect(&first).unwrap();
        let gtids = source.query_first("SELECT @@GLOBAL.gtid_executed AS g").unwrap().unwrap();
        for sql in [
            "STOP REPLICA".to_owned(),
            "RESET REPLICA ALL".to_owned(),
            "RESET BINARY LOGS AND GTIDS".to_owned(),
            format!("SET GLOBAL gtid_purged = '{}'", gtids.get("g").unwrap().replace('\n', "")),
            "CHANGE REPLICATION FILTER REPLICATE_WILD_DO_TABLE = ('rowferry\\_failover%.%')".to_owned(),
            format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '{}', SOURCE_PORT = {}, SOURCE_USER = '{}', \
                 SOURCE_PASSWORD = '{}', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1",
                first.host,
                first.port,
                first.user,
                first.password.reveal()
            ),
            "START REPLICA".to_owned(),
        ] {
            replica.execute(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
        Some(Self { first, second, replica, _alone: alone })
    }

    /// Waits until the replica has all that the first server has now.
    fn catch_up(&mut self) {
        let mut source = Connection::connect(&self.first).unwrap();
        let gtids = source.query_first("SELECT @@GLOBAL.gtid_executed AS g").unwrap().unwrap();
        let gtids = gtids.get("g").unwrap().replace('\n', "");
        let sql = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', {}) AS late", PATIENCE.as_secs());
        let late = self.replica.query_first(&sql).unwrap().unwrap();
        if late.get("late") != Some("0") {
            let status = self.replica.query_first("SHOW REPLICA STATUS").unwrap().unwrap();
            panic!(
                "the replica does not catch up: {:?} {:?}",
                status.get("Last_IO_Error"),
                status.get("Last_SQL_Error")
            );
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = self.replica.execute("STOP REPLICA");
        let _ = self.replica.execute("RESET REPLICA ALL");
        // Databases that were replicated.
        let names = self.replica.query("SHOW DATABASES LIKE 'rowferry\\_failover%'").unwrap_or_default();
        for name in names.iter().filter_map(|row| row.at(0)) {
            let _ = self.replica.execute(&format!("DROP DATABASE `{name}`"));
        }
    }
}

fn insert(client: &mut Connection, ids: std::ops::Range<u32>) {
    for id in ids {
        client.execute(&format!("INSERT INTO a VALUES ({id}, 'row {id}')")).unwrap();
    }
}

#[test]
fn each_row_comes_once_whichever_server_answers() {
    let Some(mut pair) = Pair::new() else { return };
    let database = Database::create(&pair.first, "failover");
    let mut client = database.connect();
    client.execute("CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20))").unwrap();
    insert(&mut client, 0..20);
    let proxy = Proxy::before(&pair.first.host, pair.first.port);
    let tables = format!("{}.a", database.name);
    let options = ["heartbeat.interval: 1s"];
    let pipeline =
        Pipeline::to_json(&proxy.through(&pair.first), &tables, &options, &["rowferry.checkpoint.interval: 300ms"]);
    let mut target = StrictTarget::default();
    let seen = |id: u32| move |out: &str| out.contains(&format!("\"id\":{id},"));

    let mut running = pipeline.start(&["run"], &[]);
    insert(&mut client, 20..50);
    running.wait_for("row of the first server", seen(49));
    // In its middle a snapshot would begin anew at another server.
    running.wait_for_log("snapshot of a table is done");
    let (code, output) = running.interrupt();
    assert_eq!(code, Some(130));
    target.apply(&output);

    // Started again, it finds the other server.
    proxy.turn_to(&pair.second.host, pair.second.port);
    insert(&mut client, 50..80);
    client.execute("UPDATE a SET v = 'changed' WHERE id < 10").unwrap();
    pair.catch_up();
    let mut running = pipeline.start(&["run"], &[]);
    running.wait_for("row of the second server", seen(79));

    // While it runs, the servers change places twice; the second time the replica lags behind what was read.
    proxy.turn_to(&pair.first.host, pair.first.port);
    insert(&mut client, 80..110);
    client.execute("DELETE FROM a WHERE id BETWEEN 30 AND 35").unwrap();
    running.wait_for("row of the first server again", |out| seen(109)(out) && out.contains("\"delete\""));
    pair.replica.execute("STOP REPLICA SQL_THREAD").unwrap();
    insert(&mut client, 110..130);
    running.wait_for("row that the replica does not have", seen(129));
    proxy.turn_to(&pair.second.host, pair.second.port);
    std::thread::sleep(Duration::from_secs(1));
    pair.replica.execute("START REPLICA SQL_THREAD").unwrap();
    insert(&mut client, 130..150);
    running.wait_for("row of the second server again", seen(149));

    // The second server is written to itself, as after a promotion.
    pair.catch_up();
    pair.replica.execute("STOP REPLICA").unwrap();
    pair.replica.execute(&format!("USE `{}`", database.name)).unwrap();
    insert(&mut pair.replica, 150..160);
    running.wait_for("row of the promoted server", seen(159));
    let log = running.log();
    let (code, output) = running.interrupt();
    assert_eq!(code, Some(130), "{log}");
    target.apply(&output);
    insert(&mut pair.replica, 160..170);
    let mut running = pipeline.start(&["run"], &[]);
    running.wait_for("row after the promotion", seen(169));
    let (_, output) = running.interrupt();
    target.apply(&output);

    let rows = pair.replica.query("SELECT CONCAT_WS('|', id, v) FROM a").unwrap();
    let mut rows: Vec<String> = rows.iter().map(|row| row.at(0).unwrap().to_owned()).collect();
    rows.sort();
    assert_eq!(rows.len(), 164);
    assert_eq!(target.rows("a", &["id", "v"]), rows);
    assert_eq!(log.matches("another server answers; going on by GTID").count(), 3, "{log}");
    assert!(!log.contains("from the last checkpoint"), "an attempt ended: {log}");
}

#[test]
fn a_snapshot_goes_on_at_the_other_server() {
    let Some(mut pair) = Pair::new() else { return };
    let database = Database::create(&pair.first, "failover");
    let mut client = database.connect();
    client.execute("CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(200))").unwrap();
    client.execute("SET SESSION cte_max_recursion_depth = 100000").unwrap();
    client
        .execute(
            "INSERT INTO a WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 40000) \
             SELECT n, REPEAT('v', 100) FROM s",
        )
        .unwrap();
    pair.catch_up();
    let proxy = Proxy::before(&pair.first.host, pair.first.port);
    let pipeline = Pipeline::to_json(
        &proxy.through(&pair.first),
        &format!("{}.a", database.name),
        &["scan.incremental.snapshot.chunk.size: 100", "heartbeat.interval: 1s"],
        &["rowferry.checkpoint.interval: 200ms"],
    );
    // Of 400 chunks no more are read from the first server.
    proxy.hold_chunks(&database.name, "a", 30);
    let mut running = pipeline.start(&["run"], &[]);
    running.wait_for("first chunks", |out| out.lines().count() > 2000);
    proxy.wait_until_held(&mut running, 1);
    proxy.turn_to(&pair.second.host, pair.second.port);
    proxy.release();
    let turned = running.output().lines().count();
    client.execute("UPDATE a SET v = 'changed' WHERE id % 100 = 7").unwrap();
    client.execute("DELETE FROM a WHERE id % 100 = 8").unwrap();
    client.execute("INSERT INTO a VALUES (1000000, 'last')").unwrap();
    pair.catch_up();
    let end = Instant::now() + PATIENCE;
    let wished = server_rows(&database, "a", &["id", "v"]);
    // The sink keeps what was written behind the last checkpoint: rows may come again.
    loop {
        let mut target = StrictTarget::default();
        target.repeats_allowed = true;
        target.apply(&running.output());
        if target.rows("a", &["id", "v"]) == wished {
            break;
        }
        assert!(
            Instant::now() < end,
            "{} rows of {}: {}",
            target.rows("a", &["id"]).len(),
            wished.len(),
            running.log()
        );
        std::thread::sleep(Duration::from_millis(300));
    }
    let log = running.log();
    let (code, _) = running.interrupt();
    assert_eq!(code, Some(130), "{log}");
    assert!(turned < 40_000, "the snapshot was over before the servers changed");
    assert!(log.contains("going on by GTID"), "{log}");
}
