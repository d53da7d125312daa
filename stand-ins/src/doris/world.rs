//! What only a Doris has.

use super::transactions::Own;
use super::types::Ty;
use super::{backend, frontend, values};
use crate::http::{Request, Response};
pub use crate::world::Value;
use crate::world::{self, Rows};

/// A row's values by column id.
pub type Row = world::Row<u64>;
pub type Database = world::Database<Table>;
pub type Job = crate::jobs::Job<Column>;
pub type Change = world::Change<u64>;
pub type World = world::World<Doris>;

/// The settings of the frontends.
#[derive(Clone, Debug)]
pub struct Doris {
    pub version: String,
    /// Whether names may have any letters.
    pub unicode_names: bool,
    /// At which hour east of UTC backends read the timestamps of Arrow.
    pub arrow_hours: i64,
}

impl world::Vendor for Doris {
    type Table = Table;
    type Own = Own;

    fn new() -> Self {
        Self { version: "doris version doris-3.0.3-stand-in".to_owned(), unicode_names: true, arrow_hours: 8 }
    }

    fn system_databases() -> &'static [&'static str] {
        &["__internal_schema", "information_schema", "mysql"]
    }

    fn operation(request: &Request) -> &'static str {
        frontend::operation(request)
    }

    fn stays(operation: &str) -> bool {
        !matches!(operation, "load" | "commit" | "abort")
    }

    fn status_field(operation: &str) -> &'static str {
        if operation == "load" { "Status" } else { "status" }
    }

    fn struck(operation: &'static str, body: &[u8]) -> String {
        if operation != "query" {
            return operation.to_owned();
        }
        let sql = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
        format!("sql:{}", sql["stmt"].as_str().unwrap_or_default())
    }

    fn subject(request: &Request) -> String {
        request.header("label").or(request.header("txn_id")).unwrap_or_default().to_owned()
    }

    fn frontend(
        world: &mut World,
        request: &Request,
        body: &[u8],
        backends: &[Option<String>],
        turn: usize,
    ) -> Response {
        frontend::answer(world, request, body, backends, turn)
    }

    fn backend(world: &mut World, request: &Request, body: &[u8], own: (usize, &str)) -> Response {
        backend::answer(world, request, body, own.1)
    }
}

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

impl world::Column for Column {
    type Id = u64;

    fn id(&self) -> &u64 {
        &self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn described(&self) -> String {
        world::described(&self.ty.to_string(), self.nullable, self.default.as_deref(), &self.comment)
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
        self.sequence += 1;
        vec![format!("{:012}", self.sequence)]
    }
}

impl Table {
    /// Whether a column says where rows lie: in which partition or bucket.
    pub fn lies_by(&self, name: &str) -> bool {
        let partition = self.partition.iter().map(|(column, _)| column);
        self.hash.iter().chain(partition).any(|column| column.eq_ignore_ascii_case(name))
    }

    pub fn column(&self, name: &str) -> Option<usize> {
        world::Table::column(self, name)
    }

    pub fn is_unique(&self) -> bool {
        self.model == "UNIQUE"
    }
}
