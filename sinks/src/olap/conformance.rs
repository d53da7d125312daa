//! The checks that every sink must pass, against the stand-ins.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::testing::contract::{self, Target};
use crate::{Sink, SinkContext, SinkError};
use async_trait::async_trait;
use rowferry_model::TableId;
use rowferry_stand_ins::{doris, starrocks};
use std::collections::BTreeMap;
use std::error::Error;

enum Server {
    StarRocks(starrocks::StandIn),
    Doris(doris::StandIn),
}

struct Olap {
    server: Server,
    options: Vec<(&'static str, &'static str)>,
}

impl Olap {
    fn starrocks(options: &[(&'static str, &'static str)]) -> Self {
        Self {
            server: Server::StarRocks(starrocks::StandIn::start(starrocks::Settings::default())),
            options: options.to_vec(),
        }
    }

    fn doris(options: &[(&'static str, &'static str)]) -> Self {
        Self { server: Server::Doris(doris::StandIn::start(doris::Settings::default())), options: options.to_vec() }
    }
}

#[async_trait]
impl Target for Olap {
    fn sink(&self) -> Result<Sink, SinkError> {
        let (name, mut options) = match &self.server {
            Server::StarRocks(server) => {
                ("starrocks", vec![("jdbc-url", server.jdbc_url()), ("load-url", server.load_url())])
            }
            Server::Doris(server) => ("doris", vec![("fenodes", server.fenodes())]),
        };
        options.extend([("username", "root".to_owned()), ("password", String::new())]);
        options.extend(self.options.iter().map(|(k, v)| (*k, (*v).to_owned())));
        let options: BTreeMap<String, String> = options.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let context = SinkContext {
            pipeline: "contract".to_owned(),
            parallelism: 2,
            time_zone: "UTC".to_owned(),
            instance: "c".repeat(32),
            select: |_| Err("there are no patterns here".to_owned()),
        };
        crate::build(name, &options, &context)
    }

    async fn rows(&self, table: &TableId) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
        let (database, table) = (table.database(), table.table());
        let rows = match &self.server {
            Server::StarRocks(server) => {
                let mut world = server.world();
                world.tick();
                if world.table(database, table).is_some() { world.rows(database, table) } else { Vec::new() }
            }
            Server::Doris(server) => {
                let mut world = server.world();
                world.tick();
                if world.table(database, table).is_some() { world.rows(database, table) } else { Vec::new() }
            }
        };
        let row = |row: Vec<Option<String>>| -> String {
            row.into_iter().map(|v| v.unwrap_or_else(|| "null".to_owned())).collect::<Vec<_>>().join(", ")
        };
        let mut rows: Vec<String> = rows.into_iter().map(row).collect();
        rows.sort();
        Ok(rows)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn starrocks_keeps_the_contract() {
    contract::check_all(&Olap::starrocks(&[]), "shop").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn starrocks_keeps_the_contract_with_csv_and_plain_loads() {
    let options = [("sink.properties.format", "csv"), ("sink.at-least-once.use-transaction-stream-load", "false")];
    contract::check_all(&Olap::starrocks(&options), "shop").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn doris_keeps_the_contract_with_two_phase_commit() {
    let options = [("sink.enable.batch-mode", "false"), ("sink.enable-2pc", "true")];
    contract::check_all(&Olap::doris(&options), "shop").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn doris_keeps_the_contract_with_csv_in_two_phases() {
    let options = [("sink.enable.batch-mode", "false"), ("sink.enable-2pc", "true"), ("sink.properties.format", "csv")];
    contract::check_all(&Olap::doris(&options), "shop").await.unwrap();
}
