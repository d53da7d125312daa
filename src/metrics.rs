//! What a running pipeline tells of itself: counters that threads add to, and the text page that shows them.

use rowferry_model::TableId;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch.
pub fn now_millis() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}

/// How far one table's snapshot is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableProgress {
    /// Rows in the sink.
    pub rows: u64,
    /// Rows that the table was thought to have.
    pub estimated_rows: u64,
    /// Whether the snapshot is over.
    pub done: bool,
}

/// The figures of one pipeline. Shared by its threads; nothing here is on a per-row path.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Bytes of binlog events read, those of other tables included.
    pub binlog_bytes: AtomicU64,
    /// Transactions read wholly.
    pub transactions: AtomicU64,
    /// Row changes given to the sink; an update counts once.
    pub changes: AtomicU64,
    /// Rows of the snapshot given to the sink.
    pub snapshot_rows: AtomicU64,
    /// Bytes of columns given to the sink.
    pub sink_bytes: AtomicU64,
    /// Times that something was tried again after a transient error.
    pub retries: AtomicU64,
    /// Schema changes that the sink has made, tables created among them.
    pub schema_changes: AtomicU64,
    /// Values that did not fit a target that does not follow its table, and became NULL.
    pub lost_values: AtomicU64,
    /// Divisions by zero in transforms.
    pub transform_zero_divisions: AtomicU64,
    /// Values in transforms that did not fit their type.
    pub transform_lost_values: AtomicU64,
    /// Dates without a place in the calendar that became NULL or the epoch.
    pub zero_dates: AtomicU64,
    /// The commit time of the last transaction read, seconds since the epoch; 0: none yet.
    pub last_commit_seconds: AtomicI64,
    /// Bytes between what has been read and the server's end of log, in the current file; -1: not known.
    pub lag_bytes: AtomicI64,
    /// 1 while reading waits at the end of the log.
    pub caught_up: AtomicU64,
    /// When the last checkpoint was saved, milliseconds since the epoch; 0: none.
    pub checkpoint_at: AtomicI64,
    /// The number of the last checkpoint.
    pub checkpoint_id: AtomicU64,
    tables: Mutex<BTreeMap<TableId, TableProgress>>,
    sink: Mutex<Vec<Gauge>>,
}

/// A figure of the sink: name, labels, value.
pub type Gauge = (&'static str, Vec<(&'static str, String)>, f64);

impl Metrics {
    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }

    /// Sets how far a table's snapshot is.
    pub fn set_table(&self, table: &TableId, progress: TableProgress) {
        if let Ok(mut tables) = self.tables.lock() {
            tables.insert(table.clone(), progress);
        }
    }

    /// How far each table's snapshot is.
    pub fn tables(&self) -> Vec<(TableId, TableProgress)> {
        self.tables.lock().map(|t| t.iter().map(|(t, p)| (t.clone(), p.clone())).collect()).unwrap_or_default()
    }

    /// Sets the sink's figures.
    pub fn set_sink(&self, gauges: Vec<Gauge>) {
        if let Ok(mut sink) = self.sink.lock() {
            *sink = gauges;
        }
    }

    /// Seconds between the last transaction's commit and now; 0 at the end of the log.
    pub fn lag_seconds(&self) -> f64 {
        let last = self.last_commit_seconds.load(Ordering::Relaxed);
        if last == 0 || self.caught_up.load(Ordering::Relaxed) == 1 {
            return 0.0;
        }
        (now_millis() as f64 / 1000.0 - last as f64).max(0.0)
    }

    /// The page in Prometheus' text format, version 0.0.4.
    pub fn render(&self) -> String {
        let mut page = String::new();
        let counters: [(&str, &str, &AtomicU64); 11] = [
            ("binlog_bytes_total", "Bytes of binlog events read", &self.binlog_bytes),
            ("transactions_total", "Transactions read", &self.transactions),
            ("changes_total", "Row changes given to the sink", &self.changes),
            ("snapshot_rows_total", "Snapshot rows given to the sink", &self.snapshot_rows),
            ("sink_bytes_total", "Bytes of columns given to the sink", &self.sink_bytes),
            ("retries_total", "Repeated attempts after transient errors", &self.retries),
            (
                "schema_changes_total",
                "Schema changes made in the target, tables created among them",
                &self.schema_changes,
            ),
            ("lost_values_total", "Values that did not fit a target under IGNORE and became NULL", &self.lost_values),
            (
                "transform_zero_divisions_total",
                "Divisions by zero in transforms, which gave NULL",
                &self.transform_zero_divisions,
            ),
            (
                "transform_lost_values_total",
                "Values in transforms that did not fit their type",
                &self.transform_lost_values,
            ),
            ("zero_dates_total", "Dates outside the calendar that became NULL or the epoch", &self.zero_dates),
        ];
        for (name, help, value) in counters {
            let value = value.load(Ordering::Relaxed);
            let _ = write!(
                page,
                "# HELP rowferry_{name} {help}\n# TYPE rowferry_{name} counter\nrowferry_{name} {value}\n"
            );
        }
        let checkpoint_at = self.checkpoint_at.load(Ordering::Relaxed);
        let age = if checkpoint_at == 0 { -1.0 } else { (now_millis() - checkpoint_at) as f64 / 1000.0 };
        let gauges: [(&str, &str, f64); 5] = [
            ("lag_seconds", "Seconds behind the last transaction read", self.lag_seconds()),
            ("lag_bytes", "Bytes of the log not read yet; -1: unknown", self.lag_bytes.load(Ordering::Relaxed) as f64),
            ("caught_up", "1 while reading waits at the end of the log", self.caught_up.load(Ordering::Relaxed) as f64),
            ("checkpoint_age_seconds", "Seconds since the last checkpoint; -1: none", age),
            ("checkpoint_id", "Number of the last checkpoint", self.checkpoint_id.load(Ordering::Relaxed) as f64),
        ];
        for (name, help, value) in gauges {
            let _ =
                write!(page, "# HELP rowferry_{name} {help}\n# TYPE rowferry_{name} gauge\nrowferry_{name} {value}\n");
        }
        let tables = self.tables();
        for (name, help, value) in [
            (
                "table_snapshot_rows",
                "Snapshot rows of a table in the sink",
                (|p| p.rows as f64) as fn(&TableProgress) -> f64,
            ),
            ("table_snapshot_estimated_rows", "Rows a table was thought to have", |p| p.estimated_rows as f64),
            ("table_snapshot_done", "1 when a table's snapshot is over", |p| f64::from(u8::from(p.done))),
        ] {
            let _ = write!(page, "# HELP rowferry_{name} {help}\n# TYPE rowferry_{name} gauge\n");
            for (table, progress) in &tables {
                let _ =
                    writeln!(page, "rowferry_{name}{{table=\"{}\"}} {}", escape(&table.to_string()), value(progress));
            }
        }
        let sink = self.sink.lock().map(|s| s.clone()).unwrap_or_default();
        let mut last = "";
        for (name, labels, value) in &sink {
            if *name != last {
                let _ = writeln!(page, "# TYPE rowferry_sink_{name} gauge");
                last = name;
            }
            let labels: Vec<_> = labels.iter().map(|(k, v)| format!("{k}=\"{}\"", escape(v))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(page, "rowferry_sink_{name}{labels} {value}");
        }
        page
    }
}

/// Label values escape backslash, quote and line feed.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
