//! Into a Paimon lake, killed on the way, read back with another implementation.

use crate::support::lake::{lake_rows, to_lake};
use crate::support::rowferry::server_rows;
use crate::support::servers::{Database, all};
use rowferry::mysql::wire::Connection;
use std::path::Path;

/// Two tables, one with a key and one without, with rows.
fn fill(database: &Database) -> Connection {
    let mut client = database.connect();
    client.execute("CREATE TABLE keyed (id BIGINT UNSIGNED PRIMARY KEY, v INT, t VARCHAR(20))").unwrap();
    client.execute("CREATE TABLE heap (n INT, t VARCHAR(20))").unwrap();
    let values: Vec<_> = (0..200).map(|n| format!("({n},0,'é{n}')")).collect();
    client.execute(&format!("INSERT INTO keyed VALUES {}", values.join(","))).unwrap();
    client.execute("INSERT INTO heap VALUES (1,'a'),(1,'a'),(2,NULL)").unwrap();
    client
}

/// Whether the lake is as the source; where it can't be read back, nobody knows.
fn assert_equal(warehouse: &Path, database: &Database, what: &str) {
    for (table, columns) in [("keyed", ["id", "v", "t"].as_slice()), ("heap", &["n", "t"])] {
        let Some(rows) = lake_rows(warehouse, &database.name, table, columns) else { return };
        assert_eq!(rows, server_rows(database, table, columns), "{table} {what}");
    }
}

#[test]
fn killed_at_any_moment_the_lake_has_each_row_once() {
    let Some((kind, server)) = all().next() else { return };
    let database = Database::create(&server, "lakeany");
    let mut client = fill(&database);
    let warehouse = tempfile::TempDir::new().unwrap();
    let pipeline = to_lake(&server, &database, warehouse.path(), &[]);
    for n in 0..12u64 {
        let running = pipeline.start(&["run"], &[]);
        // Moments that differ from round to round, from before the first connection to well after the snapshot.
        let until = std::time::Instant::now() + std::time::Duration::from_millis(15 + n * n * 9);
        let mut m = 0;
        while std::time::Instant::now() < until {
            client.execute(&format!("UPDATE keyed SET v = v + 1 WHERE id % 12 = {n}")).unwrap();
            client.execute(&format!("REPLACE INTO keyed VALUES ({}, {m}, 'new')", 1000 + n * 50 + m % 50)).unwrap();
            client.execute(&format!("DELETE FROM keyed WHERE id = {}", 1000 + (n * 31 + m * 7) % 600)).unwrap();
            client.execute(&format!("INSERT INTO heap VALUES ({n}, '{m}')")).unwrap();
            m += 1;
        }
        running.kill();
    }
    pipeline.run_well(&["run", "--until-caught-up"]);
    assert_equal(warehouse.path(), &database, &format!("at {kind:?}"));
}

#[test]
fn killed_at_each_failpoint_the_lake_has_each_row_once() {
    for (kind, server) in all() {
        let database = Database::create(&server, "lake");
        let mut client = fill(&database);
        let warehouse = tempfile::TempDir::new().unwrap();
        let pipeline = to_lake(&server, &database, warehouse.path(), &[]);
        let mut died = 0;
        for (n, name) in rowferry::failpoint::NAMES.iter().cycle().take(14).enumerate() {
            let wish = format!("{name}:{}", 1 + n / 7);
            let running = pipeline.start(&["run", "--until-caught-up"], &[("ROWFERRY_FAILPOINT", &wish)]);
            client.execute(&format!("UPDATE keyed SET v = v + 1 WHERE id % 14 = {n}")).unwrap();
            client.execute(&format!("DELETE FROM keyed WHERE id = {}", n * 5)).unwrap();
            client.execute(&format!("INSERT INTO heap VALUES ({}, 'x')", 100 + n)).unwrap();
            let (status, _, log) = running.wait();
            assert!(status.success() || status.code().is_none(), "{wish} at {kind:?}: {status}\n{log}");
            died += usize::from(status.code().is_none());
        }
        assert!(died >= 5, "only {died} runs died");
        pipeline.run_well(&["run", "--until-caught-up"]);
        assert_equal(warehouse.path(), &database, &format!("at {kind:?}"));
    }
}
