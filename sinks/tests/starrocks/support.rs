//! A sink of a stand-in.

pub use crate::olap::batches::*;
use crate::stand_in::StandIn;
use rowferry_model::TableId;
use rowferry_sinks::Sink;
use std::collections::BTreeMap;

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
