#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::committable::PreparedTransaction;
use super::config::{Config, Mode, RowFormat};
use super::dialect::Doris;
use super::load_client::transaction_in;
use super::partition::PREFIX;
use super::row_plan::{load_plan, row_plan, target_type};
use super::target_type::TargetType;
use crate::olap::applier::default_sql;
use crate::olap::body::Constant;
use crate::olap::column_type::ColumnType;
use crate::olap::committable;
use crate::olap::label::Labels;
use crate::{Committable, SinkContext, TableSelector};
use rowferry_model::{Column, DataType, TableId, TableSchema};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Names themselves, with commas between them.
fn whole_names(list: &str) -> Result<TableSelector, String> {
    if list.contains('*') {
        return Err("a name".to_owned());
    }
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    Ok(Arc::new(move |table| names.contains(&table.to_string())))
}

fn parse(more: &[(&str, &str)]) -> Result<Config, String> {
    let mut options: BTreeMap<String, String> =
        [("fenodes", "fe1:8030, https://fe2:8050"), ("username", "u"), ("password", "secret")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into();
    for (k, v) in more {
        if v.is_empty() {
            options.remove(*k);
        } else {
            options.insert((*k).to_owned(), (*v).to_owned());
        }
    }
    let context = SinkContext {
        pipeline: "p".to_owned(),
        parallelism: 1,
        time_zone: "Asia/Shanghai".to_owned(),
        instance: "0".repeat(32),
        select: whole_names,
    };
    Config::parse(&options, &context).map_err(|e| e.to_string())
}

#[test]
fn options_have_flink_cdcs_defaults() {
    let config = parse(&[]).unwrap();
    let frontends: Vec<&str> = config.frontends.iter().map(|u| u.as_str()).collect();
    assert_eq!(frontends, ["http://fe1:8030/", "https://fe2:8050/"]);
    assert_eq!((config.backends.len(), config.auto_redirect, config.mode), (0, false, Mode::Plain));
    assert_eq!((config.piece_bytes, config.piece_rows, config.max_bytes), (10_485_760, 50_000, 4 * 10_485_760));
    assert_eq!((config.flush_interval, config.max_retries, config.deletes), (Duration::from_secs(10), 3, true));
    let headers: Vec<String> = config.load_headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    assert_eq!(headers, ["strict_mode: true", "timeout: 86400", "format: json", "read_json_by_line: true"]);
    assert!(!format!("{config:?}").contains("secret"));
    assert!(parse(&[("password", "")]).is_ok(), "the password may be left out");
}

#[test]
fn modes() {
    let mode = |more: &[(&str, &str)]| parse(more).map(|c| c.mode);
    let streaming = ("sink.enable.batch-mode", "false");
    let two = ("sink.enable-2pc", "true");
    let group = ("sink.properties.group_commit", "sync_mode");
    assert_eq!(mode(&[two]).unwrap(), Mode::Plain, "two phases have no effect in batch mode, as in Flink CDC");
    assert_eq!(mode(&[streaming]).unwrap(), Mode::Plain);
    assert_eq!(mode(&[streaming, two]).unwrap(), Mode::TwoPhase);
    // The spelling of Alibaba's manual.
    assert_eq!(mode(&[("sink.enable-batch-mode", "false"), two]).unwrap(), Mode::TwoPhase);
    assert_eq!(mode(&[group]).unwrap(), Mode::GroupCommit);
    assert_eq!(mode(&[("sink.properties.group_commit", "off_mode")]).unwrap(), Mode::Plain);
    assert!(mode(&[streaming, two, group]).is_err());
}

#[test]
fn options_that_cannot_be_understood_are_named() {
    for (key, value) in [
        ("fenodes", "ftp://fe"),
        ("fenodes", ""),
        ("fenodes", "http://u:p@fe:8030"),
        ("username", ""),
        ("benodes", ","),
        ("sink.label-prefix", "a b"),
        ("sink.enable.batch-mode", "perhaps"),
        ("sink.buffer-flush.max-rows", "9999"),
        ("sink.buffer-flush.max-bytes", "1048576"),
        ("sink.buffer-flush.interval", "soon"),
        ("sink.max-retries", "-1"),
        ("charset-encoding", "GBK"),
        ("schema.evolution.timeout", "x"),
        ("sink.properties.label", "mine"),
        ("sink.properties.format", "csv_with_names"),
        ("sink.properties.read_json_by_line", "false"),
        ("sink.properties.strip_outer_array", "true"),
        ("sink.properties.compress_type", "lz4"),
        ("sink.properties.group_commit", "on"),
        ("table.create.auto-partition.properties.include", "a.*"),
        ("table.create.auto-partition.properties.default-partition-unit", "decade"),
        ("table.create.auto-partition.properties.a.b.partition-unit", "fortnight"),
        ("table.create.auto-partition.properties.partitions", "9"),
    ] {
        let error = parse(&[(key, value)]).unwrap_err();
        assert!(error.contains(key), "{key}: {error}");
    }
}

#[test]
fn csv_takes_nothing_that_changes_its_meaning() {
    let csv = |more: (&'static str, &'static str)| parse(&[("sink.properties.format", "csv"), more]);
    let config = csv(("sink.properties.read_json_by_line", "true")).unwrap();
    let headers: Vec<String> = config.load_headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    assert_eq!(headers[2..], ["format: csv", "column_separator: \\x01", "line_delimiter: \\x02"]);
    for more in [
        ("sink.properties.columns", "id"),
        ("sink.properties.enclose", "'"),
        ("sink.properties.trim_double_quotes", "true"),
        ("sink.properties.line_delimiter", "\\x01\\x02"),
    ] {
        let error = csv(more).unwrap_err();
        assert!(error.contains(more.0), "{more:?}: {error}");
    }
}

#[test]
fn arrow_has_no_headers_that_change_its_meaning() {
    let arrow = |more: (&'static str, &'static str)| parse(&[("sink.properties.format", "Arrow"), more]);
    let config = arrow(("sink.properties.max_filter_ratio", "0")).unwrap();
    assert_eq!(config.format, RowFormat::Arrow);
    let headers: Vec<String> = config.load_headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    assert_eq!(headers, ["max_filter_ratio: 0", "strict_mode: true", "timeout: 86400", "format: arrow"]);
    for more in
        [("sink.properties.columns", "id"), ("sink.properties.jsonpaths", "$"), ("sink.properties.compress_type", "gz")]
    {
        let error = arrow(more).unwrap_err();
        assert!(error.contains(more.0), "{more:?}: {error}");
    }
}

/// The recorded rule: `^[-_A-Za-z0-9:\p{L}]{1,128}$`.
#[test]
fn labels_are_taken() {
    let prefix = format!("{}_", "p".repeat(40));
    for (database, table) in [("a", "b.c"), ("商店", "订单 /%")] {
        let labels = Labels::new(&prefix, &"f".repeat(32), &TableId::new(database, table));
        for label in [labels.transaction(u64::MAX, u32::MAX), labels.plain(u64::MAX >> 10, 999_999_999_999)] {
            let ok = label.bytes().all(|x| x.is_ascii_alphanumeric() || matches!(x, b'-' | b'_'));
            assert!(label.len() <= 128 && ok, "{} {label}", label.len());
        }
    }
}

#[test]
fn a_type_holds_what_needs_no_change() {
    let holds = |a: &str, b: &str| TargetType::parse(a).holds(&TargetType::parse(b));
    for (a, b) in [
        ("bigint", "tinyint"),
        ("largeint", "decimalv3(38,0)"),
        ("decimalv3(12,4)", "decimal(10,2)"),
        ("decimalv3(20,0)", "bigint"),
        ("varchar(40)", "character(40)"),
        ("text", "varchar(65533)"),
        ("double", "float"),
        ("datetimev2(6)", "datetimev2(0)"),
    ] {
        assert!(holds(a, b), "{a} {b}");
        assert!(!holds(b, a), "{b} {a}");
    }
    assert!(holds("datetime", "datetimev2(0)") && holds("datev2", "date") && !holds("int", "boolean"));
}

#[test]
fn defaults_are_those_that_doris_takes() {
    let sql = |ty: &str, text: &str| {
        let mut column = Column::new("c", DataType::Varchar(1));
        column.default = Some(text.to_owned());
        default_sql::<Doris>(&column, &TargetType::parse(ty))
    };
    for (ty, text, wanted) in [
        ("int", "5", Some("\"5\"")),
        ("int", "5.5", None),
        ("tinyint", "200", None),
        ("boolean", "b'1'", Some("\"1\"")),
        ("boolean", "2", None),
        ("decimal(10,2)", "1.20", Some("\"1.2\"")),
        ("decimal(10,2)", "1.239", None),
        ("varchar(6)", "中文", Some("\"中文\"")),
        ("varchar(5)", "中文", None),
        ("varchar(50)", "say \"hi\"", Some("'say \"hi\"'")),
        ("varchar(50)", "it's \"both\"", None),
        ("varchar(50)", "a\\", None),
        ("datetimev2(3)", "current_timestamp(6)", Some("CURRENT_TIMESTAMP(3)")),
        ("datetimev2(0)", "CURRENT_TIMESTAMP(6)", Some("CURRENT_TIMESTAMP")),
        ("datetimev2(6)", "0000-00-00 00:00:00", Some("\"1970-01-01 00:00:00\"")),
        ("datetimev2(6)", "2020-01-01", None),
        ("date", "2020-01-01", Some("\"2020-01-01\"")),
    ] {
        assert_eq!(sql(ty, text).as_deref(), wanted, "{ty} {text}");
    }
}

#[test]
fn committables_are_read_back_and_others_refused() {
    let transactions = vec![PreparedTransaction {
        id: 7,
        label: "l".to_owned(),
        database: "d".to_owned(),
        table: "中 \"t\"".to_owned(),
    }];
    let saved = committable::encode("doris", transactions.clone()).unwrap();
    assert_eq!(committable::decode::<PreparedTransaction>("doris", &saved).unwrap(), transactions);
    for bad in [&b"{\"version\":2,\"transactions\":[]}"[..], b"x"] {
        assert!(committable::decode::<PreparedTransaction>("doris", &Committable(bad.to_vec())).is_err());
    }
}

/// The words of `2pc/begin same label while open`.
#[test]
fn the_transaction_behind_a_label_is_found() {
    let words =
        "errCode = 2, detailMessage = Label [l] has already been used, relate to txn [18036], status [PREPARE].";
    assert_eq!(transaction_in(words), Some(18_036));
    assert_eq!(transaction_in("Label [l] has already been used"), None);
}

#[test]
fn lengths_follow_the_charset_of_the_source() {
    let column = |ty, max_bytes| Column { max_bytes, ..Column::new("c", ty) };
    for (ty, max_bytes, wanted) in [
        (DataType::Varchar(10), None, "VARCHAR(40)"),
        (DataType::Varchar(10), Some(40), "VARCHAR(40)"),
        (DataType::Varchar(10), Some(30), "VARCHAR(30)"),
        (DataType::Varchar(0), None, "VARCHAR(1)"),
        (DataType::Varchar(16_384), None, "STRING"),
        (DataType::Char(63), None, "CHAR(252)"),
        (DataType::Char(64), None, "VARCHAR(256)"),
    ] {
        assert_eq!(target_type(&column(ty, max_bytes), false).to_string(), wanted, "{ty}");
    }
    assert_eq!(target_type(&column(DataType::String, None), true).to_string(), "VARCHAR(65533)");
    let schema = TableSchema {
        columns: vec![Column::new("k", DataType::Binary(10)).not_null()],
        primary_key: vec!["k".to_owned()],
        ..TableSchema::default()
    };
    // 16 characters of base64 for 12 bytes at most.
    assert_eq!(row_plan(&TableId::new("d", "t"), &schema, true, &RowFormat::Json).unwrap().columns[0].limit, Some(12));
}

fn partitioned(more: &[(&str, &str)]) -> Result<Config, String> {
    let named: Vec<(String, &str)> = more.iter().map(|(key, value)| (format!("{PREFIX}{key}"), *value)).collect();
    let options: Vec<(&str, &str)> = named.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    parse(&options)
}

#[test]
fn partitions_are_chosen_by_table() {
    let schema = TableSchema {
        columns: vec![
            Column::new("id", DataType::Int).not_null(),
            Column::new("at", DataType::Timestamp(3)),
            Column::new("day", DataType::Date),
            Column::new("name", DataType::Varchar(9)),
        ],
        primary_key: vec!["id".to_owned()],
        ..TableSchema::default()
    };
    let config = partitioned(&[
        ("include", "d.a,d.b,d.c,d.e"),
        ("exclude", "d.c"),
        ("default-partition-key", "at"),
        ("default-partition-unit", "Month"),
        ("d.b.partition-key", "day"),
        ("d.b.partition-unit", "day"),
        ("d.e.partition-key", "name"),
    ])
    .unwrap();
    let chosen = |table: &str| {
        let partition = config.partitions.of(&TableId::new("d", table), &schema);
        partition.map(|p| format!("{} by {}", p.column, p.unit))
    };
    assert_eq!(chosen("a").as_deref(), Some("at by month"));
    assert_eq!(chosen("b").as_deref(), Some("day by day"));
    assert_eq!(chosen("c"), None, "excluded");
    assert_eq!(chosen("other"), None, "not included");
    assert_eq!(chosen("e"), None, "no day");
    let error = config.partitions.check(&TableId::new("d", "e"), &schema).unwrap_err().to_string();
    assert!(error.contains("`name`") && error.contains("d.e.partition-key"), "{error}");
    config.partitions.check(&TableId::new("d", "a"), &schema).unwrap();

    // The column is the last of the key and takes no NULL.
    let table = TableId::new("d", "a");
    let shaped = config.partitions.shape(&table, &schema);
    assert_eq!(shaped.primary_key, ["id", "at"]);
    assert!(!shaped.columns[1].nullable);
    let plan = load_plan(&config, &table, &schema).unwrap();
    assert_eq!(plan.keys, [0, 1]);
    let nulls: Vec<Constant> = plan.columns.iter().map(|c| c.null).collect();
    assert_eq!(nulls, [Constant::Null, Constant::Text("1970-01-01 00:00:00"), Constant::Null, Constant::Null]);
    assert_eq!(
        load_plan(&config, &TableId::new("d", "b"), &schema).unwrap().columns[2].null,
        Constant::Text("1970-01-01")
    );
}

#[test]
fn partitions_need_a_unit() {
    let error = partitioned(&[("default-partition-key", "at")]).unwrap_err();
    assert!(error.contains("default-partition-unit"), "{error}");
    let error = partitioned(&[("d.b.partition-key", "at")]).unwrap_err();
    assert!(error.contains("d.b"), "{error}");
    assert!(partitioned(&[("default-partition-unit", "day")]).is_ok(), "a unit alone partitions nothing");
}
