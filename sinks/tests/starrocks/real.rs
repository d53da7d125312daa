//! A real StarRocks, where `ROWFERRY_TEST_STARROCKS` names one: `user:password@host:9030:8030`, the frontend's MySQL and
//! HTTP ports.

use crate::olap::real::{database, endpoint, suite};
use crate::stand_in::Settings;
use crate::support::{StandIn, context, sink};
use std::collections::BTreeMap;

#[tokio::test]
async fn the_suite_for_real_servers_passes_on_the_stand_in() {
    let server = StandIn::start(Settings::default());
    assert!(suite(&mut sink(&server, &[]), "rowferry_test").await);
}

#[tokio::test]
async fn a_real_starrocks_takes_every_change() {
    let Some((user, password, host, ports)) = endpoint("ROWFERRY_TEST_STARROCKS") else { return };
    let port = |i: usize, default: &str| ports.get(i).map_or(default, String::as_str).to_owned();
    let options: BTreeMap<String, String> = [
        ("jdbc-url", format!("jdbc:mysql://{host}:{}", port(0, "9030"))),
        ("load-url", format!("{host}:{}", port(1, "8030"))),
        ("username", user),
        ("password", password),
        ("table.create.properties.replication_num", "1".to_owned()),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into();
    let mut sink = rowferry_sinks::build("starrocks", &options, &context()).unwrap();
    println!("rows loaded: {}", suite(&mut sink, &database()).await);
}
