//! From a schema of the stream to StarRocks' types, and to how its rows are written.

use super::config::Config;
use super::target_type::{MAX_BYTES, MAX_CHAR, TargetType};
use crate::SinkError;
use crate::olap::body::{ColumnPlan, Constant, Csv, Form, Format, Framing, Json, LoadColumns, OpField, Plan};
use crate::olap::column_type::bytes_per_char;
use rowferry_model::{Column, DataType, TableId, TableSchema};
use std::fmt::Write;
use std::sync::Arc;

/// The greatest length of a table's or a column's name, in characters.
const MAX_NAME: usize = 1024;
const MAX_DATABASE_NAME: usize = 256;

/// The type that a column gets.
pub(super) fn target_type(column: &Column, key: bool, char_bytes: Option<u32>) -> TargetType {
    let width = |chars| char_bytes.unwrap_or_else(|| bytes_per_char(column, chars));
    let text = |chars: u32| chars.saturating_mul(width(chars)).clamp(1, MAX_BYTES);
    match column.data_type {
        DataType::Boolean => TargetType::Boolean,
        DataType::TinyInt => TargetType::TinyInt,
        DataType::SmallInt => TargetType::SmallInt,
        DataType::Int => TargetType::Int,
        DataType::BigInt => TargetType::BigInt,
        // Keys are boolean, integer, text or time only.
        DataType::Float if key => TargetType::Varchar(24),
        DataType::Double if key => TargetType::Varchar(32),
        DataType::Float => TargetType::Float,
        DataType::Double => TargetType::Double,
        DataType::Decimal { precision, scale } if key => {
            TargetType::Varchar(u32::from(precision) + if scale == 0 { 1 } else { 2 })
        }
        DataType::Decimal { precision, scale } => TargetType::Decimal(precision, scale),
        DataType::Char(n) if !key && text(n) <= MAX_CHAR => TargetType::Char(text(n)),
        DataType::Char(n) | DataType::Varchar(n) => TargetType::Varchar(text(n)),
        DataType::String => TargetType::Varchar(MAX_BYTES),
        DataType::Binary(n) | DataType::Varbinary(n) if key => {
            TargetType::Varchar(n.saturating_mul(2).clamp(1, MAX_BYTES))
        }
        DataType::Bytes if key => TargetType::Varchar(MAX_BYTES),
        DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes => TargetType::Varbinary(None),
        DataType::Date => TargetType::Date,
        // Room for MySQL's whole range: -838:59:59.
        DataType::Time(0) => TargetType::Varchar(10),
        DataType::Time(p) => TargetType::Varchar(11 + u32::from(p)),
        DataType::Timestamp(_) | DataType::TimestampLtz(_) => TargetType::DateTime,
    }
}

/// How the rows of a schema are loaded.
///
/// # Errors
/// A table or a schema that StarRocks can't hold.
pub(super) fn row_plan(config: &Config, table: &TableId, schema: &TableSchema) -> Result<Plan, SinkError> {
    check_names(table, schema)?;
    // First, as in CSV; JSON has its fields in any order.
    let mut header = "`__op`".to_owned();
    let mut converts = false;
    let mut columns = Vec::with_capacity(schema.columns.len());
    let mut conversions = String::new();
    for (i, column) in schema.columns.iter().enumerate() {
        let key = schema.primary_key.contains(&column.name);
        let target = target_type(column, key, config.char_bytes);
        let form = match (column.data_type, &target) {
            (DataType::Float | DataType::Double, TargetType::Varchar(_)) => Form::Quoted,
            (DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes, TargetType::Varchar(_)) => Form::Hex,
            (DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes, _) => Form::Base64,
            _ => Form::Plain,
        };
        let limit = match target {
            TargetType::Char(n) | TargetType::Varchar(n) | TargetType::Varbinary(Some(n)) => Some(n as usize),
            TargetType::Varbinary(None) => Some(MAX_BYTES as usize),
            _ => None,
        };
        // Neither JSON nor CSV holds bytes: they come as text under a name of their own and are converted by the load.
        let field = if form == Form::Base64 {
            converts = true;
            let field = format!("__rowferry_{i}");
            let _ = write!(conversions, ",`{}`=to_binary(`{field}`,'encode64')", column.name);
            field
        } else {
            column.name.clone()
        };
        let _ = write!(header, ",`{field}`");
        columns.push(ColumnPlan::new(&column.name, &field, form, limit, filler(column, &target)));
    }
    header.push_str(&conversions);
    let format = match &config.csv {
        Some(separators) => Format::Csv(Csv::new(separators.clone())),
        None => {
            Format::Json(Json { op: OpField { upsert: "\"__op\":0", delete: "\"__op\":1" }, framing: Framing::Array })
        }
    };
    let mut plan = Plan::new(schema, columns, format);
    if converts || config.csv.is_some() {
        let why = if converts { "binary columns" } else { "CSV" };
        if config.has_own_columns() {
            return Err(SinkError::permanent(format!(
                "{table}: {why} need a `columns` header of the sink's own, but `sink.properties` sets one"
            ))
            .hint("leave `sink.properties.columns` and `sink.properties.jsonpaths` out"));
        }
        if header.chars().any(char::is_control) {
            return Err(SinkError::permanent(format!(
                "{table}: {why} need a `columns` header, which can't hold a column name with a control character"
            ))
            .hint("rename the column by a transform"));
        }
        plan.load_columns = Some(Arc::new(LoadColumns::new(header)));
    }
    Ok(plan)
}

/// What stands for a value that is not known where NULL is not allowed.
fn filler(column: &Column, target: &TargetType) -> Constant {
    if column.nullable {
        return Constant::Null;
    }
    match target {
        TargetType::Boolean => Constant::Bare("false"),
        TargetType::Date => Constant::Text("1970-01-01"),
        TargetType::DateTime => Constant::Text("1970-01-01 00:00:00"),
        TargetType::Char(_) | TargetType::Varchar(_) | TargetType::Varbinary(_) => Constant::Text(""),
        _ => Constant::Bare("0"),
    }
}

/// Names that StarRocks can't have: recorded from a frontend.
fn check_names(table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
    check_table(table)?;
    if schema.primary_key.is_empty() {
        return Err(SinkError::permanent(format!(
            "Only support StarRocks primary key table, but the source table {table} has no primary keys"
        ))
        .hint("give the table a key by a transform's `primary-keys`, or leave it out"));
    }
    if let Some(missing) = schema.primary_key.iter().find(|k| schema.index_of(k).is_none()) {
        return Err(SinkError::permanent(format!("{table} has no column `{missing}`, which its key names")));
    }
    for column in &schema.columns {
        check_column_name(table, &column.name)?;
    }
    Ok(())
}

/// Whether StarRocks can have a column of that name.
///
/// # Errors
/// It can't.
pub(super) fn check_column_name(table: &TableId, name: &str) -> Result<(), SinkError> {
    let reason = if name.eq_ignore_ascii_case("__op") || name.eq_ignore_ascii_case("__row") {
        "is reserved by StarRocks"
    } else if name.starts_with("__starrocks_shadow_") {
        "has a prefix that StarRocks keeps for itself"
    } else if name.starts_with("__rowferry_") {
        "has a prefix that the sink keeps for itself"
    } else if name.contains(['*', '=', '<', '`']) {
        "has one of the characters * = < ` that StarRocks refuses in names"
    } else if name.is_empty() || name.chars().count() > MAX_NAME {
        "is empty or longer than 1024 characters"
    } else {
        return Ok(());
    };
    Err(SinkError::permanent(format!("column `{name}` of {table} {reason}"))
        .hint("rename it by a transform's projection"))
}

/// Whether StarRocks can have a table and a database of those names.
///
/// # Errors
/// It can't.
pub(super) fn check_table(table: &TableId) -> Result<(), SinkError> {
    let database = table.database();
    let ok = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'$');
    if database.is_empty()
        || database.len() > MAX_DATABASE_NAME
        || !database.bytes().all(ok)
        || database.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(SinkError::permanent(format!(
            "StarRocks can't have a database `{database}`: names are up to 256 ASCII letters, digits, `_`, `-` and \
             `$`, and don't start with a digit"
        ))
        .hint("give the tables another database by a route"));
    }
    let name = table.table();
    // The name is also part of an HTTP header.
    if name.is_empty() || name.chars().count() > MAX_NAME || name.contains('`') || name.chars().any(char::is_control) {
        return Err(SinkError::permanent(format!(
            "StarRocks can't have a table `{name}`: names are 1 to 1024 characters without backticks and control \
             characters"
        ))
        .hint("give the table another name by a route"));
    }
    Ok(())
}
