//! From a schema of the stream to Doris' types, and to how its rows are written.

use super::arrow::natural;
use super::config::{Config, RowFormat};
use super::target_type::{MAX_CHAR, MAX_VARCHAR, TargetType};
use crate::SinkError;
use crate::olap::body::{ColumnPlan, Constant, Csv, Form, Format, Framing, Json, LoadColumns, OpField, Plan};
use crate::olap::column_type::bytes_per_char;
use rowferry_model::{Column, DataType, TableId, TableSchema};
use std::sync::Arc;

/// The hidden column that tells a deletion.
pub(super) const DELETE_SIGN: &str = "__DORIS_DELETE_SIGN__";
/// The greatest length of names, in characters.
const MAX_TABLE_NAME: usize = 64;
const MAX_COLUMN_NAME: usize = 256;
/// A day and a moment where there is none.
const FIRST_DAY: Constant = Constant::Text("1970-01-01");
const FIRST_MOMENT: Constant = Constant::Text("1970-01-01 00:00:00");

/// The type that a column gets.
pub(super) fn target_type(column: &Column, key: bool) -> TargetType {
    let text = |chars: u32| chars.saturating_mul(bytes_per_char(column, chars));
    let varchar = |bytes: u32| match bytes {
        0 => TargetType::Varchar(1),
        1..=MAX_VARCHAR => TargetType::Varchar(bytes),
        _ => TargetType::String,
    };
    let target = match column.data_type {
        DataType::Boolean => TargetType::Boolean,
        DataType::TinyInt => TargetType::TinyInt,
        DataType::SmallInt => TargetType::SmallInt,
        DataType::Int => TargetType::Int,
        DataType::BigInt => TargetType::BigInt,
        // The shortest digits that denote the number.
        DataType::Float if key => TargetType::Varchar(24),
        DataType::Double if key => TargetType::Varchar(32),
        DataType::Float => TargetType::Float,
        DataType::Double => TargetType::Double,
        DataType::Decimal { precision, scale } => TargetType::Decimal(precision, scale),
        DataType::Char(n) if (1..=MAX_CHAR).contains(&text(n)) => TargetType::Char(text(n)),
        DataType::Char(n) | DataType::Varchar(n) => varchar(text(n)),
        // As base64.
        DataType::Binary(n) | DataType::Varbinary(n) if key => varchar(n.div_ceil(3).saturating_mul(4)),
        DataType::String | DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes | DataType::Time(_) => {
            TargetType::String
        }
        DataType::Date => TargetType::Date,
        DataType::Timestamp(p) | DataType::TimestampLtz(p) => TargetType::DateTime(p.min(6)),
    };
    if key && target == TargetType::String { TargetType::Varchar(MAX_VARCHAR) } else { target }
}

/// How the rows of a table are loaded, with its partitions.
///
/// # Errors
/// A table or a schema that Doris can't hold.
pub(super) fn load_plan(config: &Config, table: &TableId, schema: &TableSchema) -> Result<Plan, SinkError> {
    let mut plan = row_plan(table, &config.partitions.shape(table, schema), config.deletes, &config.format)?;
    if let Some(partition) = config.partitions.of(table, schema)
        && let Some(column) = plan.columns.iter_mut().find(|c| c.name == partition.column)
    {
        // A partition's column takes no NULL: as in Flink CDC, such rows lie in the first days of 1970.
        column.null = match schema.column(&partition.column).map(|c| c.data_type) {
            Some(DataType::Date) => FIRST_DAY,
            _ => FIRST_MOMENT,
        };
    }
    Ok(plan)
}

/// How the rows of a schema are loaded.
///
/// # Errors
/// A table or a schema that Doris can't hold.
pub(super) fn row_plan(
    table: &TableId,
    schema: &TableSchema,
    deletes: bool,
    format: &RowFormat,
) -> Result<Plan, SinkError> {
    check_table(table)?;
    if let Some(missing) = schema.primary_key.iter().find(|k| schema.index_of(k).is_none()) {
        return Err(SinkError::permanent(format!("{table} has no column `{missing}`, which its key names")));
    }
    let mut columns = Vec::with_capacity(schema.columns.len());
    let mut targets = Vec::with_capacity(schema.columns.len());
    for column in &schema.columns {
        check_column_name(table, &column.name)?;
        let key = schema.primary_key.contains(&column.name);
        let target = target_type(column, key);
        if key && !target.may_be_key() {
            return Err(SinkError::permanent(format!(
                "column `{}` of {table} would be {target}, which can't be part of a key in Doris",
                column.name
            ))
            .hint("give the stream another key by a transform's `primary-keys`"));
        }
        let form = match (column.data_type, &target) {
            (DataType::Float | DataType::Double, TargetType::Varchar(_)) => Form::Quoted,
            (DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes, _) => Form::Base64,
            _ => Form::Plain,
        };
        let limit = match target {
            // Base64 has four characters for three bytes; the limit counts bytes.
            TargetType::Varchar(n) if form == Form::Base64 => Some((n / 4 * 3) as usize),
            TargetType::Char(n) | TargetType::Varchar(n) => Some(n as usize),
            // How long it may be is the backends' setting: they refuse what is longer.
            _ => None,
        };
        columns.push(ColumnPlan::new(&column.name, &column.name, form, limit, filler(column, &target)));
        targets.push(target);
    }
    let keyless = schema.primary_key.is_empty();
    let op = if deletes && !keyless {
        OpField { upsert: "\"__DORIS_DELETE_SIGN__\":\"0\"", delete: "\"__DORIS_DELETE_SIGN__\":\"1\"" }
    } else {
        OpField::default()
    };
    let deletes = deletes && !keyless;
    // A table without a key takes the sign in CSV as well, and without effect (recorded from a frontend); Arrow needs a
    // column for it.
    let sign = (*format != RowFormat::Arrow || deletes).then_some(DELETE_SIGN);
    let (written, load_columns) = match format {
        RowFormat::Json => (Format::Json(Json { op, framing: Framing::Lines }), None),
        RowFormat::Csv(separators) => {
            (Format::Csv(Csv::new(separators.clone())), Some(columns_header(table, schema, sign)?))
        }
        RowFormat::Arrow => {
            let header = columns_header(table, schema, sign)?;
            (Format::Arrow(natural(&columns, &targets, sign)), Some(header))
        }
    };
    let mut plan = Plan::new(schema, columns, written);
    plan.deletes = deletes;
    plan.load_columns = load_columns.map(|header| Arc::new(LoadColumns::new(header)));
    Ok(plan)
}

/// All columns, behind the sign that comes first.
fn columns_header(table: &TableId, schema: &TableSchema, sign: Option<&str>) -> Result<String, SinkError> {
    let mut header = sign.unwrap_or_default().to_owned();
    for column in &schema.columns {
        if column.name.chars().any(|c| c.is_control() || c == '`') {
            return Err(SinkError::permanent(format!(
                "column `{}` of {table} has a character that the `columns` header of a load can't hold",
                column.name
            ))
            .hint("leave `sink.properties.format` out, or rename the column by a transform"));
        }
        header.push_str(if header.is_empty() { "`" } else { ",`" });
        header.push_str(&column.name);
        header.push('`');
    }
    Ok(header)
}

/// What stands for a value that is not known where NULL may not be allowed, in a table that somebody else has made.
fn filler(column: &Column, target: &TargetType) -> Constant {
    if column.nullable {
        return Constant::Null;
    }
    match target {
        TargetType::Boolean => Constant::Bare("false"),
        TargetType::Date => FIRST_DAY,
        TargetType::DateTime(_) => FIRST_MOMENT,
        TargetType::Char(_) | TargetType::Varchar(_) | TargetType::String => Constant::Text(""),
        _ => Constant::Bare("0"),
    }
}

/// Whether Doris can have a column of that name: recorded from a frontend with the unicode switch on, which takes the most.
///
/// # Errors
/// It can't.
pub(super) fn check_column_name(table: &TableId, name: &str) -> Result<(), SinkError> {
    let reason = if name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("__DORIS_")) {
        "has a prefix that Doris keeps for itself"
    } else if name.is_empty() || name.chars().count() > MAX_COLUMN_NAME {
        "is empty or longer than 256 characters"
    } else if name.ends_with(char::is_whitespace) {
        "ends with white space"
    } else {
        return Ok(());
    };
    Err(SinkError::permanent(format!("column `{name}` of {table} {reason}"))
        .hint("rename it by a transform's projection"))
}

/// Whether Doris can have a table and a database of those names.
///
/// # Errors
/// It can't.
pub(super) fn check_table(table: &TableId) -> Result<(), SinkError> {
    let database = table.database();
    let ok = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if database.chars().count() > MAX_TABLE_NAME
        || !database.starts_with(char::is_alphabetic)
        || !database.chars().all(ok)
    {
        return Err(SinkError::permanent(format!(
            "Doris can't have a database `{database}`: names are up to 64 letters, digits, `_` and `-`, and begin with a \
             letter"
        ))
        .hint("give the tables another database by a route"));
    }
    let name = table.table();
    if name.is_empty()
        || name.chars().count() > MAX_TABLE_NAME
        || name.contains('$')
        || name.ends_with(char::is_whitespace)
        || name.chars().any(char::is_control)
    {
        return Err(SinkError::permanent(format!(
            "Doris can't have a table `{name}`: names are 1 to 64 characters without `$` and control characters, and \
             don't end with white space"
        ))
        .hint("give the table another name by a route"));
    }
    Ok(())
}
