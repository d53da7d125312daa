#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::super::config::{Config, RowFormat};
use super::super::row_plan::{row_plan, target_type};
use super::super::shared::shared;
use super::super::sql::SqlClient;
use super::super::target_type::TargetType;
use super::canary::Canary;
use super::guard::Guard;
use super::sample::Sample;
use super::targets::{Target, find};
use super::{settled, wire};
use crate::olap::body::{Format, LoadColumns, Wire};
use crate::olap::column_type::ColumnType;
use crate::olap::load_error::Cause;
use crate::{Retry, SinkContext};
use rowferry_model::{Column, DataType, TableId, TableSchema};
use rowferry_stand_ins::doris::{Settings, StandIn};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn all_types() -> Vec<DataType> {
    use DataType::{
        BigInt, Binary, Boolean, Bytes, Char, Date, Decimal, Double, Float, Int, SmallInt, String, Time, Timestamp,
        TimestampLtz, TinyInt, Varbinary, Varchar,
    };
    let decimals = [(1, 0), (9, 2), (18, 18), (20, 0), (38, 0), (38, 38)];
    let decimals = decimals.map(|(precision, scale)| Decimal { precision, scale });
    let texts = [Char(1), Char(255), Varchar(0), Varchar(9), Varchar(60_000), String];
    let bytes = [Binary(1), Binary(300), Varbinary(9), Varbinary(60_000), Bytes];
    let others = [Boolean, TinyInt, SmallInt, Int, BigInt, Float, Double, Date, Time(0), Time(6)];
    let times = (0..=6).flat_map(|p| [Timestamp(p), TimestampLtz(p)]);
    decimals.into_iter().chain(texts).chain(bytes).chain(others).chain(times).collect()
}

/// A table that the sink has made itself takes everything.
#[test]
fn every_type_has_a_form_in_the_column_that_the_sink_gives_it() {
    for key in [false, true] {
        for ty in all_types() {
            let column = Column::new("c", ty).not_null();
            let target = target_type(&column, key);
            let primary_key = if key { vec!["c".to_owned()] } else { Vec::new() };
            let schema = TableSchema { columns: vec![column], primary_key, ..TableSchema::default() };
            let table = TableId::new("d", "t");
            let plan = row_plan(&table, &schema, true, &RowFormat::Arrow).unwrap();
            let header = if key { "__DORIS_DELETE_SIGN__,`c`" } else { "`c`" };
            assert_eq!(plan.load_columns.as_ref().unwrap().header, header, "a table without a key has no such column");
            let there = [Target { name: "C".to_owned(), target: target.clone() }];
            let plan = settled(&table, &schema, plan, &there).unwrap_or_else(|e| panic!("{ty} as {target}: {e}"));
            assert!(matches!(plan.format, Format::Arrow(_)));
            assert_eq!(plan.load_columns.unwrap().wires, [("c".to_owned(), wire(&target).unwrap().layout())]);
        }
    }
}

#[test]
fn types_that_the_sink_never_makes_have_no_form() {
    for shown in ["decimalv3(76,10)", "json", "variant", "array<int>", "ipv4", "bitmap", "timestamptz(6)"] {
        assert_eq!(wire(&TargetType::parse(shown)), None, "{shown}");
    }
    assert_eq!(wire(&TargetType::parse("decimalv3(38,10)")), Some(Wire::Decimal(38, 10)));
}

#[test]
fn columns_are_found_by_their_names_and_then_whatever_the_case() {
    let columns = ["A", "a", "B"].map(|name| Target { name: name.to_owned(), target: TargetType::Int });
    let found = |name| find(&columns, name).map(|t| t.name.as_str());
    assert_eq!((found("a"), found("A"), found("b"), found("c")), (Some("a"), Some("A"), Some("B"), None));
}

/// Each form is tried on the server: a new one needs a column there.
#[test]
fn the_check_has_a_column_of_each_form() {
    let sample = Sample::new(&TableId::new("d", "t")).unwrap();
    let tried: Vec<Wire> = sample.columns.iter().filter_map(|c| wire(&c.target)).collect();
    let scalars = [Wire::Boolean, Wire::LargeInteger, Wire::Float, Wire::Double, Wire::Date, Wire::Text(None)];
    for wanted in scalars.into_iter().chain([1, 2, 4, 8].map(Wire::Integer)).chain([0, 3, 6].map(Wire::DateTime)) {
        assert!(tried.contains(&wanted), "{wanted:?}");
    }
    // Backends have 4, 8 and 16 bytes for decimals, and two kinds of text with a length.
    for (low, high) in [(1, 9), (10, 18), (19, 38)] {
        assert!(tried.iter().any(|w| matches!(w, Wire::Decimal(p, _) if (low..=high).contains(p))), "{low} to {high}");
    }
    assert!(tried.iter().filter(|w| matches!(w, Wire::Text(Some(_)))).count() >= 2);
}

fn config(fenodes: &str) -> Arc<Config> {
    let options = [("fenodes", fenodes), ("username", "root"), ("password", ""), ("sink.properties.format", "arrow")];
    let context = SinkContext {
        pipeline: "p".to_owned(),
        parallelism: 1,
        time_zone: "UTC".to_owned(),
        instance: "0".repeat(32),
        select: |_| Err("there are no patterns here".to_owned()),
    };
    Arc::new(Config::parse(&options.map(|(k, v)| (k.to_owned(), v.to_owned())).into(), &context).unwrap())
}

/// A new attempt would not know what its rows were read as.
#[test]
fn rows_that_are_seen_and_a_table_that_can_not_be_looked_at_stop_the_run() {
    let server = StandIn::start(Settings::default());
    let config = config(&server.fenodes());
    drop(server);
    let mut guard = Guard::new(SqlClient::new(&config).unwrap());
    guard.patience = Duration::from_millis(300);
    let start = Instant::now();
    let error = guard.after_seen(&TableId::new("d", "t"), &LoadColumns::new(String::new())).unwrap_err();
    assert!(start.elapsed() >= guard.patience);
    assert_eq!(error.cause, Cause::Refused, "{}", error.message);
    for words in ["d.t can't be looked at", "some of its rows may be wrong"] {
        assert!(error.message.contains(words), "{}", error.message);
    }
    assert!(error.hint.unwrap().contains("snapshot the table again"));
}

/// It says nothing of how backends read Arrow.
#[test]
fn a_check_whose_rows_are_not_seen_in_time_may_be_made_again() {
    let server = StandIn::start(Settings::default());
    server.world().execute("", "root", "CREATE DATABASE d").unwrap();
    server.world().publish_delay = Duration::from_secs(3600);
    let config = config(&server.fenodes());
    let shared = Arc::new(shared(&config).unwrap());
    let mut canary = Canary::new(Arc::clone(&config), shared, SqlClient::new(&config).unwrap(), "d");
    canary.visible_wait = Duration::from_millis(300);
    let error = canary.prove().unwrap_err();
    assert_eq!(error.retry(), Retry::Transient, "{error}");
    assert!(error.to_string().contains("0 of 4 rows that were loaded are seen"), "{error}");
    server.world().publish_delay = Duration::ZERO;
    canary.visible_wait = Duration::from_secs(240);
    canary.prove().unwrap();
}
