#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::super::encoder::BatchEncoder;
use super::super::plan::{ColumnPlan, Constant, Form, Format, Plan};
use super::super::zone::Zone;
use super::{Arrow, Wire};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use proptest::prelude::*;
use rowferry_model::RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{ChangeBatch, Changes, Column, DataType, RowOp, TableId, TableSchema};
use std::io::Cursor;
use std::sync::Arc;

fn schema() -> Arc<TableSchema> {
    Arc::new(TableSchema {
        columns: vec![Column::new("id", DataType::BigInt).not_null(), Column::new("v", DataType::Varchar(40))],
        primary_key: vec!["id".to_owned()],
        ..TableSchema::default()
    })
}

fn plan() -> Plan {
    let column = |name| ColumnPlan::new(name, name, Form::Plain, None, Constant::Null);
    let columns = vec![column("id"), column("v")];
    let arrow = Arrow::new(&columns, vec![Wire::Integer(8), Wire::Text(None)], Some("sign"));
    Plan::new(&schema(), columns, Format::Arrow(arrow))
}

fn batch(rows: &[(RowOp, i64, Option<&str>)]) -> ChangeBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1))),
        Arc::new(StringArray::from_iter(rows.iter().map(|r| r.2))),
    ];
    let columns = RecordBatch::try_new(schema().arrow(), columns).unwrap();
    let ops = rows.iter().map(|r| r.0).collect();
    ChangeBatch::new(TableId::new("d", "t"), schema(), Changes::Mixed(ops), columns).unwrap()
}

/// The rows of a body's streams, as sign, key and text.
fn read(body: &[u8]) -> Vec<(i8, i64, Option<String>)> {
    let (mut at, mut rows) = (0, Vec::new());
    while at < body.len() {
        let mut cursor = Cursor::new(&body[at..]);
        let mut in_stream = 0;
        for batch in StreamReader::try_new(&mut cursor, None).unwrap() {
            let batch = batch.unwrap();
            let (sign, id) = (batch.column(0).as_primitive::<Int8Type>(), batch.column(1).as_primitive::<Int64Type>());
            let text = batch.column(2).as_string::<i32>();
            let value = |i| (!text.is_null(i)).then(|| text.value(i).to_owned());
            rows.extend((0..batch.num_rows()).map(|i| (sign.value(i), id.value(i), value(i))));
            in_stream += batch.num_rows();
        }
        assert!(in_stream > 0, "to a backend a stream without rows is the end");
        at += usize::try_from(cursor.position()).unwrap();
        assert!(body[..at].ends_with(&[255, 255, 255, 255, 0, 0, 0, 0]));
    }
    rows
}

/// Fills bodies of so many bytes and rows; gives what each call wrote.
fn fill(batch: &ChangeBatch, plan: &Plan, limit: usize, rows: u64) -> Vec<(u64, Vec<u8>)> {
    let zone = Zone::parse("UTC").unwrap();
    let mut encoder = BatchEncoder::new(plan, batch, &zone).unwrap();
    let mut all = Vec::new();
    while !encoder.is_done() {
        let mut out = Vec::new();
        let written = encoder.fill(&mut out, limit, rows).unwrap();
        assert_eq!(u64::try_from(read(&out).len()).unwrap(), written);
        all.push((written, out));
    }
    all
}

#[test]
fn calls_write_exactly_as_many_rows_as_they_may() {
    let text = "x".repeat(20);
    let many: Vec<_> = (0..10_000).map(|i| (Insert, i, Some(text.as_str()))).collect();
    for (most, wanted) in [(3000, vec![3000, 3000, 3000, 1000]), (5000, vec![5000, 5000]), (u64::MAX, vec![10_000])] {
        let calls = fill(&batch(&many), &plan(), usize::MAX, most);
        assert_eq!(calls.iter().map(|c| c.0).collect::<Vec<_>>(), wanted);
        let ids = calls.iter().flat_map(|(_, body)| read(body)).map(|row| row.1);
        assert!(ids.eq(0..10_000));
    }
}

#[test]
fn a_body_is_not_much_longer_than_it_may_be() {
    let text = "x".repeat(100);
    let many: Vec<_> = (0..20_000).map(|i| (Insert, i, Some(text.as_str()))).collect();
    let bodies = fill(&batch(&many), &plan(), 500_000, u64::MAX);
    let (last, full) = bodies.split_last().unwrap();
    assert!(last.1.len() < 530_000);
    for (_, body) in full {
        assert!((500_000..530_000).contains(&body.len()), "{} bytes", body.len());
    }
    // No room, no rows.
    let one = [(Insert, 1, None)];
    let (batch, plan, zone) = (batch(&one), plan(), Zone::parse("UTC").unwrap());
    let mut encoder = BatchEncoder::new(&plan, &batch, &zone).unwrap();
    let mut out = vec![0; 10];
    assert_eq!(encoder.fill(&mut out, 10, 5).unwrap(), 0);
    assert_eq!((out.len(), encoder.is_done()), (10, false));
}

#[test]
fn deletions_and_changed_keys_are_signed() {
    let rows = [
        (Insert, 1, Some("a")),
        (UpdateBefore, 1, Some("a")),
        (UpdateAfter, 1, None),
        (Delete, 2, None),
        (UpdateBefore, 3, Some("c")),
        (UpdateAfter, 4, Some("d")),
    ];
    let all = |plan: &Plan| fill(&batch(&rows), plan, usize::MAX, u64::MAX).iter().flat_map(|c| read(&c.1)).collect();
    let seen: Vec<_> = all(&plan());
    let text = |t: &str| Some(t.to_owned());
    let wanted = [(0, 1, text("a")), (0, 1, None), (1, 2, None), (1, 3, text("c")), (0, 4, text("d"))];
    assert_eq!(seen, wanted);
    let kept: Vec<_> = all(&Plan { deletes: false, ..plan() });
    assert_eq!(kept, [(0, 1, text("a")), (0, 1, None), (0, 4, text("d"))]);
    // A batch of deletions that are left out is nothing at all.
    let gone = batch(&[(Delete, 1, None), (Delete, 2, None)]);
    assert_eq!(fill(&gone, &Plan { deletes: false, ..plan() }, usize::MAX, u64::MAX), [(0, Vec::new())]);
}

#[test]
fn a_deletion_needs_its_key() {
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from(vec![None])), Arc::new(StringArray::from(vec![Some("a")]))];
    let columns = RecordBatch::try_new(schema().arrow(), columns).unwrap();
    let batch = ChangeBatch::new(TableId::new("d", "t"), schema(), Changes::Mixed(vec![Delete]), columns).unwrap();
    let (plan, zone) = (plan(), Zone::parse("UTC").unwrap());
    let error = BatchEncoder::new(&plan, &batch, &zone).unwrap().fill(&mut Vec::new(), 1000, 1).unwrap_err();
    assert!(error.to_string().contains("a deletion in d.t comes without its key `id`"), "{error}");
}

proptest! {
    #[test]
    fn any_rows_are_those_that_were_given(
        rows in proptest::collection::vec((any::<bool>(), any::<i64>(), proptest::option::of(".{0,12}")), 1..300),
        limit in 1_usize..20_000,
        most in 1_u64..200,
    ) {
        let ops: Vec<_> =
            rows.iter().map(|(gone, id, v)| (if *gone { Delete } else { Insert }, *id, v.as_deref())).collect();
        let calls = fill(&batch(&ops), &plan(), limit, most);
        prop_assert!(calls.iter().all(|(written, _)| (1..=most).contains(written)));
        let seen: Vec<_> = calls.iter().flat_map(|(_, body)| read(body)).collect();
        let wanted: Vec<_> = rows.iter().map(|(gone, id, v)| (i8::from(*gone), *id, v.clone())).collect();
        prop_assert_eq!(seen, wanted);
    }
}
