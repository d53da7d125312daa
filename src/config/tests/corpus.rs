//! The shared corpus of pipeline files, by the same rule as `scripts/check-corpus`.

use super::super::*;
use regex::Regex;
use std::path::{Path, PathBuf};

/// The folder of shared material; tests that need it are skipped where it is missing.
fn shared() -> Option<PathBuf> {
    let path = std::env::var_os("ROWFERRY_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let corpus = path.join("spec/yaml");
    if !corpus.is_dir() {
        eprintln!("skipped: no corpus of pipeline files at {}", corpus.display());
        return None;
    }
    Some(corpus)
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "yaml"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{}", folder.display());
    files
}

/// Reads a file with the variables that its `# vars:` line gives.
fn check(text: &str) -> Loaded {
    let vars = text.lines().find_map(|line| line.strip_prefix("# vars: ")).unwrap_or_default();
    load_text(text, &Variables::from_pairs(vars.split_whitespace().filter_map(|pair| pair.split_once('='))))
}

#[test]
fn valid_files_are_read() {
    let Some(corpus) = shared() else { return };
    for (name, text) in files(&corpus.join("valid")) {
        let invalid: Vec<Diagnostic> =
            check(&text).diagnostics.into_iter().filter(|d| d.kind == DiagnosticKind::Invalid).collect();
        assert!(invalid.is_empty(), "{name}: {invalid:#?}");
    }
}

#[test]
fn invalid_files_are_refused_for_the_right_reason() {
    let Some(corpus) = shared() else { return };
    let aside = Regex::new(r"\([^()]*\)|;.*").unwrap();
    let named = Regex::new(r"`([^`]+)`|([A-Za-z_][\w-]*(?:\[\d+\])?(?:\.[A-Za-z_][\w-]*)+)").unwrap();
    for (name, text) in files(&corpus.join("invalid")) {
        let loaded = check(&text);
        assert!(loaded.config.is_none(), "{name}");
        let errors: Vec<String> = loaded
            .diagnostics
            .iter()
            .filter(|d| d.kind == DiagnosticKind::Invalid)
            .map(|d| d.to_string().to_lowercase())
            .collect();
        assert!(!errors.is_empty(), "{name}");
        let expect = text.lines().next().unwrap().strip_prefix("# expect: ").unwrap();
        let plain = aside.replace_all(expect, "");
        for word in named.captures_iter(&plain).filter_map(|c| c.get(1).or_else(|| c.get(2))) {
            let word = word.as_str().to_lowercase();
            assert!(errors.iter().any(|error| error.contains(&word)), "{name}: nothing of {word} in {errors:#?}");
        }
    }
}

#[test]
fn recorded_pipelines_are_read() {
    let Some(corpus) = shared() else { return };
    let golden = corpus.join("../../golden/flink-cdc");
    if !golden.is_dir() {
        eprintln!("skipped: no recordings at {}", golden.display());
        return;
    }
    let mut count = 0;
    for entry in std::fs::read_dir(golden).unwrap() {
        let file = entry.unwrap().path().join("pipeline.yaml");
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        count += 1;
        let wrong: Vec<Diagnostic> =
            check(&text).diagnostics.into_iter().filter(|d| d.kind == DiagnosticKind::Invalid).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", file.display());
    }
    assert!(count > 0);
}
