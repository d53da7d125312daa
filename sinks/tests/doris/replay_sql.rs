//! The recorded statements against the stand-in: accepted or refused, with which words, and what the table is then.

use crate::olap::recordings::{Tally, lines, masked};
use crate::stand_in::{NOT_MODELLED, World, create_sql};
use serde_json::Value;
use std::time::Duration;

/// What the stand-in is known not to do as recorded, and why that is no matter.
const KNOWN: &[(&str, &str)] = &[
    ("database/", "it needs what an earlier record made"),
    ("cancel/no job left", "it needs what an earlier record made"),
    ("table/TRUNCATE with db", "it needs the recorder's own database"),
    ("decimal256", "decimals of more than 38 digits are not modelled"),
];

struct Replay {
    world: World,
    database: String,
}

impl Replay {
    fn new(unicode: bool) -> Self {
        let mut world = World::new(Duration::from_secs(10), 3);
        for name in ["gold", "gold2", "gold3", "gold4", "gold5", "gold6", "g"] {
            world.create_database(name, true).unwrap();
        }
        world.unicode_names = unicode;
        Self { world, database: "gold".to_owned() }
    }

    fn run(&mut self, sql: &str) -> Result<(), (u16, String)> {
        self.world.tick();
        if let Some(on) = sql.strip_prefix("SET enable_unicode_name_support=") {
            self.world.unicode_names = on == "true";
            return Ok(());
        }
        if sql.starts_with("SET enable_decimal256") {
            return Err((NOT_MODELLED, "decimals of more than 38 digits".to_owned()));
        }
        let database = self.database.clone();
        self.world.execute(&database, "root", sql).map(|_| ()).map_err(|f| (f.code, f.text()))
    }

    /// What the record says of the table behind the statement.
    fn show_create(&self, shown: &str) -> Option<String> {
        let name = shown.strip_prefix("CREATE TABLE `")?;
        let (name, _) = name.split_once("` (\n")?;
        let table = self.world.databases.values().find_map(|d| d.tables.get(name))?;
        Some(create_sql(name, table))
    }
}

fn is_syntax(text: &str) -> bool {
    ["mismatched input", "no viable alternative", "extraneous input", "missing '", "syntax error"]
        .iter()
        .any(|part| text.contains(part))
}

fn same_failure(recorded: &str, code: u64, ours: &(u16, String)) -> bool {
    if u64::from(ours.0) != code {
        return false;
    }
    // What a parser would have liked better is not ours to know.
    if is_syntax(recorded) && is_syntax(&ours.1) {
        return true;
    }
    masked(recorded).starts_with(masked(&ours.1).trim_end_matches('.'))
}

fn replay(record: &Value, tally: &mut Tally) {
    let id = record["id"].as_str().unwrap();
    let mut replay = Replay::new(!id.contains("unicode off"));
    let differ = |tally: &mut Tally, what: String| match KNOWN.iter().find(|(k, _)| id.starts_with(k)) {
        Some((_, why)) => tally.leave_out(why),
        None => tally.differ.push(format!("{id}: {what}")),
    };
    for setup in record["setup"].as_array().into_iter().flatten() {
        let sql = setup.as_str().unwrap_or_default();
        match replay.run(sql) {
            Ok(()) => {}
            Err((NOT_MODELLED, what)) => return tally.leave_out(what.split("detailMessage = ").last().unwrap()),
            Err((_, _)) if sql.starts_with("DROP") => {}
            Err(error) => return differ(tally, format!("its setup {sql} fails: {error:?}")),
        }
    }
    // The recorder waited for the setup's jobs, but where they are what the case is about.
    if !id.starts_with("during") && !id.starts_with("cancel/right") {
        replay.world.skip(Duration::from_secs(11));
        replay.world.skip(Duration::from_secs(11));
    }
    let sql = record["statement"].as_str().unwrap_or_default();
    if sql.contains("... x ") || sql.is_empty() {
        return tally.leave_out("the record gives only a part of the statement");
    }
    let jobs = replay.world.jobs.len();
    let result = replay.run(sql);
    match (&result, record["ok"].as_bool()) {
        (Err((NOT_MODELLED, what)), _) => return tally.leave_out(what.split("detailMessage = ").last().unwrap()),
        (Ok(()), Some(true)) => {}
        (Err(error), Some(false)) => {
            let text = record["error_text"].as_str().unwrap_or_default();
            if !same_failure(text, record["error_code"].as_u64().unwrap_or(0), error) {
                return differ(tally, format!("fails with {error:?} instead of {} {text}", record["error_code"]));
            }
        }
        (ours, theirs) => {
            return differ(tally, format!("gives {ours:?} where ok is {theirs:?} ({}): {sql}", record["error_text"]));
        }
    }
    let new = replay.world.jobs.get(jobs).map(|j| j.state == "FINISHED");
    if let Some(sync) = record["sync"].as_bool() {
        let has_job = record["jobs_after"].as_array().is_none_or(|j| !j.is_empty());
        let same = match new {
            None => sync && !(has_job && record["jobs_after"].is_array()),
            Some(at_once) => at_once == sync,
        };
        if !same {
            return differ(tally, format!("job is at once: {new:?}, recorded: {sync} {}", record["jobs_after"]));
        }
    }
    if new == Some(false) && record["sync"] == false && record["jobs_final"].is_null() {
        // The recorder looked at once: the table shows its old columns.
    } else {
        replay.world.skip(Duration::from_secs(11));
        replay.world.skip(Duration::from_secs(11));
    }
    let shown = record["after"]["show_create"].as_str().unwrap_or_default();
    if shown.starts_with("CREATE TABLE") {
        match replay.show_create(shown) {
            Some(ours) if ours == shown => {}
            Some(ours) => return differ(tally, format!("is then {ours} instead of {shown}")),
            None => return differ(tally, "the table is not there".to_owned()),
        }
        if let Some(columns) = record["after"]["full_columns"].as_array() {
            let name = shown.strip_prefix("CREATE TABLE `").unwrap().split_once("` (\n").unwrap().0;
            let table = replay.world.databases.values().find_map(|d| d.tables.get(name)).unwrap();
            let ours: Vec<Value> = replay
                .world
                .full_columns(table)
                .into_iter()
                .map(|c| serde_json::json!([c[0], c[1], c[3], c[4], c[5], c[6], c[8]]))
                .collect();
            if &ours != columns {
                return differ(tally, format!("shows {ours:?} instead of {columns:?}"));
            }
        }
    }
    tally.agree += 1;
}

fn replay_file(file: &str, at_least: usize) {
    let Some(records) = lines("doris-fe", file) else { return };
    let mut tally = Tally::default();
    for record in &records {
        replay(record, &mut tally);
    }
    tally.print(file);
    assert!(tally.differ.is_empty(), "{} records differ: see the output", tally.differ.len());
    assert!(tally.agree >= at_least, "only {} records agree", tally.agree);
}

#[test]
fn types_end_as_recorded() {
    replay_file("01_create_table.jsonl", 524);
}

#[test]
fn structures_end_as_recorded() {
    replay_file("02_create_table_structure.jsonl", 411);
}

#[test]
fn defaults_comments_and_properties_end_as_recorded() {
    replay_file("03_create_table_defaults_comments_partitions_properties.jsonl", 363);
}

#[test]
fn additions_drops_and_renames_end_as_recorded() {
    replay_file("04_alter_table.jsonl", 476);
}

#[test]
fn changes_of_columns_end_as_recorded() {
    replay_file("05_modify_column.jsonl", 1750);
}

#[test]
fn statements_during_jobs_end_as_recorded() {
    replay_file("06_alter_jobs_and_table_ops.jsonl", 67);
}

#[test]
fn names_without_the_unicode_switch_end_as_recorded() {
    replay_file("11_alter_names_unicode_off_and_decimal256.jsonl", 56);
}
