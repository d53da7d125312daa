//! Schema changes of the `values` sink: printed, nothing else.

use super::config::{Config, Format};
use super::output::Output;
use super::{json, lines};
use crate::{MetadataApplier, SinkError};
use async_trait::async_trait;
use rowferry_model::{SchemaChange, TableSchema};
use std::sync::Arc;

/// Prints schema changes.
pub(super) struct ValuesApplier {
    print: bool,
    format: Format,
    refuse: bool,
    output: Arc<Output>,
}

impl ValuesApplier {
    pub(super) fn new(config: &Config, output: Arc<Output>) -> Self {
        Self { print: config.print, format: config.format, refuse: config.refuse_schema_changes, output }
    }
}

#[async_trait]
impl MetadataApplier for ValuesApplier {
    async fn apply(&mut self, change: &SchemaChange, _after: Option<&TableSchema>) -> Result<(), SinkError> {
        if self.refuse && !matches!(change, SchemaChange::CreateTable { .. }) {
            return Err(SinkError::unsupported(format!(
                "values sink: {} of {} is refused because `error.on.schema.change` is true",
                change.kind().tag(),
                change.table()
            )));
        }
        if !self.print {
            return Ok(());
        }
        let mut out = self.output.lock();
        match self.format {
            Format::Lines => lines::append_schema_change(out.buffer(), change),
            Format::Json => json::append_schema_change(out.buffer(), change),
        }
        out.end_line()?;
        // A schema change returns only when it is visible.
        out.flush()
    }

    async fn probe(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}
