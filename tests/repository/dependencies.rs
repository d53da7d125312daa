//! The direction of dependencies, as `cargo metadata` sees it and as the sinks' sources show it.

use super::{read, root, rust_files};
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The packages of the workspace that may depend on each other: each with those of ours that it may know.
const MAY_KNOW: [(&str, &[&str]); 8] = [
    ("rowferry-model", &[]),
    ("rowferry-sql", &["rowferry-model"]),
    ("rowferry-transform", &["rowferry-model"]),
    ("rowferry-stand-ins", &[]),
    ("rowferry-tls", &[STAND_INS]),
    ("rowferry-sinks", &["rowferry-model", "rowferry-tls", STAND_INS]),
    (
        "rowferry",
        &["rowferry-model", "rowferry-sql", "rowferry-transform", "rowferry-tls", "rowferry-sinks", STAND_INS],
    ),
    // Knows rowferry as a program only; its DDL oracle compares `sql` with a server, and `load` measures sinks alone.
    ("rowferry-bench", &["rowferry-model", "rowferry-sql", "rowferry-sinks", "rowferry-transform"]),
];

/// Servers for tests: no program has them in it.
const STAND_INS: &str = "rowferry-stand-ins";

/// What does input and output, or speaks MySQL.
const IO: [&str; 9] =
    ["tokio", "reqwest", "hyper", "mio", "socket2", "mysql_async", "mysql_common", "rusqlite", "rustls"];

fn metadata(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn packages_know_only_what_lies_below_them() {
    let metadata = metadata(&["--no-deps"]);
    let found: BTreeMap<&str, &Value> =
        list(&metadata, "packages").iter().map(|package| (text(package, "name"), package)).collect();
    let ours: BTreeSet<&str> = MAY_KNOW.iter().map(|(name, _)| *name).collect();
    assert_eq!(found.keys().copied().collect::<BTreeSet<_>>(), ours, "the workspace's packages");
    for (name, may_know) in MAY_KNOW {
        // Test and build dependencies count too: a test of `model` that needs a sink is in the wrong place.
        for known in list(found[name], "dependencies") {
            let dependency = text(known, "name");
            let allowed = !ours.contains(dependency) || may_know.contains(&dependency);
            assert!(allowed, "{name} depends on {dependency}");
            assert!(dependency != STAND_INS || known["kind"] == "dev", "{name} needs {dependency} beside its tests");
        }
    }
}

#[test]
fn model_and_sql_do_no_input_or_output() {
    let metadata = metadata(&[]);
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"], "nodes").iter().map(|node| (text(node, "id"), node)).collect();
    let names: BTreeMap<&str, &str> =
        list(&metadata, "packages").iter().map(|p| (text(p, "id"), text(p, "name"))).collect();
    let everything_below = |package: &str| {
        let start = names.iter().find(|(_, name)| **name == package).map(|(id, _)| *id).unwrap();
        let mut seen = BTreeSet::from([start]);
        let mut next = vec![start];
        while let Some(id) = next.pop() {
            for dependency in list(nodes[id], "deps") {
                let normal = list(dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
                if normal && seen.insert(text(dependency, "pkg")) {
                    next.push(text(dependency, "pkg"));
                }
            }
        }
        seen.into_iter().map(|id| names[id]).collect::<BTreeSet<_>>()
    };
    for package in ["rowferry-model", "rowferry-sql"] {
        let below = everything_below(package);
        assert!(below.len() > 5, "{package} has dependencies to look at: {below:?}");
        for io in IO {
            assert!(!below.contains(io), "{package} reaches {io}");
        }
    }
    // The walk does find what is there: the program itself reaches both.
    let all = everything_below("rowferry");
    assert!(all.contains("tokio") && all.contains("mysql_common"), "{all:?}");
    assert!(!everything_below("rowferry-sinks").iter().any(|name| name.starts_with("mysql")), "sinks know no source");
    assert!(!everything_below("rowferry-transform").iter().any(|name| name.starts_with("mysql")), "transforms neither");
}

/// The other sink that a line of a sink's source names.
fn names_other_sink<'s>(line: &str, sinks: &'s BTreeSet<String>, own: &str) -> Option<&'s str> {
    // A pattern is dear to make, and few lines name a sink at all.
    let named = |other: &&str| *other != own && line.contains(*other);
    sinks.iter().map(String::as_str).filter(named).find(|other| {
        let path = format!(r"\b(crate|super|rowferry_sinks)::(\{{[^}}]*\b)?{other}\b");
        Regex::new(&path).unwrap().is_match(line)
    })
}

#[test]
fn sinks_do_not_import_one_another() {
    let sources = root().join("sinks/src");
    // A feature that is on without being asked for is a sink, and a sink has a folder of its name.
    let metadata = metadata(&["--no-deps"]);
    let package = list(&metadata, "packages").iter().find(|p| text(p, "name") == "rowferry-sinks").unwrap();
    let sinks: BTreeSet<String> =
        list(&package["features"], "default").iter().map(|f| f.as_str().unwrap().to_owned()).collect();
    for sink in ["values", "starrocks"] {
        assert!(sinks.contains(sink), "the sinks: {sinks:?}");
    }
    for sink in &sinks {
        assert!(sources.join(sink).join("mod.rs").exists(), "{sink} has no folder");
    }
    // No folder with a writer is left out, be it a file or a folder itself.
    for entry in std::fs::read_dir(&sources).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let writes = path.join("writer.rs").exists() || path.join("writer").exists();
        assert!(!writes || sinks.contains(&name), "{name} is no sink that is on by itself");
    }
    for own in &sinks {
        for file in rust_files(&format!("sinks/src/{own}")) {
            for (number, line) in read(&file).lines().enumerate() {
                let other = names_other_sink(line, &sinks, own);
                assert!(other.is_none(), "{}:{}: {own} uses {other:?}", file.display(), number + 1);
            }
        }
    }
}

#[test]
fn an_import_of_another_sink_is_seen_in_all_its_forms() {
    let sinks = BTreeSet::from(["values".to_owned(), "paimon".to_owned()]);
    for line in ["use crate::paimon::types;", "use crate::{sink::Sink, paimon};", "super::super::paimon::x()"] {
        assert_eq!(names_other_sink(line, &sinks, "values"), Some("paimon"), "{line}");
    }
    for line in ["use paimon::Table;", "use crate::values::lines;", "use crate::sink::Sink; // not paimon"] {
        assert_eq!(names_other_sink(line, &sinks, "values"), None, "{line}");
    }
}
