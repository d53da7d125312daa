//! What there is: databases, tables, rows, jobs, transactions.

use super::jobs::Job;
use super::transactions::Transaction;
use super::types::Ty;
use crate::faults::Fault;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// A value in the form in which a query would show it.
pub type Value = Option<String>;
/// A row's values by column id.
pub type Row = HashMap<u64, Value>;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What data files call it: a dropped column and a new one of its name are two.
    pub id: u64,
    pub name: String,
    pub ty: Ty,
    pub nullable: bool,
    /// As it is shown.
    pub default: Option<String>,
    /// Whether the default is a function.
    pub default_is_function: bool,
    pub comment: String,
    pub key: bool,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    pub id: u64,
    pub columns: Vec<Column>,
    /// `UNIQUE`, `DUPLICATE`, or nothing: a DUPLICATE table without a sort key.
    pub model: String,
    pub comment: String,
    /// The column and the unit of automatic partitions.
    pub partition: Option<(String, String)>,
    /// Empty: random.
    pub hash: Vec<String>,
    /// 0: AUTO.
    pub buckets: i64,
    pub replicas: u32,
    pub light: bool,
    pub merge_on_write: bool,
    pub sequence: u64,
    /// By key, or in the order of their coming.
    pub rows: BTreeMap<Vec<String>, Row>,
}

impl Table {
    /// Whether a column says where rows lie: in which partition or bucket.
    pub fn lies_by(&self, name: &str) -> bool {
        let partition = self.partition.iter().map(|(column, _)| column);
        self.hash.iter().chain(partition).any(|column| column.eq_ignore_ascii_case(name))
    }

    pub fn column(&self, name: &str) -> Option<usize> {
        let lower = name.to_lowercase();
        self.columns.iter().position(|c| c.name.to_lowercase() == lower)
    }

    pub fn is_unique(&self) -> bool {
        self.model == "UNIQUE"
    }
}

/// A database.
#[derive(Clone, Debug, Default)]
pub struct Database {
    pub tables: BTreeMap<String, Table>,
}

/// All of it.
#[derive(Debug)]
pub struct World {
    pub databases: BTreeMap<String, Database>,
    pub jobs: Vec<Job>,
    pub transactions: Vec<Transaction>,
    pub faults: Vec<Fault>,
    /// Users with their passwords.
    pub users: BTreeMap<String, String>,
    /// Users that may nothing but log in.
    pub without_rights: Vec<String>,
    /// Every statement that reached a frontend, and its end.
    pub statements: Vec<(String, bool)>,
    /// Every HTTP operation that had an answer: operation, label or transaction, node.
    pub operations: Vec<(String, String, String)>,
    /// Lines behind an error URL.
    pub error_logs: HashMap<u64, String>,
    pub version: String,
    /// Whether names may have any letters: a setting of the frontend.
    pub unicode_names: bool,
    /// How long a job stays in each of its two waits.
    pub pulse: Duration,
    /// How long a commit stays unseen.
    pub publish_delay: Duration,
    pub backends_alive: usize,
    next_id: u64,
    started: Instant,
    skipped: Duration,
}

impl World {
    pub fn new(pulse: Duration, backends: usize) -> Self {
        let databases =
            ["__internal_schema", "information_schema", "mysql"].map(|n| (n.to_owned(), Database::default())).into();
        Self {
            databases,
            jobs: Vec::new(),
            transactions: Vec::new(),
            faults: Vec::new(),
            users: [("root".to_owned(), String::new())].into(),
            without_rights: Vec::new(),
            statements: Vec::new(),
            operations: Vec::new(),
            error_logs: HashMap::new(),
            version: "doris version doris-3.0.3-stand-in".to_owned(),
            unicode_names: true,
            pulse,
            publish_delay: Duration::ZERO,
            backends_alive: backends,
            next_id: 10_000,
            started: Instant::now(),
            skipped: Duration::ZERO,
        }
    }

    pub fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// The time since the start.
    pub fn now(&self) -> Duration {
        self.started.elapsed() + self.skipped
    }

    /// Lets time pass.
    pub fn skip(&mut self, time: Duration) {
        self.skipped += time;
        self.tick();
    }

    /// Brings everything that happens by the clock up to date.
    pub fn tick(&mut self) {
        self.tick_transactions();
        self.tick_jobs();
    }

    pub fn table(&self, database: &str, table: &str) -> Option<&Table> {
        self.databases.get(database)?.tables.get(table)
    }

    pub fn table_mut(&mut self, database: &str, table: &str) -> Option<&mut Table> {
        self.databases.get_mut(database)?.tables.get_mut(table)
    }

    pub fn table_by_id(&mut self, id: u64) -> Option<&mut Table> {
        self.databases.values_mut().flat_map(|d| d.tables.values_mut()).find(|t| t.id == id)
    }

    /// Name, type, nullability, default and comment of each column.
    pub fn columns(&mut self, database: &str, table: &str) -> Vec<String> {
        self.tick();
        let Some(table) = self.table(database, table) else { return Vec::new() };
        let shown = |c: &Column| {
            let null = if c.nullable { "" } else { " not null" };
            let default = c.default.as_ref().map(|d| format!(" = {d}")).unwrap_or_default();
            let comment = if c.comment.is_empty() { String::new() } else { format!(" // {}", c.comment) };
            format!("{} {}{null}{default}{comment}", c.name, c.ty)
        };
        table.columns.iter().map(shown).collect()
    }

    /// A table's rows, as `SELECT *` would give them, by key.
    pub fn rows(&mut self, database: &str, table: &str) -> Vec<Vec<Value>> {
        self.tick();
        let Some(table) = self.table(database, table) else { return Vec::new() };
        table
            .rows
            .values()
            .map(|row| table.columns.iter().map(|c| row.get(&c.id).cloned().flatten()).collect())
            .collect()
    }
}
