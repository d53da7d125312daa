//! The statements that the stand-in knows. What it does not model it says so, instead of guessing.

mod definitions;
mod lexer;
mod parser;
mod statement;

pub use lexer::quote_string;
pub use parser::parse;
pub use statement::{AlterClause, ColumnDef, Create, DefaultDef, Statement};

use crate::sql::Refusal;
pub use crate::sql::{Position, TableName};

/// A statement's end without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u16,
    pub state: &'static str,
    pub message: String,
}

/// The number of statements that a real frontend may well take, but this one does not model.
pub const NOT_MODELLED: u16 = 9999;

impl Refusal for Failure {
    fn syntax(at: &str) -> Self {
        Self::plain(format!("Getting syntax error at line 1, column 0. Detail message: Unexpected input '{at}'."))
    }
}

impl Failure {
    pub fn new(code: u16, state: &'static str, message: impl Into<String>) -> Self {
        Self { code, state, message: message.into() }
    }

    /// What most failures are.
    pub fn plain(message: impl Into<String>) -> Self {
        Self::new(1064, "HY000", message)
    }

    /// What the analyser says.
    pub fn analysis(message: impl Into<String>) -> Self {
        Self::plain(format!("Getting analyzing error. Detail message: {}.", message.into()))
    }

    pub fn not_modelled(what: &str) -> Self {
        Self::new(NOT_MODELLED, "HY000", format!("the stand-in does not model: {what}"))
    }
}
