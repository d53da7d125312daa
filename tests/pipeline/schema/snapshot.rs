//! DDL in the middle of snapshots, with writers at work: source and target are equal in the end.

use super::{Dice, columns_of, execute};
use crate::support::rowferry::{Pipeline, server_rows};
use crate::support::servers::{Database, Server, all};
use crate::support::target::EvolvingTarget;
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

/// Any DDL. Values that MySQL would fill in or convert without a trace in the log are left out: no new column has a
/// default.
fn ddl(client: &mut Connection, dice: &mut Dice, kind: Server) -> String {
    let table = dice.pick(TABLES);
    let (extra, other) = (dice.roll(3), dice.roll(3));
    let place = dice.pick(&["", " FIRST", " AFTER v"]);
    let sql = match dice.roll(12) {
        0..3 => format!("ALTER TABLE {table} ADD COLUMN x{extra} INT{place}"),
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
    let _ = kind;
    done
}

/// Runs a snapshot with DDL and writers; gives how many DDL were made while it ran.
fn round(kind: Server, server: &ConnectOptions, seed: u64) -> usize {
    let database = Database::create(server, "ddlsnap");
    let mut client = database.connect();
    execute(&mut client, SETUP);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (seed * 7919));
    for table in TABLES {
        fill(&mut client, table, &mut dice);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..2)
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
    let source = ["scan.incremental.snapshot.chunk.size: 8"];
    let lines = ["schema.change.behavior: evolve", "parallelism: 2", "rowferry.checkpoint.interval: 100 ms"];
    let tables: Vec<String> = TABLES.iter().map(|t| format!("{}.{t}", database.name)).collect();
    let pipeline = Pipeline::to_json(server, &tables.join(","), &source, &lines);
    let mut running = pipeline.start(&["run", "--stop-after", "snapshot"], &[]);
    // From here on the tables of the pipeline are known.
    running.wait_for_log("reading the binlog");
    let mut made = Vec::new();
    let began = std::time::Instant::now();
    // A pause now and then, or the snapshot would wait for ever for a table that stands still.
    while running.is_running() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(dice.roll(60)));
        if made.len() < 25 {
            made.push(ddl(&mut client, &mut dice, kind));
        }
    }
    let (status, output, log) = running.wait();
    stop.store(true, Ordering::Relaxed);
    writers.into_iter().for_each(|w| w.join().unwrap());
    let story = format!("{kind:?}, seed {seed}:\n{}\n", made.join("\n"));
    if log.contains("RF-SNP-007") {
        eprintln!("{story}ended as documented");
        return made.len();
    }
    assert!(status.success(), "{story}{log}");
    let rest = pipeline.run(&["run", "--until-caught-up"], &[]);
    assert!(rest.status.success(), "{story}{log}\n{}", String::from_utf8_lossy(&rest.stderr));
    let apply = || {
        let mut target = EvolvingTarget::with_repeats(true);
        target.apply(&output);
        target.apply(&String::from_utf8_lossy(&rest.stdout));
        target
    };
    let target = apply();
    for table in TABLES {
        let columns = columns_of(&database, table);
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let (ours, theirs) = (target.rows(table, &columns), server_rows(&database, table, &columns));
        if ours != theirs {
            let missing: Vec<_> = theirs.iter().filter(|r| !ours.contains(r)).take(5).collect();
            let extra: Vec<_> = ours.iter().filter(|r| !theirs.contains(r)).take(5).collect();
            panic!(
                "{story}{table}: {} rows instead of {}; missing {missing:?}, extra {extra:?}\n{log}",
                ours.len(),
                theirs.len()
            );
        }
    }
    made.len()
}

#[test]
fn ddl_at_random_moments_of_a_snapshot_changes_nothing_about_exactness() {
    let rounds: u64 = std::env::var("ROWFERRY_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    for (kind, server) in all() {
        let made: usize = (1..=rounds).map(|seed| round(kind, &server, seed)).sum();
        eprintln!("{kind:?}: {made} DDL statements in {rounds} snapshots");
        assert!(made as u64 > rounds, "hardly any DDL fell into a snapshot");
    }
}
