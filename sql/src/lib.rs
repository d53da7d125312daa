//! SQL text in, meaning out: MySQL's table definitions and DDL become tracked tables and schema changes.
//!
//! This crate opens no connection: whatever must be asked of a server is asked by its caller.

mod column_type;
mod mapping;
mod table_def;

pub use column_type::{BlobSize, CharSet, ColumnType, GeometryKind, ParseTypeError};
pub use mapping::{MappingOptions, UnsupportedType};
pub use table_def::{ColumnDef, DefaultValue, Generated, Key, TableDef};
