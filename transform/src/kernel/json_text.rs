//! Nested values as JSON text: what a column of the stream holds of them.

use super::append_value;
use crate::types::Type;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use rowferry_model::DataType;

/// Appends a value as JSON. Numbers and truth values are bare, NULL is `null`, all else is a text; a map's keys become texts.
pub(crate) fn append_json(out: &mut String, array: &dyn Array, ty: &Type, row: usize) -> Option<()> {
    if array.is_null(row) {
        out.push_str("null");
        return Some(());
    }
    match ty {
        Type::Array(item) => {
            let items = array.as_list_opt::<i32>()?.value(row);
            out.push('[');
            for i in 0..items.len() {
                if i > 0 {
                    out.push(',');
                }
                append_json(out, items.as_ref(), item, i)?;
            }
            out.push(']');
        }
        Type::Map(key, value) => {
            let entries = array.as_list_opt::<i32>()?.value(row);
            let entries = entries.as_struct_opt()?;
            let (keys, values) = (entries.column(0), entries.column(1));
            out.push('{');
            for i in 0..entries.len() {
                if i > 0 {
                    out.push(',');
                }
                let mut name = String::new();
                if keys.is_null(i) {
                    name.push_str("null");
                } else {
                    append_value(&mut name, keys.as_ref(), key, i)?;
                }
                out.push_str(&serde_json::to_string(&name).ok()?);
                out.push(':');
                append_json(out, values.as_ref(), value, i)?;
            }
            out.push('}');
        }
        Type::Row(fields) => {
            let columns = array.as_struct_opt()?;
            out.push('{');
            for (i, (field, column)) in fields.iter().zip(columns.columns()).enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&format!("\"EXPR${i}\":"));
                append_json(out, column.as_ref(), field, row)?;
            }
            out.push('}');
        }
        Type::Variant => out.push_str(array.as_string_opt::<i32>()?.value(row)),
        Type::Plain(DataType::Boolean) => append_value(out, array, ty, row)?,
        Type::Plain(DataType::Float | DataType::Double) => {
            let start = out.len();
            append_value(out, array, ty, row)?;
            // JSON has no NaN and no infinity.
            if out.get(start..).is_some_and(|text| text.ends_with(|c: char| c.is_ascii_alphabetic())) {
                out.truncate(start);
                out.push_str("null");
            }
        }
        other if other.exact().is_some() => append_value(out, array, ty, row)?,
        _ => {
            let mut text = String::new();
            append_value(&mut text, array, ty, row)?;
            out.push_str(&serde_json::to_string(&text).ok()?);
        }
    }
    Some(())
}
