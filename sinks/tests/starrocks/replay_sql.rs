//! The recorded statements against the stand-in: accepted or refused, with which number and words, and what the table
//! is then.

use crate::olap::recordings::{Tally, lines, masked};
use crate::stand_in::{NOT_MODELLED, World, create_sql, execute};
use serde_json::Value;
use std::time::Duration;

/// What the stand-in is known not to do as recorded, and why that is no matter.
const KNOWN: &[(&str, &str)] = &[
    ("drop-db/plain", "it needs what an earlier record made"),
    ("db/drop", "it needs what an earlier record made, or system databases, which no sink drops"),
    ("cancel/only finished job", "it needs what an earlier record made"),
    ("props/bad timeout", "it needs what an earlier record made"),
    ("duplicate-key-table/", "rules of tables without primary keys are not modelled"),
    ("drop/bloom column", "properties do not follow the columns"),
    ("multi/", "no clause at all"),
    ("key/CHAR", "refused as recorded, with a length of 1 in the words where none or 0 was given"),
    ("key/TIME", "refused as recorded, with the type in capitals in the words"),
    ("modify-type/DECIMAL(10,2) -> DECIMAL(8,2)", "refused as recorded; the words have another storage width"),
    (
        "add/ADD COLUMN c DATETIME DEFAULT CURRENT_TIMESTAMP",
        "the default that is shown is the time of the recorded ALTER; the stand-in shows another time",
    ),
    (
        "add/ADD COLUMN c DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP",
        "the default that is shown is the time of the recorded ALTER; the stand-in shows another time",
    ),
    (
        "nofse/ADD COLUMN c DATETIME DEFAULT CURRENT_TIMESTAMP",
        "the default that is shown is the time of the recorded ALTER; the stand-in shows another time",
    ),
];

struct Replay {
    world: World,
    database: String,
    labels: u32,
}

impl Replay {
    fn new(database: &str) -> Self {
        let mut world = World::new(Duration::from_secs(10), 3);
        for name in ["ga", "gb", "gb2", "gc", "gi", "gs"] {
            world.create_database(name, false).unwrap();
        }
        Self { world, database: database.to_owned(), labels: 0 }
    }

    fn run(&mut self, sql: &str) -> Result<(), (u16, String)> {
        if sql.starts_with("loadTxnBegin") {
            // The table is the last one that was made.
            let database = self.database.clone();
            let table = self.world.databases[&database].tables.keys().next_back().unwrap().clone();
            self.labels += 1;
            assert!(self.world.begin(&database, &table, &format!("l{}", self.labels), 600, 0).is_ok());
            return Ok(());
        }
        self.world.tick();
        let mut database = self.database.clone();
        let result = execute(&mut self.world, &mut database, "root", sql).map(|_| ()).map_err(|f| (f.code, f.message));
        self.database = database;
        result
    }

    /// What the record says of the table behind the statement.
    fn show_create(&self, shown: &str) -> Option<String> {
        let name = shown.strip_prefix("CREATE TABLE `")?.split('`').next()?;
        let table = self.world.databases.values().find_map(|d| d.tables.get(name))?;
        Some(create_sql(name, table))
    }
}

fn same_failure(recorded: &str, code: u64, ours: &(u16, String)) -> bool {
    if u64::from(ours.0) != code {
        return false;
    }
    let (theirs, ours) = (masked(recorded), masked(&ours.1));
    // The list of what a parser would have liked better is not ours to know.
    if theirs.contains("syntax error") && ours.contains("syntax error") {
        return true;
    }
    theirs.starts_with(ours.trim_end_matches('.'))
}

fn replay(record: &Value, database: &str, tally: &mut Tally) {
    let id = record["id"].as_str().unwrap();
    let mut replay = Replay::new(database);
    let differ = |tally: &mut Tally, what: String| match KNOWN.iter().find(|(k, _)| id.starts_with(k)) {
        Some((_, why)) => tally.leave_out(why),
        None => tally.differ.push(format!("{id}: {what}")),
    };
    for setup in record["setup"].as_array().into_iter().flatten() {
        let sql = setup.as_str().unwrap_or_default();
        match replay.run(sql) {
            Ok(()) => {}
            Err((NOT_MODELLED, what)) => return tally.leave_out(&what),
            Err((_, _)) if sql.starts_with("DROP") => {}
            Err(error) => return differ(tally, format!("its setup {sql} fails: {error:?}")),
        }
    }
    let steps: Vec<(&str, &Value)> = match record["steps"].as_array() {
        Some(steps) => steps.iter().map(|s| (s["statement"].as_str().unwrap(), s)).collect(),
        None => vec![(record["statement"].as_str().unwrap_or_default(), record)],
    };
    for (sql, wanted) in steps {
        if sql.contains("...") {
            return tally.leave_out("the record gives only a part of the statement");
        }
        let jobs = replay.world.jobs.len();
        let before = replay.world.now();
        let result = replay.run(sql);
        match (&result, wanted["ok"].as_bool()) {
            (Err((NOT_MODELLED, what)), _) => return tally.leave_out(what),
            (Ok(()), Some(true)) => {}
            (Err(error), Some(false)) => {
                let text = wanted["error_text"].as_str().unwrap_or_default();
                if !same_failure(text, wanted["error_code"].as_u64().unwrap_or(0), error) {
                    return differ(tally, format!("fails with {error:?} instead of {} {text}", wanted["error_code"]));
                }
            }
            (ours, theirs) => return differ(tally, format!("gives {ours:?} where ok is {theirs:?}: {sql}")),
        }
        let new = replay.world.jobs.get(jobs).map(|j| j.state);
        let kind = match (wanted["kind"].as_str(), new) {
            (None, _) => true,
            (Some(kind), None) => kind.starts_with("no job row"),
            (Some(kind), Some("FINISHED")) => kind.starts_with("synchronous"),
            (Some(kind), Some(_)) => kind.starts_with("asynchronous"),
        };
        if !kind {
            return differ(tally, format!("is a job in state {new:?} where the record has {}", wanted["kind"]));
        }
        if record["steps"].is_array() && result.is_ok() && new == Some("PENDING") && !sql.contains("immediately") {
            // The recorder waited for jobs between steps unless the case is about not doing so.
            if !id.contains("immediately") {
                replay.world.skip(Duration::from_secs(11));
                replay.world.skip(Duration::from_secs(11));
            }
        }
        let _ = before;
    }
    // A transaction that the record ends.
    for t in 0..replay.world.transactions.len() {
        replay.world.transactions[t].abort("end of the record");
    }
    replay.world.skip(Duration::from_secs(11));
    replay.world.skip(Duration::from_secs(11));
    let shown = [&record["after"]["show_create"], &record["show_create_final"]]
        .into_iter()
        .find_map(|v| v.as_str())
        .unwrap_or_default();
    if shown.starts_with("CREATE TABLE") {
        match replay.show_create(shown) {
            Some(ours) if ours == shown => {}
            Some(ours) => return differ(tally, format!("is then {ours} instead of {shown}")),
            None => return differ(tally, "the table is not there".to_owned()),
        }
    }
    if let Some(columns) = record["after"]["full_columns"].as_array() {
        let name = shown.strip_prefix("CREATE TABLE `").and_then(|s| s.split('`').next()).unwrap();
        let table = replay.world.databases.values().find_map(|d| d.tables.get(name)).unwrap();
        let ours: Vec<Value> = replay
            .world
            .full_columns(table)
            .into_iter()
            .map(|c| serde_json::json!([c[0], c[1], c[3], c[4], c[5], c[8]]))
            .collect();
        if &ours != columns {
            return differ(tally, format!("shows {ours:?} instead of {columns:?}"));
        }
    }
    tally.agree += 1;
}

fn replay_file(file: &str, database: &str, at_least: usize) {
    let Some(records) = lines("starrocks-fe", file) else { return };
    let mut tally = Tally::default();
    for record in &records {
        replay(record, database, &mut tally);
    }
    tally.print(file);
    assert!(tally.differ.is_empty(), "{} records differ: see the output", tally.differ.len());
    assert!(tally.agree >= at_least, "only {} records agree", tally.agree);
}

#[test]
fn creations_end_as_recorded() {
    replay_file("01_create_table.jsonl", "gc", 525);
}

#[test]
fn alterations_end_as_recorded() {
    replay_file("02_alter_table.jsonl", "ga", 268);
}

#[test]
fn concurrent_alterations_end_as_recorded() {
    replay_file("03_alter_concurrency_and_table_ops.jsonl", "gb", 68);
}

#[test]
fn silent_losses_end_as_recorded() {
    replay_file("07_alter_silent_loss_and_job_timelines.jsonl", "gs", 43);
}
