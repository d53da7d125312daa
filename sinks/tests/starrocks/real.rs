//! A real StarRocks, where `ROWFERRY_TEST_STARROCKS` names one: `user:password@host:9030:8030`, the frontend's MySQL and
//! HTTP ports.

use crate::olap::real::{database, endpoint, suite};
use crate::olap::real_rows::{Reader, select};
use crate::stand_in::Settings;
use crate::support::{StandIn, bytes, context, sink};
use async_trait::async_trait;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Row};
use rowferry_model::TableId;
use std::collections::BTreeMap;

/// How rows are sent.
const FORMATS: [&[(&str, &str)]; 2] = [&[], &[("sink.properties.format", "csv")]];

#[tokio::test]
async fn the_suite_for_real_servers_passes_on_the_stand_in() {
    for format in FORMATS {
        let server = StandIn::start(Settings::default());
        assert!(suite(&mut sink(&server, format), "rowferry_test", &mut &server).await, "{format:?}");
    }
}

/// A frontend's MySQL port.
struct Frontend(Opts);

#[async_trait]
impl Reader for Frontend {
    async fn read(&mut self, table: &TableId, columns: &[String]) -> Vec<Vec<Option<String>>> {
        let mut connection = Conn::new(self.0.clone()).await.unwrap();
        let rows: Vec<Row> = connection.query(select(table, columns)).await.unwrap();
        rows.into_iter().map(|row| (0..row.len()).map(|i| row.get(i).unwrap()).collect()).collect()
    }

    fn bytes(&self, value: &[u8]) -> String {
        bytes(value)
    }
}

#[tokio::test]
async fn a_real_starrocks_takes_every_change() {
    let Some((user, password, host, ports)) = endpoint("ROWFERRY_TEST_STARROCKS") else { return };
    let port = |i: usize, default: &str| ports.get(i).map_or(default, String::as_str).to_owned();
    let (mysql, http) = (port(0, "9030"), port(1, "8030"));
    // StarRocks answers neither of the two questions that the client would ask first.
    let connect = OptsBuilder::default()
        .ip_or_hostname(host.clone())
        .tcp_port(mysql.parse().unwrap())
        .user(Some(user.clone()))
        .pass(Some(password.clone()))
        .prefer_socket(false)
        .max_allowed_packet(Some(16 << 20))
        .wait_timeout(Some(600));
    let mut reader = Frontend(connect.into());
    let (jdbc, load) = (format!("jdbc:mysql://{host}:{mysql}"), format!("{host}:{http}"));
    let options = [
        ("jdbc-url", jdbc.as_str()),
        ("load-url", &load),
        ("username", &user),
        ("password", &password),
        ("table.create.properties.replication_num", "1"),
    ];
    for format in FORMATS {
        let options: BTreeMap<String, String> =
            [&options, format].concat().into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let mut sink = rowferry_sinks::build("starrocks", &options, &context()).unwrap();
        println!("{format:?}, rows loaded: {}", suite(&mut sink, &database(), &mut reader).await);
    }
}
