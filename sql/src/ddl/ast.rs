//! What a DDL says, before it is applied to tracked tables.

use super::expression::Expression;
use crate::{BlobSize, Generated, GeometryKind};
use rowferry_model::TableId;

/// A DDL that changes tables or databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DdlStatement {
    /// CREATE TABLE with its columns.
    CreateTable(CreateTable),
    /// CREATE TABLE … LIKE.
    CreateTableLike {
        /// The new table.
        table: TableId,
        /// The table it is made after.
        like: TableId,
        /// A table that is there stays as it is.
        if_not_exists: bool,
        /// MariaDB: a table that is there is dropped.
        or_replace: bool,
    },
    /// ALTER TABLE, and CREATE and DROP INDEX, which are nothing else.
    AlterTable(AlterTable),
    /// DROP TABLE.
    DropTables(Vec<TableId>),
    /// RENAME TABLE: one after another.
    RenameTables(Vec<(TableId, TableId)>),
    /// TRUNCATE TABLE.
    TruncateTable(TableId),
    /// CREATE DATABASE.
    CreateDatabase {
        /// Its name.
        name: String,
        /// Its default charset.
        charset: CharsetOptions,
        /// A database that is there stays as it is.
        if_not_exists: bool,
    },
    /// ALTER DATABASE.
    AlterDatabase {
        /// Its name.
        name: String,
        /// Its new default charset.
        charset: CharsetOptions,
    },
    /// DROP DATABASE.
    DropDatabase(String),
}

/// `CHARACTER SET` and `COLLATE` as far as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CharsetOptions {
    /// The character set; `DEFAULT` is kept as that word.
    pub charset: Option<String>,
    /// The collation; `DEFAULT` is kept as that word.
    pub collation: Option<String>,
}

/// CREATE TABLE with its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateTable {
    /// The new table.
    pub table: TableId,
    /// A table that is there stays as it is.
    pub if_not_exists: bool,
    /// MariaDB: a table that is there is dropped.
    pub or_replace: bool,
    /// The columns.
    pub columns: Vec<ColumnSpec>,
    /// The keys that stand beside the columns.
    pub keys: Vec<KeySpec>,
    /// The table's options.
    pub options: TableOptions,
}

/// The options of a table that matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The default charset.
    pub charset: CharsetOptions,
    /// The comment.
    pub comment: Option<String>,
}

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterTable {
    /// The table.
    pub table: TableId,
    /// A table that is missing is no error (MariaDB).
    pub if_exists: bool,
    /// What is done, in the order of the text.
    pub actions: Vec<AlterAction>,
}

/// Where a column goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing is said: new columns go last, others stay.
    Unsaid,
    /// FIRST.
    First,
    /// AFTER that column.
    After(String),
}

/// One clause of an ALTER TABLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterAction {
    /// ADD COLUMN.
    AddColumn {
        /// The column.
        column: ColumnSpec,
        /// Its place.
        place: Place,
        /// A column that is there stays as it is (MariaDB).
        if_not_exists: bool,
        /// Which of the statement's ADD clauses it is part of: `ADD (a INT, b INT)` is one.
        clause: usize,
    },
    /// MODIFY COLUMN and CHANGE COLUMN.
    ChangeColumn {
        /// The column as it is called before.
        old: String,
        /// What it becomes.
        column: ColumnSpec,
        /// Its place.
        place: Place,
        /// A column that is missing is no error (MariaDB).
        if_exists: bool,
    },
    /// RENAME COLUMN.
    RenameColumn {
        /// The old name.
        old: String,
        /// The new name.
        new: String,
        /// A column that is missing is no error (MariaDB).
        if_exists: bool,
    },
    /// DROP COLUMN.
    DropColumn {
        /// The column.
        name: String,
        /// A column that is missing is no error (MariaDB).
        if_exists: bool,
    },
    /// ALTER COLUMN … SET DEFAULT; `None`: DROP DEFAULT.
    SetDefault {
        /// The column.
        name: String,
        /// The new default.
        default: Option<DefaultSpec>,
        /// A column that is missing is no error (MariaDB).
        if_exists: bool,
    },
    /// ALTER COLUMN … SET VISIBLE or INVISIBLE.
    SetInvisible {
        /// The column.
        name: String,
        /// Whether it becomes invisible.
        invisible: bool,
    },
    /// ADD of a key.
    AddKey {
        /// The key.
        key: KeySpec,
        /// A key that is there stays as it is (MariaDB).
        if_not_exists: bool,
    },
    /// DROP PRIMARY KEY.
    DropPrimaryKey,
    /// DROP INDEX.
    DropKey(String),
    /// DROP CONSTRAINT: a unique key, a check or a foreign key.
    DropConstraint(String),
    /// DROP FOREIGN KEY; the key that serves it stays.
    DropForeignKey(String),
    /// DROP CHECK.
    DropCheck(String),
    /// RENAME INDEX.
    RenameKey {
        /// The old name.
        old: String,
        /// The new name.
        new: String,
    },
    /// RENAME TO.
    RenameTable(TableId),
    /// CONVERT TO CHARACTER SET.
    Convert(CharsetOptions),
    /// DEFAULT CHARACTER SET, COLLATE, COMMENT.
    Options(TableOptions),
    /// What changes nothing that is tracked.
    Nothing,
    /// DROP, TRUNCATE and EXCHANGE PARTITION and DISCARD TABLESPACE: rows go (or come) without a word in the binlog.
    RemovesRows {
        /// The clause.
        clause: &'static str,
        /// The table with which a partition is exchanged.
        other: Option<TableId>,
    },
}

/// A type's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are MySQL's")]
pub enum TypeName {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Float,
    Double,
    Decimal,
    Bit,
    Year,
    Date,
    Time,
    DateTime,
    Timestamp,
    Char,
    Varchar,
    Text(BlobSize),
    Binary,
    Varbinary,
    Blob(BlobSize),
    Enum,
    Set,
    Json,
    Geometry(GeometryKind),
    Vector,
    Uuid,
    Inet4,
    Inet6,
}

/// A type as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSpec {
    /// The name; synonyms are resolved.
    pub name: TypeName,
    /// The first number in parentheses.
    pub length: Option<u64>,
    /// The second number in parentheses.
    pub decimals: Option<u64>,
    /// The labels of ENUM and SET.
    pub labels: Vec<String>,
    /// UNSIGNED, or what implies it.
    pub unsigned: bool,
    /// ZEROFILL.
    pub zerofill: bool,
    /// CHARACTER SET and COLLATE.
    pub charset: CharsetOptions,
    /// The attribute BINARY: the charset's `_bin` collation.
    pub binary_collation: bool,
}

/// A column's default as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultSpec {
    /// DEFAULT NULL.
    Null,
    /// A string.
    Text(String),
    /// A number, with its sign; TRUE and FALSE are 1 and 0.
    Number(String),
    /// `0x…` or `X'…'`.
    Hex(Vec<u8>),
    /// `b'…'`.
    Bits(String),
    /// CURRENT_TIMESTAMP and its synonyms, with its precision.
    Now(u8),
    /// Any other expression.
    Expression(Expression),
}

/// A column as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The name.
    pub name: String,
    /// The type.
    pub column_type: TypeSpec,
    /// NULL or NOT NULL, if written.
    pub nullable: Option<bool>,
    /// DEFAULT, if written.
    pub default: Option<DefaultSpec>,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// COMMENT.
    pub comment: String,
    /// GENERATED ALWAYS AS.
    pub generated: Option<Generated>,
    /// INVISIBLE.
    pub invisible: bool,
    /// PRIMARY KEY.
    pub primary: bool,
    /// UNIQUE.
    pub unique: bool,
}

/// The kinds of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are MySQL's")]
pub enum KeyKind {
    Primary,
    Unique,
    /// INDEX, FULLTEXT, SPATIAL, VECTOR.
    Plain,
    /// Makes a plain key where none serves already.
    Foreign,
}

/// A part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The column; `None` for an expression.
    pub column: Option<String>,
    /// The length of a prefix.
    pub prefix: Option<u32>,
}

/// A key as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// What kind of key.
    pub kind: KeyKind,
    /// The name, if written.
    pub name: Option<String>,
    /// The parts.
    pub parts: Vec<KeyPart>,
}
