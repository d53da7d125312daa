//! A real Doris, where `ROWFERRY_TEST_DORIS` names one: `user:password@host:8030`, the frontend's HTTP port.

use crate::olap::real::{database, endpoint, suite};
use crate::stand_in::Settings;
use crate::support::{EXACTLY_ONCE, StandIn, context, exact};
use std::collections::BTreeMap;

#[tokio::test]
async fn the_suite_for_real_servers_passes_on_the_stand_in() {
    let server = StandIn::start(Settings::default());
    assert!(suite(&mut exact(&server), "rowferry_test").await);
}

#[tokio::test]
async fn a_real_doris_takes_every_change() {
    let Some((user, password, host, ports)) = endpoint("ROWFERRY_TEST_DORIS") else { return };
    let mut options: BTreeMap<String, String> = [
        ("fenodes", format!("{host}:{}", ports.first().map_or("8030", String::as_str))),
        ("username", user),
        ("password", password),
        ("table.create.properties.replication_num", "1".to_owned()),
    ]
    .map(|(k, v)| (k.to_owned(), v))
    .into();
    options.extend(EXACTLY_ONCE.map(|(k, v)| (k.to_owned(), v.to_owned())));
    let mut sink = rowferry_sinks::build("doris", &options, &context()).unwrap();
    println!("rows loaded: {}", suite(&mut sink, &database()).await);
}

/// For trying things out by hand: a stand-in that serves until it is killed, and shows its tables every few seconds.
#[test]
#[ignore = "serves until it is killed"]
fn serve() {
    let server = StandIn::start(Settings::default());
    println!("fenodes: {}", server.fenodes());
    loop {
        std::thread::sleep(std::time::Duration::from_secs(3));
        let mut world = server.world();
        let names: Vec<(String, String)> =
            world.databases.iter().flat_map(|(d, db)| db.tables.keys().map(|t| (d.clone(), t.clone()))).collect();
        for (database, table) in names {
            let rows = world.rows(&database, &table);
            println!("{database}.{table}: {} rows, the last {:?}", rows.len(), rows.last());
        }
    }
}
