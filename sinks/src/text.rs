//! Values as texts: what Flink CDC prints for a value, which is also what a value becomes whose column turns into text.

use crate::cells::Cells;
use crate::values::append_text;
use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringArray};
use rowferry_model::DataType;

/// The values of a column as texts; NULL stays NULL. Numbers are spelled as Java spells them, bytes as base64, days and
/// times as ISO 8601 with as many digits as Java shows, and an instant as the wall time that it is in UTC.
///
/// `None`: the array is not of the Arrow type that [`DataType::arrow`] gives.
pub fn column_text(data_type: &DataType, array: &dyn Array) -> Option<StringArray> {
    let cells = Cells::new(data_type, array)?;
    let mut builder = StringBuilder::with_capacity(array.len(), array.len() * 8);
    let mut text = Vec::new();
    for row in 0..array.len() {
        if cells.is_null(row) {
            builder.append_null();
            continue;
        }
        text.clear();
        append_text(&cells, &mut text, row);
        // What is appended is ASCII or a text that was one before.
        builder.append_value(std::str::from_utf8(&text).unwrap_or_default());
    }
    Some(builder.finish())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use arrow_array::{BinaryArray, Float64Array, Int32Array, TimestampMicrosecondArray};

    #[test]
    fn values_become_the_texts_that_java_shows() {
        let doubles = Float64Array::from(vec![Some(1e7), None, Some(0.001), Some(4.9e-324)]);
        let texts = column_text(&DataType::Double, &doubles).unwrap();
        assert_eq!(texts, StringArray::from(vec![Some("1.0E7"), None, Some("0.001"), Some("4.9E-324")]));
        let bytes = BinaryArray::from(vec![Some(&b"\x00\xff"[..]), None]);
        let texts = column_text(&DataType::Bytes, &bytes).unwrap();
        assert_eq!(texts, StringArray::from(vec![Some("AP8="), None]));
        let instants = TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("UTC");
        let texts = column_text(&DataType::TimestampLtz(3), &instants).unwrap();
        assert_eq!(texts, StringArray::from(vec!["1970-01-01T00:00:01.500"]));
        assert_eq!(column_text(&DataType::Double, &Int32Array::from(vec![1])), None);
    }
}
