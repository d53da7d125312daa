//! What every sink must do, as tests that take any target. Sinks that are not exactly-once are let off what they do
//! not promise.

use super::batch;
use crate::{Committable, Retry, Sink, SinkError};
use async_trait::async_trait;
use rowferry_model::{
    AddedColumn, AlteredColumn, ChangeBatch, Column, ColumnPosition, DataType, RowOp, SchemaChange, TableId,
    TableSchema,
};
use std::error::Error;
use std::sync::Arc;

/// The outcome of a check; an error says what the sink did wrong.
pub type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// A target that sinks write into and that the tests look into.
#[async_trait]
pub trait Target: Sync {
    /// A new sink, as after a start of the process, always with the same instance.
    fn sink(&self) -> Result<Sink, SinkError>;

    /// What a reader sees: the rows sorted, each as Flink CDC prints it (`1, a, null`); empty if there is no table.
    async fn rows(&self, table: &TableId) -> Result<Vec<String>, Box<dyn Error + Send + Sync>>;
}

/// All checks, each on tables of its own, in a database of this name.
///
/// # Errors
/// What the sink did wrong, with the name of the check.
pub async fn check_all(target: &dyn Target, database: &str) -> Outcome {
    let t = |name: &str| TableId::new(database, name);
    named("rows become visible with their commit", visible_with_commit(target, &t("visible")).await)?;
    named("a repeated commit changes nothing", repeated_commit(target, &t("repeated")).await)?;
    named("a prepared checkpoint survives a crash", crash_after_prepare(target, &t("crash_after")).await)?;
    named("rows that were not prepared are gone after a crash", crash_before_prepare(target, &t("crash")).await)?;
    named("changes of one key keep their order", order_of_changes(target, &t("changes")).await)?;
    named("many checkpoints", many_checkpoints(target, &t("many")).await)?;
    named("a table without a key", keyless(target, &t("keyless")).await)?;
    named("schema changes, each applied twice", schema_changes(target, &t("evolving")).await)?;
    named("dropped and created again", dropped_and_created_again(target, &t("again")).await)
}

fn named(name: &str, outcome: Outcome) -> Outcome {
    outcome.map_err(|e| {
        let hint = e.downcast_ref::<SinkError>().and_then(SinkError::hint_text).unwrap_or_default();
        format!("{name}: {e} {hint}").into()
    })
}

fn schema(keyed: bool) -> Arc<TableSchema> {
    Arc::new(TableSchema {
        columns: vec![Column::new("id", DataType::BigInt).not_null(), Column::new("v", DataType::String)],
        primary_key: if keyed { vec!["id".into()] } else { Vec::new() },
        ..TableSchema::default()
    })
}

async fn create(sink: &mut Sink, table: &TableId, schema: &Arc<TableSchema>) -> Outcome {
    sink.events.check(table, schema)?;
    let change = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(schema) };
    // A replay of the creation must be harmless.
    sink.metadata.apply(&change, Some(schema)).await?;
    Ok(sink.metadata.apply(&change, Some(schema)).await?)
}

fn rows(
    table: &TableId,
    schema: &Arc<TableSchema>,
    rows: &[(RowOp, &str, &str)],
) -> Result<ChangeBatch, Box<dyn Error + Send + Sync>> {
    let rows: Vec<(RowOp, [Option<&str>; 2])> = rows.iter().map(|(op, id, v)| (*op, [Some(*id), Some(*v)])).collect();
    let rows: Vec<(RowOp, &[Option<&str>])> = rows.iter().map(|(op, row)| (*op, row.as_slice())).collect();
    batch(table, schema, &rows)
}

async fn checkpoint(sink: &mut Sink, id: u64) -> Result<Option<Committable>, SinkError> {
    let prepared = sink.events.prepare(id).await?;
    if let Some(committable) = &prepared {
        sink.events.commit(id, committable.clone()).await?;
    }
    Ok(prepared)
}

async fn expect(target: &dyn Target, table: &TableId, when: &str, want: &[&str]) -> Outcome {
    let have = target.rows(table).await?;
    if have == want { Ok(()) } else { Err(format!("{when}: {table} has {have:?} where {want:?} was expected").into()) }
}

async fn visible_with_commit(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, schema) = (target.sink()?, schema(true));
    sink.events.recover(None).await?;
    create(&mut sink, table, &schema).await?;
    expect(target, table, "after creation", &[]).await?;
    if sink.events.prepare(1).await?.is_some() {
        return Err("`prepare` without rows must say that there is nothing to commit".into());
    }
    sink.events.write(rows(table, &schema, &[(RowOp::Insert, "1", "a"), (RowOp::Insert, "2", "b")])?).await?;
    let prepared = sink.events.prepare(2).await?;
    if sink.events.capabilities().exactly_once {
        expect(target, table, "after prepare", &[]).await?;
    }
    if let Some(committable) = prepared {
        sink.events.commit(2, committable).await?;
    }
    expect(target, table, "after commit", &["1, a", "2, b"]).await?;
    Ok(sink.events.close().await?)
}

async fn repeated_commit(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, schema) = (target.sink()?, schema(true));
    create(&mut sink, table, &schema).await?;
    sink.events.write(rows(table, &schema, &[(RowOp::Insert, "1", "a")])?).await?;
    let first = checkpoint(&mut sink, 11).await?;
    sink.events.write(rows(table, &schema, &[(RowOp::Delete, "1", "a"), (RowOp::Insert, "2", "b")])?).await?;
    let second = checkpoint(&mut sink, 12).await?;
    if let Some(second) = second {
        sink.events.commit(12, second).await?;
    }
    if let Some(first) = first {
        sink.events.commit(11, first).await?;
    }
    expect(target, table, "after repeated commits", &["2, b"]).await
}

async fn crash_after_prepare(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, schema) = (target.sink()?, schema(true));
    create(&mut sink, table, &schema).await?;
    sink.events.write(rows(table, &schema, &[(RowOp::Insert, "1", "a"), (RowOp::Insert, "2", "b")])?).await?;
    let saved = sink.events.prepare(21).await?;
    drop(sink);
    for start in ["first", "second"] {
        let mut sink = target.sink()?;
        sink.events.recover(Some((21, saved.clone()))).await?;
        expect(target, table, &format!("after the {start} recovery"), &["1, a", "2, b"]).await?;
    }
    let mut sink = target.sink()?;
    sink.events.recover(Some((21, saved))).await?;
    create(&mut sink, table, &schema).await?;
    let update = [(RowOp::UpdateBefore, "1", "a"), (RowOp::UpdateAfter, "1", "aa"), (RowOp::Delete, "2", "b")];
    sink.events.write(rows(table, &schema, &update)?).await?;
    checkpoint(&mut sink, 22).await?;
    expect(target, table, "after going on", &["1, aa"]).await
}

async fn crash_before_prepare(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, schema) = (target.sink()?, schema(true));
    create(&mut sink, table, &schema).await?;
    sink.events.write(rows(table, &schema, &[(RowOp::Insert, "1", "a")])?).await?;
    checkpoint(&mut sink, 31).await?;
    let lost = rows(table, &schema, &[(RowOp::Insert, "2", "b")])?;
    sink.events.write(lost.clone()).await?;
    drop(sink);
    let mut sink = target.sink()?;
    sink.events.recover(Some((31, None))).await?;
    if sink.events.capabilities().exactly_once {
        expect(target, table, "after the crash", &["1, a"]).await?;
    }
    // Prepared, but never saved: the pipeline prepares the same rows again under another number.
    sink.events.write(lost.clone()).await?;
    sink.events.prepare(32).await?;
    drop(sink);
    let mut sink = target.sink()?;
    sink.events.recover(Some((31, None))).await?;
    sink.events.write(lost).await?;
    checkpoint(&mut sink, 33).await?;
    expect(target, table, "after the replay", &["1, a", "2, b"]).await
}

async fn order_of_changes(target: &dyn Target, table: &TableId) -> Outcome {
    use RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
    let (mut sink, schema) = (target.sink()?, schema(true));
    create(&mut sink, table, &schema).await?;
    let changes = [
        (Insert, "1", "a"),
        (UpdateBefore, "1", "a"),
        (UpdateAfter, "1", "b"),
        (Delete, "1", "b"),
        (Insert, "1", "c"),
        (Insert, "2", "x"),
        // The key changes.
        (UpdateBefore, "2", "x"),
        (UpdateAfter, "3", "x"),
        (Insert, "4", "y"),
        (Delete, "4", "y"),
    ];
    sink.events.write(rows(table, &schema, &changes)?).await?;
    checkpoint(&mut sink, 41).await?;
    expect(target, table, "after one batch", &["1, c", "3, x"]).await?;
    // The same in batches of their own, within one checkpoint.
    for change in [(Delete, "3", "x"), (Insert, "3", "y"), (Delete, "1", "c")] {
        sink.events.write(rows(table, &schema, &[change])?).await?;
    }
    checkpoint(&mut sink, 42).await?;
    expect(target, table, "after several batches", &["3, y"]).await
}

async fn many_checkpoints(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, schema) = (target.sink()?, schema(true));
    create(&mut sink, table, &schema).await?;
    let mut value = String::new();
    for n in 0..20_u64 {
        let next = format!("v{n}");
        let batch = if n == 0 {
            rows(table, &schema, &[(RowOp::Insert, "1", &next)])?
        } else {
            rows(table, &schema, &[(RowOp::UpdateBefore, "1", &value), (RowOp::UpdateAfter, "1", &next)])?
        };
        value = next;
        sink.events.write(batch).await?;
        let saved = checkpoint(&mut sink, 51 + n).await?;
        if n % 5 == 4 {
            sink = target.sink()?;
            sink.events.recover(Some((51 + n, saved))).await?;
        }
    }
    expect(target, table, "at the end", &["1, v19"]).await
}

async fn keyless(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, schema) = (target.sink()?, schema(false));
    if !sink.events.capabilities().keyless_tables {
        return Ok(());
    }
    create(&mut sink, table, &schema).await?;
    sink.events.write(rows(table, &schema, &[(RowOp::Insert, "1", "a"), (RowOp::Insert, "1", "a")])?).await?;
    let saved = sink.events.prepare(81).await?;
    drop(sink);
    let mut sink = target.sink()?;
    sink.events.recover(Some((81, saved.clone()))).await?;
    sink.events.recover(Some((81, saved))).await?;
    expect(target, table, "after two recoveries", &["1, a", "1, a"]).await
}

async fn evolve(
    sink: &mut Sink,
    schema: &Arc<TableSchema>,
    change: SchemaChange,
) -> Result<Arc<TableSchema>, Box<dyn Error + Send + Sync>> {
    let after = schema.apply(&change)?.ok_or("the table is gone")?;
    sink.metadata.apply(&change, Some(&after)).await?;
    sink.metadata.apply(&change, Some(&after)).await?;
    Ok(Arc::new(after))
}

async fn schema_changes(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, mut now) = (target.sink()?, schema(true));
    create(&mut sink, table, &now).await?;
    sink.events.write(rows(table, &now, &[(RowOp::Insert, "1", "a")])?).await?;
    checkpoint(&mut sink, 91).await?;
    let add = |name: &str, position| AddedColumn { column: Column::new(name, DataType::Int), position };
    let id = || table.clone();
    let added = vec![add("last", ColumnPosition::Last), add("mid", ColumnPosition::After("id".into()))];
    now = evolve(&mut sink, &now, SchemaChange::AddColumns { table: id(), columns: added }).await?;
    expect(target, table, "after adding", &["1, null, a, null"]).await?;
    let row: &[Option<&str>] = &[Some("2"), Some("20"), Some("b"), Some("200")];
    sink.events.write(batch(table, &now, &[(RowOp::Insert, row)])?).await?;
    checkpoint(&mut sink, 92).await?;
    expect(target, table, "after rows of the new schema", &["1, null, a, null", "2, 20, b, 200"]).await?;

    let rename = |names: &[(&str, &str)]| SchemaChange::RenameColumns {
        table: id(),
        names: names.iter().map(|(old, new)| ((*old).into(), (*new).into())).collect(),
    };
    now = match evolve(&mut sink, &now, rename(&[("mid", "last"), ("last", "mid")])).await {
        // Where nothing tells whether columns that are alike have been swapped, they can be renamed one by one.
        Err(e) if e.downcast_ref().is_some_and(|e: &SinkError| e.retry() == Retry::Unsupported) => {
            let mut steps = now;
            for names in [("mid", "x"), ("last", "mid"), ("x", "last")] {
                steps = evolve(&mut sink, &steps, rename(&[names])).await?;
            }
            steps
        }
        result => result?,
    };
    now = evolve(&mut sink, &now, rename(&[("v", "w")])).await?;
    let wider = AlteredColumn {
        name: "last".into(),
        data_type: DataType::BigInt,
        nullable: true,
        old: Some((DataType::Int, true)),
        comment: Some("wider".into()),
    };
    now = evolve(&mut sink, &now, SchemaChange::AlterColumns { table: id(), columns: vec![wider] }).await?;
    let row: &[Option<&str>] = &[Some("3"), Some("9000000000"), Some("c"), None];
    sink.events.write(batch(table, &now, &[(RowOp::Insert, row)])?).await?;
    checkpoint(&mut sink, 93).await?;
    let want = ["1, null, a, null", "2, 20, b, 200", "3, 9000000000, c, null"];
    expect(target, table, "after renaming and widening", &want).await?;

    now = evolve(&mut sink, &now, SchemaChange::DropColumns { table: id(), names: vec!["mid".into()] }).await?;
    expect(target, table, "after dropping", &["1, null, a", "2, 20, b", "3, 9000000000, c"]).await?;
    let comment = SchemaChange::AlterTableComment { table: id(), comment: Some("new".into()) };
    now = evolve(&mut sink, &now, comment).await?;
    now = evolve(&mut sink, &now, SchemaChange::TruncateTable { table: id() }).await?;
    expect(target, table, "after truncating", &[]).await?;
    let row: &[Option<&str>] = &[Some("4"), Some("4"), Some("d")];
    sink.events.write(batch(table, &now, &[(RowOp::Insert, row)])?).await?;
    checkpoint(&mut sink, 94).await?;
    expect(target, table, "after rows behind the truncation", &["4, 4, d"]).await
}

async fn dropped_and_created_again(target: &dyn Target, table: &TableId) -> Outcome {
    let (mut sink, schema) = (target.sink()?, schema(true));
    create(&mut sink, table, &schema).await?;
    sink.events.write(rows(table, &schema, &[(RowOp::Insert, "1", "old")])?).await?;
    let saved = checkpoint(&mut sink, 101).await?;
    let drop_it = SchemaChange::DropTable { table: table.clone() };
    for _ in 0..2 {
        sink.metadata.apply(&drop_it, None).await?;
    }
    expect(target, table, "after dropping", &[]).await?;
    // A crash before the next checkpoint: the commit of the dropped table is repeated.
    let mut sink = target.sink()?;
    sink.events.recover(Some((101, saved.clone()))).await?;
    sink.metadata.apply(&drop_it, None).await?;
    create(&mut sink, table, &schema).await?;
    let mut sink = target.sink()?;
    sink.events.recover(Some((101, saved))).await?;
    expect(target, table, "after creating it again", &[]).await?;
    sink.events.write(rows(table, &schema, &[(RowOp::Insert, "1", "new")])?).await?;
    checkpoint(&mut sink, 102).await?;
    expect(target, table, "with a new row", &["1, new"]).await
}
