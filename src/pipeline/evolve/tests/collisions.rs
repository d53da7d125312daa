//! Keys that come from two tables.

use super::support::*;
use crate::pipeline::evolve::collisions::names_source;
use crate::pipeline::evolve::{Collision, Detector, Finding, KeyRisk};

#[test]
fn a_key_without_the_source_is_a_risk_only_where_tables_are_merged() {
    let mut merged = schema("id INT NOT NULL; __table_name__ STRING; v INT").as_ref().clone();
    let sources = [id("a.s1"), id("a.s2")];
    let risk = KeyRisk::of(&id("o.m"), &sources, &merged, names_source).unwrap();
    let text = risk.to_string();
    assert!(text.contains("primary-keys: __schema_name__, __table_name__, id`"), "{text}");
    assert_eq!(KeyRisk::of(&id("o.m"), &sources[..1], &merged, names_source), None);
    assert_eq!(KeyRisk::of(&id("o.m"), &sources, &merged, |name| name == "id"), None);
    merged.primary_key.insert(0, "__table_name__".to_owned());
    assert_eq!(KeyRisk::of(&id("o.m"), &sources, &merged, names_source), None);
    merged.primary_key.clear();
    assert_eq!(KeyRisk::of(&id("o.m"), &sources, &merged, names_source), None);
}

#[test]
fn the_same_key_from_two_tables_is_reported_once_with_both() {
    let shape = schema("id BIGINT NOT NULL; v INT");
    let rows = |keys: &[&str]| {
        let rows: Vec<Vec<&str>> = keys.iter().map(|key| vec![*key, "0"]).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        batch("o.m", &shape, &[], &rows)
    };
    let mut detector = Detector::new(100);
    assert!(detector.observe(&id("a.s1"), &rows(&["1", "2", "3"])).is_empty());
    // A chunk that is read again is no collision.
    assert!(detector.observe(&id("a.s1"), &rows(&["3", "4"])).is_empty());
    assert!(detector.observe(&id("a.s2"), &rows(&["10", "11"])).is_empty());
    let collision = Collision { target: id("o.m"), first: id("a.s1"), second: id("a.s2"), key: "id=4".to_owned() };
    assert_eq!(collision.to_string(), "a.s1 and a.s2 both have a row id=4 for o.m: one overwrites the other");
    assert_eq!(detector.observe(&id("a.s2"), &rows(&["12", "4", "3"])), [Finding::Collision(collision)]);
    assert!(detector.observe(&id("a.s2"), &rows(&["1"])).is_empty(), "said already");
    // The same key in another target is another row.
    assert!(detector.observe(&id("a.s3"), &rows(&["10"]).with_table(id("o.other"))).is_empty());
    assert_eq!(detector.observe(&id("a.s3"), &rows(&["11"])).len(), 1);
}

#[test]
fn keys_of_several_columns_are_told_apart() {
    let mut shape = schema("id INT NOT NULL; a STRING; b STRING").as_ref().clone();
    shape.primary_key = vec!["a".to_owned(), "b".to_owned()];
    let shape = std::sync::Arc::new(shape);
    let mut detector = Detector::new(100);
    assert!(detector.observe(&id("a.s1"), &batch("o.m", &shape, &[], &[&["1", "x", "yz"]])).is_empty());
    assert!(detector.observe(&id("a.s2"), &batch("o.m", &shape, &[], &[&["1", "xy", "z"]])).is_empty());
    let found = detector.observe(&id("a.s2"), &batch("o.m", &shape, &[], &[&["2", "x", "yz"]]));
    assert!(matches!(&found[..], [Finding::Collision(c)] if c.key == "a=x, b=yz"), "{found:?}");
}

#[test]
fn memory_is_bounded() {
    let shape = schema("id INT NOT NULL");
    let mut detector = Detector::new(2);
    let three = batch("o.m", &shape, &[], &[&["1"], &["2"], &["3"]]);
    assert_eq!(detector.observe(&id("a.s1"), &three), [Finding::Full(2)]);
    assert!(detector.observe(&id("a.s2"), &three).is_empty());
    let keyless = schema("v INT");
    assert!(Detector::new(0).observe(&id("a.s1"), &batch("o.m", &keyless, &[], &[&["1"]])).is_empty());
}
