//! A table, a sink, and what each change has done.

use crate::stand_in::{Settings, create_sql};
use crate::support::{StandIn, batch, checkpoint, schema, sink, table};
use arrow_array::{ArrayRef, Int64Array};
use rowferry_model::{
    AddedColumn, AlteredColumn, Changes, Column, ColumnPosition, DataType, SchemaChange, TableSchema,
};
use rowferry_sinks::{Sink, SinkError};
use std::sync::Arc;

pub struct Fixture {
    pub server: StandIn,
    pub sink: Sink,
    pub schema: TableSchema,
    /// The statements that made the table.
    pub made: Vec<String>,
}

impl Fixture {
    pub async fn with(schema: TableSchema, more: &[(&str, &str)]) -> Self {
        let server = StandIn::start(Settings::default());
        let mut sink = sink(&server, more);
        sink.events.recover(None).await.unwrap();
        let create = SchemaChange::CreateTable { table: table(), schema: Arc::new(schema.clone()) };
        sink.metadata.apply(&create, Some(&schema)).await.unwrap();
        // Once more, as after a crash.
        sink.metadata.apply(&create, Some(&schema)).await.unwrap();
        let made = changing(&server);
        Self { server, sink, schema, made }
    }

    /// `id`, `a INT`, `b VARCHAR(10)`.
    pub async fn new() -> Self {
        let schema = schema(
            vec![
                Column::new("id", DataType::BigInt).not_null(),
                Column::new("a", DataType::Int),
                Column::new("b", DataType::Varchar(10)),
            ],
            &["id"],
        );
        Self::with((*schema).clone(), &[]).await
    }

    pub async fn apply(&mut self, change: SchemaChange) -> Result<(), SinkError> {
        let after = self.schema.apply(&change).unwrap();
        self.sink.metadata.apply(&change, after.as_ref()).await?;
        // A crash may make it come again: nothing changes then.
        let before = self.shown();
        self.sink.metadata.apply(&change, after.as_ref()).await?;
        assert_eq!(self.shown(), before);
        if let Some(after) = after {
            self.schema = after;
        }
        Ok(())
    }

    /// As the server shows how it is made; `None`: it is not there.
    pub fn shown(&self) -> Option<String> {
        let mut world = self.server.world();
        world.tick();
        world.table("shop", "orders").map(|t| create_sql("orders", t))
    }

    /// Name, type, nullability and default of each column.
    pub fn columns(&self) -> Vec<String> {
        self.server.world().columns("shop", "orders")
    }

    /// The statements that changed something since then.
    pub fn statements(&self) -> Vec<String> {
        changing(&self.server)[self.made.len()..].to_vec()
    }

    pub async fn insert(&mut self, id: i64) {
        let columns: Vec<ArrayRef> = self
            .schema
            .columns
            .iter()
            .map(|c| -> ArrayRef {
                if c.name == "id" {
                    Arc::new(Int64Array::from(vec![id]))
                } else {
                    arrow_array::new_null_array(&c.data_type.arrow(), 1)
                }
            })
            .collect();
        let schema = Arc::new(self.schema.clone());
        self.sink.events.write(batch(&table(), &schema, Changes::Inserts(1), columns)).await.unwrap();
        checkpoint(&mut self.sink, u64::try_from(id).unwrap()).await.unwrap();
    }
}

/// The statements that changed something, without those that look.
fn changing(server: &StandIn) -> Vec<String> {
    let world = server.world();
    world.statements.iter().filter(|(s, _)| !s.starts_with("SHOW")).map(|(s, _)| s.clone()).collect()
}

pub fn add(column: Column, position: ColumnPosition) -> SchemaChange {
    SchemaChange::AddColumns { table: table(), columns: vec![AddedColumn { column, position }] }
}

pub fn alter(name: &str, data_type: DataType, nullable: bool, comment: Option<&str>) -> SchemaChange {
    SchemaChange::AlterColumns {
        table: table(),
        columns: vec![AlteredColumn {
            name: name.to_owned(),
            data_type,
            nullable,
            old: None,
            comment: comment.map(str::to_owned),
        }],
    }
}

pub fn rename(names: &[(&str, &str)]) -> SchemaChange {
    SchemaChange::RenameColumns {
        table: table(),
        names: names.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
    }
}
