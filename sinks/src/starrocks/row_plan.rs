//! From a schema of the stream to StarRocks' types, and to how its rows are written.

use super::target_type::{MAX_BYTES, MAX_CHAR, TargetType};
use crate::SinkError;
use crate::olap::json::{ColumnPlan, Form, OpField, Plan};
use rowferry_model::{Column, DataType, TableId, TableSchema};
use std::fmt::Write;

/// The greatest length of a table's or a column's name, in characters.
const MAX_NAME: usize = 1024;
const MAX_DATABASE_NAME: usize = 256;

/// How the rows of a schema are loaded.
#[derive(Debug)]
pub(super) struct RowPlan {
    /// How rows are written as JSON.
    pub(super) json: Plan,
    /// The `columns` header, where values must be converted on their way in.
    pub(super) columns_header: Option<String>,
}

/// The type that a column gets.
pub(super) fn target_type(column: &Column, key: bool, char_bytes: Option<u32>) -> TargetType {
    let text = |chars: u32| chars.saturating_mul(bytes_per_char(column, chars, char_bytes)).clamp(1, MAX_BYTES);
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

/// How many bytes of UTF-8 a character may take. The source's own charset says how many it takes *there*: one of four
/// bytes there needs four here, every other one at most three.
fn bytes_per_char(column: &Column, chars: u32, option: Option<u32>) -> u32 {
    match (option, column.max_bytes) {
        (Some(n), _) => n,
        (None, Some(bytes)) if bytes < 4 * u64::from(chars.max(1)) => 3,
        (None, _) => 4,
    }
}

/// How the rows of a schema are loaded.
///
/// # Errors
/// A table or a schema that StarRocks can't hold.
pub(super) fn row_plan(
    table: &TableId,
    schema: &TableSchema,
    char_bytes: Option<u32>,
    own_columns_header: bool,
) -> Result<RowPlan, SinkError> {
    check_names(table, schema)?;
    let mut header = String::new();
    let mut converts = false;
    let mut columns = Vec::with_capacity(schema.columns.len());
    let mut conversions = String::new();
    for (i, column) in schema.columns.iter().enumerate() {
        let key = schema.primary_key.contains(&column.name);
        let target = target_type(column, key, char_bytes);
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
        if !header.is_empty() {
            header.push(',');
        }
        // JSON holds no bytes: they come as text under a name of their own and are converted by the load.
        let field = if form == Form::Base64 {
            converts = true;
            let field = format!("__rowferry_{i}");
            let _ = write!(conversions, ",`{}`=to_binary(`{field}`,'encode64')", column.name);
            field
        } else {
            column.name.clone()
        };
        let _ = write!(header, "`{field}`");
        columns.push(ColumnPlan::new(&column.name, &field, form, limit, filler(column, &target)));
    }
    if converts && own_columns_header {
        return Err(SinkError::permanent(format!(
            "{table} has binary columns, which need a `columns` header of the sink's own, but `sink.properties` sets one"
        ))
        .hint("leave `sink.properties.columns` and `sink.properties.jsonpaths` out"));
    }
    header.push_str(",`__op`");
    header.push_str(&conversions);
    if converts && header.chars().any(char::is_control) {
        return Err(SinkError::permanent(format!(
            "{table} has binary columns and a column name with a control character, which no `columns` header can hold"
        ))
        .hint("rename the column by a transform"));
    }
    let op = OpField { upsert: "\"__op\":0", delete: "\"__op\":1" };
    Ok(RowPlan { json: Plan::new(schema, columns, op), columns_header: converts.then_some(header) })
}

/// What stands for a value that is not known where NULL is not allowed.
fn filler(column: &Column, target: &TargetType) -> Option<&'static str> {
    if column.nullable {
        return None;
    }
    Some(match target {
        TargetType::Boolean => "false",
        TargetType::Date => "\"1970-01-01\"",
        TargetType::DateTime => "\"1970-01-01 00:00:00\"",
        TargetType::Char(_) | TargetType::Varchar(_) | TargetType::Varbinary(_) => "\"\"",
        _ => "0",
    })
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
