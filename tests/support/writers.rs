//! Writers at work on tables with keys of many kinds, while a pipeline runs.

use super::servers::Database;
use rowferry::mysql::wire::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Numbers that differ from roll to roll but not from run to run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.roll(of.len() as u64) as usize]
    }
}

const SETUP: &[(&str, &str)] = &[
    ("ints", "id BIGINT PRIMARY KEY, v INT"),
    ("sparse", "id BIGINT UNSIGNED PRIMARY KEY, v INT"),
    ("words", "id VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, v INT"),
    ("pairs", "a INT, b VARCHAR(10) CHARACTER SET latin1, v INT, PRIMARY KEY (a, b)"),
    ("bytes", "id VARBINARY(8) PRIMARY KEY, v INT"),
    ("heap", "id INT, v INT"),
];

/// The keys that rows may have.
const KEYS: u64 = 600;

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

fn write(client: &mut Connection, dice: &mut Dice, tables: &[&'static str]) {
    let table = dice.pick(tables);
    let n = dice.roll(KEYS);
    let v = dice.roll(1_000_000);
    let sql = match dice.roll(10) {
        0..3 if table == "heap" => format!("INSERT INTO heap VALUES ({n}, {v})"),
        0..3 => format!("REPLACE INTO {table} VALUES ({}, {v})", key(table, n)),
        3..6 => format!("UPDATE {table} SET v = {v} WHERE {}", condition(table, n)),
        6 if table == "pairs" => {
            format!("UPDATE IGNORE pairs SET a = {}, v = {v} WHERE {}", dice.roll(7), condition(table, n))
        }
        6 => {
            let to = dice.roll(KEYS);
            format!("UPDATE IGNORE {table} SET id = {}, v = {v} WHERE {}", key(table, to), condition(table, n))
        }
        _ => format!("DELETE FROM {table} WHERE {}", condition(table, n)),
    };
    // Deadlocks between writers are theirs.
    let _ = client.execute(&sql);
}

/// Makes the tables and fills them.
pub(crate) fn fill(database: &Database, tables: &[&str]) {
    let mut client = database.connect();
    for (table, columns) in SETUP.iter().filter(|(table, _)| tables.contains(table)) {
        client.execute(&format!("CREATE TABLE {table} ({columns})")).unwrap();
        for chunk in (0..KEYS).step_by(2).collect::<Vec<_>>().chunks(100) {
            let rows: Vec<_> = chunk.iter().map(|n| format!("({}, {n})", key(table, *n))).collect();
            client.execute(&format!("REPLACE INTO {table} VALUES {}", rows.join(","))).unwrap();
        }
    }
}

/// Writers that go on until they are told to stop.
pub(crate) struct Writers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<u64>>,
}

impl Writers {
    /// Three writers on these tables.
    pub(crate) fn start(database: &Database, tables: &'static [&'static str]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let one = |n: u64| {
            let (mut client, stop) = (database.connect(), Arc::clone(&stop));
            std::thread::spawn(move || {
                let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ n);
                let mut writes = 0;
                while !stop.load(Ordering::Relaxed) {
                    if dice.roll(4) == 0 {
                        let _ = client.execute("START TRANSACTION");
                        for _ in 0..dice.roll(8) {
                            write(&mut client, &mut dice, tables);
                            writes += 1;
                        }
                        let _ = client.execute(if dice.roll(5) == 0 { "ROLLBACK" } else { "COMMIT" });
                    } else {
                        write(&mut client, &mut dice, tables);
                        writes += 1;
                    }
                }
                let _ = client.execute("COMMIT");
                writes
            })
        };
        let threads = (0..3).map(one).collect();
        Self { stop, threads }
    }

    /// Stops them; gives how much was written.
    pub(crate) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    }
}
