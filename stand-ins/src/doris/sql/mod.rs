//! The statements' grammar, as much of it as the sink and the recordings need.

mod lexer;
mod parser;
mod select;

use super::types::Ty;
use crate::sql::Refusal;
pub use crate::sql::{Position, TableName};
pub use parser::parse;

/// What is not modelled: a replay leaves it out, a client is told.
pub const NOT_MODELLED: u16 = 0;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u16,
    /// The words behind `errCode = 2, detailMessage = `.
    pub message: String,
}

impl Refusal for Failure {
    fn syntax(at: &str) -> Self {
        Self::new(format!("\nmismatched input '{at}'"))
    }
}

impl Failure {
    /// Nearly every failure has this number.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: 1105, message: message.into() }
    }

    pub fn not_modelled(what: &str) -> Self {
        Self { code: NOT_MODELLED, message: what.to_owned() }
    }

    pub fn text(&self) -> String {
        // What is not supported comes by another way.
        if self.code == 1235 { self.message.clone() } else { format!("errCode = 2, detailMessage = {}", self.message) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultDef {
    Null,
    /// The text between the quotes, nothing unescaped, or a number.
    Text(String),
    /// `CURRENT_TIMESTAMP` with its digits, `CURRENT_DATE`.
    Now(Option<u32>),
    Today,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    pub name: String,
    pub ty: Ty,
    pub key: bool,
    pub nullable: Option<bool>,
    pub default: Option<DefaultDef>,
    /// Without its backslashes.
    pub comment: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    pub if_not_exists: bool,
    pub name: TableName,
    pub columns: Vec<ColumnDef>,
    /// `UNIQUE` or `DUPLICATE`.
    pub key: Option<(String, Vec<String>)>,
    pub comment: String,
    /// The column and the unit of automatic partitions.
    pub partition: Option<(String, String)>,
    /// `None`: no clause; empty: random.
    pub hash: Option<Vec<String>>,
    /// `None`: no clause; 0: AUTO.
    pub buckets: Option<i64>,
    pub properties: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterClause {
    Add(Vec<ColumnDef>, Position),
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
            Self::Add(..) | Self::Drop(_) | Self::Modify(..) => "SCHEMA_CHANGE",
            Self::CommentColumn(..) => "MODIFY_COLUMN_COMMENT",
            Self::RenameColumn(..) | Self::RenameTable(_) => "RENAME",
            Self::CommentTable(_) => "MODIFY_TABLE_COMMENT",
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
        force: bool,
    },
    Truncate(TableName),
    Alter {
        name: TableName,
        clauses: Vec<AlterClause>,
    },
    CancelAlter(TableName),
    ShowColumns {
        name: TableName,
    },
    ShowCreate(TableName),
    ShowDatabases,
    ShowAlter {
        database: Option<String>,
        table: Option<String>,
    },
    ShowVariables(String),
    SelectOne,
    /// Columns of a table as text, by the order of a column of integers.
    Select {
        columns: Vec<String>,
        name: TableName,
        order: String,
    },
}
