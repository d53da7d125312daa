//! `rowferry check` without a connection.

use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::{Loaded, Variables, load};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// What a check found.
#[derive(Debug)]
pub struct CheckReport {
    /// The file, as the user named it.
    pub file: String,
    /// What came of it.
    pub loaded: Loaded,
}

/// Checks a file offline.
///
/// # Errors
/// The file can't be read.
pub fn check_offline(path: &Path, variables: &Variables) -> io::Result<CheckReport> {
    Ok(CheckReport { file: path.display().to_string(), loaded: load(path, variables)? })
}

impl CheckReport {
    fn count(&self, errors: bool) -> usize {
        self.loaded.diagnostics.iter().filter(|diagnostic| diagnostic.kind.is_error() == errors).count()
    }

    /// Whether the pipeline could run.
    pub fn is_ok(&self) -> bool {
        self.count(true) == 0
    }

    /// The report for people: a line for each finding, and one that sums up.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for diagnostic in &self.loaded.diagnostics {
            // Writing into a String can't fail.
            let _ = writeln!(text, "{}", diagnostic.render(&self.file));
        }
        let warnings = match self.count(false) {
            0 => String::new(),
            n => format!(", {}", plural(n, "warning")),
        };
        let verdict = match self.count(true) {
            0 => "ok".to_owned(),
            n => plural(n, "error"),
        };
        let _ = writeln!(text, "{}: {verdict}{warnings}", self.file);
        text
    }

    /// The report for programs.
    pub fn to_json(&self) -> Value {
        let findings: Vec<Value> = self.loaded.diagnostics.iter().map(diagnostic_json).collect();
        json!({
            "file": self.file,
            "ok": self.is_ok(),
            "errors": self.count(true),
            "warnings": self.count(false),
            "diagnostics": findings,
        })
    }
}

fn diagnostic_json(diagnostic: &Diagnostic) -> Value {
    let kind = match diagnostic.kind {
        DiagnosticKind::Invalid => "invalid",
        DiagnosticKind::Unsupported => "unsupported",
        DiagnosticKind::Warning => "warning",
    };
    json!({
        "kind": kind,
        "line": diagnostic.position.line,
        "column": diagnostic.position.column,
        "key": diagnostic.key,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
    })
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
