//! DDL in the middle of snapshots, with writers at work: source and target are equal in the end.

use super::{columns_of, execute};
use crate::support::lake::{lake_sink, lake_tables};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server, all};
use crate::support::target::EvolvingTarget;
use crate::support::writers::Dice;
use rowferry::mysql::wire::{ConnectOptions, Connection};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TABLES: &[&str] = &["ints", "words", "pairs", "heap"];

const SETUP: &[&str] = &[
    "CREATE TABLE ints (id BIGINT PRIMARY KEY, v INT, t VARCHAR(20))",
    "CREATE TABLE words (id VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, v INT, t VARCHAR(20))",
    "CREATE TABLE pairs (a INT NOT NULL, b INT NOT NULL, v INT, t VARCHAR(20), PRIMARY KEY (a, b))",
    "CREATE TABLE heap (id INT, v INT, t VARCHAR(20))",
];

const KEYS: u64 = 400;

fn key(table: &str, n: u64) -> String {
    match table {
        "words" => format!("'{}{n}'", ["a", "B", "c", "é"][(n % 4) as usize]),
        "pairs" => format!("{}, {}", n % 7, n / 7),
        _ => n.to_string(),
    }
}

fn key_columns(table: &str) -> &'static str {
    if table == "pairs" { "a, b" } else { "id" }
}

/// A write that every shape of the table takes: other columns get NULL.
fn write(client: &mut Connection, dice: &mut Dice) {
    let table = dice.pick(TABLES);
    let (n, v) = (dice.roll(KEYS), dice.roll(1_000_000));
    let (columns, key) = (key_columns(table), key(table, n));
    let sql = match dice.roll(8) {
        0..3 if table == "heap" => format!("INSERT INTO heap (id, v) VALUES ({n}, {v})"),
        0..3 => format!("REPLACE INTO {table} ({columns}, v) VALUES ({key}, {v})"),
        3..6 => format!("UPDATE {table} SET v = {v} WHERE ({columns}) = ({key})"),
        _ => format!("DELETE FROM {table} WHERE ({columns}) = ({key})"),
    };
    // Deadlocks, and tables that are gone for a moment, are the writers' own affair.
    let _ = client.execute(&sql);
}

fn fill(client: &mut Connection, table: &str, dice: &mut Dice) {
    let values: Vec<String> =
        (0..KEYS).filter(|_| dice.roll(2) == 0).map(|n| format!("({}, {n})", key(table, n))).collect();
    for values in values.chunks(100) {
        let sql = format!("INSERT INTO {table} ({}, v) VALUES {}", key_columns(table), values.join(", "));
        let _ = client.execute(&sql);
    }
}

/// The kinds of DDL: all, and those that every type that a column may have had lets a lake follow.
const ANY: &[u64] = &[0, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const FOR_A_LAKE: &[u64] = &[0, 0, 3, 7, 8, 9, 10, 11];

/// Any DDL. Values that MySQL would fill in or convert without a trace in the log are left out: no new column has a
/// default.
fn ddl(client: &mut Connection, dice: &mut Dice, kinds: &[u64]) -> String {
    let table = dice.pick(TABLES);
    let (extra, other) = (dice.roll(3), dice.roll(3));
    let place = dice.pick(&["", " FIRST", " AFTER v"]);
    let sql = match kinds[dice.roll(kinds.len() as u64) as usize] {
        0 => format!("ALTER TABLE {table} ADD COLUMN x{extra} INT{place}"),
        3 => format!("ALTER TABLE {table} DROP COLUMN x{extra}"),
        4 => format!("ALTER TABLE {table} CHANGE x{extra} x{other} BIGINT{place}"),
        5 => format!("ALTER TABLE {table} DROP COLUMN x{extra}, ADD COLUMN x{extra} VARCHAR(9)"),
        6 => format!("ALTER TABLE {table} MODIFY t VARCHAR({}){place}", 20 + dice.roll(200)),
        7 => format!("TRUNCATE TABLE {table}"),
        8 => format!("ALTER TABLE {table} MODIFY v BIGINT, ADD COLUMN x{extra} INT, COMMENT 'c{other}'"),
        9 => format!("ALTER TABLE {table} ADD INDEX (v)"),
        10 if table == "pairs" => "ALTER TABLE pairs DROP PRIMARY KEY, ADD PRIMARY KEY (b, a)".to_owned(),
        10 => format!("ALTER TABLE {table} RENAME TO {table}_away; ALTER TABLE {table}_away RENAME TO {table}"),
        _ => {
            let create = SETUP.iter().find(|sql| sql.contains(&format!(" {table} "))).expect("one of them");
            format!("DROP TABLE {table}; {create}")
        }
    };
    let mut done = String::new();
    for sql in sql.split("; ") {
        let taken = client.execute(sql).is_ok();
        if taken {
            done += sql;
            done += "; ";
        }
    }
    if done.contains("DROP TABLE") && dice.roll(2) == 0 {
        fill(client, table, dice);
    }
    done
}

/// Writers at work until they are told to stop.
struct Writers {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Writers {
    fn start(database: &Database, seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let threads = (0..2)
            .map(|n| {
                let (mut client, stop) = (database.connect(), stop.clone());
                let mut dice = Dice(0xD1B5_4A32_D192_ED03 ^ (seed * 31 + n));
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        write(&mut client, &mut dice);
                        std::thread::sleep(Duration::from_micros(300));
                    }
                })
            })
            .collect();
        Self { stop, threads }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|w| w.join().unwrap());
    }
}

/// The tables, filled.
fn prepare(server: &ConnectOptions, seed: u64) -> (Database, Connection, Dice) {
    let database = Database::create(server, "ddlsnap");
    let mut client = database.connect();
    execute(&mut client, SETUP);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (seed * 7919));
    for table in TABLES {
        fill(&mut client, table, &mut dice);
    }
    (database, client, dice)
}

/// Panics with a few rows if these are not the same.
fn compare(ours: &[String], theirs: &[String], story: &str) {
    if ours != theirs {
        // Rows of a table without a key may be there several times.
        let without = |all: &[String], others: &[String]| {
            let mut rest = all.to_vec();
            for other in others {
                if let Some(at) = rest.iter().position(|row| row == other) {
                    rest.swap_remove(at);
                }
            }
            rest.truncate(8);
            rest
        };
        let (missing, extra) = (without(theirs, ours), without(ours, theirs));
        let (have, want) = (ours.len(), theirs.len());
        panic!("{have} rows instead of {want}; missing {missing:?}, extra {extra:?}\n{story}");
    }
}

const SOURCE: &[&str] = &["scan.incremental.snapshot.chunk.size: 8"];
const LINES: &[&str] = &["schema.change.behavior: evolve", "parallelism: 2", "rowferry.checkpoint.interval: 100 ms"];

/// Runs a snapshot with DDL and writers; gives how many DDL were made while it ran.
fn round(kind: Server, server: &ConnectOptions, seed: u64) -> usize {
    let (database, mut client, mut dice) = prepare(server, seed);
    let writers = Writers::start(&database, seed);
    let tables: Vec<String> = TABLES.iter().map(|t| format!("{}.{t}", database.name)).collect();
    let pipeline = Pipeline::to_json(server, &tables.join(","), SOURCE, LINES);
    let mut running = pipeline.start(&["run", "--stop-after", "snapshot"], &[]);
    // From here on the tables of the pipeline are known.
    running.wait_for_log("reading the binlog");
    let mut made = Vec::new();
    // Not for ever, or the snapshot would wait for tables that never stand still.
    while running.is_running() && made.len() < 25 {
        std::thread::sleep(Duration::from_millis(dice.roll(60)));
        made.push(ddl(&mut client, &mut dice, ANY));
    }
    let (status, output, log) = running.wait();
    writers.stop();
    let story = format!("{kind:?}, seed {seed}:\n{}\n{log}", made.join("\n"));
    assert!(status.success(), "{story}");
    // A second attempt within the run would hide a fault.
    assert!(!log.contains("trying again"), "{story}");
    let rest = pipeline.run(&["run", "--until-caught-up"], &[]);
    let story = story + &String::from_utf8_lossy(&rest.stderr);
    assert!(rest.status.success(), "{story}");
    let mut target = EvolvingTarget::with_repeats(true);
    target.apply(&output);
    target.apply(&String::from_utf8_lossy(&rest.stdout));
    for table in TABLES {
        let columns = columns_of(&database, table);
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let story = format!("{table}: {story}");
        compare(&target.rows(table, &columns), &server_rows(&database, table, &columns), &story);
    }
    made.len()
}

fn rounds() -> u64 {
    std::env::var("ROWFERRY_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4)
}

#[test]
fn ddl_at_random_moments_of_a_snapshot_changes_nothing_about_exactness() {
    let rounds = rounds();
    for (kind, server) in all() {
        let made: usize = (1..=rounds).map(|seed| round(kind, &server, seed)).sum();
        eprintln!("{kind:?}: {made} DDL statements in {rounds} snapshots");
        assert!(made as u64 > rounds, "hardly any DDL fell into a snapshot");
    }
}

/// The same into a lake, killed again and again.
#[test]
fn killed_at_any_moment_of_a_snapshot_with_ddl_the_lake_is_as_the_source() {
    for (kind, server) in all() {
        for seed in 1..=rounds().div_ceil(2) {
            let (database, mut client, mut dice) = prepare(&server, 1000 + seed);
            let writers = Writers::start(&database, seed);
            let warehouse = tempfile::TempDir::new().unwrap();
            // Rows of a table without a key are never taken back in a lake.
            let keyed = ["ints", "words", "pairs"];
            let tables: Vec<String> = keyed.iter().map(|t| format!("{}.{t}", database.name)).collect();
            let pipeline = Pipeline::new(&server, &tables.join(","), SOURCE, &lake_sink(warehouse.path()), LINES);
            let mut story = format!("{kind:?}, seed {seed}:\n");
            for n in 0..6 {
                let mut running = pipeline.start(&["run"], &[]);
                running.wait_for_log("reading the binlog");
                for _ in 0..=n {
                    std::thread::sleep(Duration::from_millis(dice.roll(80)));
                    story += &ddl(&mut client, &mut dice, FOR_A_LAKE);
                    story += "\n";
                }
                std::thread::sleep(Duration::from_millis(dice.roll(200)));
                assert!(running.is_running(), "{story}{}", running.log());
                story += &running.log();
                story += "(killed)\n";
                running.kill();
            }
            writers.stop();
            let rest = pipeline.run(&["run", "--until-caught-up"], &[]);
            story += &String::from_utf8_lossy(&rest.stderr);
            assert!(rest.status.success(), "{story}");
            let Some(lake) = lake_tables(warehouse.path(), &database.name) else { return };
            for table in keyed {
                let columns = columns_of(&database, table);
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                compare(
                    &lake[table].rows(&columns),
                    &server_rows(&database, table, &columns),
                    &format!("{table}: {story}"),
                );
            }
        }
    }
}
