//! The options of the sink block.

use super::Warehouse;
use crate::paimon::config::{Config, TimeType};
use crate::{Retry, SinkError};
use std::collections::BTreeMap;
use std::path::Path;

fn parse(options: &[(&str, &str)]) -> Result<Config, SinkError> {
    let mut all: BTreeMap<String, String> = [("catalog.properties.warehouse".to_owned(), "/data/wh".to_owned())].into();
    all.extend(options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    Config::parse(&all)
}

#[test]
fn all_options_are_read() {
    let config = parse(&[
        ("catalog.properties.metastore", "filesystem"),
        ("catalog.properties.cache-enabled", "false"),
        ("commit.user", "job-17"),
        ("partition.key", "lake.event:dt,hh; lake.click:dt ;"),
        ("table.properties.bucket", "4"),
        ("table.properties.changelog-producer", "input"),
        ("rowferry.time-type", "STRING"),
    ])
    .unwrap();
    assert_eq!(config.warehouse, Path::new("/data/wh"));
    assert_eq!(config.catalog, [("cache-enabled".to_owned(), "false".to_owned())].into());
    assert_eq!(config.commit_user_prefix, "job-17");
    assert_eq!(config.partition_keys["lake.event"], ["dt", "hh"]);
    assert_eq!(config.partition_keys["lake.click"], ["dt"]);
    assert_eq!(config.table_options.len(), 2);
    assert_eq!(config.time_type, TimeType::String);
    assert_eq!(parse(&[]).unwrap().commit_user_prefix, "admin");
    assert_eq!(parse(&[("commit.user-prefix", "a"), ("commit.user", "b")]).unwrap().commit_user_prefix, "a");
}

#[test]
fn a_warehouse_is_a_directory_or_a_file_uri() {
    for (text, path) in [
        ("/data/wh", "/data/wh"),
        ("file:/data/wh", "/data/wh"),
        ("file:///data/wh", "/data/wh"),
        ("file://localhost/data/wh", "/data/wh"),
        ("/data/a:b", "/data/a:b"),
    ] {
        assert_eq!(parse(&[("catalog.properties.warehouse", text)]).unwrap().warehouse, Path::new(path), "{text}");
    }
    assert!(parse(&[("catalog.properties.warehouse", "wh")]).unwrap().warehouse.is_absolute());
    for text in ["s3://bucket/wh", "hdfs:/wh", "oss://b/wh", ""] {
        let error = parse(&[("catalog.properties.warehouse", text)]).unwrap_err();
        assert!(error.hint_text().is_some(), "{text}");
    }
}

#[test]
fn what_can_not_be_understood_or_reached_is_refused() {
    for (key, value) in [
        ("catalog.properties.metastore", "hive"),
        ("catalog.properties.metastore", "rest"),
        ("rowferry.time-type", "INT"),
        ("rowferry.buffer-bytes", "many"),
        ("partition.key", "lake.event"),
        ("partition.key", "lake.event:"),
        ("partition.key", "a.b:c:d"),
        ("partition.key", ":c"),
    ] {
        let error = parse(&[(key, value)]).unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn table_options_that_hide_rows_are_refused_with_the_reason() {
    for (key, value) in [
        ("deletion-vectors.enabled", "true"),
        ("bucket", "-2"),
        ("merge-engine", "first-row"),
        ("rowkind.field", "op"),
        ("type", "format-table"),
        ("branch", "b1"),
        ("query-auth.enabled", "true"),
    ] {
        let error = parse(&[(&format!("table.properties.{key}"), value)]).unwrap_err();
        assert!(error.to_string().contains(key) && error.to_string().contains("refused"), "{error}");
        assert_eq!(error.retry(), Retry::Permanent);
        assert!(error.hint_text().is_some());
    }
    for (key, value) in [
        ("deletion-vectors.enabled", "false"),
        ("bucket", "-1"),
        ("bucket", "4"),
        ("merge-engine", "deduplicate"),
        ("write-only", "true"),
    ] {
        assert!(parse(&[(&format!("table.properties.{key}"), value)]).is_ok(), "{key}: {value}");
    }
}

#[tokio::test]
async fn probe_says_what_is_wrong_with_the_warehouse_and_changes_nothing() {
    let warehouse = Warehouse::new(&[]);
    warehouse.sink().metadata.probe().await.unwrap();
    assert!(!warehouse.path().exists());
    std::fs::write(warehouse.path(), "a file").unwrap();
    let error = warehouse.sink().metadata.probe().await.unwrap_err().to_string();
    assert!(error.contains("is not a directory"), "{error}");
}
