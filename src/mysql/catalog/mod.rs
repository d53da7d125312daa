//! What the server says of itself and of its tables: statements chosen by version, columns of answers found by name.

mod definitions;
mod error;
mod identifier;
mod position;
mod session;
mod tables;
mod timestamp;

pub use definitions::{Defined, create_statement, database_charsets, definitions_at, table_defs};
pub use error::CatalogError;
pub use identifier::{quote_identifier, quote_string, quote_table};
pub use position::{
    BinlogFile, binlog_files, binlog_position, check_offset, first_position, gtid_mode, purged_gtids, server_id,
    server_uuid,
};
pub use session::{ddl_context, server_identity, snapshot_position};
pub use tables::{LowerCaseTableNames, TableInfo, list_tables, lower_case_table_names};
pub use timestamp::position_for_timestamp;
