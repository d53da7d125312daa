//! What there is: databases, tables, rows, jobs, transactions.

use super::jobs::Job;
use super::transactions::Transaction;
use super::types::Ty;
use crate::faults::Fault;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// A value in the form in which a query would show it; bytes as upper-case hexadecimal digits.
pub type Value = Option<String>;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What data files call it: the name that it had first.
    pub id: String,
    pub name: String,
    pub ty: Ty,
    pub nullable: bool,
    pub default: Option<String>,
    /// What `SHOW FULL COLUMNS` shows in its place: the time of the ALTER for an added `CURRENT_TIMESTAMP`.
    pub shown_default: Option<String>,
    /// Whether the default is a function.
    pub default_is_expression: bool,
    pub comment: String,
    pub key: bool,
}

/// A table of primary keys, or of another kind, which takes no loads here.
#[derive(Clone, Debug)]
pub struct Table {
    pub id: u64,
    pub columns: Vec<Column>,
    pub model: String,
    pub comment: String,
    pub distribution: Vec<String>,
    pub sort: Vec<String>,
    pub buckets: Option<u32>,
    pub properties: BTreeMap<String, String>,
    /// By key, in the columns' order; values by column id.
    pub rows: BTreeMap<Vec<String>, HashMap<String, Value>>,
}

impl Table {
    pub fn column(&self, name: &str) -> Option<usize> {
        let lower = name.to_lowercase();
        self.columns.iter().position(|c| c.name.to_lowercase() == lower)
    }

    pub fn keys(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| c.key)
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
    /// Users that may nothing.
    pub without_rights: Vec<String>,
    /// Every statement that reached a frontend, and its end.
    pub statements: Vec<(String, bool)>,
    /// Every HTTP operation that had an answer: operation, label, node.
    pub operations: Vec<(String, String, String)>,
    /// Lines behind an error URL.
    pub error_logs: HashMap<u64, String>,
    pub version: Option<String>,
    /// How long a job stays in each of its two waits.
    pub pulse: Duration,
    /// How long a commit stays unseen.
    pub publish_delay: Duration,
    pub fast_schema_evolution: bool,
    pub backends_alive: usize,
    /// Where `begin` sent each label.
    pub nodes: HashMap<String, usize>,
    next_id: u64,
    started: Instant,
    skipped: Duration,
}

impl World {
    pub fn new(pulse: Duration, backends: usize) -> Self {
        let databases = ["information_schema", "sys"].map(|n| (n.to_owned(), Database::default())).into();
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
            version: Some("3.5.4-stand-in".to_owned()),
            pulse,
            publish_delay: Duration::ZERO,
            fast_schema_evolution: true,
            backends_alive: backends,
            nodes: HashMap::new(),
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

    /// Name, type, nullability, default and comment of each column.
    pub fn columns(&mut self, database: &str, table: &str) -> Vec<String> {
        self.tick();
        let Some(table) = self.table(database, table) else { return Vec::new() };
        let shown = |c: &Column| {
            let null = if c.nullable { "" } else { " not null" };
            let default = c.default.as_ref().map(|d| format!(" = {d}")).unwrap_or_default();
            let comment = if c.comment.is_empty() { String::new() } else { format!(" // {}", c.comment) };
            format!("{} {}{null}{default}{comment}", c.name, c.ty.shown())
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
