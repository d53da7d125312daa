//! Rows in the shape of their target.

use super::support::*;
use crate::config::Zone;
use crate::pipeline::evolve::{Coercion, EvolveError};
use rowferry_model::RowOp;
use std::sync::Arc;

/// What a value becomes; `None`: it does not fit.
fn cast(from: &str, to: &str, value: &str, zone: &str) -> Option<String> {
    let (source, target) = (schema(&format!("id INT; v {from}")), schema(&format!("id INT; v {to}")));
    let zone = Zone::parse_zone_id(zone).unwrap();
    let coercion = Coercion::new(&source, &target, zone);
    // A NULL before it shows that places are kept, and that what lies under NULL isn't looked at.
    let batch = batch("d.t", &source, &[], &[&["1", "null"], &["2", value]]);
    match coercion.apply(batch) {
        Ok(out) => {
            let rows = rows(&out);
            assert_eq!(rows[0], "1, null");
            Some(rows[1].strip_prefix("2, ").unwrap().to_owned())
        }
        Err(error) => {
            let text = error.to_string();
            assert_eq!(text, format!("a {from} value does not fit the target's {to} (column `v` of d.t, row id=2)"));
            None
        }
    }
}

#[test]
fn values_are_widened() {
    for (from, to, value, expected) in [
        ("TINYINT", "BIGINT", "-128", "-128"),
        ("INT", "BIGINT", "2147483647", "2147483647"),
        ("BIGINT", "DECIMAL(38, 0)", "-9223372036854775808", "-9223372036854775808"),
        ("INT", "DECIMAL(12, 2)", "-7", "-7.00"),
        ("DECIMAL(5, 1)", "DECIMAL(20, 6)", "1.5", "1.500000"),
        ("SMALLINT", "FLOAT", "32767", "32767.0"),
        ("BIGINT", "DOUBLE", "9007199254740992", "9.007199254740992E15"),
        ("DECIMAL(20, 3)", "DOUBLE", "-123456789.125", "-1.23456789125E8"),
        ("DECIMAL(20, 3)", "FLOAT", "0.1", "0.1"),
        // Java's `(double) 3.3f`, and what MySQL shows after the same ALTER.
        ("FLOAT", "DOUBLE", "3.3", "3.299999952316284"),
        ("DATE", "TIMESTAMP(3)", "2024-02-29", "2024-02-29T00:00"),
        ("TIMESTAMP(0)", "TIMESTAMP(6)", "2024-02-29T01:02:03", "2024-02-29T01:02:03"),
        ("VARCHAR(5)", "STRING", "text", "text"),
        ("VARCHAR(3)", "VARCHAR(9)", "äöü", "äöü"),
        ("BOOLEAN", "INT", "true", "1"),
    ] {
        assert_eq!(cast(from, to, value, "UTC").as_deref(), Some(expected), "{from} to {to}");
    }
}

#[test]
fn values_become_the_texts_of_flink_cdc() {
    for (from, value, expected) in [
        ("INT", "-5", "-5"),
        ("BOOLEAN", "true", "true"),
        ("DECIMAL(10, 2)", "2.5", "2.50"),
        ("DOUBLE", "10000000", "1.0E7"),
        ("FLOAT", "3.3", "3.3"),
        ("BYTES", "abc", "YWJj"),
        ("DATE", "2024-02-29", "2024-02-29"),
        ("TIME(0)", "3600000000", "01:00"),
        ("TIMESTAMP(3)", "2024-02-29T01:02:03.5", "2024-02-29T01:02:03.500"),
        ("TIMESTAMP_LTZ(0)", "2024-01-01T00:00", "2024-01-01T00:00"),
    ] {
        assert_eq!(cast(from, "STRING", value, "Asia/Tokyo").as_deref(), Some(expected), "{from}");
    }
    assert_eq!(cast("BYTES", "BYTES", "abc", "UTC").as_deref(), Some("YWJj"));
    // The bytes of the text, which print as base64.
    assert_eq!(cast("INT", "BYTES", "10", "UTC").as_deref(), Some("MTA="));
}

#[test]
fn a_value_that_does_not_fit_is_an_error_with_its_row() {
    for (from, to, fits, does_not) in [
        ("BIGINT", "SMALLINT", "5", "7000000000"),
        ("INT", "TINYINT", "-128", "128"),
        ("INT", "DECIMAL(4, 2)", "99", "100"),
        // Digits behind the point are rounded, as recorded in `13a`; those before it are not cut off.
        ("DECIMAL(20, 4)", "DECIMAL(8, 2)", "1.2345", "1234567.0000"),
        ("DECIMAL(20, 4)", "INT", "5.0000", "5.5000"),
        ("DOUBLE", "FLOAT", "1.5", "0.1"),
        ("TINYINT", "BOOLEAN", "1", "2"),
        ("VARCHAR(5)", "BOOLEAN", "TRUE", "yes"),
        ("VARCHAR(9)", "VARCHAR(3)", "äöü", "abcd"),
        ("STRING", "CHAR(2)", "ab", "abc"),
        ("BYTES", "BINARY(2)", "ab", "abc"),
        ("INT", "VARCHAR(2)", "10", "100"),
    ] {
        assert!(cast(from, to, fits, "UTC").is_some(), "{from} to {to}: {fits}");
        assert_eq!(cast(from, to, does_not, "UTC"), None, "{from} to {to}: {does_not}");
    }
    for (from, to, value) in [
        ("STRING", "INT", "5"),
        ("TIMESTAMP(0)", "DATE", "2024-01-01T00:00"),
        ("DOUBLE", "INT", "1"),
        ("BYTES", "INT", "1"),
        ("STRING", "DATE", "2024-01-01"),
    ] {
        assert_eq!(cast(from, to, value, "UTC"), None, "{from} to {to}");
    }
}

#[test]
fn decimals_are_rounded_as_recorded() {
    assert_eq!(cast("DECIMAL(20, 4)", "DECIMAL(8, 2)", "1.2345", "UTC").as_deref(), Some("1.23"));
    // MySQL rounds half away from zero.
    assert_eq!(cast("DECIMAL(20, 4)", "DECIMAL(8, 2)", "1.2350", "UTC").as_deref(), Some("1.24"));
    assert_eq!(cast("DECIMAL(20, 4)", "DECIMAL(8, 2)", "-1.2350", "UTC").as_deref(), Some("-1.24"));
    assert_eq!(cast("DECIMAL(8, 2)", "DECIMAL(2, 0)", "99.50", "UTC"), None);
}

#[test]
fn instants_and_wall_times_meet_in_the_zone_of_the_pipeline() {
    // An instant is printed as UTC.
    for (from, to, value, zone, expected) in [
        ("TIMESTAMP_LTZ(0)", "TIMESTAMP(0)", "2024-07-01T00:00", "Europe/Berlin", "2024-07-01T02:00"),
        ("TIMESTAMP_LTZ(0)", "TIMESTAMP(0)", "2024-01-01T00:00", "Europe/Berlin", "2024-01-01T01:00"),
        ("TIMESTAMP(0)", "TIMESTAMP_LTZ(0)", "2024-07-01T02:00", "Europe/Berlin", "2024-07-01T00:00"),
        ("TIMESTAMP(0)", "TIMESTAMP_LTZ(0)", "2024-07-01T02:00", "+08:00", "2024-06-30T18:00"),
        // Comes twice: the first time, in summer time.
        ("TIMESTAMP(0)", "TIMESTAMP_LTZ(0)", "2024-10-27T02:30", "Europe/Berlin", "2024-10-27T00:30"),
        // Never comes: an hour later, as `java.time.ZonedDateTime.ofLocal` says.
        ("TIMESTAMP(0)", "TIMESTAMP_LTZ(0)", "2024-03-31T02:30", "Europe/Berlin", "2024-03-31T01:30"),
        ("DATE", "TIMESTAMP_LTZ(3)", "2024-01-01", "Asia/Shanghai", "2023-12-31T16:00"),
        // A day that Samoa left out.
        ("DATE", "TIMESTAMP_LTZ(3)", "2011-12-30", "Pacific/Apia", "2011-12-30T10:00"),
        ("TIMESTAMP(0)", "TIMESTAMP_LTZ(0)", "2011-12-30T23:30", "Pacific/Apia", "2011-12-31T09:30"),
    ] {
        assert_eq!(cast(from, to, value, zone).as_deref(), Some(expected), "{from} {value} {zone}");
    }
}

#[test]
fn columns_go_by_name() {
    let from = schema("id INT NOT NULL; b INT; A VARCHAR(3); extra INT");
    let to = schema("a VARCHAR(3); id BIGINT NOT NULL; missing DECIMAL(5, 1)");
    let coercion = Coercion::new(&from, &to, utc());
    assert!(!coercion.is_identity());
    let source = batch("d.t", &from, &[], &[&["1", "2", "x", "3"]]);
    let text = source.column(2).clone();
    let out = coercion.apply(source).unwrap();
    assert_eq!(rows(&out), ["x, 1, null"]);
    assert!(Arc::ptr_eq(out.schema(), &to));
    assert!(Arc::ptr_eq(&text, out.column(0)), "the same column is not copied");
}

#[test]
fn the_same_shape_is_free() {
    let from = schema("id INT NOT NULL; v INT");
    let wider = schema("id INT NOT NULL; v INT DEFAULT 5");
    for to in [&from, &wider, &schema("id INT; v INT")] {
        let coercion = Coercion::new(&from, to, utc());
        assert!(coercion.is_identity());
        let out = coercion.apply(batch("d.t", &from, &[], &[&["1", "2"]])).unwrap();
        assert!(Arc::ptr_eq(out.schema(), &from));
    }
    for to in ["id INT NOT NULL; v INT NOT NULL", "v INT; id INT NOT NULL", "id INT NOT NULL", "id INT NOT NULL; V INT"]
    {
        assert!(!Coercion::new(&from, &schema(to), utc()).is_identity(), "{to}");
    }
}

#[test]
fn rows_of_a_table_with_another_key_get_the_key_of_their_target() {
    let from = schema("id INT NOT NULL; v INT");
    let mut keyless = from.as_ref().clone();
    keyless.primary_key.clear();
    let coercion = Coercion::new(&Arc::new(keyless.clone()), &from, utc());
    assert!(!coercion.is_identity());
    let out = coercion.apply(batch("d.t", &Arc::new(keyless), &[], &[&["1", "2"]])).unwrap();
    assert_eq!(out.schema().primary_key, ["id"]);
}

#[test]
fn null_for_a_column_that_is_not_null_is_an_error_except_in_before_images() {
    let from = schema("id INT NOT NULL; v INT");
    let ops = [RowOp::UpdateBefore, RowOp::UpdateAfter, RowOp::Delete, RowOp::Insert];
    let coerce = |to: &str, values: [&str; 4]| {
        let rows = [&["1", values[0]][..], &["1", values[1]], &["2", values[2]], &["3", values[3]]];
        Coercion::new(&from, &schema(to), utc()).apply(batch("d.t", &from, &ops, &rows))
    };
    let out = coerce("id INT NOT NULL; v INT NOT NULL", ["null", "5", "null", "6"]).unwrap();
    assert_eq!((rows(&out).len(), out.changes().op(0)), (4, RowOp::UpdateBefore));
    let error = coerce("id INT NOT NULL; v INT NOT NULL", ["null", "5", "null", "null"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the target's column is NOT NULL, and the row has NULL (column `v` of d.t, row id=3)"
    );
    let error = coerce("id INT NOT NULL; w INT NOT NULL", ["1", "1", "1", "1"]).unwrap_err();
    assert!(matches!(&error, EvolveError::Null { what: "no such column", place } if place.key == "id=1"), "{error}");
}
