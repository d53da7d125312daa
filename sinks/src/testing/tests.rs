#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::contract::{self, Target};
use super::{Call, Fault, Faults, MemoryTarget, batch, faulty};
use crate::{Retry, Sink, SinkError};
use async_trait::async_trait;
use rowferry_model::{Column, DataType, RowOp, SchemaChange, TableId, TableSchema};
use std::error::Error;
use std::sync::Arc;

#[async_trait]
impl Target for MemoryTarget {
    fn sink(&self) -> Result<Sink, SinkError> {
        Ok(MemoryTarget::sink(self))
    }

    async fn rows(&self, table: &TableId) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
        Ok(MemoryTarget::rows(self, table))
    }
}

#[tokio::test]
async fn the_memory_sink_keeps_the_contract() {
    contract::check_all(&MemoryTarget::default(), "c").await.unwrap();
}

/// A target that forgets that commits must be idempotent: the checks must notice.
struct Doubling(MemoryTarget);

#[async_trait]
impl Target for Doubling {
    fn sink(&self) -> Result<Sink, SinkError> {
        Ok(self.0.sink())
    }

    async fn rows(&self, table: &TableId) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
        let rows = self.0.rows(table);
        Ok([rows.clone(), rows].concat())
    }
}

#[tokio::test]
async fn the_checks_notice_doubled_rows() {
    let error = contract::check_all(&Doubling(MemoryTarget::default()), "c").await.unwrap_err().to_string();
    assert!(error.contains("after commit"), "{error}");
}

#[tokio::test]
async fn faults_happen_where_the_script_says() {
    let target = MemoryTarget::default();
    let faults = Faults::default()
        .on(Call::Apply, 2, Fault::Unsupported)
        .on(Call::Write, 1, Fault::TransientBefore)
        .on(Call::Commit, 1, Fault::TransientAfter);
    let mut sink = faulty(target.sink(), &faults);
    let table = TableId::new("d", "t");
    let schema = Arc::new(TableSchema {
        columns: vec![Column::new("id", DataType::BigInt)],
        primary_key: vec!["id".into()],
        ..TableSchema::default()
    });
    let create = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&schema) };
    sink.metadata.apply(&create, Some(&schema)).await.unwrap();
    assert_eq!(sink.metadata.apply(&create, Some(&schema)).await.unwrap_err().retry(), Retry::Unsupported);
    let rows = batch(&table, &schema, &[(RowOp::Insert, &[Some("1")])]).unwrap();
    assert_eq!(sink.events.write(rows.clone()).await.unwrap_err().retry(), Retry::Transient);
    sink.events.write(rows).await.unwrap();
    let committable = sink.events.prepare(1).await.unwrap().unwrap();
    assert_eq!(sink.events.commit(1, committable.clone()).await.unwrap_err().retry(), Retry::Transient);
    assert_eq!(target.rows(&table), ["1"], "the commit failed after it was done");
    sink.events.commit(1, committable).await.unwrap();
    assert_eq!(target.rows(&table), ["1"]);
    assert_eq!((faults.hit(), faults.calls(Call::Write)), (3, 2));
}
