//! Runs the program on a pipeline and reads what it prints.

use super::servers::Database;
use rowferry::mysql::catalog::quote_identifier;
use rowferry::mysql::wire::ConnectOptions;
use rowferry_model::BinlogPosition;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything is waited for that must come. Only a safety net: a busy machine may be very slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// A pipeline in a directory of its own.
pub(crate) struct Pipeline {
    directory: TempDir,
    file: PathBuf,
}

impl Pipeline {
    /// A pipeline from a server into the `values` sink as JSON lines. `source` and `pipeline` are further lines of
    /// these blocks.
    pub(crate) fn to_json(server: &ConnectOptions, tables: &str, source: &[&str], pipeline: &[&str]) -> Self {
        Self::new(server, tables, source, "  type: values\n  rowferry.format: json\n", pipeline)
    }

    /// A pipeline with a sink block of its own.
    pub(crate) fn new(server: &ConnectOptions, tables: &str, source: &[&str], sink: &str, pipeline: &[&str]) -> Self {
        let lines = |lines: &[&str]| lines.iter().map(|l| format!("  {l}\n")).collect::<String>();
        let text = format!(
            "source:\n  type: mysql\n  hostname: {}\n  port: {}\n  username: {}\n  password: '{}'\n  tables: '{tables}'\n  \
             server-time-zone: UTC\n  server-id: {}\n  jdbc.properties.useSSL: false\n{}sink:\n{sink}pipeline:\n  name: test\n{}",
            server.host,
            server.port,
            server.user,
            server.password.reveal(),
            {
                let first = super::servers::unique();
                format!("{first}-{}", first + 9)
            },
            lines(source),
            lines(pipeline)
        );
        Self::from_text(&text)
    }

    /// A pipeline file as given.
    pub(crate) fn from_text(text: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        let file = directory.path().join("pipeline.yaml");
        std::fs::write(&file, text).expect("writes the file");
        Self { directory, file }
    }

    /// Where it keeps its state.
    pub(crate) fn state_directory(&self) -> PathBuf {
        self.directory.path().join(".rowferry/test")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowferry"));
        command.arg(arguments[0]).arg(&self.file).args(&arguments[1..]).stdin(Stdio::null());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
        self.command(arguments).envs(environment.iter().copied()).output().expect("runs")
    }

    /// Runs to the end, which must be a good one; gives what was printed.
    pub(crate) fn run_well(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, &[]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} ended with {}:\n{errors}", output.status);
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// The rows of its first table's snapshot that the last checkpoint has; 0 where nothing is saved yet.
    pub(crate) fn saved_rows(&self) -> u64 {
        self.status()["tables"][0]["snapshot_rows"].as_u64().unwrap_or_default()
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.run_well(&["status", "--json"])).expect("JSON")
    }

    /// Starts it; its output goes to a file.
    pub(crate) fn start(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Running {
        let name = format!("output-{}", super::servers::unique());
        let stdout = self.directory.path().join(format!("{name}.jsonl"));
        let stderr = self.directory.path().join(format!("{name}.log"));
        let child = self
            .command(arguments)
            .envs(environment.iter().copied())
            .stdout(std::fs::File::create(&stdout).expect("a file"))
            .stderr(std::fs::File::create(&stderr).expect("a file"))
            .spawn()
            .expect("starts");
        Running { child, stdout, stderr }
    }
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// The whole lines that it has printed: the last one may just be being written.
    pub(crate) fn output(&self) -> String {
        let mut output = read(&self.stdout);
        output.truncate(output.rfind('\n').map_or(0, |end| end + 1));
        output
    }

    pub(crate) fn log(&self) -> String {
        read(&self.stderr)
    }

    /// Waits until the output is as wished.
    pub(crate) fn wait_for(&mut self, what: &str, wished: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !wished(&self.output()) {
            if let Some(status) = self.child.try_wait().expect("asks") {
                // What it wrote at its end counts.
                assert!(wished(&self.output()), "it ended with {status} before {what}:\n{}", self.log());
                return;
            }
            assert!(Instant::now() < end, "there is still no {what}:\n{}\n{}", self.output(), self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until its snapshot is over and a checkpoint has all that the server had written up to a place, or until it
    /// has ended: nothing more comes of that.
    pub(crate) fn settle(&mut self, pipeline: &Pipeline, place: &BinlogPosition) {
        let end = Instant::now() + PATIENCE;
        while self.is_running() {
            let status = pipeline.status();
            let at = status["offset"]["file"].as_str().zip(status["offset"]["position"].as_u64());
            let at = at.map(|(file, position)| BinlogPosition::new(file, position));
            if status["phase"] == "streaming" && at.is_some_and(|at| at >= *place) {
                return;
            }
            assert!(Instant::now() < end, "it does not come to {place}: {status:#}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the log has these words.
    pub(crate) fn wait_for_log(&mut self, words: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.log().contains(words) {
            let over = !self.is_running();
            // What it wrote at its end counts.
            assert!(!over || self.log().contains(words), "it ended without {words}:\n{}", self.log());
            assert!(Instant::now() < end, "there is still no {words}:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("asks").is_none()
    }

    /// As `kill -9`.
    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// As Ctrl-C; gives the exit code and what was printed.
    pub(crate) fn interrupt(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let status = self.child.wait().expect("ends");
        (status.code(), self.output())
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> (std::process::ExitStatus, String, String) {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("asks") {
                return (status, self.output(), self.log());
            }
            if Instant::now() > end {
                let _ = self.child.kill();
                panic!("it does not end:\n{}", self.log());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(path: &std::path::Path) -> String {
    let mut text = Vec::new();
    std::fs::File::open(path).and_then(|mut f| f.read_to_end(&mut text)).expect("reads");
    String::from_utf8_lossy(&text).into_owned()
}

/// Tables that are built from JSON lines, and that notice everything that is not exact.
#[derive(Debug, Default)]
pub(crate) struct StrictTarget {
    /// By table and key.
    pub(crate) tables: BTreeMap<String, BTreeMap<String, Value>>,
    /// Key columns by table, from the create event.
    keys: BTreeMap<String, Vec<String>>,
    /// Rows of tables without a key, counted.
    pub(crate) bags: BTreeMap<String, BTreeMap<String, i64>>,
    /// Whether a row that is there may come again as it is, as after a crash of an at-least-once sink.
    pub(crate) repeats_allowed: bool,
    /// Rows by table and key that came under a former definition: what they are now only the server knows.
    former: BTreeSet<(String, String)>,
}

impl StrictTarget {
    /// Applies all whole lines.
    pub(crate) fn apply(&mut self, output: &str) {
        let whole = output.rfind('\n').map_or("", |end| &output[..end]);
        for line in whole.lines().filter(|l| !l.is_empty()) {
            let event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            self.event(&event, line);
        }
    }

    fn event(&mut self, event: &Value, line: &str) {
        let table = event["table"].as_str().expect("a table").to_owned();
        match event["event"].as_str().expect("an event") {
            "create.table" => {
                let keys = event["schema"]["primaryKey"].as_array().expect("a key").clone();
                let keys = keys.iter().map(|k| k.as_str().expect("a name").to_owned()).collect();
                self.keys.insert(table, keys);
            }
            "insert" => self.put(&table, &event["after"], line),
            "delete" => self.remove(&table, &event["before"], line),
            "update" => {
                self.remove(&table, &event["before"], line);
                self.put(&table, &event["after"], line);
            }
            "add.column" | "alter.column.type" | "rename.column" | "drop.column" | "alter.table.comment" => {
                let keys = self.tables.get(&table).into_iter().flat_map(|rows| rows.keys());
                self.former.extend(keys.map(|key| (table.clone(), key.clone())));
            }
            other => panic!("an event {other}: {line}"),
        }
    }

    fn key(&self, table: &str, row: &Value) -> Option<String> {
        let keys = self.keys.get(table).unwrap_or_else(|| panic!("rows of {table} before its create event"));
        (!keys.is_empty()).then(|| keys.iter().map(|k| row[k].to_string()).collect::<Vec<_>>().join("|"))
    }

    fn put(&mut self, table: &str, row: &Value, line: &str) {
        match self.key(table, row) {
            None => *self.bags.entry(table.into()).or_default().entry(row.to_string()).or_default() += 1,
            Some(key) => {
                self.former.remove(&(table.to_owned(), key.clone()));
                let before = self.tables.entry(table.into()).or_default().insert(key, row.clone());
                assert!(before.is_none() || self.repeats_allowed, "a row came twice: {line}");
            }
        }
    }

    fn remove(&mut self, table: &str, row: &Value, line: &str) {
        match self.key(table, row) {
            None => {
                let count = self.bags.entry(table.into()).or_default().entry(row.to_string()).or_default();
                *count -= 1;
                assert!(*count >= 0, "a row that never came is deleted: {line}");
            }
            Some(key) => {
                let former = self.former.remove(&(table.to_owned(), key.clone()));
                let before = self.tables.entry(table.into()).or_default().remove(&key);
                if !self.repeats_allowed {
                    assert!(before.is_some(), "a row that never came is changed: {line}");
                }
                if !self.repeats_allowed && !former {
                    assert_eq!(before.as_ref(), Some(row), "another row was expected before: {line}");
                }
            }
        }
    }

    /// The rows of a table as text, one a line, in order.
    pub(crate) fn rows(&self, table: &str, columns: &[&str]) -> Vec<String> {
        let text = |row: &Value| {
            columns
                .iter()
                .map(|c| match &row[*c] {
                    Value::String(s) => s.clone(),
                    other => other.to_string(),
                })
                .collect::<Vec<_>>()
                .join("|")
        };
        let mut rows: Vec<String> = self.tables.get(table).into_iter().flat_map(|t| t.values().map(text)).collect();
        for (row, count) in self.bags.get(table).into_iter().flatten() {
            let row: Value = serde_json::from_str(row).expect("JSON");
            rows.extend((0..*count).map(|_| text(&row)));
        }
        rows.sort();
        rows
    }
}

/// The rows of a table as the server gives them, in the form of [`StrictTarget::rows`].
pub(crate) fn server_rows(database: &Database, table: &str, columns: &[&str]) -> Vec<String> {
    let columns: Vec<String> = columns.iter().map(|c| quote_identifier(c)).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    server_values(database, table, &columns)
}

/// The same for expressions instead of columns.
pub(crate) fn server_values(database: &Database, table: &str, expressions: &[&str]) -> Vec<String> {
    let mut rows: Vec<String> = database
        .connect()
        .query(&format!("SELECT {} FROM {}", expressions.join(", "), quote_identifier(table)))
        .expect("selects")
        .iter()
        .map(|row| (0..expressions.len()).map(|i| row.at(i).unwrap_or("null").to_owned()).collect::<Vec<_>>().join("|"))
        .collect();
    rows.sort();
    rows
}
