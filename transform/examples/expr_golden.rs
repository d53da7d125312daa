//! Compares the expressions of a file of recordings with what the transform engine gives: `scripts/expr-golden FILE`.

#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub, reason = "a program of the tests")]

#[path = "../tests/support/golden.rs"]
mod golden;

use golden::{Outcome, Verdict, judge, parse, run};
use std::process::ExitCode;

fn shown(outcome: &Outcome) -> String {
    if let Some(reason) = &outcome.failed {
        return format!("FAILED {reason}");
    }
    let mut text = outcome.data_type.clone().unwrap_or_default();
    for (id, value) in &outcome.rows {
        match value {
            Ok(value) => text.push_str(&format!(" | {id}: {value}")),
            Err(reason) => text.push_str(&format!(" | {id}: FAILED {reason}")),
        }
    }
    text.chars().take(400).collect()
}

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: scripts/expr-golden FILE");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    };
    let (mut same, mut better, mut listed, mut unlisted) = (0, 0, 0, 0);
    for recorded in parse(&text) {
        let ours = run(&recorded.expression);
        let verdict = judge(&recorded, &ours);
        let line = match &verdict {
            Verdict::Same => {
                same += 1;
                continue;
            }
            Verdict::Better => {
                better += 1;
                "BETTER".to_owned()
            }
            Verdict::Listed(reason) => {
                listed += 1;
                format!("DIFFERENT ({reason})")
            }
            Verdict::Unlisted => {
                unlisted += 1;
                "UNLISTED".to_owned()
            }
        };
        println!("{line}: {}", recorded.expression);
        println!("    Flink CDC: {}", shown(&recorded.outcome));
        println!("    rowferry:  {}", shown(&ours));
    }
    println!("{same} same, {better} better, {listed} different and listed, {unlisted} unlisted");
    if unlisted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
