//! Schema changes of real servers through whole pipelines.

mod basics;
pub(super) mod cells;
pub(super) mod behaviors;
mod lists;
mod crash;
mod snapshot;
mod online;
mod partitions;
mod new_tables;
mod merge;
mod random;
mod refusals;

use crate::support::servers::{Database, Server};
use rowferry::mysql::wire::Connection;

/// Runs statements, each of which must be accepted.
pub(super) fn execute(client: &mut Connection, statements: &[&str]) {
    for sql in statements.iter().flat_map(|s| s.split(';')).map(str::trim).filter(|s| !s.is_empty()) {
        client.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

/// The names of a table's columns at the server, in order.
pub(super) fn columns_of(database: &Database, table: &str) -> Vec<String> {
    let sql = format!(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME = '{table}' ORDER BY ORDINAL_POSITION",
        database.name
    );
    let rows = database.connect().query(&sql).expect("asks");
    rows.iter().map(|row| row.at(0).expect("a name").to_owned()).collect()
}

/// Whether a server has `RENAME COLUMN`.
pub(super) fn renames_columns(server: Server) -> bool {
    server != Server::Mysql56
}
