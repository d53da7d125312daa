//! What only a StarRocks has.

use super::transactions::Own;
use super::types::Ty;
use super::{backend, frontend, mysql, values};
use crate::http::{Request, Response};
pub use crate::world::Value;
use crate::world::{self, Rows};
use std::collections::{BTreeMap, HashMap};

pub type Database = world::Database<Table>;
pub type Job = crate::jobs::Job<Column>;
pub type Change = world::Change<String>;
pub type World = world::World<StarRocks>;

/// The settings of the frontends, and what they remember.
#[derive(Clone, Debug)]
pub struct StarRocks {
    pub version: Option<String>,
    pub fast_schema_evolution: bool,
    /// Users whose passwords only a directory (LDAP) knows: they must come as they are.
    pub directory_users: Vec<String>,
    /// How many more questions for a label's state come to a frontend that has not heard of it, although it is taken.
    pub labels_unheard_of: usize,
    /// Where `begin` sent each label.
    pub nodes: HashMap<String, usize>,
}

impl world::Vendor for StarRocks {
    type Table = Table;
    type Own = Own;

    fn new() -> Self {
        Self {
            version: Some("3.5.4-stand-in".to_owned()),
            fast_schema_evolution: true,
            directory_users: Vec::new(),
            labels_unheard_of: 0,
            nodes: HashMap::new(),
        }
    }

    fn system_databases() -> &'static [&'static str] {
        &["information_schema", "sys"]
    }

    fn operation(request: &Request) -> &'static str {
        frontend::operation(request)
    }

    fn stays(operation: &str) -> bool {
        matches!(operation, "commit" | "rollback" | "state")
    }

    fn status_field(_operation: &str) -> &'static str {
        "Status"
    }

    fn struck(operation: &'static str, _body: &[u8]) -> String {
        operation.to_owned()
    }

    fn subject(request: &Request) -> String {
        request.header("label").unwrap_or_default().to_owned()
    }

    fn frontend(
        world: &mut World,
        request: &Request,
        _body: &[u8],
        backends: &[Option<String>],
        turn: usize,
    ) -> Response {
        frontend::answer(world, request, backends, turn)
    }

    fn backend(world: &mut World, request: &Request, body: &[u8], own: (usize, &str)) -> Response {
        backend::answer(world, request, body, own)
    }

    /// With it go the transactions that it coordinated and that were not prepared.
    fn backend_gone(world: &mut World, backend: usize) {
        for t in &mut world.transactions {
            if t.own.backend == backend && t.state == "PREPARE" {
                t.abort("coordinate BE is down");
            }
        }
    }

    fn sql() -> Option<world::Serve<Self>> {
        Some(mysql::serve)
    }
}

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

impl world::Column for Column {
    type Id = String;

    fn id(&self) -> &String {
        &self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn described(&self) -> String {
        world::described(&self.ty.shown(), self.nullable, self.default.as_deref(), &self.comment)
    }

    fn has_type_of(&self, other: &Self) -> bool {
        self.ty == other.ty
    }

    fn converted(&self, text: &str) -> Result<String, String> {
        values::from_text(text, &self.ty)
    }

    fn of_old_rows(&self) -> Value {
        values::default_of(self)
    }
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
    pub rows: Rows<Column>,
}

impl world::Table for Table {
    type Column = Column;

    fn id(&self) -> u64 {
        self.id
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn rows(&self) -> &Rows<Column> {
        &self.rows
    }

    fn content(&mut self) -> (&mut Vec<Column>, &mut Rows<Column>) {
        (&mut self.columns, &mut self.rows)
    }

    fn next_key(&mut self) -> Vec<String> {
        panic!("every table that takes loads has a key");
    }
}

impl Table {
    pub fn column(&self, name: &str) -> Option<usize> {
        world::Table::column(self, name)
    }

    pub fn keys(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|c| c.key)
    }
}
