//! MySQL's and MariaDB's DDL: from the text of a Query event to what it does to tables.
//!
//! [`classify`] says what kind of statement a text is and which tables it may touch, for every text. [`parse_ddl`]
//! reads the statement wholly; [`Catalog::apply`](crate::Catalog::apply) then does to the tracked tables what the
//! server did.
//!
//! The grammar is our own: thin, one rule a file. `sqlparser` reads two thirds of what servers accept, loses a whole
//! ALTER for one clause that it doesn't know, and can't be told `sql_mode`.

mod alter_table;
mod ast;
mod attribute;
mod classify;
mod column;
mod context;
mod create_table;
mod cursor;
mod database;
mod default;
mod expression;
mod fuzz;
mod key;
mod lexer;
mod option;
mod statement;

pub use ast::{
    AlterAction, AlterTable, CharsetOptions, ColumnSpec, CreateTable, DdlStatement, DefaultSpec, KeyKind, KeyPart,
    KeySpec, Place, TableOptions, TypeName, TypeSpec,
};
pub use classify::{Classified, StatementKind, Touched, classify, touched_tables};
pub use context::{DdlContext, SqlMode};
pub use expression::Expression;
pub use fuzz::fuzz_ddl;
pub use statement::{DdlOutcome, decode_statement, parse_ddl};

/// A statement doesn't follow the grammar that is known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found} at byte {at}")]
pub struct SyntaxError {
    /// What was expected.
    pub expected: &'static str,
    /// What was found.
    pub found: String,
    /// Where, in bytes.
    pub at: usize,
}
