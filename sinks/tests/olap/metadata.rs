//! Schema changes: what holds for both sinks.

use crate::olap::fixture::{Fixture, add, alter, rename};
use crate::stand_in::{FaultAction, Settings, When};
use crate::support::{
    CHANGE_TIMEOUT, COMMENT, StandIn, UNFIT, batch, checkpoint, execute, not_null, schema, shown, simple_schema, sink,
    table, wider,
};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use rowferry_model::{Changes, Column, ColumnPosition, DataType, SchemaChange};
use rowferry_sinks::Retry;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn tables_are_truncated_commented_and_dropped() {
    let mut f = Fixture::new().await;
    f.insert(1).await;
    let (comment, told) = COMMENT;
    f.apply(SchemaChange::AlterTableComment { table: table(), comment: Some(comment.into()) }).await.unwrap();
    assert!(f.shown().unwrap().contains(told), "{:?}", f.shown());
    f.apply(SchemaChange::TruncateTable { table: table() }).await.unwrap();
    assert!(shown(&f.server, &table()).is_empty());
    f.apply(SchemaChange::DropTable { table: table() }).await.unwrap();
    assert_eq!(f.shown(), None);
    // Replayed behind the drop.
    f.sink.metadata.apply(&SchemaChange::TruncateTable { table: table() }, Some(&f.schema.clone())).await.unwrap();
}

#[tokio::test]
async fn a_job_in_the_way_is_waited_for() {
    let mut f = Fixture::new().await;
    f.server.world().pulse = Duration::from_millis(150);
    execute(&f.server, "ALTER TABLE orders MODIFY COLUMN a BIGINT NULL");
    f.apply(add(Column::new("x", DataType::Int), ColumnPosition::Last)).await.unwrap();
    assert_eq!(f.columns(), [&not_null("id bigint"), "a bigint", "b varchar(40)", "x int"]);
    execute(&f.server, "ALTER TABLE orders MODIFY COLUMN a LARGEINT NULL");
    f.apply(SchemaChange::DropTable { table: table() }).await.unwrap();
    assert_eq!(f.shown(), None);
}

#[tokio::test]
async fn a_cancelled_job_and_one_that_takes_too_long_quote_the_server() {
    let mut f = Fixture::new().await;
    let schema = Arc::new(f.schema.clone());
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![1])),
        arrow_array::new_null_array(&arrow_schema::DataType::Int32, 1),
        Arc::new(StringArray::from(vec!["no number"])),
    ];
    f.sink.events.write(batch(&table(), &schema, Changes::Inserts(1), columns)).await.unwrap();
    checkpoint(&mut f.sink, 1).await.unwrap();
    let error = f.apply(alter("b", DataType::Int, true, None)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.to_string().contains("cancelled") && error.to_string().contains("no number"), "{error}");

    let mut slow = Fixture::with((*simple_schema()).clone(), &[(CHANGE_TIMEOUT, "1 s")]).await;
    slow.server.world().pulse = Duration::from_secs(60);
    let error = slow.apply(alter("name", wider(), true, None)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Transient);
    assert!(error.to_string().contains("PENDING"), "{error}");
    assert!(error.hint_text().unwrap().contains(CHANGE_TIMEOUT), "{error}");
}

#[tokio::test]
async fn an_answer_that_is_lost_is_no_reason_to_do_it_twice() {
    for when in [When::Before, When::After] {
        for statement in ["SHOW FULL", "ALTER", "SHOW ALTER", "SHOW CREATE"] {
            let mut f = Fixture::new().await;
            f.server.fault(&format!("sql:{statement}"), when, FaultAction::Drop, 0, 1);
            f.apply(add(Column::new("x", DataType::Int), ColumnPosition::Last)).await.unwrap();
            f.apply(alter("a", DataType::BigInt, true, None)).await.unwrap();
            let wanted = [&not_null("id bigint"), "a bigint", "b varchar(40)", "x int"];
            assert_eq!(f.columns(), wanted, "{when:?} {statement}");
        }
    }
}

#[tokio::test]
async fn a_table_that_is_there_must_be_fit() {
    for (sql, reason) in UNFIT {
        let server = StandIn::start(Settings::default());
        server.world().create_database("shop", false).unwrap();
        execute(&server, sql);
        let mut sink = sink(&server, &[]);
        let create = SchemaChange::CreateTable { table: table(), schema: simple_schema() };
        let error = sink.metadata.apply(&create, Some(&simple_schema())).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Permanent);
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// The support matrix of the specification (schema-evolution.md, section 7): what EVOLVE brings.
#[tokio::test]
async fn the_seed_matrix() {
    let mut f = Fixture::new().await;
    let steps: Vec<(&str, SchemaChange, &[&str])> = vec![
        ("add", add(Column::new("n", DataType::Int), ColumnPosition::Last), &["a int", "b varchar(40)", "n int"]),
        ("alter type", alter("a", DataType::BigInt, true, None), &["a bigint", "b varchar(40)", "n int"]),
        ("rename", rename(&[("n", "m")]), &["a bigint", "b varchar(40)", "m int"]),
        (
            "drop column",
            SchemaChange::DropColumns { table: table(), names: vec!["m".into()] },
            &["a bigint", "b varchar(40)"],
        ),
    ];
    follow(&mut f, steps).await;
    // NOT NULL to NULL.
    let columns = vec![Column::new("id", DataType::BigInt).not_null(), Column::new("a", DataType::Int).not_null()];
    let mut g = Fixture::with((*schema(columns, &["id"])).clone(), &[]).await;
    assert_eq!(g.columns(), [not_null("id bigint"), not_null("a int")]);
    g.apply(alter("a", DataType::Int, true, None)).await.unwrap();
    assert_eq!(g.columns(), [&not_null("id bigint"), "a int"]);
    g.insert(1).await;
    g.apply(SchemaChange::TruncateTable { table: table() }).await.unwrap();
    g.apply(SchemaChange::DropTable { table: table() }).await.unwrap();
    assert_eq!(g.shown(), None);
}

/// LENIENT as it comes here: a rename is an addition, a drop makes the column nullable, the rest is as it was.
#[tokio::test]
async fn the_seed_matrix_of_lenient() {
    let mut f = Fixture::new().await;
    let steps: Vec<(&str, SchemaChange, &[&str])> = vec![
        ("add", add(Column::new("n", DataType::Int), ColumnPosition::Last), &["a int", "b varchar(40)", "n int"]),
        ("alter type", alter("a", DataType::BigInt, true, None), &["a bigint", "b varchar(40)", "n int"]),
        (
            "a rename of n to m",
            add(Column::new("m", DataType::Int), ColumnPosition::Last),
            &["a bigint", "b varchar(40)", "n int", "m int"],
        ),
        ("a drop of m", alter("m", DataType::Int, true, None), &["a bigint", "b varchar(40)", "n int", "m int"]),
    ];
    follow(&mut f, steps).await;
}

/// Makes changes one by one, with a row behind each; given are the columns behind the key.
async fn follow(f: &mut Fixture, steps: Vec<(&str, SchemaChange, &[&str])>) {
    let n = steps.len();
    for (i, (what, change, wanted)) in steps.into_iter().enumerate() {
        f.apply(change).await.unwrap();
        assert_eq!(f.columns()[0], not_null("id bigint"), "{what}");
        assert_eq!(f.columns()[1..], *wanted, "{what}");
        f.insert(i64::try_from(i + 1).unwrap()).await;
    }
    assert_eq!(shown(&f.server, &table()).len(), n);
}
