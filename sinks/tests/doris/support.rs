//! A sink of a stand-in.

pub use crate::olap::batches::*;
use crate::stand_in::StandIn;
use rowferry_model::TableId;
use rowferry_sinks::Sink;
use std::collections::BTreeMap;

/// What makes the sink deliver exactly once.
pub const EXACTLY_ONCE: [(&str, &str); 2] = [("sink.enable.batch-mode", "false"), ("sink.enable-2pc", "true")];

pub fn options(server: &StandIn, more: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut options: BTreeMap<String, String> =
        [("fenodes", server.fenodes()), ("username", "root".to_owned()), ("password", String::new())]
            .map(|(k, v)| (k.to_owned(), v))
            .into();
    options.extend(more.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    options
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
