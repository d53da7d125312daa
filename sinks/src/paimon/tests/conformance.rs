//! The checks that every sink must pass.

use super::Warehouse;
use crate::testing::contract::{self, Target};
use crate::{Sink, SinkError};
use async_trait::async_trait;
use rowferry_model::TableId;
use std::error::Error;

#[async_trait]
impl Target for Warehouse {
    fn sink(&self) -> Result<Sink, SinkError> {
        Ok(Warehouse::sink(self))
    }

    async fn rows(&self, table: &TableId) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
        Ok(Warehouse::rows(self, table).await)
    }
}

#[tokio::test]
async fn the_sink_keeps_the_contract_with_dynamic_buckets() {
    contract::check_all(&Warehouse::new(&[]), "lake").await.unwrap();
}

#[tokio::test]
async fn the_sink_keeps_the_contract_with_fixed_buckets() {
    // `bucket-key` is for the table without a key, which needs it with fixed buckets.
    let options = [("table.properties.bucket", "3"), ("table.properties.bucket-key", "id")];
    contract::check_all(&Warehouse::new(&options), "lake").await.unwrap();
}

#[tokio::test]
async fn the_sink_keeps_the_contract_when_every_batch_exceeds_the_memory_bound() {
    contract::check_all(&Warehouse::new(&[("rowferry.buffer-bytes", "1")]), "lake").await.unwrap();
}
