#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::committable::PreparedTransaction;
use super::config::Config;
use super::dialect::StarRocks;
use super::row_plan::row_plan;
use super::target_type::TargetType;
use crate::olap::applier::default_sql;
use crate::olap::column_type::ColumnType;
use crate::olap::committable;
use crate::olap::label::Labels;
use crate::{Committable, SinkContext};
use rowferry_model::{Column, DataType, TableId, TableSchema};
use rowferry_tls::TlsMode;
use std::collections::BTreeMap;
use std::time::Duration;

fn parse(more: &[(&str, &str)]) -> Result<Config, String> {
    let mut options: BTreeMap<String, String> = [
        ("jdbc-url", "jdbc:mysql://fe1:9030,fe2"),
        ("load-url", "fe1:8030; https://lb"),
        ("username", "u"),
        ("password", "secret"),
    ]
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
        select: |_| Err("there are no patterns here".to_owned()),
    };
    Config::parse(&options, &context).map_err(|e| e.to_string())
}

#[test]
fn options_have_flink_cdcs_defaults() {
    let config = parse(&[]).unwrap();
    assert_eq!(config.sql_addresses, ["fe1:9030", "fe2:9030"]);
    assert_eq!(config.load_urls.iter().map(|u| u.as_str()).collect::<Vec<_>>(), ["http://fe1:8030/", "https://lb/"]);
    assert_eq!((config.max_bytes, config.threads, config.transactional), (157_286_400, 2, true));
    assert_eq!(config.flush_interval, Duration::from_secs(300));
    assert_eq!(config.schema_change_timeout, Duration::from_secs(1800));
    assert_eq!((config.connect_timeout, config.socket_timeout), (Duration::from_secs(30), None));
    let headers: Vec<String> = config.load_headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    assert_eq!(headers, ["strict_mode: true", "format: json", "strip_outer_array: true", "ignore_json_size: true"]);
    assert!(!format!("{config:?}").contains("secret"));
}

#[test]
fn options_that_cannot_be_understood_are_named() {
    for (key, value) in [
        ("jdbc-url", "mysql://fe:9030"),
        ("jdbc-url", "jdbc:mysql://"),
        ("jdbc-url", "jdbc:mysql://fe:9030?useSSL=maybe"),
        ("jdbc-url", "jdbc:mysql://fe:9030?sslMode=STRICT"),
        ("jdbc-url", ""),
        ("load-url", "ftp://fe"),
        ("password", ""),
        ("sink.label-prefix", "a b"),
        ("sink.label-prefix", "中"),
        ("unicode-char.max-bytes", "5"),
        ("sink.io.thread-count", "0"),
        ("table.create.num-buckets", "many"),
        ("table.schema-change.timeout", "500 ms"),
        ("sink.properties.timeout", "300000"),
        ("sink.properties.label", "mine"),
        ("sink.at-least-once.use-transaction-stream-load", "perhaps"),
    ] {
        let error = parse(&[(key, value)]).unwrap_err();
        assert!(error.contains(key), "{key}: {error}");
    }
    for value in ["90s", "1 h", "30 min", "2 d"] {
        parse(&[("table.schema-change.timeout", value)]).unwrap();
    }
}

#[test]
fn tls_is_asked_for_in_the_words_of_mysqls_driver() {
    let mode = |parameters: &str| {
        parse(&[("jdbc-url", &format!("jdbc:mysql://fe:9030/shop?{parameters}"))]).map(|config| config.tls.mode())
    };
    // What each word means is `rowferry-tls`' own; here it is found whatever the case of its name and however it is
    // written in a URL, and the last one counts.
    for (parameters, wanted) in [
        ("", TlsMode::Preferred),
        ("characterEncoding=utf8&requireSSL=true", TlsMode::Required),
        ("useSSL=false&sslMode=verify_identity", TlsMode::VerifyIdentity),
        ("SSLMODE=VERIFY%5FCA&requireSSL=true", TlsMode::VerifyCa),
        ("sslMode=DISABLED&sslMode=+REQUIRED+", TlsMode::Required),
        ("sslMode=&verifyServerCertificate=true", TlsMode::VerifyCa),
        ("sslMode=PREFERRED&trustCertificateKeyStoreUrl=file:/etc/trust.jks", TlsMode::Preferred),
    ] {
        assert_eq!(mode(parameters).unwrap(), wanted, "{parameters}");
    }
    let verify = "sslMode=VERIFY_CA&trustCertificateKeyStoreUrl";
    for (parameters, words) in [
        (format!("{verify}=file:/etc/trust.jks"), "a key store of Java (JKS)"),
        (format!("{verify}=file:/etc/trust.p12&trustCertificateKeyStoreType=PKCS12"), "a key store of Java (PKCS12)"),
        (format!("{verify}=https://lb/ca.pem&trustCertificateKeyStoreType=PEM"), "is not the `file:` URL"),
        (format!("{verify}=file:///nonexistent/ca.pem&trustCertificateKeyStoreType=pem"), "/nonexistent/ca.pem"),
        // A file that is there and has no certificate.
        (
            format!("{verify}={}&trustCertificateKeyStoreType=PEM", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")),
            "there is none",
        ),
    ] {
        let error = mode(&parameters).unwrap_err();
        assert!(error.contains(words) && error.contains("`jdbc-url`"), "{parameters}: {error}");
    }
}

#[test]
fn headers_of_loads_are_the_users_but_for_the_forced_ones() {
    let config = parse(&[
        ("sink.properties.format", "parquet"),
        ("sink.properties.strict_mode", "false"),
        ("sink.properties.max_filter_ratio", "0.1"),
        ("sink.properties.timeout", "900"),
    ])
    .unwrap();
    let headers: Vec<String> = config.load_headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    assert_eq!(
        headers,
        [
            "max_filter_ratio: 0.1",
            "strict_mode: false",
            "format: json",
            "strip_outer_array: true",
            "ignore_json_size: true"
        ]
    );
    assert_eq!(config.transaction_timeout, 900);
}

#[test]
fn csv_has_separators_that_text_seldom_has() {
    let headers = |more: &[(&str, &str)]| {
        let mut options = vec![("sink.properties.format", "CSV")];
        options.extend_from_slice(more);
        let headers = parse(&options)?.load_headers.into_iter();
        Ok::<_, String>(headers.map(|(k, v)| format!("{k}: {v}")).collect::<Vec<_>>())
    };
    let rest = ["strict_mode: true", "format: csv"];
    assert_eq!(headers(&[]).unwrap(), [rest[0], rest[1], "column_separator: \\x01", "row_delimiter: \\x02"]);
    let own = [("sink.properties.column_separator", "||"), ("sink.properties.row_delimiter", "\\x0D0a")];
    assert_eq!(headers(&own).unwrap(), [rest[0], rest[1], "column_separator: \\x7c7c", "row_delimiter: \\x0d0a"]);
    let own = [("sink.properties.column_separator", "\\t"), ("sink.properties.row_delimiter", "\\n")];
    assert_eq!(headers(&own).unwrap(), [rest[0], rest[1], "column_separator: \\x09", "row_delimiter: \\x0a"]);
    for (key, value) in [
        ("sink.properties.column_separator", "\\xZZ"),
        ("sink.properties.column_separator", "\\x1"),
        ("sink.properties.column_separator", "\\s"),
        ("sink.properties.column_separator", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        ("sink.properties.row_delimiter", "\\x0102"),
        ("sink.properties.row_delimiter", "|\\x01"),
        ("sink.properties.row_delimiter", "N"),
        ("sink.properties.column_separator", "00"),
        ("sink.properties.column_separator", "-"),
        ("sink.properties.column_separator", "§"),
        ("sink.properties.column_separator", "\\xc2a7"),
        ("sink.properties.column_separator", "|\u{2}"),
        ("sink.properties.columns", "id"),
        ("sink.properties.enclose", "'"),
        ("sink.properties.trim_space", "true"),
    ] {
        let error = headers(&[(key, value)]).unwrap_err();
        let other = if value == "|\u{2}" { "sink.properties.row_delimiter" } else { key };
        assert!(error.contains(other), "{key}: {error}");
    }
}

#[test]
fn addresses_are_shown_without_secrets() {
    for (option, value) in [
        ("jdbc-url", "jdbc:mysql://root:s3cret@fe:9030"),
        ("jdbc-url", "jdbc:mariadb://fe:9030/?trustCertificateKeyStorePassword=s3cret"),
        ("load-url", "http://root:s3cret@fe:8030"),
        ("load-url", "root:s3cret@fe:8030"),
    ] {
        let error = parse(&[(option, value)]).unwrap_err();
        assert!(error.contains(option) && !error.contains("s3cret"), "{error}");
    }
}

/// The recorded rule: `^[-\w]{1,128}$`.
#[test]
fn labels_are_taken_and_tell_tables_apart() {
    let prefix = format!("{}_", "p".repeat(40));
    let label = |database: &str, table: &str| {
        Labels::new(&prefix, &"f".repeat(32), &TableId::new(database, table)).transaction(u64::MAX, u32::MAX)
    };
    let (a, b, c) = (label("a", "b.c"), label("a.b", "c"), label("商店", "订单 /%"));
    for l in [&a, &b, &c] {
        assert!(l.len() <= 128 && l.bytes().all(|x| x.is_ascii_alphanumeric() || matches!(x, b'-' | b'_')), "{l}");
    }
    assert!(a != b && b != c);
}

#[test]
fn a_type_holds_what_needs_no_change() {
    let holds = |a: &str, b: &str| TargetType::parse(a).holds(&TargetType::parse(b));
    for (a, b) in [
        ("bigint", "tinyint"),
        ("largeint", "decimal(38,0)"),
        ("decimal(12,4)", "decimal(10,2)"),
        ("decimal(20,0)", "bigint"),
        ("varchar(40)", "char(40)"),
        ("varbinary", "varbinary(10)"),
        ("double", "float"),
    ] {
        assert!(holds(a, b), "{a} {b}");
        assert!(!holds(b, a), "{b} {a}");
    }
    for (a, b) in
        [("decimal(10,4)", "decimal(10,2)"), ("decimal(18,0)", "bigint"), ("date", "datetime"), ("int", "boolean")]
    {
        assert!(!holds(a, b), "{a} {b}");
    }
}

#[test]
fn defaults_are_those_that_starrocks_takes() {
    let sql = |ty: &str, text: &str| {
        let mut column = Column::new("c", DataType::Varchar(1));
        column.default = Some(text.to_owned());
        default_sql::<StarRocks>(&column, &TargetType::parse(ty))
    };
    for (ty, text, wanted) in [
        ("int", "5", Some("\"5\"")),
        ("int", "5.5", None),
        ("tinyint", "200", None),
        ("boolean", "b'1'", Some("\"1\"")),
        ("boolean", "2", None),
        ("decimal(10,2)", "1.20", Some("\"1.2\"")),
        ("decimal(10,2)", "1.239", None),
        ("decimal(10,2)", "123456789012", None),
        ("varchar(6)", "中文", Some("\"中文\"")),
        ("varchar(5)", "中文", None),
        ("datetime", "current_timestamp(6)", Some("CURRENT_TIMESTAMP")),
        ("datetime", "0000-00-00 00:00:00", Some("\"1970-01-01 00:00:00\"")),
        ("datetime", "bad", None),
        ("date", "2020-01-01", Some("\"2020-01-01\"")),
        ("varbinary", "x", None),
    ] {
        assert_eq!(sql(ty, text).as_deref(), wanted, "{ty} {text}");
    }
}

#[test]
fn committables_are_read_back_and_others_refused() {
    let transactions =
        vec![PreparedTransaction { label: "l".to_owned(), database: "d".to_owned(), table: "中 \"t\"".to_owned() }];
    let saved = committable::encode("starrocks", transactions.clone()).unwrap();
    assert_eq!(committable::decode::<PreparedTransaction>("starrocks", &saved).unwrap(), transactions);
    for bad in [&b"{\"version\":2,\"transactions\":[]}"[..], b"x"] {
        assert!(committable::decode::<PreparedTransaction>("starrocks", &Committable(bad.to_vec())).is_err());
    }
}

#[test]
fn binary_columns_are_converted_by_the_load() {
    let mut schema = TableSchema {
        columns: vec![Column::new("id", DataType::Int).not_null(), Column::new("b c", DataType::Bytes)],
        primary_key: vec!["id".to_owned()],
        ..TableSchema::default()
    };
    let table = TableId::new("d", "t");
    let config = parse(&[]).unwrap();
    let plan = row_plan(&config, &table, &schema).unwrap();
    assert_eq!(
        plan.load_columns.map(|c| c.header.clone()).as_deref(),
        Some("`__op`,`id`,`__rowferry_1`,`b c`=to_binary(`__rowferry_1`,'encode64')")
    );
    let own = parse(&[("sink.properties.columns", "id")]).unwrap();
    assert!(row_plan(&own, &table, &schema).is_err(), "the header is needed, but the user has another");
    schema.columns.pop();
    assert_eq!(row_plan(&config, &table, &schema).unwrap().load_columns, None);
    assert!(row_plan(&own, &table, &schema).is_ok());
}
