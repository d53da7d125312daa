#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::checkpoint::TableState;
use crate::config::pattern::TablePattern;
use crate::config::{Variables, load_text};
use proptest::prelude::*;
use rowferry_sql::ColumnType;
use std::path::Path;

const TARGETS: [fn(&[u8]); 15] = [
    event,
    table_map,
    query,
    rows,
    jsonb,
    json_diff,
    text_row,
    gtid_set,
    packets,
    ddl,
    column_type,
    config,
    table_patterns,
    transform,
    saved_state,
];

#[test]
fn the_plan_of_the_rows_target_compiles() {
    let (map, table, schema) = every_type().unwrap();
    RowPlan::new(&map, &table, &schema, DecodeOptions::default()).unwrap();
    TextPlan::new("t", &table, &schema, JsonStyle::Compact).unwrap();
}

/// Recorded binlogs and their events, as seeds.
fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/binlogs");
    let mut seeds = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = std::fs::read(entry.unwrap().path()).unwrap();
        let Ok(mut events) = BinlogFileReader::new(&file) else { continue };
        while let Ok(Some(event)) = events.next_event() {
            seeds.push(event.to_vec());
            // Row images begin somewhere in a rows event; documents somewhere in them.
            seeds.extend((19..event.len().min(80)).map(|from| event[from..].to_vec()));
        }
        if file.len() < 8192 {
            seeds.push(file);
        }
    }
    assert!(seeds.len() > 1000);
    seeds
}

#[test]
fn no_target_panics_on_recorded_bytes() {
    for seed in seeds() {
        TARGETS.iter().for_each(|target| target(&seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_target_panics_on_random_bytes(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        TARGETS.iter().for_each(|target| target(&data));
    }

    /// Small numbers are what lengths, counts and types are made of.
    #[test]
    fn no_target_panics_on_small_bytes(data in proptest::collection::vec(0_u8..18, 0..300)) {
        TARGETS.iter().for_each(|target| target(&data));
    }

    #[test]
    fn no_target_panics_on_gtid_like_text(text in "[0-9a-f:,\\- \n_]{0,120}") {
        gtid_set(text.as_bytes());
    }
}

#[test]
fn no_target_panics_on_damaged_recordings() {
    let seeds = seeds();
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let damage = (
        proptest::sample::select(seeds),
        proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        any::<prop::sample::Index>(),
        any::<bool>(),
    );
    runner
        .run(&damage, |(mut data, changes, cut, cuts)| {
            if data.is_empty() {
                return Ok(());
            }
            for (at, byte) in changes {
                let at = at.index(data.len());
                data[at] = byte;
            }
            if cuts {
                data.truncate(cut.index(data.len()));
            }
            TARGETS.iter().for_each(|target| target(&data));
            Ok(())
        })
        .unwrap();
}

/// The seeds that the fuzzer starts with say what they are meant to say.
#[test]
fn the_seeds_are_read() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let read = |target: &str| std::fs::read_to_string(seeds.join(target).join("1")).unwrap();
    serde_json::from_str::<TableState>(&read("saved_state")).unwrap();
    ColumnType::parse(&read("column_type"), None).unwrap();
    TablePattern::parse(read("table_patterns").lines().next().unwrap()).unwrap();
    let variables = Variables::from_pairs([("v", "1")]);
    let loaded = load_text(&read("config"), &variables);
    assert!(loaded.config.is_some(), "{:?}", loaded.diagnostics);
    for entry in std::fs::read_dir(&seeds).unwrap() {
        for seed in std::fs::read_dir(entry.unwrap().path()).unwrap() {
            let seed = std::fs::read(seed.unwrap().path()).unwrap();
            TARGETS.iter().for_each(|target| target(&seed));
        }
    }
}
