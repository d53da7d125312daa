//! The lines of the `values` sink against those that the real Flink CDC printed (`../shared/golden`), folder by folder.

mod known;

use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, Server, unique};
use known::{FOLDERS, Folder};
use rowferry::mysql::wire::Connection;
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

/// The printed lines, by step: `steps.txt` holds them under the step that caused them. With several writers each line
/// names its writer, and each writer prints the schema changes: they count once.
fn recorded(directory: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(directory.join("steps.txt")).unwrap();
    let mut steps: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("-- [") {
            steps.push(Vec::new());
            continue;
        }
        let (writer, line) = match line.split_once("> ") {
            Some((writer, rest)) if writer.bytes().all(|b| b.is_ascii_digit()) => (Some(writer), rest),
            _ => (None, line),
        };
        if steps.is_empty() {
            steps.push(Vec::new());
        }
        if let Some(step) = steps.last_mut() {
            let again = writer.is_some() && !line.starts_with("DataChange") && step.iter().any(|l| l == line);
            if !again {
                step.push(line.to_owned());
            }
        }
    }
    if steps.is_empty() {
        steps.push(Vec::new());
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
    static MILLIS: std::sync::LazyLock<regex::Regex> =
        std::sync::LazyLock::new(|| regex::Regex::new(r"\b1[789]\d{11}\b").expect("a regex"));
    MILLIS.replace_all(line, "T").into_owned()
}

/// Puts a name in the place of another wherever it stands as a word.
fn rename(text: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, behind) = (&rest[..at], &rest[at + from.len()..]);
        let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        let whole = !word(before.chars().last()) && !word(behind.chars().next());
        out += before;
        out += if whole { to } else { from };
        rest = behind;
    }
    out + rest
}

/// Runs a script; where a comment says that the offset was taken, it is taken. Gives file, position and GTID set.
fn set_up(client: &mut Connection, script: &str) -> Option<(String, String, String)> {
    let mut taken = None;
    for part in script.split_inclusive('\n') {
        if part.starts_with("-- ") && part.contains("taken here") {
            let offset = rowferry::mysql::catalog::binlog_position(client).expect("the offset");
            let gtids = offset.gtids.map(|g| g.to_string()).unwrap_or_default();
            taken = Some((offset.position.file, offset.position.pos.to_string(), gtids));
            continue;
        }
        for sql in statements(part) {
            client.execute(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
    }
    taken
}

/// What of a line of the YAML depends on where it runs.
fn adapt(line: &str, port: u16, offset: Option<&(String, String, String)>) -> String {
    let set = |value: &str| format!("{}: {value}", line.split(':').next().unwrap_or_default());
    let here = |part: fn(&(String, String, String)) -> &String| {
        offset.map_or(line.to_owned(), |o| set(&format!("'{}'", part(o))))
    };
    match line.trim().split(':').next().unwrap_or_default() {
        "port" => set(&port.to_string()),
        "username" => set("root"),
        "password" => set("''"),
        "server-id" => {
            let first = unique();
            set(&format!("{first}-{}\n  jdbc.properties.useSSL: false", first + 9))
        }
        // What is saved tells what has been read.
        "pipeline" => format!("{line}\n  rowferry.checkpoint.interval: 50 ms"),
        "scan.startup.specific-offset.file" => here(|o| &o.0),
        "scan.startup.specific-offset.pos" => here(|o| &o.1),
        "scan.startup.specific-offset.gtid-set" => here(|o| &o.2),
        _ => line.to_owned(),
    }
}

/// Runs a folder; gives how many lines are the same, and what differs.
fn run_folder(directory: &Path, folder: &Folder, server: Server) -> (usize, Vec<String>) {
    let options = server.options().expect("the server");
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let short = format!("g{}", name.split('-').next().unwrap_or_default());
    let database = Database::create(&options, "golden");
    let mut client = database.connect();
    let read =
        |file: &str| std::fs::read_to_string(directory.join(file)).unwrap_or_else(|e| panic!("{name}/{file}: {e}"));
    // As the recorded server had it.
    client.execute("SET GLOBAL binlog_row_metadata = 'FULL'").expect("sets");
    let offset = set_up(&mut client, &read("setup.sql"));
    let yaml: Vec<String> = rename(&read("pipeline.yaml"), &short, &database.name)
        .lines()
        .map(|line| adapt(line, options.port, offset.as_ref()))
        .collect();
    let pipeline = Pipeline::from_text(&yaml.join("\n"));
    let mut running = pipeline.start(&["run"], &[("TZ", "UTC")]);
    let (mut same, mut wrong) = (0, Vec::new());
    let (mut extras, mut missed) = (vec![0; folder.extra.len()], vec![0; folder.missing.len()]);
    let mut seen = 0;
    for (n, step) in recorded(directory).iter().enumerate() {
        if n > 0 {
            if folder.steps.is_some_and(|steps| n > steps) {
                break;
            }
            // What came after the last step has none.
            let file = format!("step{n}.sql");
            let script = if directory.join(&file).is_file() { read(&file) } else { String::new() };
            for sql in statements(&script) {
                client.execute(&rename(&sql, &short, &database.name)).unwrap_or_else(|e| panic!("{sql}: {e}"));
            }
        }
        let written = rowferry::mysql::catalog::binlog_position(&mut client).expect("the offset").position;
        running.settle(&pipeline, &written);
        let lines: Vec<String> =
            running.output().lines().skip(seen).map(|l| timeless(&rename(l, &database.name, &short))).collect();
        seen += lines.len();
        let find = |list: &[(&str, &str)], line: &str| list.iter().position(|(words, _)| line.contains(words));
        let mut ours = Vec::new();
        for line in lines {
            match find(folder.extra, &line) {
                Some(i) => extras[i] += 1,
                None => ours.push(line),
            }
        }
        step.iter().filter_map(|l| find(folder.missing, l)).for_each(|i| missed[i] += 1);
        let step: Vec<String> = step
            .iter()
            .filter(|l| !folder.missing.iter().any(|(m, _)| l.contains(m)))
            .map(|l| timeless(&folder.corrected(l)))
            .collect();
        let (ours, recorded) = (by_table(&ours, n == 0), by_table(&step, n == 0));
        for table in recorded.keys().chain(ours.keys()).collect::<std::collections::BTreeSet<_>>() {
            let empty = Vec::new();
            let (ours, recorded) = (ours.get(table).unwrap_or(&empty), recorded.get(table).unwrap_or(&empty));
            for i in 0..ours.len().max(recorded.len()) {
                match (ours.get(i), recorded.get(i)) {
                    (Some(a), Some(b)) if a == b => same += 1,
                    (a, b) => wrong.push(format!(
                        "{name} step {n}\n  ours     {}\n  recorded {}",
                        a.map_or("-", |s| s),
                        b.map_or("-", |s| s)
                    )),
                }
            }
        }
    }
    // A listed difference that does not show is one no more.
    let never = |list: &'static [(&str, &str)], counts: &[usize], whose: &str| {
        let unseen = list.iter().zip(counts).filter(|(_, n)| **n == 0);
        unseen.map(|((words, _), _)| format!("{name}\n  no line of {whose} has {words}")).collect::<Vec<_>>()
    };
    if folder.steps.is_none() {
        wrong.extend(never(folder.extra, &extras, "ours"));
        wrong.extend(never(folder.missing, &missed, "the recording"));
    }
    if !wrong.is_empty() {
        let log = running.log();
        let errors: Vec<&str> = log.lines().filter(|l| !l.contains(" INFO ")).collect();
        wrong.push(format!("the log of {name}:\n  {}", errors.join("\n  ")));
    }
    (same, wrong)
}

#[test]
fn the_lines_are_those_of_the_real_flink_cdc() {
    let (Some(golden), Some(_)) = (golden(), Server::Mysql97.options()) else { return };
    let mut all = Vec::new();
    for folder in FOLDERS {
        let (same, wrong) = run_folder(&golden.join(folder.name), folder, Server::Mysql97);
        eprintln!("{}: same {same}, different {}, listed differences {}", folder.name, wrong.len(), folder.listed());
        all.extend(wrong);
    }
    assert!(all.is_empty(), "{} lines differ:\n{}", all.len(), all.join("\n"));
}

/// The folders that `scripts/golden` names.
#[test]
fn given_folders() {
    let Some(given) = std::env::var_os("ROWFERRY_GOLDEN") else { return };
    let mut different = 0;
    for directory in std::env::split_paths(&given) {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let unknown = Folder { name: "", ..Folder::NONE };
        let folder = FOLDERS.iter().find(|f| f.name == name).unwrap_or(&unknown);
        let (same, wrong) = run_folder(&directory, folder, Server::Mysql97);
        println!("{name}: same {same}, different {}, listed differences {}", wrong.len(), folder.listed());
        for wrong in &wrong {
            println!("{wrong}");
        }
        different += wrong.len();
    }
    assert_eq!(different, 0, "lines differ");
}
