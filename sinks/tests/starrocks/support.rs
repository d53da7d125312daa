//! A sink of a stand-in.

pub use crate::olap::batches::*;
pub use crate::olap::golden::StandIn;
use crate::stand_in::Ty;
use rowferry_model::{DataType, TableId};
use rowferry_sinks::Sink;
use std::collections::BTreeMap;
use std::time::Duration;

/// The sink's type.
pub const SINK: &str = "starrocks";
/// The option with the frontends' HTTP addresses, and the one with the backends'.
pub const HTTP_ADDRESSES: &str = "load-url";
pub const BACKENDS: [&str; 0] = [];

/// Options under which rows are loaded as Arrow, where that can be.
pub const ARROW: Option<&[(&str, &str)]> = None;

/// Where the statements are that the tests send.
pub const STATEMENTS: &str = "starrocks-statements.sql";

/// What makes the sink deliver exactly once: nothing, it does.
pub const EXACTLY_ONCE: [(&str, &str); 0] = [];
/// Under which tables with a key end the same.
pub const KEYED_MODES: &[&[(&str, &str)]] = &[&EXACTLY_ONCE];
/// The operations of a delivery.
pub const STEPS: &[&str] = &["begin", "load", "prepare", "commit", "state", "rollback"];
/// What makes failures be told soon.
pub const QUICK: (&str, &str) = ("sink.socket.timeout-ms", "2000");
/// Ways to reach backends.
pub const WAYS: &[&[(&str, &str)]] = &[&[("sink.connect.timeout-ms", "500")]];
pub const CHANGE_TIMEOUT: &str = "table.schema-change.timeout";
/// Options, and the time after which a prepared transaction is gone with them.
pub const FORGOTTEN_AFTER: (&[(&str, &str)], Duration) =
    (&[("sink.properties.timeout", "5")], Duration::from_secs(100_000));
/// How a backend tells of a value that its column can't have.
pub const REFUSAL: &str = "too long";
/// A refusal that another try may not meet.
pub const PASSES: &str = "Cancelled: memory limit exceeded";

/// A comment, and a part of how the server shows it.
pub const COMMENT: (&str, &str) = ("it's \"new\"", "COMMENT \"it's \\\"new\\\"\"");
/// Tables that do not fit the simple schema, and why.
pub const UNFIT: &[(&str, &str)] = &[
    (
        "CREATE TABLE orders (id BIGINT, name VARCHAR(9)) DUPLICATE KEY(id) DISTRIBUTED BY HASH(id)",
        "not as a primary key table",
    ),
    (
        "CREATE TABLE orders (name VARCHAR(9) NOT NULL, id BIGINT) PRIMARY KEY(name) DISTRIBUTED BY HASH(name)",
        "with the key (name)",
    ),
    ("CREATE TABLE orders (id BIGINT NOT NULL) PRIMARY KEY(id) DISTRIBUTED BY HASH(id)", "without the column `name`"),
];

/// Runs a statement behind the sink's back.
pub fn execute(server: &StandIn, sql: &str) {
    crate::stand_in::execute(&mut server.world(), &mut "shop".to_owned(), "root", sql).unwrap();
}

/// A column that takes no NULL.
pub fn not_null(column: &str) -> String {
    format!("{column} not null")
}

/// Bytes as they are shown.
pub fn bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

/// A point in time with six digits behind the second, as it is shown: without those that say nothing.
pub fn stamp(text: &str) -> String {
    text.trim_end_matches(".000000").to_owned()
}

/// A type to which a VARCHAR(20) is brought by a job.
pub fn wider() -> DataType {
    DataType::Varchar(40)
}

pub fn narrower() -> Ty {
    Ty::Varchar(3)
}

pub fn options(server: &StandIn, more: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut options: BTreeMap<String, String> = [
        ("jdbc-url", server.jdbc_url()),
        ("load-url", server.load_url()),
        ("username", "root".to_owned()),
        ("password", String::new()),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into();
    options.extend(more.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    options
}

pub fn http_addresses(server: &StandIn) -> String {
    server.load_url()
}

/// A sink of that server; recovered, as the pipeline does before rows.
pub fn sink(server: &StandIn, more: &[(&str, &str)]) -> Sink {
    rowferry_sinks::build("starrocks", &options(server, more), &context()).unwrap()
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
