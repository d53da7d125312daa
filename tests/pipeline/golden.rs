//! The lines of the `values` sink against those that the real Flink CDC printed (`../shared/golden`), folder by folder.

use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, Server};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn golden() -> Option<PathBuf> {
    let shared = std::env::var_os("ROWFERRY_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let directory = shared.join("golden/flink-cdc");
    if !directory.is_dir() {
        eprintln!("skipped: there is no {} (recordings of the real Flink CDC)", directory.display());
        return None;
    }
    Some(directory)
}

/// Cuts a script at semicolons outside quotes.
fn statements(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (None, ';') => {
                out.push(String::new());
                continue;
            }
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(q), c) if q == c => quote = None,
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.retain(|s| !s.trim().is_empty());
    out
}

/// The printed lines, by step: `steps.txt` holds them under the step that caused them.
fn recorded(directory: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(directory.join("steps.txt")).unwrap();
    let mut steps: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("-- [") {
            steps.push(Vec::new());
        } else if let Some(step) = steps.last_mut() {
            step.push(line.to_owned());
        }
    }
    steps
}

/// Lines by table, those of one table in their order; the snapshot's order within a table is not fixed.
fn by_table(lines: &[String], sorted: bool) -> BTreeMap<String, Vec<String>> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines.iter().filter(|l| l.contains("tableId=")) {
        let table = line.split("tableId=").nth(1).and_then(|t| t.split(['}', ',']).next()).unwrap_or_default();
        tables.entry(table.to_owned()).or_default().push(line.clone());
    }
    if sorted {
        tables.values_mut().for_each(|lines| lines.sort());
    }
    tables
}

/// The time of an event is another one at each run; 0 stands for none.
fn timeless(line: &str) -> String {
    match line.split_once("{op_ts=") {
        Some((head, tail)) if !tail.starts_with("0}") => {
            format!("{head}{{op_ts=T{}", tail.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        _ => line.to_owned(),
    }
}

struct Folder {
    /// The folder's name.
    name: &'static str,
    /// How many of its steps this version can follow; those behind have DDL.
    steps: usize,
    /// Words that a line of ours and the recorded one may differ in: recorded, ours, why.
    differences: &'static [(&'static str, &'static str, &'static str)],
}

const TIME_LOSES_MICROSECONDS: &str = "Flink CDC's TIME has no microseconds";

const FOLDERS: &[Folder] = &[
    Folder {
        name: "01-types",
        steps: 5,
        differences: &[
            ("'1970-01-01 00:00:00'", "'CURRENT_TIMESTAMP'", "a default of now becomes 1970 there"),
            ("1234.5670166015625", "1234.567", "FLOAT(7,3) shows binary noise there"),
            ("23:59:59.123,", "23:59:59.123456,", TIME_LOSES_MICROSECONDS),
            ("00:00:00.001, 00:00,", "00:00:00.001, 00:00:00.000001,", TIME_LOSES_MICROSECONDS),
            ("123456789012345677877719597056", "1.2345678901234568e29", "JSON text of big numbers is MySQL's own here"),
        ],
    },
    Folder {
        name: "02-types-options",
        steps: 5,
        differences: &[
            ("'1970-01-01 00:00:00'", "'CURRENT_TIMESTAMP'", "a default of now becomes 1970 there"),
            ("1234.5670166015625", "1234.567", "FLOAT(7,3) shows binary noise there"),
            ("23:59:59.123,", "23:59:59.123456,", TIME_LOSES_MICROSECONDS),
            ("00:00:00.001, 00:00,", "00:00:00.001, 00:00:00.000001,", TIME_LOSES_MICROSECONDS),
            ("123456789012345677877719597056", "1.2345678901234568e29", "JSON text of big numbers is MySQL's own here"),
        ],
    },
    Folder { name: "18-snapshot-mode-bounded", steps: 0, differences: &[] },
    Folder { name: "20a-no-pk-chunk-key", steps: 1, differences: &[] },
];

fn differs(ours: &[String], recorded: &[String], differences: &[(&str, &str, &str)]) -> Vec<String> {
    let mut out = Vec::new();
    for i in 0..ours.len().max(recorded.len()) {
        let (a, b) = (ours.get(i), recorded.get(i));
        let same = match (a, b) {
            (Some(a), Some(b)) => {
                let mut b = b.clone();
                for (theirs, right, _) in differences {
                    if !a.contains(theirs) {
                        b = b.replace(theirs, right);
                    }
                }
                *a == b
            }
            _ => false,
        };
        if !same {
            out.push(format!("  ours     {}\n  recorded {}", a.map_or("-", |s| s), b.map_or("-", |s| s)));
        }
    }
    out
}

#[test]
fn the_lines_are_those_of_the_real_flink_cdc() {
    let (Some(golden), Some(server)) = (golden(), Server::Mysql97.options()) else { return };
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        let directory = golden.join(folder.name);
        let short = format!("g{}", folder.name.split('-').next().unwrap_or_default());
        let database = Database::create(&server, "golden");
        let mut client = database.connect();
        for sql in statements(&std::fs::read_to_string(directory.join("setup.sql")).unwrap()) {
            client.execute(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
        let yaml = std::fs::read_to_string(directory.join("pipeline.yaml")).unwrap();
        // The lines of a block, without what this harness sets itself.
        let block = |name: &str| -> Vec<String> {
            let set = [
                "type",
                "hostname",
                "port",
                "username",
                "password",
                "tables",
                "server-id",
                "server-time-zone",
                "name",
                "parallelism",
            ];
            yaml.lines()
                .skip_while(|l| *l != format!("{name}:"))
                .skip(1)
                .take_while(|l| l.starts_with(' '))
                .map(|l| l.trim().replace(&short, &database.name))
                .filter(|l| !set.contains(&l.split(':').next().unwrap_or_default()))
                .collect()
        };
        let (source, options) = (block("source"), block("pipeline"));
        let source: Vec<&str> = source.iter().map(String::as_str).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let tables = format!("{}.\\.*", database.name);
        let pipeline = Pipeline::new(&server, &tables, &source, "  type: values\n", &options);
        let mut running = pipeline.start(&["run"], &[("TZ", "UTC")]);
        let steps = recorded(&directory);
        let mut seen = 0;
        for (n, step) in steps.iter().take(folder.steps + 1).enumerate() {
            if n > 0 {
                for sql in statements(&std::fs::read_to_string(directory.join(format!("step{n}.sql"))).unwrap()) {
                    client.execute(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
                }
            }
            let want = seen + step.len();
            running.wait_for(&format!("{} step {n}: {want} lines", folder.name), |out| out.lines().count() >= want);
            let lines: Vec<String> =
                running.output().lines().skip(seen).map(|l| timeless(&l.replace(&database.name, &short))).collect();
            let step: Vec<String> = step.iter().map(|l| timeless(l)).collect();
            seen += lines.len();
            let (ours, recorded) = (by_table(&lines, n == 0), by_table(&step, n == 0));
            for table in recorded.keys().chain(ours.keys()).collect::<std::collections::BTreeSet<_>>() {
                let empty = Vec::new();
                let found = differs(
                    ours.get(table).unwrap_or(&empty),
                    recorded.get(table).unwrap_or(&empty),
                    folder.differences,
                );
                wrong.extend(found.into_iter().map(|d| format!("{} step {n} {table}\n{d}", folder.name)));
            }
        }
        drop(running);
    }
    assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), wrong.join("\n"));
}
