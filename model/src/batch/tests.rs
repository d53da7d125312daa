#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::{Column, DataType};
use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};

fn schema() -> Arc<TableSchema> {
    let columns = vec![Column::new("id", DataType::Int).not_null(), Column::new("name", DataType::String)];
    Arc::new(TableSchema { columns, primary_key: vec!["id".into()], ..TableSchema::default() })
}

fn rows(columns: Vec<ArrayRef>) -> RecordBatch {
    let names = ["id", "name", "more"];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().enumerate().map(|(i, c)| (names[i], c, true))).unwrap()
}

fn three_rows() -> RecordBatch {
    rows(vec![Arc::new(Int32Array::from(vec![1, 2, 2])), Arc::new(StringArray::from(vec!["a", "b", "c"]))])
}

fn batch(changes: Changes, columns: RecordBatch) -> Result<ChangeBatch, BatchError> {
    ChangeBatch::new(TableId::new("shop", "orders"), schema(), changes, columns)
}

#[test]
fn columns_that_are_not_those_of_the_schema_are_refused() {
    let id: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let name: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    assert!(batch(Changes::Inserts(1), rows(vec![id.clone(), name.clone()])).is_ok());

    let fewer = batch(Changes::Inserts(1), rows(vec![id.clone()]));
    assert!(matches!(fewer, Err(BatchError::Length { got: 1, want: 2, .. })), "{fewer:?}");
    let more = batch(Changes::Inserts(1), rows(vec![id.clone(), name.clone(), id.clone()]));
    assert!(matches!(more, Err(BatchError::Length { got: 3, want: 2, .. })), "{more:?}");
    let shifted = batch(Changes::Inserts(1), rows(vec![name, id]));
    assert!(matches!(&shifted, Err(BatchError::Type { column, .. }) if column == "id"), "{shifted:?}");
    let wider: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let widened = batch(Changes::Inserts(1), rows(vec![wider.clone(), wider]));
    assert!(matches!(&widened, Err(BatchError::Type { column, .. }) if column == "id"), "{widened:?}");
}

#[test]
fn every_row_has_one_operation_and_an_update_is_a_pair() {
    use RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
    let check = |ops: &[RowOp]| batch(Changes::Mixed(ops.to_vec()), three_rows());
    assert!(check(&[Insert, UpdateBefore, UpdateAfter]).is_ok());
    assert!(check(&[UpdateBefore, UpdateAfter, Delete]).is_ok());
    for (ops, at) in [
        ([UpdateBefore, Insert, UpdateAfter], 0),
        ([Insert, Delete, UpdateBefore], 2),
        ([Insert, UpdateAfter, UpdateBefore], 1),
    ] {
        let refused = check(&ops);
        assert!(matches!(refused, Err(BatchError::UnpairedUpdate { row, .. }) if row == at), "{ops:?}: {refused:?}");
    }
    let short = check(&[Insert, Insert]);
    assert!(matches!(short, Err(BatchError::Length { got: 2, want: 3, .. })), "{short:?}");
    let times = check(&[Insert, Insert, Insert]).unwrap().with_op_ts(Arc::new(Int64Array::from(vec![1])));
    assert!(matches!(times, Err(BatchError::Length { got: 1, want: 3, .. })), "{times:?}");
}

#[test]
fn a_projection_keeps_the_changes_and_their_times() {
    let ops = vec![RowOp::Insert, RowOp::UpdateBefore, RowOp::UpdateAfter];
    let whole = batch(Changes::Mixed(ops.clone()), three_rows()).unwrap();
    let whole = whole.with_op_ts(Arc::new(Int64Array::from(vec![1, 2, 2]))).unwrap();
    let columns = vec![Column::new("id", DataType::Int)];
    let narrow = Arc::new(TableSchema { columns, ..TableSchema::default() });
    let ids = |n: i32| rows(vec![Arc::new(Int32Array::from_iter_values(0..n))]);
    let projected = whole.clone().with_columns(narrow.clone(), ids(3)).unwrap();
    assert_eq!((projected.changes(), projected.op_ts()), (&Changes::Mixed(ops), whole.op_ts()));
    assert_eq!((projected.schema(), projected.columns()), (&narrow, &ids(3)));
    let shorter = whole.with_columns(narrow, ids(2));
    assert!(matches!(shorter, Err(BatchError::Length { got: 3, want: 2, .. })), "{shorter:?}");
}
