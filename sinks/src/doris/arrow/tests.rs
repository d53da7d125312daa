#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::super::config::RowFormat;
use super::super::row_plan::{row_plan, target_type};
use super::super::target_type::TargetType;
use super::sample::Sample;
use super::targets::{Target, find};
use super::{settled, wire};
use crate::olap::body::{Format, Wire};
use crate::olap::column_type::ColumnType;
use rowferry_model::{Column, DataType, TableId, TableSchema};

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
