//! The key that a table is cut into chunks by, and its bounds.

use crate::mysql::catalog::quote_identifier;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use base64::Engine;
use rowferry_sql::{ColumnDef, ColumnType, TableDef};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt::Write;

/// One column's value of a key bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum KeyPart {
    /// An integer or a year.
    Int(i128),
    /// An exact decimal: the unscaled value; the scale is the column's.
    Decimal(i128),
    /// Days since the epoch.
    Date(i32),
    /// Microseconds since the epoch, of a DATETIME as if it were UTC or of a TIMESTAMP.
    Micros(i64),
    /// Bytes.
    #[serde(with = "base64_bytes")]
    Bytes(Vec<u8>),
    /// Text in the column's own charset: only the server can say how two of them compare.
    #[serde(with = "base64_bytes")]
    Text(Vec<u8>),
}

/// A bound of a chunk: one value for each column of the chunk key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyBound(pub Vec<KeyPart>);

mod base64_bytes {
    use super::{Deserialize, Engine};

    pub(super) fn serialize<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64::engine::general_purpose::STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        base64::engine::general_purpose::STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}

/// The columns that a table is cut by.
#[derive(Clone, Debug)]
pub struct ChunkKey {
    /// The columns in key order: their index in the table and their definition.
    columns: Vec<(usize, ColumnDef)>,
    /// Whether a value of the chunk key stands for one row only: then a chunk may be cut anywhere.
    unique: bool,
}

/// Whether the server's order of this type can be asked for with plain comparisons: the order of `ORDER BY` and of `<`
/// must be the same. It isn't for ENUM and SET (`<` compares labels), nor safe for FLOAT and DOUBLE (`=` misses).
fn is_orderable(column_type: &ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::TinyInt { .. }
            | ColumnType::SmallInt { .. }
            | ColumnType::MediumInt { .. }
            | ColumnType::Int { .. }
            | ColumnType::BigInt { .. }
            | ColumnType::Decimal { precision: ..=38, .. }
            | ColumnType::Year
            | ColumnType::Date
            | ColumnType::DateTime(_)
            | ColumnType::Timestamp(_)
            | ColumnType::Char { .. }
            | ColumnType::Varchar { .. }
            | ColumnType::Binary(_)
            | ColumnType::Varbinary(_)
    )
}

impl ChunkKey {
    /// The chunk key of a table: the column that the user chose, or as many leading columns of the primary key as can
    /// be compared. `None`: the table can only be read as a whole.
    pub fn of(def: &TableDef, chosen: Option<&str>) -> Option<Self> {
        if def.primary_key.is_empty() {
            return None;
        }
        let names: Vec<&str> = match chosen {
            Some(name) => vec![name],
            None => def.primary_key.iter().map(String::as_str).collect(),
        };
        let wanted = def.primary_key.len();
        let mut columns = Vec::new();
        for name in names {
            let index = def.index_of(name)?;
            let column = &def.columns[index];
            // A nullable column's NULLs would fall between all bounds.
            if !is_orderable(&column.column_type) || column.nullable {
                break;
            }
            columns.push((index, column.clone()));
        }
        let unique = match chosen {
            None => columns.len() == wanted,
            Some(name) => wanted == 1 && def.primary_key[0].eq_ignore_ascii_case(name),
        };
        (!columns.is_empty()).then_some(Self { columns, unique })
    }

    /// Whether bounds of the one key mean the same as bounds of the other: the same columns, of types that compare alike.
    pub fn is_alike(&self, other: &Self) -> bool {
        let integer = |c: &ColumnDef| {
            use ColumnType as C;
            matches!(
                c.column_type,
                C::TinyInt { .. } | C::SmallInt { .. } | C::MediumInt { .. } | C::Int { .. } | C::BigInt { .. }
            )
        };
        let alike = |a: &ColumnDef, b: &ColumnDef| {
            a.name.eq_ignore_ascii_case(&b.name) && (a.column_type == b.column_type || (integer(a) && integer(b)))
        };
        self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(|((_, a), (_, b))| alike(a, b))
    }

    /// Whether a value of the chunk key stands for one row only.
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// The single integer column that the key consists of, if it does: such a key can be cut by arithmetic.
    pub fn integer_column(&self) -> Option<&ColumnDef> {
        match self.columns.as_slice() {
            [(_, column)]
                if matches!(
                    column.column_type,
                    ColumnType::TinyInt { .. }
                        | ColumnType::SmallInt { .. }
                        | ColumnType::MediumInt { .. }
                        | ColumnType::Int { .. }
                        | ColumnType::BigInt { .. }
                ) =>
            {
                Some(column)
            }
            _ => None,
        }
    }

    /// Whether keys can be compared here, without the server: no text among them.
    pub fn is_local(&self) -> bool {
        self.columns.iter().all(|(_, c)| !matches!(c.column_type, ColumnType::Char { .. } | ColumnType::Varchar { .. }))
    }

    /// The indices of the key's columns in the table.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|(i, _)| *i)
    }

    /// The columns, comma separated and quoted: for `ORDER BY`.
    pub fn order_by(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(_, c)| quote_identifier(&c.name)).collect();
        names.join(", ")
    }

    /// The same from the highest key downwards.
    pub fn order_by_downwards(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(_, c)| format!("{} DESC", quote_identifier(&c.name))).collect();
        names.join(", ")
    }

    /// Expressions whose text results [`ChunkKey::parse_bound`] understands.
    pub fn select_list(&self) -> String {
        let list: Vec<_> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, (_, column))| {
                let name = quote_identifier(&column.name);
                let value = match column.column_type {
                    ColumnType::Char { .. }
                    | ColumnType::Varchar { .. }
                    | ColumnType::Binary(_)
                    | ColumnType::Varbinary(_) => format!("HEX({name})"),
                    // The zero date and its kin have no place in the calendar that UNIX times come from.
                    ColumnType::Date => format!("TO_DAYS({name}) - TO_DAYS('1970-01-01')"),
                    ColumnType::DateTime(_) | ColumnType::Timestamp(_) => {
                        format!("TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', {name})")
                    }
                    _ => name,
                };
                format!("{value} AS k{i}")
            })
            .collect();
        list.join(", ")
    }

    /// The names of the results of [`ChunkKey::select_list`].
    pub fn result_names(&self) -> Vec<String> {
        (0..self.columns.len()).map(|i| format!("k{i}")).collect()
    }

    /// A bound from the text results of [`ChunkKey::select_list`]; `None` where one is NULL or not understood, as for a
    /// zero date.
    pub fn parse_bound(&self, values: &[Option<&[u8]>]) -> Option<KeyBound> {
        if values.len() != self.columns.len() {
            return None;
        }
        let mut parts = Vec::with_capacity(values.len());
        for ((_, column), value) in self.columns.iter().zip(values) {
            let text = std::str::from_utf8((*value)?).ok()?;
            parts.push(match &column.column_type {
                ColumnType::Char { .. } | ColumnType::Varchar { .. } => KeyPart::Text(unhex(text)?),
                ColumnType::Binary(n) => {
                    let mut bytes = unhex(text)?;
                    bytes.resize(bytes.len().max(*n as usize), 0);
                    KeyPart::Bytes(bytes)
                }
                ColumnType::Varbinary(_) => KeyPart::Bytes(unhex(text)?),
                ColumnType::Date => KeyPart::Date(text.parse().ok()?),
                ColumnType::DateTime(_) | ColumnType::Timestamp(_) => KeyPart::Micros(text.parse().ok()?),
                ColumnType::Decimal { scale, .. } => KeyPart::Decimal(parse_decimal(text, *scale)?),
                _ => KeyPart::Int(text.parse().ok()?),
            });
        }
        Some(KeyBound(parts))
    }

    /// A bound of a single integer key.
    pub fn integer_bound(value: i128) -> KeyBound {
        KeyBound(vec![KeyPart::Int(value)])
    }

    /// The condition that a row's key is at or above `low` and below `high`; empty for all rows.
    pub fn range_condition(&self, low: Option<&KeyBound>, high: Option<&KeyBound>) -> String {
        let mut conditions = Vec::new();
        if let Some(low) = low {
            conditions.push(self.comparison(low, ">", true, |c| quote_identifier(&c.name)));
        }
        if let Some(high) = high {
            conditions.push(self.comparison(high, "<", false, |c| quote_identifier(&c.name)));
        }
        conditions.join(" AND ")
    }

    /// The condition that a row's key is above `bound`.
    pub fn above_condition(&self, bound: &KeyBound) -> String {
        self.comparison(bound, ">", false, |c| quote_identifier(&c.name))
    }

    /// `(a > 1 OR (a = 1 AND b >= 2))`: the form that MySQL's range optimizer understands on a composite key, unlike a
    /// comparison of row constructors.
    fn comparison(
        &self,
        bound: &KeyBound,
        operator: &str,
        or_equal: bool,
        left: impl Fn(&ColumnDef) -> String,
    ) -> String {
        let mut text = String::new();
        let last = self.columns.len() - 1;
        for (i, ((_, column), part)) in self.columns.iter().zip(&bound.0).enumerate() {
            let (left, right) = (left(column), literal(part, column));
            if i == last {
                let equal = if or_equal { "=" } else { "" };
                let _ = write!(text, "{left} {operator}{equal} {right}");
            } else {
                let _ = write!(text, "({left} {operator} {right} OR ({left} = {right} AND ");
            }
        }
        text.push_str(&"))".repeat(last));
        text
    }

    /// A query that tells for each of the given rows, in order, in which bounds it lies below: one row a key, one column
    /// a bound, 1 for below. `keys` holds the rows' key columns in key order as they are in the stream.
    pub fn classify_query(&self, keys: &[ArrayRef], rows: &[usize], bounds: &[&KeyBound]) -> Option<String> {
        let mut sql = String::from("SELECT ");
        for (i, bound) in bounds.iter().enumerate() {
            if i > 0 {
                sql.push_str(", ");
            }
            sql.push_str(&self.comparison(bound, "<", false, |column| {
                let at = self.columns.iter().position(|(_, c)| c.name == column.name).unwrap_or_default();
                format!("k{at}")
            }));
        }
        sql.push_str(" FROM (");
        for (i, row) in rows.iter().enumerate() {
            sql.push_str(if i > 0 { " UNION ALL SELECT " } else { "SELECT " });
            let _ = write!(sql, "{i} AS i");
            for (at, ((_, column), array)) in self.columns.iter().zip(keys).enumerate() {
                let part = self.part_of(array, *row, column)?;
                let _ = match (&part, &column.column_type) {
                    (KeyPart::Text(utf8), ColumnType::Char { charset, .. } | ColumnType::Varchar { charset, .. }) => {
                        write!(
                            sql,
                            ", CONVERT(_utf8mb4 x'{}' USING {}) COLLATE {} AS k{at}",
                            hex(utf8),
                            charset.name,
                            charset.collation
                        )
                    }
                    _ => write!(sql, ", {} AS k{at}", literal(&part, column)),
                };
            }
        }
        sql.push_str(") AS keys_ ORDER BY i");
        Some(sql)
    }

    /// How a row's key compares with a bound, for keys without text.
    pub fn compare(&self, keys: &[ArrayRef], row: usize, bound: &KeyBound) -> Option<Ordering> {
        for (((_, column), array), part) in self.columns.iter().zip(keys).zip(&bound.0) {
            match self.part_of(array, row, column)?.cmp(part) {
                Ordering::Equal => {}
                other => return Some(other),
            }
        }
        Some(Ordering::Equal)
    }

    /// A row's value of one key column; text is UTF-8 here, as in the stream. `None` for NULL.
    fn part_of(&self, array: &ArrayRef, row: usize, column: &ColumnDef) -> Option<KeyPart> {
        use arrow_schema::DataType as T;
        if row >= array.len() || array.is_null(row) {
            return None;
        }
        Some(match array.data_type() {
            T::Boolean => KeyPart::Int(i128::from(array.as_boolean().value(row))),
            T::Int8 => KeyPart::Int(array.as_primitive::<Int8Type>().value(row).into()),
            T::Int16 => KeyPart::Int(array.as_primitive::<Int16Type>().value(row).into()),
            T::Int32 => KeyPart::Int(array.as_primitive::<Int32Type>().value(row).into()),
            T::Int64 => KeyPart::Int(array.as_primitive::<Int64Type>().value(row).into()),
            T::Decimal128(..) => {
                let value = array.as_primitive::<Decimal128Type>().value(row);
                match column.column_type {
                    ColumnType::Decimal { .. } => KeyPart::Decimal(value),
                    _ => KeyPart::Int(value),
                }
            }
            T::Date32 => KeyPart::Date(array.as_primitive::<Date32Type>().value(row)),
            T::Timestamp(..) => KeyPart::Micros(array.as_primitive::<TimestampMicrosecondType>().value(row)),
            T::Binary => KeyPart::Bytes(array.as_binary::<i32>().value(row).to_vec()),
            T::Utf8 => KeyPart::Text(array.as_string::<i32>().value(row).as_bytes().to_vec()),
            _ => return None,
        })
    }
}

/// A bound's value as MySQL reads it, with the column's own charset and collation, so that the index can be used.
fn literal(part: &KeyPart, column: &ColumnDef) -> String {
    match (part, &column.column_type) {
        (KeyPart::Text(bytes), ColumnType::Char { charset, .. } | ColumnType::Varchar { charset, .. }) => {
            format!("_{} x'{}' COLLATE {}", charset.name, hex(bytes), charset.collation)
        }
        (KeyPart::Text(bytes) | KeyPart::Bytes(bytes), _) => format!("x'{}'", hex(bytes)),
        (KeyPart::Int(n), _) => n.to_string(),
        (KeyPart::Decimal(n), ColumnType::Decimal { scale, .. }) => decimal_text(*n, *scale),
        (KeyPart::Decimal(n), _) => n.to_string(),
        (KeyPart::Date(days), _) => format!("DATE_ADD(DATE '1970-01-01', INTERVAL {days} DAY)"),
        (KeyPart::Micros(micros), _) => {
            format!("DATE_ADD(TIMESTAMP '1970-01-01 00:00:00.000000', INTERVAL {micros} MICROSECOND)")
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks_exact(2);
    if !digits.remainder().is_empty() {
        return None;
    }
    let digit = |c: u8| (c as char).to_digit(16);
    digits.map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)).collect()
}

fn parse_decimal(text: &str, scale: u8) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if fraction.len() > scale as usize {
        return None;
    }
    let padded = format!("{whole}{fraction:0<width$}", width = scale as usize);
    let value: i128 = padded.parse().ok()?;
    Some(if negative { -value } else { value })
}

fn decimal_text(value: i128, scale: u8) -> String {
    let scale = scale as usize;
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests;
