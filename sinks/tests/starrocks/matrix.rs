//! The support matrix.

use crate::fixture::{Fixture, add, alter, rename};
use crate::support::{schema, table};
use rowferry_model::{Column, ColumnPosition, DataType, SchemaChange};

/// The support matrix of the specification (schema-evolution.md, section 7): what EVOLVE brings, and what LENIENT makes
/// of it before it comes here (a rename as an addition, no drops).
#[tokio::test]
async fn the_seed_matrix() {
    let mut f = Fixture::new().await;
    let evolve: Vec<(&str, SchemaChange, &[&str])> = vec![
        (
            "add",
            add(Column::new("n", DataType::Int), ColumnPosition::Last),
            &["id bigint not null", "a int", "b varchar(40)", "n int"],
        ),
        (
            "alter type",
            alter("a", DataType::BigInt, true, None),
            &["id bigint not null", "a bigint", "b varchar(40)", "n int"],
        ),
        ("rename", rename(&[("n", "m")]), &["id bigint not null", "a bigint", "b varchar(40)", "m int"]),
        (
            "drop column",
            SchemaChange::DropColumns { table: table(), names: vec!["m".into()] },
            &["id bigint not null", "a bigint", "b varchar(40)"],
        ),
    ];
    for (what, change, wanted) in evolve {
        f.apply(change).await.unwrap();
        assert_eq!(f.columns(), wanted, "{what}");
        let id = i64::try_from(wanted.len() * 10 + what.len()).unwrap();
        f.insert(id).await;
    }
    // NOT NULL to NULL.
    let mut g = Fixture::with(
        (*schema(
            vec![Column::new("id", DataType::BigInt).not_null(), Column::new("a", DataType::Int).not_null()],
            &["id"],
        ))
        .clone(),
        &[],
    )
    .await;
    assert_eq!(g.columns(), ["id bigint not null", "a int not null"]);
    g.apply(alter("a", DataType::Int, true, None)).await.unwrap();
    assert_eq!(g.columns(), ["id bigint not null", "a int"]);
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
    for (i, (what, change, wanted)) in steps.into_iter().enumerate() {
        f.apply(change).await.unwrap();
        assert_eq!(f.columns()[1..], *wanted, "{what}");
        f.insert(i64::try_from(i + 1).unwrap()).await;
    }
    assert_eq!(f.server.world().rows("shop", "orders").len(), 4);
}
