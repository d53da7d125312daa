//! Schema changes: what is sent, what the table is then, what happens when they come again.

use crate::olap::fixture::{Fixture, add, alter, rename};
use crate::stand_in::{FaultAction, Settings, When};
use crate::support::{StandIn, batch, checkpoint, schema, shown, simple_schema, sink, table};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use rowferry_model::{AddedColumn, Changes, Column, ColumnPosition, DataType, SchemaChange, TableId, TableSchema};
use rowferry_sinks::Retry;
use std::sync::Arc;

#[tokio::test]
async fn a_table_of_every_type() {
    let mut columns = vec![
        Column::new("v", DataType::Varchar(20)),
        Column { max_bytes: Some(60), ..Column::new("utf8mb3", DataType::Varchar(20)) },
        Column { max_bytes: Some(20), ..Column::new("latin1", DataType::Varchar(20)) },
        Column::new("long", DataType::Varchar(16_383)),
        Column::new("longer", DataType::Varchar(16_384)),
        Column::new("c", DataType::Char(10)),
        Column::new("c64", DataType::Char(64)),
        Column::new("s", DataType::String),
        Column::new("bin", DataType::Binary(16)),
        Column::new("dec", DataType::Decimal { precision: 10, scale: 2 }),
        Column::new("t6", DataType::Time(6)),
        Column::new("ts", DataType::Timestamp(6)),
        Column::new("at", DataType::TimestampLtz(3)),
        Column::new("f", DataType::Float),
        Column::new("select", DataType::Boolean),
        Column::new("中 `文", DataType::Date),
    ];
    columns[0].comment = Some("it's \"q\" \\ 中😀".to_owned());
    columns[0].default = Some("a\"b".to_owned());
    columns[1].default = Some("both ' and \"".to_owned());
    columns[2].default = Some("it's".to_owned());
    columns[9].default = Some("1.50".to_owned());
    columns[11].default = Some("CURRENT_TIMESTAMP(6)".to_owned());
    columns[12].default = Some("CURRENT_TIMESTAMP".to_owned());
    columns[15].default = Some("0000-00-00".to_owned());
    columns.push(Column::new("k2", DataType::Decimal { precision: 20, scale: 0 }).not_null());
    columns.push(Column::new("k3", DataType::String).not_null());
    columns.push(Column::new("k4", DataType::Varbinary(10)).not_null());
    columns.push(Column::new("id", DataType::BigInt).not_null());
    let schema =
        TableSchema { comment: Some("t \"c\" \\".to_owned()), ..(*schema(columns, &["id", "k2", "k3", "k4"])).clone() };
    let f = Fixture::with(schema, &[("table.create.properties.replication_num", "1")]).await;
    assert_eq!(
        f.made[1],
        "CREATE TABLE IF NOT EXISTS `shop`.`orders` (`id` BIGINT NULL, `k2` DECIMALV3(20, 0) NULL, `k3` VARCHAR(65533) NULL, \
         `k4` VARCHAR(16) NULL, `v` VARCHAR(80) NULL DEFAULT 'a\"b' COMMENT \"it's \\\"q\\\"  中😀\", `utf8mb3` VARCHAR(60) \
         NULL, `latin1` VARCHAR(60) NULL DEFAULT \"it's\", `long` VARCHAR(65532) NULL, `longer` STRING NULL, `c` CHAR(40) \
         NULL, `c64` VARCHAR(256) NULL, `s` STRING NULL, `bin` STRING NULL, `dec` DECIMALV3(10, 2) NULL DEFAULT \"1.5\", \
         `t6` STRING NULL, `ts` DATETIMEV2(6) NULL DEFAULT CURRENT_TIMESTAMP(6), `at` DATETIMEV2(3) NULL DEFAULT \
         CURRENT_TIMESTAMP, `f` FLOAT NULL, `select` BOOLEAN NULL, `中 ``文` DATEV2 NULL DEFAULT \"1970-01-01\") UNIQUE KEY \
         (`id`, `k2`, `k3`, `k4`) COMMENT \"t \\\"c\\\" \\\\\" DISTRIBUTED BY HASH (`id`, `k2`, `k3`, `k4`) BUCKETS AUTO \
         PROPERTIES (\"replication_num\" = \"1\")"
    );
    assert_eq!(
        f.columns(),
        [
            "id bigint",
            "k2 decimal(20,0)",
            "k3 varchar(65533)",
            "k4 varchar(16)",
            "v varchar(80) = a\"b // it's \"q\"  中😀",
            "utf8mb3 varchar(60)",
            "latin1 varchar(60) = it's",
            "long varchar(65532)",
            "longer text",
            "c char(40)",
            "c64 varchar(256)",
            "s text",
            "bin text",
            "dec decimal(10,2) = 1.5",
            "t6 text",
            "ts datetime(6) = CURRENT_TIMESTAMP(6)",
            "at datetime(3) = CURRENT_TIMESTAMP",
            "f float",
            "select boolean",
            "中 `文 date = 1970-01-01"
        ]
    );
    assert!(f.shown().unwrap().contains("COMMENT 't \\\"c\\\" \\'"), "{:?}", f.shown());
}

#[tokio::test]
async fn columns_are_added_where_they_can_be() {
    let mut f = Fixture::new().await;
    f.insert(1).await;
    f.apply(add(Column::new("last", DataType::Int), ColumnPosition::Last)).await.unwrap();
    f.apply(add(Column::new("first", DataType::Int), ColumnPosition::First)).await.unwrap();
    f.apply(add(Column::new("behind", DataType::Int), ColumnPosition::After("a".into()))).await.unwrap();
    f.apply(add(Column::new("before", DataType::Int), ColumnPosition::Before("b".into()))).await.unwrap();
    let mut filled = Column::new("filled", DataType::Int).not_null();
    filled.default = Some("5".to_owned());
    f.apply(add(filled, ColumnPosition::Last)).await.unwrap();
    f.apply(add(Column::new("zero", DataType::Varchar(5)).not_null(), ColumnPosition::Last)).await.unwrap();
    f.apply(add(Column::new("no", DataType::Boolean).not_null(), ColumnPosition::Last)).await.unwrap();
    assert_eq!(
        f.columns(),
        [
            "id bigint",
            "first int",
            "a int",
            "behind int",
            "before int",
            "b varchar(40)",
            "last int",
            "filled int = 5",
            "zero varchar(20) = ",
            "no boolean = 0"
        ]
    );
    assert_eq!(
        shown(&f.server, &table()),
        ["1|NULL|NULL|NULL|NULL|NULL|NULL|5||0"],
        "as MySQL fills rows that are there"
    );
    f.schema.columns.iter_mut().for_each(|c| c.nullable = true);
    f.insert(2).await;
    assert!(f.server.world().jobs.iter().all(|j| j.state == "FINISHED" && j.watershed.is_none()), "none is a real job");
}

#[tokio::test]
async fn several_columns_are_one_statement() {
    let mut f = Fixture::new().await;
    let from = f.statements().len();
    let columns =
        ["x", "y"].map(|n| AddedColumn { column: Column::new(n, DataType::Int), position: ColumnPosition::Last });
    f.apply(SchemaChange::AddColumns { table: table(), columns: columns.to_vec() }).await.unwrap();
    f.apply(SchemaChange::DropColumns { table: table(), names: vec!["x".into(), "a".into()] }).await.unwrap();
    assert_eq!(
        f.statements()[from..],
        [
            "ALTER TABLE `shop`.`orders` ADD COLUMN `x` INT NULL, ADD COLUMN `y` INT NULL",
            "ALTER TABLE `shop`.`orders` DROP COLUMN `x`, DROP COLUMN `a`"
        ]
    );
    assert_eq!(f.columns(), ["id bigint", "b varchar(40)", "y int"]);
    let error = f.apply(SchemaChange::DropColumns { table: table(), names: vec!["id".into()] }).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
}

#[tokio::test]
async fn types_are_widened_and_never_narrowed() {
    let mut f = Fixture::new().await;
    f.insert(1).await;
    f.apply(alter("a", DataType::BigInt, true, None)).await.unwrap();
    f.apply(alter("b", DataType::Varchar(20), true, None)).await.unwrap();
    assert_eq!(f.columns()[1..], ["a bigint", "b varchar(80)"]);
    let from = f.statements().len();
    f.apply(alter("a", DataType::TinyInt, true, None)).await.unwrap();
    f.apply(alter("b", DataType::Varchar(5), true, None)).await.unwrap();
    assert_eq!(f.columns()[1..], ["a bigint", "b varchar(80)"]);
    assert_eq!(f.statements().len(), from, "what is there holds all of it");
    f.apply(alter("b", DataType::String, true, None)).await.unwrap();
    // MySQL's BIGINT UNSIGNED: no decimal can be made of an integer.
    f.apply(alter("a", DataType::Decimal { precision: 20, scale: 0 }, true, None)).await.unwrap();
    assert_eq!(f.columns()[1..], ["a largeint", "b text"]);
    let error = f.apply(alter("a", DataType::Date, true, None)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
    assert!(error.to_string().contains("Can not change LARGEINT to DATEV2"), "{error}");
    // The distribution's columns can't be changed.
    let error = f.apply(alter("id", DataType::Decimal { precision: 20, scale: 0 }, false, None)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
    // Doris would narrow a decimal: more digits behind the point must not cost those before it.
    f.apply(add(Column::new("d", DataType::Decimal { precision: 10, scale: 2 }), ColumnPosition::Last)).await.unwrap();
    f.apply(alter("d", DataType::Decimal { precision: 10, scale: 4 }, true, None)).await.unwrap();
    assert_eq!(f.columns()[3], "d decimal(12,4)");
}

/// What a MODIFY does not restate is lost or refused.
#[tokio::test]
async fn defaults_comments_and_nullability_survive_a_new_type() {
    let mut f = Fixture::new().await;
    let mut a = Column::new("n", DataType::Varchar(5)).not_null();
    a.default = Some("it's".to_owned());
    a.comment = Some("say \"hi\"".to_owned());
    f.apply(add(a, ColumnPosition::Last)).await.unwrap();
    let mut at = Column::new("at", DataType::Timestamp(0));
    at.default = Some("CURRENT_TIMESTAMP".to_owned());
    f.apply(add(at, ColumnPosition::Last)).await.unwrap();
    assert_eq!(f.columns()[3..], ["n varchar(20) = it's // say \"hi\"", "at datetime = CURRENT_TIMESTAMP"]);
    f.apply(alter("n", DataType::String, false, None)).await.unwrap();
    f.apply(alter("at", DataType::Timestamp(6), true, Some("when \\ 'now'"))).await.unwrap();
    assert_eq!(
        f.columns()[3..],
        ["n text = it's // say \"hi\"", "at datetime(6) = CURRENT_TIMESTAMP // when \\ 'now'"]
    );
    // A table that somebody else has made.
    f.server.world().table_mut("shop", "orders").unwrap().columns[1].nullable = false;
    f.apply(alter("a", DataType::Int, false, None)).await.unwrap();
    assert_eq!(f.columns()[1], "a int not null");
    f.apply(alter("a", DataType::Int, true, Some("both ' and \" \\"))).await.unwrap();
    assert_eq!(f.columns()[1], "a int // both ' and ' ");
}

#[tokio::test]
async fn columns_are_renamed_one_by_one() {
    let mut f = Fixture::new().await;
    f.apply(rename(&[("a", "a2")])).await.unwrap();
    f.apply(rename(&[("id", "key")])).await.unwrap();
    assert_eq!(f.columns(), ["key bigint", "a2 int", "b varchar(40)"]);
    // A chain: `b` must leave its name first.
    f.apply(rename(&[("a2", "b"), ("b", "c")])).await.unwrap();
    assert_eq!(f.columns()[1..], ["b int", "c varchar(40)"]);
    // A swap, which the types tell from one that is done.
    f.apply(rename(&[("b", "c"), ("c", "b")])).await.unwrap();
    assert_eq!(f.columns()[1..], ["c int", "b varchar(40)"]);
    // Case alone.
    f.apply(rename(&[("c", "C")])).await.unwrap();
    assert_eq!(f.columns()[1..], ["C int", "b varchar(40)"]);
    // A name that a renamed column had is free.
    f.apply(add(Column::new("a", DataType::Int), ColumnPosition::Last)).await.unwrap();
    assert_eq!(f.columns()[1..], ["C int", "b varchar(40)", "a int"]);
}

/// Without light schema change columns are added by a job, and names stay.
#[tokio::test]
async fn tables_without_light_schema_change() {
    let schema = (*simple_schema()).clone();
    let mut f = Fixture::with(schema, &[("table.create.properties.light_schema_change", "false")]).await;
    f.apply(add(Column::new("x", DataType::Int), ColumnPosition::Last)).await.unwrap();
    assert_eq!(f.columns(), ["id bigint", "name varchar(80)", "x int"]);
    assert!(f.server.world().jobs[0].watershed.is_some(), "a real job");
    let error = f.apply(rename(&[("x", "y")])).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
    assert!(error.hint_text().unwrap().contains("light_schema_change"), "{error}");
}

/// Names that the server takes, and those that it can't have, which are told before rows come.
#[tokio::test]
async fn names() {
    for name in ["select", "a`b", "a\"b'c", "中文😀", "a.b", "a b", "__op", "-", "a%b?c#d&e"] {
        let server = StandIn::start(Settings::default());
        let mut sink = sink(&server, &[]);
        let table = TableId::new("order-s", name);
        let columns = vec![Column::new("id", DataType::BigInt).not_null(), Column::new(name, DataType::Varchar(20))];
        let schema = schema(columns, &["id"]);
        let change = SchemaChange::CreateTable { table: table.clone(), schema: Arc::clone(&schema) };
        sink.metadata.apply(&change, Some(&schema)).await.unwrap();
        sink.metadata.apply(&change, Some(&schema)).await.unwrap();
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![1])), Arc::new(StringArray::from(vec!["x"]))];
        sink.events.write(batch(&table, &schema, Changes::Inserts(1), columns)).await.unwrap();
        checkpoint(&mut sink, 1).await.unwrap();
        assert_eq!(shown(&server, &table), ["1|x"], "{name}");
    }
    let server = StandIn::start(Settings::default());
    let sink = sink(&server, &[]);
    for (database, name, column) in [
        ("1d", "t", "c"),
        ("_d", "t", "c"),
        ("a.b", "t", "c"),
        ("d", "a$b", "c"),
        ("d", &"x".repeat(65), "c"),
        ("d", "t ", "c"),
        ("d", "t", "__doris_x"),
        ("d", "t", "c "),
        ("d", "t", ""),
    ] {
        let schema = schema(vec![Column::new(column, DataType::Int).not_null()], &[column]);
        assert!(sink.events.check(&TableId::new(database, name), &schema).is_err(), "{database}.{name}.{column}");
    }
}

#[tokio::test]
async fn old_versions_are_told_what_they_cannot_do() {
    let server = StandIn::start(Settings::default());
    server.world().version = "doris version doris-1.1.5-rc02-abc".to_owned();
    let mut old = sink(&server, &[]);
    let schema = simple_schema();
    let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    let error = old.metadata.apply(&change, Some(&schema)).await.unwrap_err();
    assert!(error.to_string().contains("1.1.5"), "{error}");
    assert!(old.metadata.probe().await.is_err());
    server.world().version = "doris version doris-1.2.8-rc01".to_owned();
    let mut sink = sink(&server, &[]);
    sink.metadata.apply(&change, Some(&schema)).await.unwrap();
    let keyless = Arc::new(TableSchema { primary_key: Vec::new(), ..(*schema).clone() });
    let change = SchemaChange::CreateTable { table: TableId::new("shop", "log"), schema: Arc::clone(&keyless) };
    let error = sink.metadata.apply(&change, Some(&keyless)).await.unwrap_err();
    assert!(error.to_string().contains("without a key"), "{error}");
}

#[tokio::test]
async fn too_few_backends_are_told_with_the_way_out() {
    let server = StandIn::start(Settings { backends: 1, ..Settings::default() });
    let schema = simple_schema();
    let change = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    let error = sink(&server, &[]).metadata.apply(&change, Some(&schema)).await.unwrap_err();
    assert!(error.hint_text().unwrap().contains("table.create.properties.replication_num"), "{error}");
}

/// A column of a table without a key can be of any type, also the first, and be changed and dropped.
#[tokio::test]
async fn tables_without_a_key_have_no_key_columns() {
    let columns = vec![Column::new("s", DataType::String), Column::new("d", DataType::Double)];
    let mut f = Fixture::with((*schema(columns, &[])).clone(), &[]).await;
    assert_eq!(
        f.made[1],
        "CREATE TABLE IF NOT EXISTS `shop`.`orders` (`s` STRING NULL, `d` DOUBLE NULL) DISTRIBUTED BY RANDOM BUCKETS AUTO \
         PROPERTIES (\"enable_duplicate_without_keys_by_default\" = \"true\")"
    );
    f.apply(add(Column::new("first", DataType::Int), ColumnPosition::First)).await.unwrap();
    f.apply(SchemaChange::DropColumns { table: table(), names: vec!["s".into()] }).await.unwrap();
    assert_eq!(f.columns(), ["d double", "first int"]);
}

/// Recorded: `Shorten type length is prohibited`, and `Can not change VARCHAR to CHAR`.
#[tokio::test]
async fn text_is_never_shortened_and_a_varchar_stays_one() {
    let mut f = Fixture::new().await;
    f.apply(alter("b", DataType::Char(20), true, None)).await.unwrap();
    assert_eq!(f.columns()[2], "b varchar(80)");
    f.apply(add(Column::new("c", DataType::Char(10)), ColumnPosition::Last)).await.unwrap();
    f.apply(alter("c", DataType::Varchar(5), true, None)).await.unwrap();
    assert_eq!(f.columns()[3], "c varchar(40)");
}

#[tokio::test]
async fn rows_that_are_there_get_zeros_as_they_are_written() {
    let mut f = Fixture::new().await;
    f.insert(1).await;
    f.apply(add(Column::new("t", DataType::Time(0)).not_null(), ColumnPosition::Last)).await.unwrap();
    f.apply(add(Column::new("t3", DataType::Time(3)).not_null(), ColumnPosition::Last)).await.unwrap();
    f.apply(add(Column::new("bin", DataType::Binary(3)).not_null(), ColumnPosition::Last)).await.unwrap();
    f.apply(add(Column::new("var", DataType::Varbinary(3)).not_null(), ColumnPosition::Last)).await.unwrap();
    assert_eq!(shown(&f.server, &table()), ["1|NULL|NULL|00:00:00|00:00:00.000|AAAA|"]);
}

#[tokio::test]
async fn a_refusal_to_tell_the_state_of_a_change_is_not_asked_again() {
    let mut f = Fixture::new().await;
    f.server.fault("sql:SHOW ALTER", When::Before, FaultAction::Refuse("no".to_owned()), 0, 100);
    let error = f.apply(add(Column::new("x", DataType::Int), ColumnPosition::Last)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
}

/// The description of a column drops backslashes, the statement for its comment alone does not.
#[tokio::test]
async fn a_comment_keeps_its_backslashes_when_the_type_changes() {
    let mut f = Fixture::new().await;
    f.apply(alter("a", DataType::Int, true, Some("C:\\dir"))).await.unwrap();
    assert_eq!(f.columns()[1], "a int // C:\\dir");
    f.apply(alter("a", DataType::BigInt, true, None)).await.unwrap();
    assert_eq!(f.columns()[1], "a bigint // C:\\dir");
}

/// A crash in the middle of a swap is told by such names.
#[tokio::test]
async fn names_that_swaps_use_are_refused() {
    let mut f = Fixture::new().await;
    let name = "__rowferry_rename_a";
    for change in [add(Column::new(name, DataType::Int), ColumnPosition::Last), rename(&[("a", name)])] {
        let error = f.apply(change).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Permanent, "{error}");
    }
    assert_eq!(f.columns(), ["id bigint", "a int", "b varchar(40)"]);
    let schema = schema(vec![Column::new(name, DataType::BigInt).not_null()], &[name]);
    let create = SchemaChange::CreateTable { table: TableId::new("shop", "log"), schema: Arc::clone(&schema) };
    assert!(f.sink.metadata.apply(&create, Some(&schema)).await.is_err());
}
