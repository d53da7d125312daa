//! A sink of a stand-in.

pub use crate::olap::batches::*;
pub use crate::olap::golden::StandIn;
use crate::stand_in::Ty;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rowferry_model::{DataType, TableId};
use rowferry_sinks::Sink;
use std::collections::BTreeMap;
use std::time::Duration;

/// The sink's type.
pub const SINK: &str = "doris";
/// The option with the frontends' HTTP addresses, and the one with the backends'.
pub const HTTP_ADDRESSES: &str = "fenodes";
pub const BACKENDS: [&str; 1] = ["benodes"];

/// Options under which rows are loaded as Arrow, where that can be.
pub const ARROW: Option<&[(&str, &str)]> = Some(&[AS_ARROW]);
pub const AS_ARROW: (&str, &str) = ("sink.properties.format", "arrow");

/// Where the statements are that the tests send.
pub const STATEMENTS: &str = "doris-statements.sql";

/// What makes the sink deliver exactly once.
pub const EXACTLY_ONCE: [(&str, &str); 2] = [("sink.enable.batch-mode", "false"), ("sink.enable-2pc", "true")];

/// Under which tables with a key end the same.
pub const KEYED_MODES: &[&[(&str, &str)]] = &[&EXACTLY_ONCE, &[]];
/// The operations of a delivery.
pub const STEPS: &[&str] = &["load", "commit", "state", "abort", "backends"];
/// What makes failures be told soon.
pub const QUICK: (&str, &str) = ("sink.max-retries", "1");
/// Ways to reach backends.
pub const WAYS: &[&[(&str, &str)]] = &[&[("auto-redirect", "false")], &[("auto-redirect", "true")]];
pub const CHANGE_TIMEOUT: &str = "schema.evolution.timeout";
/// Options, and the time after which a prepared transaction is gone with them.
pub const FORGOTTEN_AFTER: (&[(&str, &str)], Duration) = (&[], Duration::from_secs(3601));
/// How a backend tells of a value that its column can't have.
pub const REFUSAL: &str = "column_name[name]";
/// A refusal that another try may not meet.
pub const PASSES: &str = "[E-235]too many versions";

/// A comment, and a part of how the server shows it.
pub const COMMENT: (&str, &str) = ("it's new", "COMMENT 'it's new'");
/// Tables that do not fit the simple schema, and why.
pub const UNFIT: &[(&str, &str)] = &[
    (
        "CREATE TABLE orders (id BIGINT, name VARCHAR(9)) DUPLICATE KEY(id) DISTRIBUTED BY HASH(id)",
        "without UNIQUE KEY",
    ),
    (
        "CREATE TABLE orders (name VARCHAR(9), id BIGINT) UNIQUE KEY(name) DISTRIBUTED BY HASH(name)",
        "with the key (name)",
    ),
    ("CREATE TABLE orders (id BIGINT) UNIQUE KEY(id) DISTRIBUTED BY HASH(id)", "without the column `name`"),
];

/// Runs a statement behind the sink's back.
pub fn execute(server: &StandIn, sql: &str) {
    server.world().execute("shop", "root", sql).unwrap();
}

/// A column that takes no NULL at the source: here all do.
pub fn not_null(column: &str) -> String {
    column.to_owned()
}

/// Bytes as they are shown.
pub fn bytes(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// A point in time with six digits behind the second, as it is shown.
pub fn stamp(text: &str) -> String {
    text.to_owned()
}

/// A type to which a VARCHAR(20) is brought by a job.
pub fn wider() -> DataType {
    DataType::String
}

pub fn narrower() -> Ty {
    Ty::Varchar(3)
}

pub fn options(server: &StandIn, more: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut options: BTreeMap<String, String> =
        [("fenodes", server.fenodes()), ("username", "root".to_owned()), ("password", String::new())]
            .map(|(k, v)| (k.to_owned(), v))
            .into();
    options.extend(more.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    options
}

pub fn http_addresses(server: &StandIn) -> String {
    server.fenodes()
}

/// A sink of that server.
pub fn sink(server: &StandIn, more: &[(&str, &str)]) -> Sink {
    rowferry_sinks::build("doris", &options(server, more), &context()).unwrap()
}

/// One that delivers exactly once.
pub fn exact(server: &StandIn) -> Sink {
    sink(server, &EXACTLY_ONCE)
}

/// What a query shows, with NULL as `NULL`.
pub fn shown(server: &StandIn, table: &TableId) -> Vec<String> {
    server
        .world()
        .rows(table.database(), table.table())
        .into_iter()
        .map(|row| row.into_iter().map(|v| v.unwrap_or_else(|| "NULL".to_owned())).collect::<Vec<_>>().join("|"))
        .collect()
}
