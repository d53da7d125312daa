//! Compares expressions with a file of recordings of Flink CDC: `### EXPRESSION`, then `type T`, then `row ID: VALUE` or
//! `FAILED …`; `### FILTER CONDITION` has `row ID: pass` or `drop`.

use rowferry_model::arrow_array::*;
use rowferry_model::{ChangeBatch, Changes, Column, DataType, TableId, TableSchema};
use rowferry_transform::{RuleSpec, TransformOptions, Transforms, value_text};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an expression gave: its type, and a value for each row id; or why it did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The type of the column; `None` for a filter, or where the expression did not compile.
    pub data_type: Option<String>,
    /// Row id to value; `Err`: it failed there.
    pub rows: BTreeMap<i64, Result<String, String>>,
    /// Why it did not run at all.
    pub failed: Option<String>,
}

/// One recorded expression.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub expression: String,
    pub outcome: Outcome,
}

/// How an outcome stands to the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// Flink CDC fails where this has a value; all else is the same.
    Better,
    /// A listed difference, with its reason.
    Listed(&'static str),
    Unlisted,
}

/// Reads a file of recordings.
pub fn parse(text: &str) -> Vec<Recorded> {
    let mut all: Vec<Recorded> = Vec::new();
    for line in text.lines() {
        if let Some(expression) = line.strip_prefix("### ") {
            let outcome = Outcome { data_type: None, rows: BTreeMap::new(), failed: None };
            all.push(Recorded { expression: expression.to_owned(), outcome });
            continue;
        }
        let Some(last) = all.last_mut() else { continue };
        if let Some(data_type) = line.strip_prefix("type ") {
            last.outcome.data_type = Some(data_type.to_owned());
        } else if let Some(reason) = line.strip_prefix("FAILED") {
            last.outcome.failed = Some(reason.trim().to_owned());
        } else if let Some((id, value)) = line.strip_prefix("row ").and_then(|rest| rest.split_once(": "))
            && let Ok(id) = id.parse()
        {
            let value = match value.strip_prefix("FAILED") {
                Some(reason) => Err(reason.trim().to_owned()),
                None => Ok(value.to_owned()),
            };
            last.outcome.rows.insert(id, value);
        }
    }
    all
}

/// Runs an expression over the tables of `expr-setup.sql`.
pub fn run(expression: &str) -> Outcome {
    let failed = |reason: String| Outcome { data_type: None, rows: BTreeMap::new(), failed: Some(reason) };
    let filter = expression.strip_prefix("FILTER ");
    let projection = if filter.is_some() { "id".to_owned() } else { format!("id, {expression} AS x") };
    let rules = vec![rule(&projection, filter)];
    let options = TransformOptions { op_ts: true, ..TransformOptions::default() };
    let transforms = match Transforms::new(rules, options, &[], Vec::new()) {
        Ok(transforms) => transforms,
        Err(errors) => return failed(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    };
    let mut outcome = Outcome { data_type: None, rows: BTreeMap::new(), failed: None };
    for (table, batch) in tables() {
        let plan = match transforms.for_table(&table, batch.schema()) {
            Ok(Some(plan)) => plan,
            Ok(None) => return failed("no rule".to_owned()),
            Err(errors) => return failed(errors.to_string()),
        };
        if filter.is_none()
            && let Some(column) = plan.schema().columns.get(1)
        {
            let null = if column.nullable { "" } else { " NOT NULL" };
            outcome.data_type = Some(format!("{}{null}", column.data_type));
        }
        let ids: Vec<i64> = (0..batch.num_rows()).map(|row| id(&batch, row)).collect();
        match plan.apply(batch) {
            Err(error) => ids.into_iter().for_each(|id| drop(outcome.rows.insert(id, Err(error.to_string())))),
            Ok(result) => {
                if filter.is_some() {
                    ids.into_iter().for_each(|id| drop(outcome.rows.insert(id, Ok("drop".to_owned()))));
                }
                for row in 0..result.as_ref().map_or(0, ChangeBatch::num_rows) {
                    let Some(batch) = &result else { continue };
                    let value = match filter {
                        Some(_) => "pass".to_owned(),
                        None => value_text(batch.column(1).as_ref(), row).unwrap_or_else(|| "null".to_owned()),
                    };
                    outcome.rows.insert(id(batch, row), Ok(value));
                }
            }
        }
    }
    outcome
}

/// A rule for every table.
pub fn rule(projection: &str, filter: Option<&str>) -> RuleSpec {
    RuleSpec {
        matches: Arc::new(|_| true),
        projection: projection.to_owned(),
        filter: filter.map(str::to_owned),
        primary_keys: Vec::new(),
        partition_keys: Vec::new(),
        table_options: Vec::new(),
        soft_delete: false,
    }
}

/// One rule for every table, with `op_ts`.
pub fn transforms(projection: &str, filter: Option<&str>) -> Transforms {
    let options = TransformOptions { op_ts: true, ..TransformOptions::default() };
    Transforms::new(vec![rule(projection, filter)], options, &[], Vec::new()).unwrap()
}

fn id(batch: &ChangeBatch, row: usize) -> i64 {
    value_text(batch.column(0).as_ref(), row).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Compares what this program gives with what was recorded.
pub fn judge(recorded: &Recorded, ours: &Outcome) -> Verdict {
    let theirs = &recorded.outcome;
    if ours.failed.is_some() && theirs.failed.is_some() {
        return Verdict::Same;
    }
    let filter = recorded.expression.starts_with("FILTER ");
    let type_same = filter || theirs.data_type == ours.data_type;
    let all_fail = theirs.failed.is_some();
    let differs = |id: &i64, value: &Result<String, String>| match value {
        Ok(value) => ours.rows.get(id) != Some(&Ok(value.clone())),
        Err(_) => false,
    };
    let wrong = ours.failed.is_some() || theirs.rows.iter().any(|(id, value)| differs(id, value));
    let fails_here = ours.rows.values().any(Result::is_err);
    let fails_there = all_fail || theirs.rows.values().any(Result::is_err);
    if !wrong && !fails_here && (type_same || (all_fail && theirs.data_type.is_none())) {
        return if fails_there { Verdict::Better } else { Verdict::Same };
    }
    reason(&recorded.expression).map_or(Verdict::Unlisted, Verdict::Listed)
}

/// The listed differences: what an expression has in it, and why the result is another. Each has its line in
/// `docs/differences.md`.
pub const LISTED: &[(&str, &str)] = &[
    ("||", "NULL in, NULL out: Flink CDC puts the text `null` in"),
    ("CONCAT(", "NULL in, NULL out: Flink CDC puts the text `null` in"),
    ("LIKE", "a pattern with `%` or `_` is SQL's LIKE"),
    ("TRIM(", "TRIM takes the characters away that it names"),
    ("=", "numbers are compared by value, whatever their types"),
    ("IN (", "numbers are compared by value, whatever their types"),
    ("ARRAY[", "nested values are columns of JSON text"),
    ("MAP[", "nested values are columns of JSON text"),
    ("ROW(", "nested values are columns of JSON text"),
    ("REGEXP_EXTRACT_ALL(", "nested values are columns of JSON text"),
    ("PARSE_JSON(", "nested values are columns of JSON text"),
    ("si ", "integers below INT are computed with as INT"),
    ("CHAR_LENGTH(", "characters beyond the basic plane count once"),
];

fn reason(expression: &str) -> Option<&'static str> {
    LISTED.iter().find(|(part, _)| expression.to_uppercase().contains(&part.to_uppercase())).map(|(_, reason)| *reason)
}

/// Tables `p` and `pn` of `expr-setup.sql`, as MySQL holds their rows.
pub fn tables() -> Vec<(TableId, ChangeBatch)> {
    let name = |table: &str| TableId::new("gx", table);
    vec![
        (name("p"), batch(&name("p"), &[Some(0), Some(1), Some(2)], &[1, 3, 4])),
        // The recordings give this row under the name of the first table.
        (name("p"), batch(&name("p"), &[None], &[2])),
    ]
}

/// The shape of both tables.
pub fn schema() -> Arc<TableSchema> {
    let columns = vec![
        Column::new("id", DataType::Int).not_null(),
        Column::new("name", DataType::Varchar(40)),
        Column::new("price", DataType::Decimal { precision: 10, scale: 2 }),
        Column::new("qty", DataType::Int),
        Column::new("ratio", DataType::Double),
        Column::new("created", DataType::Timestamp(0)),
        Column::new("up", DataType::TimestampLtz(0)),
        Column::new("d", DataType::Date),
        Column::new("t", DataType::Time(0)),
        Column::new("flag", DataType::Boolean),
        Column::new("memo", DataType::String),
        Column::new("bigv", DataType::BigInt),
        Column::new("fl", DataType::Float),
        Column::new("si", DataType::SmallInt),
        Column::new("js", DataType::String),
        Column::new("vb", DataType::Varbinary(8)),
    ];
    Arc::new(TableSchema { columns, primary_key: vec!["id".to_owned()], ..TableSchema::default() })
}

fn batch(table: &TableId, rows: &[Option<usize>], ids: &[i32]) -> ChangeBatch {
    const SECOND: i64 = 1_000_000;
    // 2024-05-06 07:08:09, 2023-12-31 23:59:59, 1970-01-01 00:00:00.
    let created = [1_714_979_289 * SECOND, 1_704_067_199 * SECOND, 0];
    let up = [1_714_979_289 * SECOND, 1_704_067_199 * SECOND, SECOND];
    fn pick<T: Copy>(rows: &[Option<usize>], values: [T; 3]) -> Vec<Option<T>> {
        rows.iter().map(|row| row.and_then(|row| values.get(row).copied())).collect()
    }
    let schema = schema();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(ids.to_vec())),
        Arc::new(StringArray::from(pick(rows, ["  Hello World ", "ABC", "héllo 你好"]))),
        Arc::new(Decimal128Array::from(pick(rows, [1235, -750, 0])).with_precision_and_scale(10, 2).unwrap()),
        Arc::new(Int32Array::from(pick(rows, [3, -2, 0]))),
        Arc::new(Float64Array::from(pick(rows, [-1.5, 2.5, 0.0]))),
        Arc::new(TimestampMicrosecondArray::from(pick(rows, created))),
        Arc::new(TimestampMicrosecondArray::from(pick(rows, up)).with_timezone("UTC")),
        Arc::new(Date32Array::from(pick(rows, [19_849, 19_722, 0]))),
        Arc::new(DurationMicrosecondArray::from(pick(rows, [25_689 * SECOND, 86_399 * SECOND, 0]))),
        Arc::new(BooleanArray::from(pick(rows, [true, false, false]))),
        Arc::new(StringArray::from(pick(rows, ["a-b-c", "x1y22z", ""]))),
        Arc::new(Int64Array::from(pick(rows, [9_000_000_000, -5, 0]))),
        Arc::new(Float32Array::from(pick(rows, [1.25, -0.5, 0.0]))),
        Arc::new(Int16Array::from(pick(rows, [7, -3, 0]))),
        Arc::new(StringArray::from(pick(rows, ["{\"a\": 1}", "[1]", "null"]))),
        Arc::new(BinaryArray::from(pick::<&[u8]>(rows, [&[0, 0xFF], &[0x41], &[]]))),
    ];
    let record = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    ChangeBatch::new(table.clone(), schema, Changes::Inserts(ids.len()), record).unwrap()
}
