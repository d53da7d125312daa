//! Batches and schema changes through plans.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

#[path = "support/golden.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with an example")]
mod golden;

use golden::rule;
use rowferry_model::arrow_array::*;
use rowferry_model::{
    AddedColumn, ChangeBatch, Changes, Column, ColumnPosition, DataType, RowOp, SchemaChange, TableId, TableSchema,
};
use rowferry_transform::{
    FunctionBody, NullComparisons, RuleSpec, TablePlan, TransformOptions, Transforms, UserFunction, value_text,
};
use std::sync::Arc;

fn table() -> TableId {
    TableId::new("shop", "c")
}

/// `c(id INT PRIMARY KEY, name VARCHAR(20) DEFAULT 'n', age SMALLINT)`.
fn schema() -> Arc<TableSchema> {
    let mut name = Column::new("name", DataType::Varchar(20));
    name.default = Some("n".to_owned());
    name.comment = Some("who".to_owned());
    Arc::new(TableSchema {
        columns: vec![Column::new("id", DataType::Int).not_null(), name, Column::new("age", DataType::SmallInt)],
        primary_key: vec!["id".to_owned()],
        ..TableSchema::default()
    })
}

fn batch(rows: &[(RowOp, i32, Option<&str>, Option<i16>)]) -> ChangeBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.1))),
        Arc::new(StringArray::from_iter(rows.iter().map(|r| r.2))),
        Arc::new(Int16Array::from_iter(rows.iter().map(|r| r.3))),
    ];
    let record = RecordBatch::try_new(schema().arrow(), columns).unwrap();
    ChangeBatch::new(table(), schema(), Changes::Mixed(rows.iter().map(|r| r.0).collect()), record).unwrap()
}

/// `+I[1, Alice, 18]` for each row.
fn shown(batch: &ChangeBatch) -> Vec<String> {
    (0..batch.num_rows())
        .map(|row| {
            let op = match batch.changes().op(row) {
                RowOp::Insert => "+I",
                RowOp::UpdateBefore => "-U",
                RowOp::UpdateAfter => "+U",
                RowOp::Delete => "-D",
            };
            let values: Vec<String> = (0..batch.columns().num_columns())
                .map(|c| value_text(batch.column(c).as_ref(), row).unwrap_or_else(|| "null".to_owned()))
                .collect();
            format!("{op}[{}]", values.join(", "))
        })
        .collect()
}

fn plan_with(rule: RuleSpec, options: TransformOptions) -> Arc<TablePlan> {
    let transforms = Transforms::new(vec![rule], options, &[], Vec::new()).unwrap();
    transforms.for_table(&table(), &schema()).unwrap().unwrap()
}

fn plan(rule: RuleSpec) -> Arc<TablePlan> {
    plan_with(rule, TransformOptions { op_ts: true, ..TransformOptions::default() })
}

const UPDATES: &[(RowOp, i32, Option<&str>, Option<i16>)] = &[
    (RowOp::UpdateBefore, 1, Some("a"), Some(1)),
    (RowOp::UpdateAfter, 1, Some("a"), Some(2)),
    (RowOp::UpdateBefore, 2, Some("b"), Some(1)),
    (RowOp::UpdateAfter, 2, Some("b"), Some(-2)),
    (RowOp::UpdateBefore, 3, Some("c"), Some(-1)),
    (RowOp::UpdateAfter, 3, Some("c"), Some(2)),
    (RowOp::UpdateBefore, 4, Some("d"), Some(-1)),
    (RowOp::UpdateAfter, 4, Some("d"), None),
    (RowOp::Delete, 5, Some("e"), Some(5)),
];

#[test]
fn a_filter_decides_on_each_side_of_an_update() {
    // The rule of Flink CDC 3.6 (spec, section 3): update, delete, insert, nothing.
    let plan = plan(rule("id, age, __data_event_type__ AS op", Some("age > 0")));
    let result = plan.apply(batch(UPDATES)).unwrap().unwrap();
    assert_eq!(shown(&result), ["-U[1, 1, -U]", "+U[1, 2, +U]", "-D[2, 1, -D]", "+I[3, 2, +I]", "-D[5, 5, -D]"]);
    assert!(plan.apply(batch(&[(RowOp::Insert, 1, None, None)])).unwrap().is_none());
}

#[test]
fn soft_delete_keeps_the_row_and_says_what_happened() {
    // Recording 12-soft-delete.
    let plan = plan(RuleSpec { soft_delete: true, ..rule(r"\*, __data_event_type__ AS op_type", None) });
    let rows = [
        (RowOp::Insert, 3, Some("Cc"), Some(1)),
        (RowOp::UpdateBefore, 3, Some("Cc"), Some(1)),
        (RowOp::UpdateAfter, 3, Some("Cc"), Some(9)),
        (RowOp::Delete, 3, Some("Cc"), Some(9)),
    ];
    let result = plan.apply(batch(&rows)).unwrap().unwrap();
    assert_eq!(shown(&result), ["+I[3, Cc, 1, +I]", "-U[3, Cc, 1, -U]", "+U[3, Cc, 9, +U]", "+I[3, Cc, 9, -D]"]);
    let op = result.schema().column("op_type").unwrap();
    assert!(!op.nullable && op.data_type == DataType::String);
    assert_eq!(result.schema().column("name").unwrap().default.as_deref(), Some("n"));
}

#[test]
fn rows_from_before_are_only_asked_for_where_they_count() {
    assert!(!plan(rule("*, age + 1 AS next", None)).needs_before_images());
    assert!(plan(rule("*", Some("age > 0"))).needs_before_images());
    assert!(plan(rule("*, __data_event_type__ AS op", None)).needs_before_images());
    let spec = RuleSpec { primary_keys: vec!["name".to_owned()], ..rule("*", None) };
    assert!(plan(spec).needs_before_images());
}

#[test]
fn metadata_and_times_of_events() {
    let plan = plan(rule(
        "id, __namespace_name__ AS ns, __schema_name__ AS s, __table_name__ AS t, op_ts AS ts",
        Some("id > 1"),
    ));
    let rows = [(RowOp::Insert, 1, None, None), (RowOp::Insert, 2, None, None)];
    let times = Arc::new(Int64Array::from(vec![10, 20]));
    let result = plan.apply(batch(&rows).with_op_ts(times).unwrap()).unwrap().unwrap();
    assert_eq!(shown(&result), ["+I[2, , shop, c, 20]"]);
    assert_eq!(result.op_ts().unwrap().value(0), 20);
    assert_eq!(shown(&plan.apply(batch(&rows)).unwrap().unwrap()), ["+I[2, , shop, c, 0]"], "a snapshot's rows");
}

#[test]
fn later_items_replace_earlier_ones_in_their_place_and_a_filter_sees_them() {
    let plan = plan(rule(r"\*, UPPER(name) AS name, age + 1 AS next", Some("name = 'BOB' AND next = 3")));
    let names: Vec<&str> = plan.schema().columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "name", "age", "next"]);
    let rows = [(RowOp::Insert, 1, Some("bob"), Some(2)), (RowOp::Insert, 2, Some("bob"), Some(3))];
    assert_eq!(shown(&plan.apply(batch(&rows)).unwrap().unwrap()), ["+I[1, BOB, 2, 3]"]);
}

#[test]
fn keys_partitions_and_options() {
    let spec = RuleSpec {
        primary_keys: vec!["name".to_owned(), "y".to_owned()],
        partition_keys: vec!["y".to_owned()],
        table_options: vec![("bucket".to_owned(), "2".to_owned())],
        ..rule("name, age % 2 AS y", None)
    };
    let plan = plan(spec);
    let schema = plan.schema();
    assert_eq!(schema.primary_key, ["name", "y"]);
    assert_eq!(schema.partition_key, ["y"]);
    assert_eq!(schema.options, [("bucket".to_owned(), "2".to_owned())]);
    assert!(schema.columns.iter().all(|column| !column.nullable));
    // An update that changes the new key is a delete and an insert; one that doesn't is an update.
    let rows = [
        (RowOp::UpdateBefore, 1, Some("a"), Some(1)),
        (RowOp::UpdateAfter, 1, Some("a"), Some(3)),
        (RowOp::UpdateBefore, 1, Some("a"), Some(3)),
        (RowOp::UpdateAfter, 1, Some("a"), Some(4)),
    ];
    assert_eq!(shown(&plan.apply(batch(&rows)).unwrap().unwrap()), ["-U[a, 1]", "+U[a, 1]", "-D[a, 1]", "+I[a, 0]"]);
}

#[test]
fn the_first_rule_that_means_the_table_counts() {
    let never = RuleSpec { matches: Arc::new(|_| false), ..rule("id, 'never' AS x", None) };
    let rules = vec![never, rule("id, 'first' AS x", None), rule("id, 'second' AS x", None)];
    let transforms = Transforms::new(rules, TransformOptions::default(), &[], Vec::new()).unwrap();
    let plan = transforms.for_table(&table(), &schema()).unwrap().unwrap();
    assert_eq!(shown(&plan.apply(batch(&[(RowOp::Insert, 1, None, None)])).unwrap().unwrap()), ["+I[1, first]"]);
    assert_eq!(plan.rule(), 1);
    let none = Transforms::new(Vec::new(), TransformOptions::default(), &[], Vec::new()).unwrap();
    assert!(none.for_table(&table(), &schema()).unwrap().is_none());
}

#[test]
fn what_does_not_fit_is_counted_or_an_error_with_the_row() {
    // 333 as a TINYINT is 77 (Flink CDC's tests of casts); where the rules are strict it is an error.
    let rows = [(RowOp::Insert, 1, Some("1"), Some(0)), (RowOp::Insert, 7, Some("333"), Some(0))];
    let spec = || rule("id, CAST(name AS TINYINT) AS x, 10 / age AS y", None);
    let transforms = Transforms::new(vec![spec()], TransformOptions::default(), &[], Vec::new()).unwrap();
    let plan = transforms.for_table(&table(), &schema()).unwrap().unwrap();
    assert_eq!(shown(&plan.apply(batch(&rows)).unwrap().unwrap()), ["+I[1, 1, null]", "+I[7, 77, null]"]);
    assert_eq!((transforms.counters().lost_values(), transforms.counters().zero_divisions()), (1, 2));
    let strict = plan_with(spec(), TransformOptions { strict: true, ..TransformOptions::default() });
    let error = strict.apply(batch(&rows)).unwrap_err();
    assert_eq!(error.0.row.as_deref(), Some("id=7"));
    let text = error.to_string();
    assert!(text.contains("shop.c") && text.contains("CAST(name AS TINYINT)") && text.contains("333"), "{text}");
}

#[test]
fn branches_that_are_not_taken_are_not_computed() {
    let spec = rule(
        "id, CASE WHEN age > 0 THEN 10 / age ELSE -1 END AS x, IF(CHAR_LENGTH(name) < 3, CAST(name AS TINYINT), 0) AS y",
        None,
    );
    let strict = plan_with(spec, TransformOptions { strict: true, ..TransformOptions::default() });
    let rows = [(RowOp::Insert, 1, Some("12"), Some(5)), (RowOp::Insert, 2, Some("333"), Some(0))];
    assert_eq!(shown(&strict.apply(batch(&rows)).unwrap().unwrap()), ["+I[1, 2, 12]", "+I[2, -1, 0]"]);
}

#[test]
fn comparisons_with_null_are_flink_cdcs_or_sqls() {
    let spec = || rule("id, age <> 3 AS ne, age = 3 AS eq, age NOT IN (3) AS ni, age NOT BETWEEN 1 AND 2 AS nb", None);
    let rows = [(RowOp::Insert, 1, None, None)];
    let flink = plan(spec()).apply(batch(&rows)).unwrap().unwrap();
    assert_eq!(shown(&flink), ["+I[1, true, false, true, true]"]);
    let sql =
        plan_with(spec(), TransformOptions { null_comparisons: NullComparisons::Sql, ..TransformOptions::default() });
    assert_eq!(shown(&sql.apply(batch(&rows)).unwrap().unwrap()), ["+I[1, null, null, null, null]"]);
}

#[test]
fn functions_given_as_sql_are_computed() {
    let mask =
        UserFunction { name: "mask".to_owned(), body: FunctionBody::Sql("CONCAT(LEFT($1, $2), '***')".to_owned()) };
    let rules = vec![rule("id, MASK(name, 2) AS x", None)];
    let transforms = Transforms::new(rules, TransformOptions::default(), &[mask], Vec::new()).unwrap();
    let plan = transforms.for_table(&table(), &schema()).unwrap().unwrap();
    let rows = [(RowOp::Insert, 1, Some("secret"), None), (RowOp::Insert, 2, None, None)];
    assert_eq!(shown(&plan.apply(batch(&rows)).unwrap().unwrap()), ["+I[1, se***]", "+I[2, null]"]);
}

#[test]
fn functions_that_flink_cdc_lacks() {
    // The values are those of MySQL 9.7 and, for SPLIT_INDEX, JSON_VALUE and JSON_QUERY, of Flink SQL's documentation.
    for (expression, expected) in [
        ("MD5('abc')", "900150983cd24fb0d6963f7d28e17f72"),
        ("SHA256('abc')", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("HEX(255)", "FF"),
        ("HEX('abc')", "616263"),
        ("GREATEST(1, 3, 2)", "3"),
        ("LEAST(1.5, 2)", "1.5"),
        ("GREATEST(1, NULL)", "null"),
        ("NVL(NULL, 'x')", "x"),
        ("SPLIT_INDEX('a,b,c', ',', 1)", "b"),
        ("SPLIT_INDEX('a,b,c', ',', 9)", "null"),
        ("DATEDIFF('2007-12-31 23:59:59', '2007-12-30')", "1"),
        ("CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')", "1969-12-31 16:00:00"),
        ("JSON_VALUE('{\"a\": {\"b\": [1, \"x\"]}}', '$.a.b[1]')", "x"),
        ("JSON_QUERY('{\"a\": {\"b\": [1, \"x\"]}}', '$.a')", "{\"b\":[1,\"x\"]}"),
        ("CARDINALITY(ARRAY[1, 2, 3])", "3"),
        ("ARRAY[10, 20, 30][2]", "20"),
        ("ARRAY_POSITION(ARRAY['a', 'b'], 'b')", "2"),
        ("ARRAY_CONTAINS(ARRAY[1, 2], 3)", "false"),
        ("MAP['a', 1, 'b', 2]['b']", "2"),
        ("ELEMENT(ARRAY['only'])", "only"),
        ("PARSE_JSON('{\"a\":[7]}')['a'][1]", "7"),
        ("REGEXP_EXTRACT_ALL('100-200, 300-400', '(\\d+)-(\\d+)', 1)", "[\"100\",\"300\"]"),
        ("ROW(1, 'a')", "{\"EXPR$0\":1,\"EXPR$1\":\"a\"}"),
        ("'abc' SIMILAR TO 'a(b|c)%'", "true"),
        ("'50%' LIKE '50!%' ESCAPE '!'", "true"),
        ("CAST('333' AS TINYINT)", "77"),
        ("CAST('5555555' AS SMALLINT)", "-15005"),
        ("TRY_CAST('333' AS TINYINT)", "null"),
        ("CAST('2023-01-01 10:00:00' AS TIMESTAMP)", "2023-01-01T10:00"),
        ("DATE '2024-01-31' + INTERVAL '1' MONTH", "2024-02-29"),
        ("TIMESTAMPDIFF(MONTH, '2024-01-31 00:00:00', '2024-02-29 00:00:00')", "0"),
        ("1 = 1.0", "true"),
        ("NULL IS NULL", "true"),
        ("-7 / 2", "-3"),
        ("-7 % 3", "-1"),
        ("ROUND(2.5)", "3"),
        ("ROUND(-1.005, 2)", "-1.01"),
        ("ROUND(155, -1)", "160"),
        ("'a' || 'b' = 'ab'", "true"),
        ("NOT 1 = 2 AND TRUE", "true"),
        ("2 + 3 * 4", "14"),
    ] {
        let plan = plan(rule(&format!("id, {expression} AS x"), None));
        let result = plan.apply(batch(&[(RowOp::Insert, 1, None, None)])).unwrap().unwrap();
        assert_eq!(shown(&result), [format!("+I[1, {expected}]")], "{expression}");
    }
}

fn add(columns: &[(&str, ColumnPosition)]) -> SchemaChange {
    let columns = columns
        .iter()
        .map(|(name, position)| AddedColumn { column: Column::new(*name, DataType::Int), position: position.clone() });
    SchemaChange::AddColumns { table: table(), columns: columns.collect() }
}

/// Takes changes through a rule; gives what the target is told, and the names of its columns.
fn evolved(spec: RuleSpec, changes: &[SchemaChange]) -> (Vec<SchemaChange>, Vec<String>) {
    let transforms = Transforms::new(vec![spec], TransformOptions::default(), &[], Vec::new()).unwrap();
    let mut source = schema();
    let mut plan = transforms.for_table(&table(), &source).unwrap().unwrap();
    let mut target = plan.schema().as_ref().clone();
    let mut told = Vec::new();
    for change in changes {
        source = Arc::new(source.apply(change).unwrap().unwrap());
        let evolved = transforms.evolve(&plan, change, &source).unwrap();
        for change in &evolved.changes {
            target = target.apply(change).unwrap().unwrap();
        }
        plan = evolved.plan;
        // What the target has become by the changes is what the rows have.
        let names =
            |schema: &TableSchema| schema.columns.iter().map(|c| (c.name.clone(), c.data_type)).collect::<Vec<_>>();
        assert_eq!(names(&target), names(plan.schema()));
        told.extend(evolved.changes);
    }
    (told, target.columns.into_iter().map(|column| column.name).collect())
}

#[test]
fn schema_changes_pass_through_a_star() {
    // Recording 11d: a new column goes behind the computed ones.
    let (told, names) = evolved(rule(r"\*, age + 1 AS next", None), &[add(&[("nc", ColumnPosition::Last)])]);
    assert_eq!(told, [add(&[("nc", ColumnPosition::Last)])]);
    assert_eq!(names, ["id", "name", "age", "next", "nc"]);
    let (_, names) = evolved(
        rule(r"\*, age + 1 AS next", None),
        &[
            add(&[("a", ColumnPosition::First), ("b", ColumnPosition::After("name".to_owned()))]),
            SchemaChange::RenameColumns { table: table(), names: vec![("name".to_owned(), "who".to_owned())] },
            add(&[("c", ColumnPosition::Last)]),
            SchemaChange::DropColumns { table: table(), names: vec!["b".to_owned()] },
        ],
    );
    assert_eq!(names, ["a", "id", "who", "age", "next", "c"]);
}

#[test]
fn schema_changes_stay_out_of_a_projection_without_a_star() {
    let (told, names) = evolved(
        rule("id, age AS years, age + 1 AS next", None),
        &[
            add(&[("nc", ColumnPosition::Last)]),
            SchemaChange::DropColumns { table: table(), names: vec!["name".to_owned()] },
        ],
    );
    assert_eq!(told, []);
    assert_eq!(names, ["id", "years", "next"]);
}

#[test]
fn types_that_change_pass_for_projected_and_computed_columns() {
    let change = SchemaChange::AlterColumns {
        table: table(),
        columns: vec![rowferry_model::AlteredColumn {
            name: "age".to_owned(),
            data_type: DataType::BigInt,
            nullable: true,
            old: None,
            comment: None,
        }],
    };
    let (told, _) = evolved(rule("id, age AS years, age + 1 AS next", None), &[change]);
    let [SchemaChange::AlterColumns { columns, .. }] = told.as_slice() else { panic!("{told:?}") };
    let changed: Vec<_> = columns.iter().map(|c| (c.name.as_str(), c.data_type)).collect();
    assert_eq!(changed, [("years", DataType::BigInt), ("next", DataType::BigInt)]);
}

#[test]
fn a_rule_that_loses_its_column_is_an_error() {
    let transforms =
        Transforms::new(vec![rule("id, age + 1 AS next", None)], TransformOptions::default(), &[], Vec::new()).unwrap();
    let plan = transforms.for_table(&table(), &schema()).unwrap().unwrap();
    let change = SchemaChange::DropColumns { table: table(), names: vec!["age".to_owned()] };
    let after = Arc::new(schema().apply(&change).unwrap().unwrap());
    let error = transforms.evolve(&plan, &change, &after).unwrap_err();
    assert!(error.to_string().contains("no column `age`"), "{error}");
}
