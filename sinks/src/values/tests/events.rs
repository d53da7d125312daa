//! Whole lines. Those of schema changes and rows were recorded from Flink CDC on MySQL 9.7 with the `values` sink.

use super::sink;
use arrow_array::builder::BinaryBuilder;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationMicrosecondArray, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use rowferry_model::{
    AddedColumn, AlteredColumn, ChangeBatch, Changes, Column, ColumnPosition, DataType, RowOp, SchemaChange, TableId,
    TableSchema,
};
use std::sync::Arc;

fn schema(columns: Vec<Column>, key: &[&str]) -> Arc<TableSchema> {
    let primary_key = key.iter().map(|k| (*k).to_owned()).collect();
    Arc::new(TableSchema { columns, primary_key, ..TableSchema::default() })
}

fn batch(table: TableId, schema: &Arc<TableSchema>, ops: Vec<RowOp>, columns: Vec<ArrayRef>) -> ChangeBatch {
    let columns = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    ChangeBatch::new(table, Arc::clone(schema), Changes::Mixed(ops), columns).unwrap()
}

async fn printed(changes: &[SchemaChange]) -> String {
    let (mut sink, captured) = sink(&[]);
    for change in changes {
        sink.metadata.apply(change, None).await.unwrap();
    }
    captured.text()
}

#[tokio::test]
async fn schema_changes_are_printed_as_recorded() {
    let table = TableId::new("g03", "c");
    let defaulted = Column { default: Some("n".into()), ..Column::new("name", DataType::Varchar(20)) };
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        defaulted,
        Column::new("age", DataType::SmallInt),
        Column::new("score", DataType::Decimal { precision: 8, scale: 2 }),
        Column::new("note", DataType::String),
    ];
    let a2 = Column { default: Some("dd".into()), ..Column::new("a2", DataType::Varchar(17)).not_null() };
    let lines = printed(&[
        SchemaChange::CreateTable { table: table.clone(), schema: schema(columns, &["id"]) },
        SchemaChange::AddColumns {
            table: table.clone(),
            columns: vec![AddedColumn { column: a2, position: ColumnPosition::After("name".into()) }],
        },
        SchemaChange::AddColumns {
            table: table.clone(),
            columns: vec![AddedColumn { column: Column::new("a3", DataType::BigInt), position: ColumnPosition::First }],
        },
        SchemaChange::AddColumns {
            table: table.clone(),
            columns: vec![
                AddedColumn { column: Column::new("m1", DataType::Int), position: ColumnPosition::Last },
                AddedColumn { column: Column::new("m2", DataType::Varchar(5)), position: ColumnPosition::Last },
            ],
        },
        SchemaChange::RenameColumns { table: table.clone(), names: vec![("a1".into(), "a1r".into())] },
        SchemaChange::AlterColumns {
            table: table.clone(),
            columns: vec![AlteredColumn {
                name: "name".into(),
                data_type: DataType::Varchar(50),
                nullable: false,
                old: Some((DataType::Varchar(20), true)),
                comment: None,
            }],
        },
        SchemaChange::DropColumns { table: table.clone(), names: vec!["note".into()] },
        SchemaChange::TruncateTable { table: TableId::new("g03", "c2") },
        SchemaChange::DropTable { table },
    ])
    .await;
    assert_eq!(
        lines,
        "CreateTableEvent{tableId=g03.c, schema=columns={`id` INT NOT NULL,`name` VARCHAR(20) 'n',`age` SMALLINT,\
         `score` DECIMAL(8, 2),`note` STRING}, primaryKeys=id, options=()}\n\
         AddColumnEvent{tableId=g03.c, addedColumns=[ColumnWithPosition{column=`a2` VARCHAR(17) NOT NULL 'dd', \
         position=AFTER, existedColumnName=name}]}\n\
         AddColumnEvent{tableId=g03.c, addedColumns=[ColumnWithPosition{column=`a3` BIGINT, position=FIRST, \
         existedColumnName=null}]}\n\
         AddColumnEvent{tableId=g03.c, addedColumns=[ColumnWithPosition{column=`m1` INT, position=LAST, \
         existedColumnName=null}, ColumnWithPosition{column=`m2` VARCHAR(5), position=LAST, \
         existedColumnName=null}]}\n\
         RenameColumnEvent{tableId=g03.c, nameMapping={a1=a1r}}\n\
         AlterColumnTypeEvent{tableId=g03.c, typeMapping={name=VARCHAR(50) NOT NULL}, \
         oldTypeMapping={name=VARCHAR(20)}, comments={}}\n\
         DropColumnEvent{tableId=g03.c, droppedColumnNames=[note]}\n\
         TruncateTableEvent{tableId=g03.c2}\n\
         DropTableEvent{tableId=g03.c}\n"
    );
}

#[tokio::test]
async fn comments_options_and_partitions_stand_in_the_schema() {
    let commented = Column { comment: Some("an int".into()), ..Column::new("i", DataType::Int) };
    let generated = TableSchema {
        columns: vec![Column::new("id", DataType::Int).not_null(), Column::new("k", DataType::Varchar(10)), commented],
        primary_key: vec!["k".into(), "id".into()],
        comment: Some("generated cols".into()),
        ..TableSchema::default()
    };
    let optioned = TableSchema {
        partition_key: vec!["dt".into(), "hh".into()],
        options: vec![("bucket".into(), "2".into()), ("sequence.field".into(), "t".into())],
        comment: Some("  ".into()),
        columns: vec![Column { comment: Some("it's".into()), ..Column::new("a`b", DataType::Int) }],
        ..TableSchema::default()
    };
    let table = TableId::new("g02", "t_gen");
    let lines = printed(&[
        SchemaChange::CreateTable { table: table.clone(), schema: Arc::new(generated) },
        SchemaChange::CreateTable { table: table.clone(), schema: Arc::new(optioned) },
        SchemaChange::AlterTableComment { table: table.clone(), comment: Some("new".into()) },
        SchemaChange::AlterColumns {
            table,
            columns: vec![AlteredColumn {
                name: "i".into(),
                data_type: DataType::BigInt,
                nullable: true,
                old: None,
                comment: Some("c".into()),
            }],
        },
    ])
    .await;
    // Of these only the order of the parts and the first schema's comment are recorded; the escapes are those of
    // Flink CDC's documentation in types of columns and of its source at the commit that was recorded.
    assert_eq!(
        lines,
        "CreateTableEvent{tableId=g02.t_gen, schema=columns={`id` INT NOT NULL,`k` VARCHAR(10),`i` INT 'an int'}, \
         primaryKeys=k;id, comment=generated cols, options=()}\n\
         CreateTableEvent{tableId=g02.t_gen, schema=columns={`a``b` INT 'it''s'}, primaryKeys=, partitionKeys=dt;hh, \
         options=({bucket=2, sequence.field=t})}\n\
         AlterTableCommentEvent{tableId=g02.t_gen, comment='new'}\n\
         AlterColumnTypeEvent{tableId=g02.t_gen, typeMapping={i=BIGINT}, comments={i=c}}\n"
    );
}

#[tokio::test]
async fn rows_are_printed_as_recorded() {
    let decimal = |v, p, s| Arc::new(Decimal128Array::from(vec![Some(v)]).with_precision_and_scale(p, s).unwrap());
    let d = |precision, scale| DataType::Decimal { precision, scale };
    let columns: Vec<(&str, DataType, ArrayRef)> = vec![
        ("id", DataType::BigInt, Arc::new(Int64Array::from(vec![1]))),
        ("ti", DataType::TinyInt, Arc::new(Int8Array::from(vec![-128]))),
        ("ti1", DataType::Boolean, Arc::new(BooleanArray::from(vec![true]))),
        ("si", DataType::SmallInt, Arc::new(Int16Array::from(vec![-32768]))),
        ("mi", DataType::Int, Arc::new(Int32Array::from(vec![-8_388_608]))),
        ("bi", DataType::BigInt, Arc::new(Int64Array::from(vec![i64::MIN]))),
        ("biu", d(20, 0), decimal(18_446_744_073_709_551_615, 20, 0)),
        ("f", DataType::Float, Arc::new(Float32Array::from(vec![1.5]))),
        ("du", DataType::Double, Arc::new(Float64Array::from(vec![1e100]))),
        ("dec102", d(10, 2), decimal(1_234_567_891, 10, 2)),
        ("b1", DataType::Boolean, Arc::new(BooleanArray::from(vec![None]))),
        ("b64", DataType::Binary(8), Arc::new(BinaryArray::from(vec![&b"\xf1\xf0\xf0\xf0\xf0\xf0\xf0\xf0"[..]]))),
        ("vcl", DataType::Varchar(100), Arc::new(StringArray::from(vec!["latin é"]))),
        ("c", DataType::Char(10), Arc::new(StringArray::from(vec![""]))),
        ("da", DataType::Date, Arc::new(Date32Array::from(vec![19_782]))),
        ("ti3", DataType::Time(3), Arc::new(DurationMicrosecondArray::from(vec![45_296_789_000]))),
        ("dt", DataType::Timestamp(0), Arc::new(TimestampMicrosecondArray::from(vec![1_709_210_096_000_000]))),
        (
            "ts",
            DataType::TimestampLtz(0),
            Arc::new(TimestampMicrosecondArray::from(vec![1_577_836_800_000_000]).with_timezone("UTC")),
        ),
    ];
    let model = schema(columns.iter().map(|(n, t, _)| Column::new(*n, *t)).collect(), &["id"]);
    let arrays = columns.into_iter().map(|(_, _, a)| a).collect();
    let (mut sink, captured) = sink(&[]);
    sink.events.write(batch(TableId::new("g01", "t"), &model, vec![RowOp::Insert], arrays)).await.unwrap();
    assert_eq!(captured.text(), "", "rows are held back until the sink is idle or prepares");
    sink.events.idle().await.unwrap();
    assert_eq!(
        captured.text(),
        "DataChangeEvent{tableId=g01.t, before=[], after=[1, -128, true, -32768, -8388608, -9223372036854775808, \
         18446744073709551615, 1.5, 1.0E100, 12345678.91, null, 8fDw8PDw8PA=, latin é, , 2024-02-29, 12:34:56.789, \
         2024-02-29T12:34:56, 2020-01-01T00:00], op=INSERT, meta=()}\n"
    );
}

fn keyed() -> (TableId, Arc<TableSchema>, ChangeBatch) {
    let table = TableId::new("g01", "t_gen");
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        Column::new("k", DataType::Varchar(10)).not_null(),
        Column::new("a", DataType::Int),
    ];
    let schema = schema(columns, &["k", "id"]);
    use RowOp::{Delete, Insert, UpdateAfter, UpdateBefore};
    let ops = vec![Insert, UpdateBefore, UpdateAfter, UpdateBefore, UpdateAfter, Delete];
    let rows: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![2, 2, 2, 2, 2, 1])),
        Arc::new(StringArray::from(vec!["k2", "k2", "k2", "k2", "k2b", "k1"])),
        Arc::new(Int32Array::from(vec![20, 20, 21, 21, 21, 10])),
    ];
    let batch = batch(table.clone(), &schema, ops, rows);
    (table, schema, batch)
}

#[tokio::test]
async fn an_update_of_the_key_is_a_delete_and_an_insert() {
    let (_, _, batch) = keyed();
    let (mut sink, captured) = sink(&[]);
    sink.events.write(batch).await.unwrap();
    assert!(sink.events.prepare(1).await.unwrap().is_none());
    // As recorded (01-types, step 5), less two generated columns.
    assert_eq!(
        captured.text(),
        "DataChangeEvent{tableId=g01.t_gen, before=[], after=[2, k2, 20], op=INSERT, meta=()}\n\
         DataChangeEvent{tableId=g01.t_gen, before=[2, k2, 20], after=[2, k2, 21], op=UPDATE, meta=()}\n\
         DataChangeEvent{tableId=g01.t_gen, before=[2, k2, 21], after=[], op=DELETE, meta=()}\n\
         DataChangeEvent{tableId=g01.t_gen, before=[], after=[2, k2b, 21], op=INSERT, meta=()}\n\
         DataChangeEvent{tableId=g01.t_gen, before=[1, k1, 10], after=[], op=DELETE, meta=()}\n"
    );
}

#[tokio::test]
async fn the_time_of_the_event_is_printed_where_the_batch_has_it() {
    let (_, _, batch) = keyed();
    let batch = batch.with_op_ts(Arc::new(Int64Array::from(vec![0, 0, 1_795_985_113_000, 0, 0, 0]))).unwrap();
    let (mut sink, captured) = sink(&[]);
    sink.events.write(batch).await.unwrap();
    sink.events.close().await.unwrap();
    let lines: Vec<_> = captured.text().lines().map(str::to_owned).collect();
    assert_eq!(
        lines[0],
        "DataChangeEvent{tableId=g01.t_gen, before=[], after=[2, k2, 20], op=INSERT, meta=({op_ts=0})}"
    );
    assert_eq!(
        lines[1],
        "DataChangeEvent{tableId=g01.t_gen, before=[2, k2, 20], after=[2, k2, 21], op=UPDATE, \
         meta=({op_ts=1795985113000})}"
    );
}

#[tokio::test]
async fn nothing_is_printed_when_printing_is_off() {
    let (table, schema, batch) = keyed();
    let (mut sink, captured) = sink(&[("print.enabled", "false")]);
    sink.metadata.apply(&SchemaChange::CreateTable { table, schema }, None).await.unwrap();
    sink.events.write(batch).await.unwrap();
    sink.events.prepare(1).await.unwrap();
    assert_eq!(captured.text(), "");
}

#[tokio::test]
async fn at_most_so_many_rows_are_printed_as_the_limit_says() {
    let (table, schema, batch) = keyed();
    let (mut sink, captured) = sink(&[("sink.print.limit", "2")]);
    sink.metadata.apply(&SchemaChange::CreateTable { table, schema }, None).await.unwrap();
    sink.events.write(batch.clone()).await.unwrap();
    sink.events.write(batch).await.unwrap();
    sink.events.close().await.unwrap();
    assert_eq!(captured.text().lines().filter(|l| l.starts_with("DataChangeEvent")).count(), 2);
    assert_eq!(captured.text().lines().count(), 3);
}

#[tokio::test]
async fn schema_changes_are_refused_on_request() {
    let (table, schema, _) = keyed();
    let (mut sink, _) = sink(&[("error.on.schema.change", "true")]);
    sink.metadata.apply(&SchemaChange::CreateTable { table: table.clone(), schema }, None).await.unwrap();
    let refused = sink.metadata.apply(&SchemaChange::TruncateTable { table }, None).await.unwrap_err();
    assert_eq!(refused.retry(), crate::Retry::Unsupported);
}

#[tokio::test]
async fn json_lines_hold_every_value_exactly() {
    let columns = vec![
        Column::new("id", DataType::BigInt).not_null(),
        Column::new("d", DataType::Decimal { precision: 20, scale: 2 }),
        Column::new("f", DataType::Double),
        Column::new("b", DataType::Bytes),
        Column::new("s\"x", DataType::String),
        Column::new("t", DataType::Time(3)),
        Column::new("ts", DataType::Timestamp(6)),
        Column::new("ltz", DataType::TimestampLtz(0)),
    ];
    let schema = schema(columns, &["id"]);
    let mut bytes = BinaryBuilder::new();
    bytes.append_value([0, 255]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![i64::MAX])),
        Arc::new(Decimal128Array::from(vec![99_999_999_999_999_999_999]).with_precision_and_scale(20, 2).unwrap()),
        Arc::new(Float64Array::from(vec![1e-10])),
        Arc::new(bytes.finish()),
        Arc::new(StringArray::from(vec!["q\"\n€"])),
        Arc::new(DurationMicrosecondArray::from(vec![-90_000_000_000])),
        Arc::new(TimestampMicrosecondArray::from(vec![Some(1_709_210_096_000_000)])),
        Arc::new(TimestampMicrosecondArray::from(vec![None]).with_timezone("UTC")),
    ];
    let table = TableId::new("shop", "a.b");
    let (mut sink, captured) = sink(&[("rowferry.format", "json")]);
    sink.metadata
        .apply(&SchemaChange::DropColumns { table: table.clone(), names: vec!["x".into()] }, None)
        .await
        .unwrap();
    sink.events.write(batch(table, &schema, vec![RowOp::Insert], columns)).await.unwrap();
    sink.events.close().await.unwrap();
    assert_eq!(
        captured.text(),
        "{\"event\":\"drop.column\",\"database\":\"shop\",\"table\":\"a.b\",\"dropped\":[\"x\"]}\n\
         {\"event\":\"insert\",\"database\":\"shop\",\"table\":\"a.b\",\"before\":null,\"after\":{\
         \"id\":9223372036854775807,\"d\":\"999999999999999999.99\",\"f\":1.0E-10,\"b\":\"AP8=\",\"s\\\"x\":\"q\\\"\\n€\",\
         \"t\":\"-25:00:00.000\",\"ts\":\"2024-02-29T12:34:56.000000\",\"ltz\":null}}\n"
    );
    for line in captured.text().lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn options_that_can_not_be_understood_are_refused() {
    for (key, value) in
        [("print.enabled", "yes"), ("rowferry.format", "xml"), ("sink.api", "V3"), ("sink.print.limit", "-1")]
    {
        let options = [(key.to_owned(), value.to_owned())].into();
        let error = super::super::build_to(&options, Box::new(std::io::sink())).err().expect("refused").to_string();
        assert!(error.contains(key) && error.contains(value), "{error}");
    }
}
