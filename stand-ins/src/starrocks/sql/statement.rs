//! What statements say.

use super::super::types::Ty;
use crate::sql::{Position, TableName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultDef {
    Null,
    Text(String),
    /// `CURRENT_TIMESTAMP`, `uuid()`, as it is shown.
    Function(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    pub name: String,
    pub ty: Ty,
    pub key: bool,
    pub nullable: Option<bool>,
    pub default: Option<DefaultDef>,
    pub comment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    pub if_not_exists: bool,
    pub name: TableName,
    pub columns: Vec<ColumnDef>,
    pub engine: Option<String>,
    /// `PRIMARY`, `DUPLICATE`, …
    pub model: Option<(String, Vec<String>)>,
    pub comment: Option<String>,
    /// `None`: random.
    pub hash: Option<Vec<String>>,
    pub random: bool,
    pub buckets: Option<u32>,
    pub order_by: Vec<String>,
    pub properties: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterClause {
    Add(Vec<(ColumnDef, Position)>),
    Drop(String),
    Modify(ColumnDef, Position),
    CommentColumn(String, String),
    RenameColumn(String, String),
    CommentTable(String),
    RenameTable(String),
}

impl AlterClause {
    /// The kind that clauses of one statement must share.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Add(_) | Self::Drop(_) | Self::Modify(..) | Self::CommentColumn(..) => "SCHEMA_CHANGE",
            Self::RenameColumn(..) | Self::RenameTable(_) => "RENAME",
            Self::CommentTable(_) => "ALTER_COMMENT",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    CreateDatabase {
        name: String,
        if_not_exists: bool,
    },
    DropDatabase {
        name: String,
        if_exists: bool,
    },
    CreateTable(Box<Create>),
    DropTable {
        name: TableName,
        if_exists: bool,
    },
    Truncate(TableName),
    Alter {
        name: TableName,
        clauses: Vec<AlterClause>,
        timeout: Option<String>,
    },
    CancelAlter(TableName),
    Use(String),
    ShowColumns {
        name: TableName,
        full: bool,
    },
    Describe(TableName),
    ShowCreate(TableName),
    ShowDatabases,
    ShowTables(Option<String>),
    ShowAlter {
        database: Option<String>,
        table: Option<String>,
        newest_by_id: bool,
        limit: Option<usize>,
    },
    Select(String),
    /// `SET`, `BEGIN`, …: taken, without effect.
    Nothing,
}
