//! Exactness: writers at work while the snapshot runs, and afterwards source and target are equal.

use crate::support::rowferry::{Pipeline, StrictTarget, server_rows};
use crate::support::servers::{Database, all};
use rowferry::mysql::wire::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Numbers that differ from run to run of a thread but not from test to test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

const SETUP: &[&str] = &[
    "CREATE TABLE ints (id BIGINT PRIMARY KEY, v INT)",
    "CREATE TABLE sparse (id BIGINT UNSIGNED PRIMARY KEY, v INT)",
    "CREATE TABLE words (id VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, v INT)",
    "CREATE TABLE pairs (a INT, b VARCHAR(10) CHARACTER SET latin1, v INT, PRIMARY KEY (a, b))",
    "CREATE TABLE bytes (id VARBINARY(8) PRIMARY KEY, v INT)",
    "CREATE TABLE heap (id INT, v INT)",
];

/// A key of each table as SQL.
fn key(table: &str, n: u64) -> String {
    match table {
        "sparse" => (n * n * 1_000_003 + 1).to_string(),
        // Orders differ between bytes and the collation.
        "words" => format!("'{}{n}'", ["a", "B", "c", "D", "é", "Z"][(n % 6) as usize]),
        "pairs" => format!("{}, '{}'", n % 7, n / 7),
        "bytes" => format!("x'{:04X}'", (n * 2654435761) % 65536),
        _ => n.to_string(),
    }
}

fn condition(table: &str, n: u64) -> String {
    match table {
        "pairs" => format!("(a, b) = ({})", key(table, n)),
        _ => format!("id = {}", key(table, n)),
    }
}

fn write(client: &mut Connection, dice: &mut Dice, keys: u64) {
    let table = ["ints", "sparse", "words", "pairs", "bytes", "heap"][dice.roll(6) as usize];
    let n = dice.roll(keys);
    let v = dice.roll(1_000_000);
    let sql = match dice.roll(10) {
        0..3 if table == "heap" => format!("INSERT INTO heap VALUES ({n}, {v})"),
        0..3 => format!("REPLACE INTO {table} VALUES ({}, {v})", key(table, n)),
        3..6 => format!("UPDATE {table} SET v = {v} WHERE {}", condition(table, n)),
        6 if table == "pairs" => {
            format!("UPDATE IGNORE pairs SET a = {}, v = {v} WHERE {}", dice.roll(7), condition(table, n))
        }
        6 => {
            let to = dice.roll(keys);
            format!("UPDATE IGNORE {table} SET id = {}, v = {v} WHERE {}", key(table, to), condition(table, n))
        }
        _ => format!("DELETE FROM {table} WHERE {}", condition(table, n)),
    };
    // Deadlocks between writers are theirs.
    let _ = client.execute(&sql);
}

#[test]
fn writers_during_the_snapshot_change_nothing_about_exactness() {
    const KEYS: u64 = 600;
    for (kind, server) in all() {
        let database = Database::create(&server, "exact");
        let mut client = database.connect();
        for sql in SETUP {
            client.execute(sql).unwrap();
        }
        for table in ["ints", "sparse", "words", "pairs", "bytes", "heap"] {
            for chunk in (0..KEYS).step_by(2).collect::<Vec<_>>().chunks(100) {
                let rows: Vec<_> = chunk.iter().map(|n| format!("({}, {n})", key(table, *n))).collect();
                client.execute(&format!("REPLACE INTO {table} VALUES {}", rows.join(","))).unwrap();
            }
        }
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..3)
            .map(|n| {
                let (mut client, stop) = (database.connect(), stop.clone());
                std::thread::spawn(move || {
                    let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ n);
                    let mut writes = 0;
                    while !stop.load(Ordering::Relaxed) {
                        if dice.roll(4) == 0 {
                            let _ = client.execute("START TRANSACTION");
                            for _ in 0..dice.roll(8) {
                                write(&mut client, &mut dice, KEYS);
                                writes += 1;
                            }
                            let _ = client.execute(if dice.roll(5) == 0 { "ROLLBACK" } else { "COMMIT" });
                        } else {
                            write(&mut client, &mut dice, KEYS);
                            writes += 1;
                        }
                    }
                    let _ = client.execute("COMMIT");
                    writes
                })
            })
            .collect();
        let source = ["scan.incremental.snapshot.chunk.size: 20"];
        let tables = format!("{}.\\.*", database.name);
        let pipeline = Pipeline::to_json(&server, &tables, &source, &["rowferry.checkpoint.interval: 300 ms"]);
        let mut output = pipeline.run_well(&["run", "--stop-after", "snapshot"]);
        stop.store(true, Ordering::Relaxed);
        let writes: u64 = writers.into_iter().map(|w| w.join().unwrap()).sum();
        output += &pipeline.run_well(&["run", "--until-caught-up"]);
        let mut target = StrictTarget::default();
        target.apply(&output);
        for (table, columns) in [
            ("ints", ["id", "v"].as_slice()),
            ("sparse", &["id", "v"]),
            ("words", &["id", "v"]),
            ("pairs", &["a", "b", "v"]),
            ("heap", &["id", "v"]),
        ] {
            assert_eq!(target.rows(table, columns), server_rows(&database, table, columns), "{table} at {kind:?}");
        }
        let count = server_rows(&database, "bytes", &["v"]);
        assert_eq!(target.rows("bytes", &["v"]), count, "bytes at {kind:?}");
        eprintln!("{kind:?}: {writes} writes during the snapshot");
        assert!(writes > 20, "the writers did nothing");
    }
}
