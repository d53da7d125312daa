//! Schema changes of real servers through whole pipelines.

mod basics;
mod cells;
mod behaviors;
mod lists;
mod crash;
mod snapshot;
mod online;
mod new_tables;
mod merge;
mod random;
mod refusals;

use crate::support::servers::{Database, Server};
use rowferry::mysql::wire::Connection;

/// Runs statements, each of which must be accepted.
fn execute(client: &mut Connection, statements: &[&str]) {
    for sql in statements.iter().flat_map(|s| s.split(';')).map(str::trim).filter(|s| !s.is_empty()) {
        client.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}

/// The names of a table's columns at the server, in order.
fn columns_of(database: &Database, table: &str) -> Vec<String> {
    let sql = format!(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME = '{table}' ORDER BY ORDINAL_POSITION",
        database.name
    );
    let rows = database.connect().query(&sql).expect("asks");
    rows.iter().map(|row| row.at(0).expect("a name").to_owned()).collect()
}

/// Whether a server has `RENAME COLUMN`.
fn renames_columns(server: Server) -> bool {
    server != Server::Mysql56
}

/// Numbers that differ from run to run of a thread but not from test to test.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.roll(of.len() as u64) as usize]
    }
}
