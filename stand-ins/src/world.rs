//! What there is, whichever server it is: databases, tables, rows, users, ALTER jobs, load transactions, and a clock that
//! tests can move.

use crate::faults::Fault;
use crate::http::{Request, Response};
use crate::jobs::Job;
use crate::tls::Encryption;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::Hash;
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A value in the form in which a query would show it.
pub type Value = Option<String>;
/// A row's values by column.
pub type Row<I> = HashMap<I, Value>;
/// Rows by key, or in the order of their coming.
pub type Rows<C> = BTreeMap<Vec<String>, Row<<C as Column>::Id>>;

/// Serves a connection.
pub type Serve<V> = fn(TcpStream, Arc<Mutex<World<V>>>);

/// What one kind of server does in its own way.
pub trait Vendor: Clone + Debug + Sized + Send + 'static {
    type Table: Table;
    /// What a transaction has beside what all have.
    type Own: Clone + Debug + Send;

    /// The first state of what only this kind has.
    fn new() -> Self;
    /// The databases that are there from the start.
    fn system_databases() -> &'static [&'static str];
    /// What operation a request is, for faults and for the log.
    fn operation(request: &Request) -> &'static str;
    /// Whether a frontend does an operation itself, instead of sending it on.
    fn stays(operation: &str) -> bool;
    /// The field of an operation's answer in which a refusal is told.
    fn status_field(operation: &str) -> &'static str;
    /// Under which name faults strike at a frontend.
    fn struck(operation: &'static str, body: &[u8]) -> String;
    /// What a request is about: a label or a number.
    fn subject(request: &Request) -> String;
    /// A frontend's answer. `backends`: their addresses, `None` for those that are down.
    fn frontend(
        world: &mut World<Self>,
        request: &Request,
        body: &[u8],
        backends: &[Option<String>],
        turn: usize,
    ) -> Response;
    /// A backend's answer. `own`: its number and address.
    fn backend(world: &mut World<Self>, request: &Request, body: &[u8], own: (usize, &str)) -> Response;
    /// A backend is gone, and the frontends know.
    fn backend_gone(_world: &mut World<Self>, _backend: usize) {}
    /// Serves a connection of a frontend's MySQL port, where it has one.
    fn sql() -> Option<Serve<Self>> {
        None
    }
}

/// A column, and what its type does to values.
pub trait Column: Clone + Debug + Send + 'static {
    /// What data files call it.
    type Id: Clone + Eq + Hash + Debug + Send;

    fn id(&self) -> &Self::Id;
    fn name(&self) -> &str;
    /// Type, nullability, default and comment.
    fn described(&self) -> String;
    fn has_type_of(&self, other: &Self) -> bool;
    /// A text in this column's type, in the form in which a query shows it.
    ///
    /// # Errors
    /// It can't be converted.
    fn converted(&self, text: &str) -> Result<String, String>;
    /// What rows that are there get when the column is added.
    fn of_old_rows(&self) -> Value;
}

/// A table.
pub trait Table: Clone + Debug + Send + 'static {
    type Column: Column;

    fn id(&self) -> u64;
    fn columns(&self) -> &[Self::Column];
    fn rows(&self) -> &Rows<Self::Column>;
    fn content(&mut self) -> (&mut Vec<Self::Column>, &mut Rows<Self::Column>);
    /// The key of a row in a table without one.
    fn next_key(&mut self) -> Vec<String>;

    /// Where a column is, whatever the case of its name.
    fn column(&self, name: &str) -> Option<usize> {
        let lower = name.to_lowercase();
        self.columns().iter().position(|c| c.name().to_lowercase() == lower)
    }
}

/// A kind of server's columns.
pub type ColumnOf<V> = <<V as Vendor>::Table as Table>::Column;
/// What a kind of server calls a column.
pub type IdOf<V> = <ColumnOf<V> as Column>::Id;

/// A database.
#[derive(Clone, Debug)]
pub struct Database<T> {
    pub tables: BTreeMap<String, T>,
}

impl<T> Default for Database<T> {
    fn default() -> Self {
        Self { tables: BTreeMap::new() }
    }
}

/// A row that a load brings.
#[derive(Clone, Debug)]
pub struct Change<I> {
    /// `None`: the table keeps all rows.
    pub key: Option<Vec<String>>,
    /// `None`: the row is to go.
    pub row: Option<Row<I>>,
}

/// A load transaction.
#[derive(Clone, Debug)]
pub struct Transaction<V: Vendor> {
    pub id: u64,
    pub database: String,
    pub label: String,
    pub table_id: u64,
    pub state: &'static str,
    pub reason: String,
    pub changes: Vec<Change<IdOf<V>>>,
    pub begun: Duration,
    pub prepared: Option<Duration>,
    pub committed: Option<Duration>,
    /// For the way from open to prepared.
    pub timeout: Duration,
    /// For the way from prepared to committed.
    pub prepared_timeout: Duration,
    pub own: V::Own,
}

impl<V: Vendor> Transaction<V> {
    pub fn is_over(&self) -> bool {
        matches!(self.state, "VISIBLE" | "ABORTED")
    }

    /// Ends it without effect.
    pub fn abort(&mut self, reason: &str) {
        self.state = "ABORTED";
        self.reason = reason.to_owned();
        self.changes.clear();
    }
}

/// All of it.
#[derive(Debug)]
pub struct World<V: Vendor> {
    pub databases: BTreeMap<String, Database<V::Table>>,
    pub jobs: Vec<Job<ColumnOf<V>>>,
    pub transactions: Vec<Transaction<V>>,
    pub faults: Vec<Fault>,
    /// Users with their passwords.
    pub users: BTreeMap<String, String>,
    /// Users that may nothing but log in.
    pub without_rights: Vec<String>,
    pub encryption: Encryption,
    /// Every statement that reached a frontend, and whether it was accepted.
    pub statements: Vec<(String, bool)>,
    /// Every HTTP operation that had an answer: operation, label or transaction, node.
    pub operations: Vec<(String, String, String)>,
    /// Lines behind an error URL.
    pub error_logs: HashMap<u64, String>,
    /// How long a job stays in each of its two waits.
    pub pulse: Duration,
    /// How long a commit stays unseen.
    pub publish_delay: Duration,
    pub backends_alive: usize,
    vendor: V,
    next_id: u64,
    started: Instant,
    skipped: Duration,
}

impl<V: Vendor> Deref for World<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.vendor
    }
}

impl<V: Vendor> DerefMut for World<V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.vendor
    }
}

impl<V: Vendor> World<V> {
    pub fn new(pulse: Duration, backends: usize) -> Self {
        Self {
            databases: V::system_databases().iter().map(|n| ((*n).to_owned(), Database::default())).collect(),
            jobs: Vec::new(),
            transactions: Vec::new(),
            faults: Vec::new(),
            users: [("root".to_owned(), String::new())].into(),
            without_rights: Vec::new(),
            encryption: Encryption::default(),
            statements: Vec::new(),
            operations: Vec::new(),
            error_logs: HashMap::new(),
            pulse,
            publish_delay: Duration::ZERO,
            backends_alive: backends,
            vendor: V::new(),
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

    pub fn table(&self, database: &str, table: &str) -> Option<&V::Table> {
        self.databases.get(database)?.tables.get(table)
    }

    pub fn table_mut(&mut self, database: &str, table: &str) -> Option<&mut V::Table> {
        self.databases.get_mut(database)?.tables.get_mut(table)
    }

    pub fn table_by_id(&mut self, id: u64) -> Option<&mut V::Table> {
        self.databases.values_mut().flat_map(|d| d.tables.values_mut()).find(|t| t.id() == id)
    }

    /// Name, type, nullability, default and comment of each column.
    pub fn columns(&mut self, database: &str, table: &str) -> Vec<String> {
        self.tick();
        let Some(table) = self.table(database, table) else { return Vec::new() };
        table.columns().iter().map(|c| format!("{} {}", c.name(), c.described())).collect()
    }

    /// A table's rows, as `SELECT *` would give them, by key.
    pub fn rows(&mut self, database: &str, table: &str) -> Vec<Vec<Value>> {
        self.tick();
        let Some(table) = self.table(database, table) else { return Vec::new() };
        let values = |row: &Row<IdOf<V>>| table.columns().iter().map(|c| row.get(c.id()).cloned().flatten()).collect();
        table.rows().values().map(values).collect()
    }

    fn tick_transactions(&mut self) {
        let now = self.now();
        for i in 0..self.transactions.len() {
            let t = &mut self.transactions[i];
            let expired = match t.state {
                "PREPARE" => now > t.begun + t.timeout,
                "PREPARED" | "PRECOMMITTED" => now > t.prepared.unwrap() + t.prepared_timeout,
                _ => false,
            };
            if expired {
                t.abort("timeout by txn manager");
            } else if t.state == "COMMITTED" && now >= t.committed.unwrap() + self.publish_delay {
                self.publish(i);
            }
        }
    }

    /// Committed rows are seen.
    fn publish(&mut self, i: usize) {
        self.transactions[i].state = "VISIBLE";
        let changes = std::mem::take(&mut self.transactions[i].changes);
        let id = self.transactions[i].table_id;
        let Some(table) = self.table_by_id(id) else { return };
        for Change { key, row } in changes {
            let key = key.unwrap_or_else(|| table.next_key());
            let (_, rows) = table.content();
            match row {
                Some(row) => rows.insert(key, row),
                None => rows.remove(&key),
            };
        }
    }

    /// The last transaction of a label: an aborted one frees it.
    pub fn by_label(&mut self, database: &str, label: &str) -> Option<usize> {
        self.tick();
        self.transactions.iter().rposition(|t| t.database == database && t.label == label)
    }

    /// Opens a transaction.
    pub fn open(&mut self, database: &str, label: &str, table_id: u64, timeouts: [Duration; 2], own: V::Own) -> u64 {
        let id = self.id();
        let begun = self.now();
        self.transactions.push(Transaction {
            id,
            database: database.to_owned(),
            label: label.to_owned(),
            table_id,
            state: "PREPARE",
            reason: String::new(),
            changes: Vec::new(),
            begun,
            prepared: None,
            committed: None,
            timeout: timeouts[0],
            prepared_timeout: timeouts[1],
            own,
        });
        id
    }
}

/// A column behind its name.
pub(crate) fn described(ty: &str, nullable: bool, default: Option<&str>, comment: &str) -> String {
    let null = if nullable { "" } else { " not null" };
    let default = default.map(|d| format!(" = {d}")).unwrap_or_default();
    let comment = if comment.is_empty() { String::new() } else { format!(" // {comment}") };
    format!("{ty}{null}{default}{comment}")
}
