//! What is asked of a real server where one is named, and of the stand-ins always: each schema change, twice, and rows with
//! every type at its bounds where a backend takes them, read back behind the sink.

use super::batches::schema;
use super::real_rows::{Reader, compare, load};
use rowferry_model::{AddedColumn, AlteredColumn, Column, ColumnPosition, DataType, SchemaChange, TableId};
use rowferry_sinks::{Retry, Sink};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A name that nobody else has.
pub fn database() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    format!("rowferry_test_{now}")
}

fn types() -> Vec<Column> {
    vec![
        Column::new("id", DataType::BigInt).not_null(),
        Column::new("flag", DataType::Boolean),
        Column::new("n", DataType::Int),
        Column::new("f", DataType::Float),
        Column::new("d", DataType::Decimal { precision: 38, scale: 10 }),
        Column { comment: Some("it's \"quoted\"".to_owned()), ..Column::new("v", DataType::Varchar(20)) },
        Column::new("s", DataType::String),
        Column::new("b", DataType::Bytes),
        Column::new("day", DataType::Date),
        Column::new("t", DataType::Time(3)),
        Column { default: Some("CURRENT_TIMESTAMP".to_owned()), ..Column::new("at", DataType::Timestamp(6)) },
    ]
}

/// The suite. Gives whether rows could be loaded too.
pub async fn suite(sink: &mut Sink, database: &str, reader: &mut impl Reader) -> bool {
    let table = TableId::new(database, "orders");
    let mut schema = (*schema(types(), &["id"])).clone();
    sink.metadata.probe().await.unwrap();
    sink.events.recover(None).await.unwrap();
    let create = SchemaChange::CreateTable { table: table.clone(), schema: Arc::new(schema.clone()) };
    let one = |name: &str, data_type, nullable| AlteredColumn {
        name: name.to_owned(),
        data_type,
        nullable,
        old: None,
        comment: None,
    };
    let added = Column { default: Some("7".to_owned()), ..Column::new("more", DataType::SmallInt).not_null() };
    let changes = vec![
        create,
        SchemaChange::AddColumns {
            table: table.clone(),
            columns: vec![
                AddedColumn { column: added, position: ColumnPosition::After("id".to_owned()) },
                AddedColumn { column: Column::new("last", DataType::Varchar(5)), position: ColumnPosition::Last },
            ],
        },
        SchemaChange::AlterColumns { table: table.clone(), columns: vec![one("n", DataType::BigInt, true)] },
        SchemaChange::AlterColumns { table: table.clone(), columns: vec![one("v", DataType::Varchar(40), true)] },
        SchemaChange::RenameColumns { table: table.clone(), names: vec![("last".to_owned(), "final".to_owned())] },
        SchemaChange::DropColumns { table: table.clone(), names: vec!["f".to_owned()] },
        SchemaChange::AlterTableComment { table: table.clone(), comment: Some("say \"hi\"".to_owned()) },
        SchemaChange::TruncateTable { table: table.clone() },
    ];
    for change in &changes {
        let after = if matches!(change, SchemaChange::CreateTable { .. }) {
            schema.clone()
        } else {
            schema.apply(change).unwrap().unwrap()
        };
        for _ in 0..2 {
            sink.metadata.apply(change, Some(&after)).await.unwrap_or_else(|e| panic!("{change:?}: {e}"));
        }
        schema = after;
    }
    // The table is what the stream's schema says, or this is refused.
    let there = SchemaChange::CreateTable { table: table.clone(), schema: Arc::new(schema.clone()) };
    sink.metadata.apply(&there, Some(&schema)).await.unwrap();

    let schema = Arc::new(schema);
    let loaded = match load(sink, &table, &schema).await {
        Ok(()) => {
            compare(reader, &table, &schema).await;
            true
        }
        Err(error) => {
            println!("metadata only, as no backend took rows: {error}");
            assert_eq!(error.retry(), Retry::Transient, "{error}");
            sink.events.recover(None).await.unwrap();
            false
        }
    };
    for _ in 0..2 {
        sink.metadata.apply(&SchemaChange::DropTable { table: table.clone() }, None).await.unwrap();
    }
    loaded
}

/// `user:password@host:port…` of an environment variable: user, password, host, ports. `None`, with a message: not set.
pub fn endpoint(variable: &str) -> Option<(String, String, String, Vec<String>)> {
    let Ok(text) = std::env::var(variable) else {
        println!("skipped: {variable} names no server");
        return None;
    };
    let (login, place) = text.rsplit_once('@').expect("user:password@host:port");
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let mut parts = place.split(':').map(str::to_owned);
    Some((user.to_owned(), password.to_owned(), parts.next().unwrap(), parts.collect()))
}
