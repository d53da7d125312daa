//! The recorded answers of a real frontend, where they are at hand.

use serde_json::Value;
use std::path::PathBuf;

/// The lines of one recording of a kind of frontend, `starrocks-fe` or `doris-fe`; `None`, with a message, where the recordings are not there.
pub fn lines(frontend: &str, file: &str) -> Option<Vec<Value>> {
    let shared = std::env::var_os("ROWFERRY_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let path = shared.join("golden").join(frontend).join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: there are no recordings at {} (set ROWFERRY_SHARED)", path.display());
        return None;
    };
    Some(text.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
}

/// A text with what varies from run to run left out: places in statements, numbers of backends.
pub fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("line ") {
        out.push_str(&rest[..at]);
        rest = &rest[at + 5..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest = &rest[digits..];
        if let Some(tail) = rest.strip_prefix(", column ") {
            let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            rest = &tail[digits..];
        }
    }
    out.push_str(rest);
    out
}

/// Agreement of a replay, with the reasons for what is left.
#[derive(Default)]
pub struct Tally {
    pub agree: usize,
    /// Not modelled, with how many.
    pub left_out: std::collections::BTreeMap<String, usize>,
    pub differ: Vec<String>,
}

impl Tally {
    pub fn leave_out(&mut self, why: &str) {
        *self.left_out.entry(why.to_owned()).or_default() += 1;
    }

    pub fn print(&self, what: &str) {
        println!(
            "{what}: {} agree, {} left out, {} differ",
            self.agree,
            self.left_out.values().sum::<usize>(),
            self.differ.len()
        );
        for (why, n) in &self.left_out {
            println!("  left out {n}: {why}");
        }
        for line in &self.differ {
            println!("  differs: {line}");
        }
    }
}
