//! A real Doris, where `ROWFERRY_TEST_DORIS` names one: `user:password@host:8030`, the frontend's HTTP port.

use crate::olap::real::{database, endpoint, suite};
use crate::olap::real_rows::{Reader, select};
use crate::stand_in::Settings;
use crate::support::{AS_ARROW, EXACTLY_ONCE, StandIn, bytes, context, sink};
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rowferry_model::TableId;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How rows are sent.
const FORMATS: [&[(&str, &str)]; 3] = [&[], &[("sink.properties.format", "csv")], &[AS_ARROW]];

#[tokio::test]
async fn the_suite_for_real_servers_passes_on_the_stand_in() {
    for format in FORMATS {
        let server = StandIn::start(Settings::default());
        let mut sink = sink(&server, &[&EXACTLY_ONCE, format].concat());
        assert!(suite(&mut sink, "rowferry_test", &mut &server).await, "{format:?}");
    }
}

/// A frontend that answers statements over HTTP.
struct Frontend {
    url: String,
    authorization: String,
}

#[async_trait]
impl Reader for Frontend {
    async fn read(&mut self, table: &TableId, columns: &[String]) -> Vec<Vec<Option<String>>> {
        let body = json!({ "stmt": select(table, columns) }).to_string();
        let (url, authorization) = (self.url.clone(), self.authorization.clone());
        let answer = tokio::task::spawn_blocking(move || {
            let request =
                ureq::post(&url).header("Authorization", &authorization).header("Content-Type", "application/json");
            request.send(body.as_bytes()).unwrap().body_mut().read_to_string().unwrap()
        });
        let answer: Value = serde_json::from_str(&answer.await.unwrap()).unwrap();
        let rows =
            answer.pointer("/data/data").and_then(Value::as_array).unwrap_or_else(|| panic!("no rows: {answer}"));
        let cells = |row: &Value| row.as_array().unwrap().iter().map(|v| v.as_str().map(str::to_owned)).collect();
        rows.iter().map(cells).collect()
    }

    fn bytes(&self, value: &[u8]) -> String {
        bytes(value)
    }
}

#[tokio::test]
async fn a_real_doris_takes_every_change() {
    let Some((user, password, host, ports)) = endpoint("ROWFERRY_TEST_DORIS") else { return };
    let fenodes = format!("{host}:{}", ports.first().map_or("8030", String::as_str));
    let mut reader = Frontend {
        url: format!("http://{fenodes}/api/query/default_cluster/information_schema"),
        authorization: format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))),
    };
    let options = [
        ("fenodes", fenodes.as_str()),
        ("username", &user),
        ("password", &password),
        ("table.create.properties.replication_num", "1"),
    ];
    for format in FORMATS {
        let options: BTreeMap<String, String> = [&options, &EXACTLY_ONCE[..], format]
            .concat()
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let mut sink = rowferry_sinks::build("doris", &options, &context()).unwrap();
        println!("{format:?}, rows loaded: {}", suite(&mut sink, &database(), &mut reader).await);
    }
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
