//! Batches that are encoded beside the stream, on another thread: what holds for small ones holds for them.

use crate::olap::delivery::{PATIENCE, start};
use crate::support::{EXACTLY_ONCE, batch, checkpoint, rows, shown, simple_schema, table};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use rowferry_model::RowOp::{self, Delete, Insert, UpdateAfter, UpdateBefore};
use rowferry_model::{ChangeBatch, Changes};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// As many rows as are worth a thread.
const MANY: i64 = 5000;

/// Rows from a number on, all with the same name.
pub fn inserts(from: i64, count: i64, name: &str) -> ChangeBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + count));
    let length = usize::try_from(count).unwrap();
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n(name, length)));
    batch(&table(), &simple_schema(), Changes::Inserts(length), vec![ids, names])
}

#[tokio::test]
async fn large_and_small_batches_keep_their_order() {
    let (server, mut sink) = start(&EXACTLY_ONCE).await;
    sink.events.write(inserts(0, MANY, "a name of twenty b..")).await.unwrap();
    sink.events.write(rows(&table(), &[(Insert, 7, Some("small")), (Delete, 8, None)])).await.unwrap();
    let mut changes: Vec<(RowOp, i64, Option<&str>)> = Vec::new();
    for id in 10..MANY {
        if id % 2 == 0 {
            changes.push((Delete, id, None));
        } else {
            let after = if id % 3 == 0 { id + MANY } else { id };
            changes.extend([(UpdateBefore, id, None), (UpdateAfter, after, Some("another text behind"))]);
        }
    }
    sink.events.write(rows(&table(), &changes)).await.unwrap();
    sink.events.write(rows(&table(), &[(Insert, 11, Some("last"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    let mut seen: Vec<(i64, String)> = shown(&server, &table())
        .iter()
        .map(|row| row.split_once('|').unwrap())
        .map(|(id, name)| (id.parse().unwrap(), name.to_owned()))
        .collect();
    seen.sort();
    let mut wanted: Vec<(i64, String)> = (0..10)
        .filter(|id| *id != 8)
        .map(|id| (id, if id == 7 { "small" } else { "a name of twenty b.." }.to_owned()))
        .collect();
    wanted.extend((11..MANY).step_by(2).map(|id| {
        let after = if id % 3 == 0 { id + MANY } else { id };
        (after, if id == 11 { "last" } else { "another text behind" }.to_owned())
    }));
    wanted.sort();
    assert_eq!(seen, wanted);
}

/// What a small batch says at once, a large one says with the next call that needs its rows.
#[tokio::test]
async fn a_value_that_does_not_fit_in_a_large_batch_is_told_and_nothing_of_it_is_committed() {
    let (server, mut sink) = start(&EXACTLY_ONCE).await;
    sink.events.write(inserts(0, MANY, &"x".repeat(100))).await.unwrap();
    let error = sink.events.prepare(1).await.unwrap_err();
    assert!(error.to_string().contains("column `name` of shop.orders has 100 bytes where the target takes"), "{error}");
    assert!(error.to_string().contains(r#"key is "id":0"#), "{error}");
    // Rows are lost: nothing goes on as if they were not.
    assert!(sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.is_err());
    assert!(sink.events.prepare(1).await.is_err());
    sink.events.recover(None).await.unwrap();
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a"))])).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), ["1|a"]);
}

#[tokio::test]
async fn a_quiet_stream_learns_of_it_as_well() {
    let (_server, mut sink) = start(&EXACTLY_ONCE).await;
    sink.events.write(inserts(0, MANY, &"x".repeat(100))).await.unwrap();
    let deadline = Instant::now() + PATIENCE;
    let error = loop {
        match sink.events.idle().await {
            Ok(()) => assert!(Instant::now() < deadline, "nobody tells"),
            Err(error) => break error,
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(error.to_string().contains("has 100 bytes where the target takes"), "{error}");
}

#[tokio::test]
async fn rows_that_are_being_encoded_are_forgotten_by_a_new_attempt() {
    let (server, mut sink) = start(&EXACTLY_ONCE).await;
    for _ in 0..3 {
        sink.events.write(inserts(0, MANY, "lost")).await.unwrap();
        sink.events.recover(None).await.unwrap();
    }
    sink.events.write(inserts(MANY, 2, "kept")).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &table()), [format!("{MANY}|kept"), format!("{}|kept", MANY + 1)]);
}
