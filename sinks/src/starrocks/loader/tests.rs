#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::super::shared::shared;
use super::{Config, StarRocksLoader};
use crate::SinkContext;
use crate::olap::load_error::Cause;
use crate::olap::loads::Piece;
use rowferry_model::TableId;
use rowferry_stand_ins::starrocks::{FaultAction, Settings, StandIn, When, execute};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A loader without transactions that gives up a label of which nothing is known after this time, and its table.
fn loader(server: &StandIn, unknown_wait: Duration) -> (StarRocksLoader, TableId) {
    for sql in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id BIGINT NOT NULL) PRIMARY KEY(id) DISTRIBUTED BY HASH(id)",
    ] {
        execute(&mut server.world(), &mut String::new(), "root", sql).unwrap();
    }
    let options = [
        ("jdbc-url", server.jdbc_url()),
        ("load-url", server.load_url()),
        ("username", "root".to_owned()),
        ("password", String::new()),
        ("sink.at-least-once.use-transaction-stream-load", "false".to_owned()),
    ];
    let context = SinkContext {
        pipeline: "p".to_owned(),
        parallelism: 1,
        time_zone: "UTC".to_owned(),
        instance: "0".repeat(32),
        select: |_| Err("there are no patterns here".to_owned()),
    };
    let config = Config::parse(&options.map(|(k, v)| (k.to_owned(), v)).into(), &context).unwrap();
    let mut loader = StarRocksLoader::new(&config, Arc::new(shared(&config).unwrap()));
    loader.unknown_wait = unknown_wait;
    (loader, TableId::new("shop", "orders"))
}

fn piece() -> Piece {
    Piece::of(br#"[{"id":1,"__op":0}]"#.to_vec(), 1)
}

fn labels(server: &StandIn) -> Vec<String> {
    server.world().transactions.iter().map(|t| t.label.clone()).collect()
}

/// Of a load whose answer is lost, all that is known at first is that its label is taken.
#[test]
fn a_label_that_is_taken_is_asked_for_until_a_frontend_knows_it() {
    let server = StandIn::start(Settings::default());
    let (loader, table) = loader(&server, Duration::from_secs(240));
    server.fault("stream_load", When::After, FaultAction::Drop, 0, 1);
    server.world().labels_unheard_of = 3;
    loader.plain(&table, &piece()).unwrap();
    assert_eq!(server.world().labels_unheard_of, 0, "it was asked for again and again");
    assert_eq!(labels(&server).len(), 1, "the rows were loaded once");
}

#[test]
fn a_label_that_is_taken_and_that_no_frontend_knows_is_given_up_after_a_while_and_another_one_used() {
    let wait = Duration::from_secs(2);
    let server = StandIn::start(Settings::default());
    let (loader, table) = loader(&server, wait);
    loader.plain_once(&table, &piece(), "taken").unwrap();
    server.world().labels_unheard_of = usize::MAX;
    let start = Instant::now();
    let error = loader.plain_once(&table, &piece(), "taken").unwrap_err();
    assert!(start.elapsed() > wait, "another frontend may not know it yet: {:?}", start.elapsed());
    assert_eq!(error.cause, Cause::Busy, "another try may help: {}", error.message);
    for words in ["nothing is known of the load taken", "shop.orders", "label is taken"] {
        assert!(error.message.contains(words), "{}", error.message);
    }
    assert!(usize::MAX - server.world().labels_unheard_of > 1, "it was asked for more than once");
    // The whole way: the answer is lost, the label is taken, nothing is known of it, and another one does.
    server.fault("stream_load", When::After, FaultAction::Drop, 0, 1);
    let start = Instant::now();
    loader.plain(&table, &piece()).unwrap();
    assert!(start.elapsed() > wait, "{:?}", start.elapsed());
    let labels = labels(&server);
    assert!(labels.len() == 3 && labels[1] != labels[2], "{labels:?}");
    assert_eq!(server.world().rows("shop", "orders"), [[Some("1".to_owned())]]);
}
