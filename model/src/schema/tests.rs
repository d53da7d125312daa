#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::{DataType, TableId};

fn schema() -> TableSchema {
    TableSchema {
        columns: ["a", "b", "c"].map(|n| Column::new(n, DataType::Int)).into(),
        primary_key: vec!["a".into(), "b".into()],
        ..TableSchema::default()
    }
}

fn rename(names: &[(&str, &str)]) -> SchemaChange {
    let names = names.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
    SchemaChange::RenameColumns { table: TableId::new("d", "t"), names }
}

fn names(schema: &TableSchema) -> Vec<&str> {
    schema.columns.iter().map(|c| c.name.as_str()).collect()
}

#[test]
fn columns_of_the_key_can_swap_their_names() {
    let swapped = schema().apply(&rename(&[("a", "b"), ("b", "a")])).unwrap().unwrap();
    assert_eq!(names(&swapped), ["b", "a", "c"]);
    assert_eq!(swapped.primary_key, ["b", "a"]);
    let chained = schema().apply(&rename(&[("A", "b"), ("b", "x")])).unwrap().unwrap();
    assert_eq!(names(&chained), ["b", "x", "c"]);
    assert_eq!(chained.primary_key, ["b", "x"]);
}

#[test]
fn a_name_that_is_taken_can_not_be_given() {
    assert_eq!(schema().apply(&rename(&[("a", "C")])), Err(SchemaError::Duplicate("C".into())));
    assert_eq!(names(&schema().apply(&rename(&[("a", "A")])).unwrap().unwrap()), ["A", "b", "c"]);
}

#[test]
fn a_dropped_column_leaves_the_key_however_it_is_spelled() {
    let change = SchemaChange::DropColumns { table: TableId::new("d", "t"), names: vec!["B".into()] };
    assert_eq!(schema().apply(&change).unwrap().unwrap().primary_key, ["a"]);
}

/// The bytes of a text are those of its length: a longer one has more, how many nobody says.
#[test]
fn a_changed_type_does_not_keep_the_bytes_of_the_former_one() {
    let mut before = schema();
    for (column, bytes) in before.columns.iter_mut().zip([None, Some(80), Some(80)]) {
        column.data_type = DataType::Varchar(20);
        column.max_bytes = bytes;
    }
    let altered = |name: &str, length| AlteredColumn {
        name: name.to_owned(),
        data_type: DataType::Varchar(length),
        nullable: true,
        old: None,
        comment: None,
    };
    let columns = vec![altered("b", 40), altered("c", 20)];
    let change = SchemaChange::AlterColumns { table: TableId::new("d", "t"), columns };
    let after = before.apply(&change).unwrap().unwrap();
    let bytes: Vec<Option<u64>> = after.columns.iter().map(|c| c.max_bytes).collect();
    assert_eq!(bytes, [None, None, Some(80)]);
}
