//! Schema changes: what is sent, what the table is then, what happens when they come again.

use crate::olap::fixture::{Fixture, add, alter, rename};
use crate::stand_in::{FaultAction, Settings, When};
use crate::support::{StandIn, batch, checkpoint, schema, shown, simple_schema, sink, table};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use rowferry_model::{
    AddedColumn, AlteredColumn, Changes, Column, ColumnPosition, DataType, SchemaChange, TableId, TableSchema,
};
use rowferry_sinks::Retry;
use std::sync::Arc;

#[tokio::test]
async fn a_table_of_every_type() {
    let mut columns = vec![
        Column::new("v", DataType::Varchar(20)),
        Column { max_bytes: Some(60), ..Column::new("utf8mb3", DataType::Varchar(20)) },
        Column { max_bytes: Some(20), ..Column::new("latin1", DataType::Varchar(20)) },
        Column::new("c", DataType::Char(10)),
        Column::new("c64", DataType::Char(64)),
        Column::new("s", DataType::String),
        Column::new("bin", DataType::Binary(16)),
        Column::new("dec", DataType::Decimal { precision: 10, scale: 2 }),
        Column::new("t0", DataType::Time(0)),
        Column::new("t6", DataType::Time(6)),
        Column::new("ts", DataType::Timestamp(6)),
        Column::new("f", DataType::Float),
        Column::new("select", DataType::Boolean),
        Column::new("中 文", DataType::Date),
    ];
    columns[0].comment = Some("it's \"q\" \\ 中😀".to_owned());
    columns[0].default = Some("a\"b\\".to_owned());
    columns[10].default = Some("CURRENT_TIMESTAMP(6)".to_owned());
    columns[13].default = Some("0000-00-00".to_owned());
    columns.push(Column::new("k2", DataType::Decimal { precision: 20, scale: 0 }).not_null());
    columns.push(Column::new("id", DataType::BigInt).not_null());
    let schema = TableSchema { comment: Some("t \"c\"".to_owned()), ..(*schema(columns, &["id", "k2"])).clone() };
    let f =
        Fixture::with(schema, &[("table.create.num-buckets", "4"), ("table.create.properties.REPLICATION_NUM", "1")])
            .await;
    assert_eq!(
        f.shown().unwrap(),
        "CREATE TABLE `orders` (\n  `id` bigint(20) NOT NULL COMMENT \"\",\n  `k2` varchar(21) NOT NULL COMMENT \"\",\n  `v` \
         varchar(80) NULL DEFAULT \"a\\\"b\\\\\" COMMENT \"it's \\\"q\\\" \\\\ 中😀\",\n  `utf8mb3` varchar(60) NULL COMMENT \
         \"\",\n  `latin1` varchar(60) NULL COMMENT \"\",\n  `c` char(40) NULL COMMENT \"\",\n  `c64` varchar(256) NULL \
         COMMENT \"\",\n  `s` varchar(1048576) NULL COMMENT \"\",\n  `bin` varbinary NULL COMMENT \"\",\n  `dec` decimal(10, 2) \
         NULL COMMENT \"\",\n  `t0` varchar(10) NULL COMMENT \"\",\n  `t6` varchar(17) NULL COMMENT \"\",\n  `ts` datetime NULL \
         DEFAULT CURRENT_TIMESTAMP COMMENT \"\",\n  `f` float NULL COMMENT \"\",\n  `select` boolean NULL COMMENT \"\",\n  `中 \
         文` date NULL DEFAULT \"1970-01-01\" COMMENT \"\"\n) ENGINE=OLAP \nPRIMARY KEY(`id`, `k2`)\nCOMMENT \"t \
         \\\"c\\\"\"\nDISTRIBUTED BY HASH(`id`, `k2`) BUCKETS 4 \nPROPERTIES (\n\"compression\" = \
         \"LZ4\",\n\"enable_persistent_index\" = \"true\",\n\"fast_schema_evolution\" = \"true\",\n\"replicated_storage\" = \
         \"true\",\n\"replication_num\" = \"1\"\n);"
    );
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
    assert_eq!(
        f.columns(),
        [
            "id bigint not null",
            "first int",
            "a int",
            "behind int",
            "before int",
            "b varchar(40)",
            "last int",
            "filled int = 5",
            "zero varchar(20) = "
        ]
    );
    assert_eq!(
        shown(&f.server, &table()),
        ["1|NULL|NULL|NULL|NULL|NULL|NULL|5|"],
        "as MySQL fills rows that are there"
    );
    f.schema.columns.iter_mut().for_each(|c| c.nullable = true);
    f.insert(2).await;
}

#[tokio::test]
async fn several_columns_are_one_statement() {
    let mut f = Fixture::new().await;
    let columns =
        ["x", "y"].map(|n| AddedColumn { column: Column::new(n, DataType::Int), position: ColumnPosition::Last });
    f.apply(SchemaChange::AddColumns { table: table(), columns: columns.to_vec() }).await.unwrap();
    f.apply(SchemaChange::DropColumns { table: table(), names: vec!["x".into(), "a".into()] }).await.unwrap();
    assert_eq!(
        f.statements(),
        [
            "ALTER TABLE `shop`.`orders` ADD COLUMN `x` INT NULL, ADD COLUMN `y` INT NULL PROPERTIES (\"timeout\" = \"1800\")",
            "ALTER TABLE `shop`.`orders` DROP COLUMN `x`, DROP COLUMN `a` PROPERTIES (\"timeout\" = \"1800\")"
        ]
    );
    assert_eq!(f.columns(), ["id bigint not null", "b varchar(40)", "y int"]);
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
    // MySQL's BIGINT UNSIGNED: no decimal can be made of an integer.
    f.apply(alter("a", DataType::Decimal { precision: 20, scale: 0 }, true, None)).await.unwrap();
    assert_eq!(f.columns()[1], "a largeint");
    let error = f.apply(alter("a", DataType::Date, true, None)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
    assert!(error.to_string().contains("Can not change LARGEINT to DATE"), "{error}");
    let error = f.apply(alter("id", DataType::Decimal { precision: 20, scale: 0 }, false, None)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
}

/// What a MODIFY does not restate is lost, and a comment beside it loses it.
#[tokio::test]
async fn defaults_comments_and_nullability_survive_a_new_type() {
    let mut a = Column::new("a", DataType::Int).not_null();
    a.default = Some("7".to_owned());
    a.comment = Some("say \"hi\" \\".to_owned());
    let schema =
        schema(vec![Column::new("id", DataType::BigInt).not_null(), a, Column::new("b", DataType::Int)], &["id"]);
    let mut f = Fixture::with((*schema).clone(), &[]).await;
    assert_eq!(f.columns()[1], "a int not null = 7 // say \"hi\" \\");
    f.apply(alter("a", DataType::BigInt, false, None)).await.unwrap();
    assert_eq!(f.columns()[1], "a bigint not null = 7 // say \"hi\" \\");
    f.apply(alter("a", DataType::BigInt, true, None)).await.unwrap();
    assert_eq!(f.columns()[1], "a bigint = 7 // say \"hi\" \\");
    // NOT NULL can't come back, and need not.
    f.apply(alter("a", DataType::BigInt, false, None)).await.unwrap();
    assert_eq!(f.columns()[1], "a bigint = 7 // say \"hi\" \\");
    let both = SchemaChange::AlterColumns {
        table: table(),
        columns: vec![
            AlteredColumn {
                name: "a".into(),
                data_type: DataType::BigInt,
                nullable: true,
                old: None,
                comment: Some("new".into()),
            },
            AlteredColumn {
                name: "b".into(),
                data_type: DataType::BigInt,
                nullable: true,
                old: None,
                comment: Some("too".into()),
            },
        ],
    };
    f.apply(both).await.unwrap();
    assert_eq!(f.columns()[1..], ["a bigint = 7 // new", "b bigint // too"]);
}

/// `SHOW FULL COLUMNS` shows the time of the ALTER as the default of a column that was added with CURRENT_TIMESTAMP.
#[tokio::test]
async fn a_time_default_survives_a_change_of_the_column() {
    let mut f = Fixture::new().await;
    let mut column = Column::new("at", DataType::Date);
    column.default = Some("CURRENT_TIMESTAMP".to_owned());
    column.data_type = DataType::Timestamp(0);
    f.apply(add(column, ColumnPosition::Last)).await.unwrap();
    f.apply(alter("at", DataType::Timestamp(6), true, Some("when"))).await.unwrap();
    assert_eq!(f.columns()[3], "at datetime = CURRENT_TIMESTAMP // when");
    let before = f.statements().len();
    f.server.world().table_mut("shop", "orders").unwrap().columns[3].nullable = false;
    f.apply(alter("at", DataType::Timestamp(6), true, None)).await.unwrap();
    assert_eq!(f.columns()[3], "at datetime = CURRENT_TIMESTAMP // when");
    assert!(f.statements()[before..].iter().any(|s| s.contains("DEFAULT CURRENT_TIMESTAMP")));
}

#[tokio::test]
async fn columns_are_renamed_one_by_one() {
    let mut f = Fixture::new().await;
    f.apply(rename(&[("a", "a2")])).await.unwrap();
    f.apply(rename(&[("id", "key")])).await.unwrap();
    assert_eq!(f.columns(), ["key bigint not null", "a2 int", "b varchar(40)"]);
    // A chain: `b` must leave its name first.
    f.apply(rename(&[("a2", "b"), ("b", "c")])).await.unwrap();
    assert_eq!(f.columns()[1..], ["b int", "c varchar(40)"]);
    // A swap, which the types tell from one that is done.
    f.apply(rename(&[("b", "c"), ("c", "b")])).await.unwrap();
    assert_eq!(f.columns()[1..], ["c int", "b varchar(40)"]);
    // Case alone.
    f.apply(rename(&[("c", "C")])).await.unwrap();
    assert_eq!(f.columns()[1..], ["C int", "b varchar(40)"]);
}

#[tokio::test]
async fn a_swap_that_could_not_be_told_is_refused() {
    let schema = schema(
        vec![
            Column::new("id", DataType::BigInt).not_null(),
            Column::new("a", DataType::Int),
            Column::new("b", DataType::Int),
        ],
        &["id"],
    );
    let mut f = Fixture::with((*schema).clone(), &[]).await;
    let error = f.apply(rename(&[("a", "b"), ("b", "a")])).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
}

#[tokio::test]
async fn renames_need_a_version_that_can() {
    let mut f = Fixture::new().await;
    f.server.world().version = Some("3.2.11-abc".to_owned());
    let error = f.apply(rename(&[("a", "a2")])).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported);
    assert!(error.to_string().contains("3.2.11"), "{error}");
}

#[tokio::test]
async fn a_name_that_a_renamed_column_had_is_not_free() {
    let mut f = Fixture::new().await;
    f.apply(rename(&[("a", "a2")])).await.unwrap();
    let error = f.apply(add(Column::new("a", DataType::Int), ColumnPosition::Last)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Unsupported, "{error}");
    assert!(error.to_string().contains("already exists in column id"), "{error}");
}

#[tokio::test]
async fn names_that_starrocks_cannot_have_are_told_before_rows_come() {
    let server = StandIn::start(Settings::default());
    let sink = sink(&server, &[]);
    for name in ["__op", "__ROW", "a*b", "a=b", "a<b", "a`b", "__rowferry_0"] {
        let schema =
            schema(vec![Column::new("id", DataType::Int).not_null(), Column::new(name, DataType::Int)], &["id"]);
        let error = sink.events.check(&table(), &schema).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    for id in [TableId::new("1shop", "t"), TableId::new("商店", "t"), TableId::new("shop", "a`b")] {
        assert!(sink.events.check(&id, &simple_schema()).is_err(), "{id}");
    }
    for id in [TableId::new("my-shop", "t"), TableId::new("shop", "商 店/%\"'")] {
        sink.events.check(&id, &simple_schema()).unwrap();
    }
}

#[tokio::test]
async fn tables_with_odd_names_are_made_and_loaded() {
    let server = StandIn::start(Settings::default());
    let mut sink = sink(&server, &[]);
    sink.events.recover(None).await.unwrap();
    let odd = TableId::new("my-shop", "商 店/%\"'\\");
    let schema = schema(
        vec![
            Column::new("my id", DataType::BigInt).not_null(),
            Column::new("a\"b\\中", DataType::Varchar(20)),
            Column::new("b,c", DataType::Bytes),
        ],
        &["my id"],
    );
    let create = SchemaChange::CreateTable { table: odd.clone(), schema: Arc::clone(&schema) };
    sink.metadata.apply(&create, Some(&schema)).await.unwrap();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![1])),
        Arc::new(StringArray::from(vec!["x"])),
        Arc::new(arrow_array::BinaryArray::from(vec![b"\x01".as_slice()])),
    ];
    sink.events.write(batch(&odd, &schema, Changes::Inserts(1), columns)).await.unwrap();
    checkpoint(&mut sink, 1).await.unwrap();
    assert_eq!(shown(&server, &odd), ["1|x|01"]);
}

/// StarRocks refuses a decimal with fewer digits before the point, and there are rows that may have them.
#[tokio::test]
async fn more_digits_behind_the_point_cost_none_before_it() {
    let mut f = Fixture::new().await;
    f.apply(add(Column::new("d", DataType::Decimal { precision: 10, scale: 2 }), ColumnPosition::Last)).await.unwrap();
    f.apply(alter("d", DataType::Decimal { precision: 10, scale: 4 }, true, None)).await.unwrap();
    assert_eq!(f.columns()[3], "d decimal(12,4)");
    f.apply(alter("d", DataType::Decimal { precision: 10, scale: 0 }, true, None)).await.unwrap();
    assert_eq!(f.columns()[3], "d decimal(14,4)");
}

/// Recorded: `Cannot shorten string length`, and `Can not change VARCHAR(10) to CHAR(20)`.
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
async fn rows_that_are_there_get_a_time_of_zero() {
    let mut f = Fixture::new().await;
    f.insert(1).await;
    f.apply(add(Column::new("t", DataType::Time(0)).not_null(), ColumnPosition::Last)).await.unwrap();
    f.apply(add(Column::new("t3", DataType::Time(3)).not_null(), ColumnPosition::Last)).await.unwrap();
    assert_eq!(shown(&f.server, &table()), ["1|NULL|NULL|00:00:00|00:00:00.000"]);
}

/// The order of a key's columns decides how rows lie, not which rows are one.
#[tokio::test]
async fn a_table_that_is_there_may_have_its_key_in_another_order() {
    let server = StandIn::start(Settings::default());
    let mut database = "shop".to_owned();
    for sql in [
        "CREATE DATABASE shop",
        "CREATE TABLE orders (b INT NOT NULL, a INT NOT NULL) PRIMARY KEY(b, a) DISTRIBUTED BY HASH(b)",
    ] {
        crate::stand_in::execute(&mut server.world(), &mut database, "root", sql).unwrap();
    }
    let columns = ["a", "b"].map(|n| Column::new(n, DataType::Int).not_null());
    let schema = schema(columns.to_vec(), &["a", "b"]);
    let create = SchemaChange::CreateTable { table: table(), schema: Arc::clone(&schema) };
    sink(&server, &[]).metadata.apply(&create, Some(&schema)).await.unwrap();
}

#[tokio::test]
async fn too_few_backends_are_told_with_the_way_out() {
    let server = StandIn::start(Settings::default());
    server.world().backends_alive = 1;
    let create = SchemaChange::CreateTable { table: table(), schema: simple_schema() };
    let error = sink(&server, &[]).metadata.apply(&create, Some(&simple_schema())).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent);
    assert!(error.hint_text().unwrap().contains("table.create.properties.replication_num"), "{error}");
}

#[tokio::test]
async fn a_refusal_to_tell_the_state_of_a_change_is_not_asked_again() {
    let mut f = Fixture::new().await;
    f.server.fault("sql:SHOW ALTER", When::Before, FaultAction::Refuse("no".to_owned()), 0, 100);
    let error = f.apply(add(Column::new("x", DataType::Int), ColumnPosition::Last)).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
}
