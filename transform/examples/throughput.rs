//! How long a filter and five computed columns take for a row of the benchmark's drain workload:
//! `cargo run --release -p rowferry-transform --example throughput`.

#![allow(clippy::unwrap_used, missing_docs, reason = "a program for measuring")]

use rowferry_model::arrow_array::{
    ArrayRef, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use rowferry_model::{ChangeBatch, Changes, Column, DataType, TableId, TableSchema};
use rowferry_transform::{RuleSpec, TransformOptions, Transforms};
use std::sync::Arc;
use std::time::Instant;

const ROWS: usize = 8192;
const ROUNDS: usize = 200;

fn batch() -> ChangeBatch {
    let schema = Arc::new(TableSchema {
        columns: vec![
            Column::new("id", DataType::BigInt).not_null(),
            Column::new("customer", DataType::Int),
            Column::new("amount", DataType::Decimal { precision: 12, scale: 2 }),
            Column::new("status", DataType::Varchar(16)),
            Column::new("note", DataType::Varchar(120)),
            Column::new("created", DataType::Timestamp(6)),
        ],
        primary_key: vec!["id".to_owned()],
        ..TableSchema::default()
    });
    let rows = 0..ROWS as i64;
    let status = ["new", "paid", "sent", "void"];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.clone())),
        Arc::new(Int32Array::from_iter_values(rows.clone().map(|i| (i % 1000) as i32))),
        Arc::new(
            Decimal128Array::from_iter_values(rows.clone().map(|i| i128::from(i * 37 % 100_000)))
                .with_precision_and_scale(12, 2)
                .unwrap(),
        ),
        Arc::new(StringArray::from_iter_values(rows.clone().map(|i| status[(i % 4) as usize]))),
        Arc::new(StringArray::from_iter_values(
            rows.clone().map(|i| format!("a note about the order number {i}, as notes are")),
        )),
        Arc::new(TimestampMicrosecondArray::from_iter_values(rows.map(|i| 1_700_000_000_000_000 + i * 1_000_000))),
    ];
    let record = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    ChangeBatch::new(TableId::new("shop", "orders"), schema, Changes::Inserts(ROWS), record).unwrap()
}

fn measure(name: &str, projection: &str, filter: Option<&str>) {
    let rule = RuleSpec {
        matches: Arc::new(|_| true),
        projection: projection.to_owned(),
        filter: filter.map(str::to_owned),
        primary_keys: Vec::new(),
        partition_keys: Vec::new(),
        table_options: Vec::new(),
        soft_delete: false,
    };
    let transforms = Transforms::new(vec![rule], TransformOptions::default(), &[], Vec::new()).unwrap();
    let batch = batch();
    let plan = transforms.for_table(batch.table(), batch.schema()).unwrap().unwrap();
    // The best round: on a busy machine the others wait for a processor.
    let mut best = u128::MAX;
    let mut kept = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        kept = plan.apply(batch.clone()).unwrap().map_or(0, |batch| batch.num_rows());
        best = best.min(start.elapsed().as_nanos());
    }
    let each = best as f64 / ROWS as f64;
    println!("{each:8.1} ns a row, {:.0} % of the rows kept: {name}", 100.0 * kept as f64 / ROWS as f64);
}

fn main() {
    measure("all columns", "*", None);
    measure("filter", "*", Some("amount > 10 AND status <> 'void'"));
    for column in [
        "amount * 2 AS c1",
        "customer + 1 AS c2",
        "UPPER(status) AS c3",
        "CONCAT(status, '-', note) AS c4",
        "DATE_FORMAT(created, 'yyyyMMdd') AS c5",
    ] {
        measure(column, &format!("*, {column}"), None);
    }
    measure(
        "filter and five computed columns",
        "*, amount * 2 AS c1, customer + 1 AS c2, UPPER(status) AS c3, CONCAT(status, '-', note) AS c4, \
         DATE_FORMAT(created, 'yyyyMMdd') AS c5",
        Some("amount > 10 AND status <> 'void'"),
    );
}
