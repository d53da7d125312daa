//! What differs between the servers: their types, their statements, and what they can't do.

use super::super::attempts::Transactions;
use super::super::column_type::ColumnType;
use super::super::default_value::DefaultValue;
use super::super::rows::Rows;
use super::ddl::ColumnClause;
use crate::SinkError;
use async_trait::async_trait;
use rowferry_model::{Column, SchemaChange, TableId, TableSchema};
use std::borrow::Cow;
use std::time::Duration;

/// A server's version: `(3, 3, 2)`.
pub(crate) type Version = (u32, u32, u32);

/// Why a statement failed, with the server's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// No answer: whether the statement ran is unknown.
    #[error("{0}")]
    Lost(String),
    /// The server refuses the user.
    #[error("{0}")]
    Denied(String),
    /// There is no such table or database.
    #[error("{0}")]
    Missing(String),
    /// Another operation on the table is in the way.
    #[error("{0}")]
    Busy(String),
    /// The server refuses the statement.
    #[error("{0}")]
    Refused(String),
}

/// Sends statements.
#[async_trait]
pub(crate) trait Connection: Send + Sync {
    /// Runs one statement. One that may have run is not sent twice.
    ///
    /// # Errors
    /// The server refuses it, or there is no answer.
    async fn query(&mut self, sql: &str) -> Result<Rows, Failure>;
}

/// What differs between the servers.
pub(crate) trait Dialect: Send + Sync {
    /// The server's name, for messages.
    const SERVER: &'static str;
    /// The option that bounds a change.
    const TIMEOUT_OPTION: &'static str;
    /// What the user needs, for messages.
    const RIGHTS: &'static str;
    /// Parts of refusals that say that the server can't make the change at all.
    const UNSUPPORTED: &'static [&'static str];
    /// The statement that asks for the version, and the number of the column that has it.
    const VERSION: (&'static str, usize);
    /// Whether columns that are no key's are NOT NULL where the source's are.
    const NOT_NULL: bool;
    /// Whether a key's column can be changed.
    const CHANGES_KEYS: bool;

    /// Knows what has become of loads.
    type Client: Transactions + Send + Sync + 'static;
    /// Its column types.
    type Type: ColumnType;
    /// What is to be known of a table besides its columns.
    type TableKind: Send + Sync;

    /// How long one change may take.
    fn timeout(&self) -> Duration;

    /// Reads a version; `None`: it is none.
    fn parse_version(text: &str) -> Option<Version>;

    /// Whether a change is not for every version.
    fn needs_version(change: &SchemaChange) -> bool;

    /// Whether a version can make a change that [needs](Self::needs_version) one.
    ///
    /// # Errors
    /// It can't.
    fn check_version(version: Version, change: &SchemaChange) -> Result<(), SinkError>;

    /// Whether a version will do at all; may warn.
    ///
    /// # Errors
    /// It will not.
    fn check_server(version: Version) -> Result<(), SinkError>;

    /// Whether there can be a table and a database of those names.
    ///
    /// # Errors
    /// There can't.
    fn check_table(table: &TableId) -> Result<(), SinkError>;

    /// Whether there can be a column of that name.
    ///
    /// # Errors
    /// There can't.
    fn check_column(table: &TableId, name: &str) -> Result<(), SinkError>;

    /// A table's schema as the server is to have it, where that is another: with more columns in its key, for example.
    fn shape<'a>(&self, _table: &TableId, schema: &'a TableSchema) -> Cow<'a, TableSchema> {
        Cow::Borrowed(schema)
    }

    /// Whether rows of a schema can be loaded.
    ///
    /// # Errors
    /// They can't.
    fn check_schema(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError>;

    /// Whether a table that is there is of the kind that rows of a schema need.
    ///
    /// # Errors
    /// It is not.
    fn check_kind(table: &TableId, schema: &TableSchema, kind: &Self::TableKind) -> Result<(), SinkError>;

    /// Whether columns of a table of that kind can be renamed.
    ///
    /// # Errors
    /// They can't.
    fn check_rename(table: &TableId, kind: &Self::TableKind) -> Result<(), SinkError>;

    /// The type that a column gets.
    fn target_type(&self, column: &Column, key: bool) -> Self::Type;

    /// A default as it is written; `None`: it can't be.
    fn default_literal(value: DefaultValue) -> Option<String>;

    /// What stands for a default in [`TargetColumn`](super::table::TargetColumn): `created` is the statement that
    /// would create the table, `shown` what the list of columns has.
    fn shown_default(created: &str, column: &str, target: &Self::Type, shown: &str) -> String;

    /// A default of a [`TargetColumn`](super::table::TargetColumn) as it is written; `None`: it can't be.
    fn restated_default(default: &str, target: &Self::Type) -> Option<String>;

    /// A comment, of what the list of columns has.
    fn shown_comment(shown: &str) -> String;

    /// Whether a comment that is there is what a server makes of one that is wanted.
    fn is_comment(there: &str, wanted: &str) -> bool;

    /// A comment in the description of a column, as it is written.
    fn comment_literal(comment: &str) -> String;

    /// Whether what is there then is the comment itself.
    fn keeps_comment(comment: &str) -> bool;

    /// A table's kind, of the statement that would create it.
    fn table_kind(created: &str) -> Self::TableKind;

    /// The statement for a new table. Of `columns` those of the key come first.
    fn create_table(&self, table: &TableId, schema: &TableSchema, columns: &[ColumnClause], keys: &[String]) -> String;

    /// What stands behind every change of columns.
    fn alter_options(&self) -> String;

    /// The statement for a column's comment.
    fn comment_column(table: &TableId, name: &str, comment: &str) -> String;

    /// The statement for a column's name.
    fn rename_column(table: &TableId, from: &str, to: &str) -> String;

    /// The statement for a table's comment.
    fn comment_table(table: &TableId, comment: &str) -> String;

    /// The statement that lists a table's jobs, maybe with those of others.
    fn list_jobs(table: &TableId) -> String;
}
