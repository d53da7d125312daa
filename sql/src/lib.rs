//! SQL text in, meaning out: MySQL's table definitions and DDL become tracked tables and schema changes.
//!
//! This crate opens no connection: whatever must be asked of a server is asked by its caller.

mod catalog;
mod charset;
mod column_type;
pub mod ddl;
mod mapping;
mod server;
mod table_def;
mod type_text;

pub use catalog::{AlterStep, ApplyError, Catalog, Effect};
pub use charset::charset_max_bytes;
pub use column_type::{BlobSize, CharSet, ColumnType, GeometryKind, ParseTypeError};
pub use mapping::{MappingOptions, UnsupportedType};
pub use server::{Flavor, ServerVersion};
pub use table_def::{ColumnDef, DefaultValue, Generated, Key, TableDef};
