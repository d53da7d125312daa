//! Types and schemas that hold what several tables have: what Flink CDC merges tables into when they are routed to one
//! target (`SchemaMergingUtils`; recording `08-route-merge-all-match-evolve`).

use rowferry_model::{
    AddedColumn, AlteredColumn, Column, ColumnPosition, DataType, SchemaChange, TableId, TableSchema,
};
use std::sync::Arc;

/// The greatest precision of a DECIMAL.
const MAX_PRECISION: u8 = 38;
/// The greatest precision of Flink's timestamps, which a DATE merges into.
const MAX_FRACTION: u8 = 9;

/// How many decimal digits the values of an integer type need.
fn integer_digits(data_type: DataType) -> Option<u8> {
    Some(match data_type {
        DataType::TinyInt => 3,
        DataType::SmallInt => 5,
        DataType::Int => 10,
        DataType::BigInt => 19,
        _ => return None,
    })
}

/// The narrowest type that Flink CDC merges two types into.
///
/// Different from Flink CDC in one point: two DECIMAL types that no DECIMAL holds become STRING, as an integer and such
/// a DECIMAL do, instead of a DECIMAL that cuts digits off or a failure.
pub fn least_common_type(a: DataType, b: DataType) -> DataType {
    use DataType as T;
    if a == b {
        return a;
    }
    match (a, b) {
        (T::Decimal { precision: p, scale: s }, T::Decimal { precision: q, scale: r }) => {
            let scale = s.max(r);
            decimal(p.saturating_sub(s).max(q.saturating_sub(r)).saturating_add(scale), scale)
        }
        (T::Decimal { precision, scale }, other) | (other, T::Decimal { precision, scale }) => {
            match integer_digits(other) {
                Some(digits) => decimal(precision.max(scale.saturating_add(digits)), scale),
                None => T::String,
            }
        }
        (T::Timestamp(p), T::Timestamp(q)) => T::Timestamp(p.max(q)),
        (T::Timestamp(p) | T::TimestampLtz(p), T::Timestamp(q) | T::TimestampLtz(q)) => T::TimestampLtz(p.max(q)),
        (T::Date, T::Timestamp(_)) | (T::Timestamp(_), T::Date) => T::Timestamp(MAX_FRACTION),
        (T::Date, T::TimestampLtz(_)) | (T::TimestampLtz(_), T::Date) => T::TimestampLtz(MAX_FRACTION),
        _ => match (number_rank(a), number_rank(b)) {
            (Some(a), Some(b)) => common_number(a, b),
            _ => T::String,
        },
    }
}

fn decimal(precision: u8, scale: u8) -> DataType {
    if precision <= MAX_PRECISION { DataType::Decimal { precision, scale } } else { DataType::String }
}

/// Integers and floats in the order in which each can become a later one, where it can at all.
const NUMBERS: [DataType; 6] =
    [DataType::TinyInt, DataType::SmallInt, DataType::Int, DataType::BigInt, DataType::Float, DataType::Double];

fn number_rank(data_type: DataType) -> Option<usize> {
    NUMBERS.iter().position(|number| *number == data_type)
}

fn common_number(a: usize, b: usize) -> DataType {
    let (low, high) = (a.min(b), a.max(b));
    match (NUMBERS.get(low), NUMBERS.get(high)) {
        // A FLOAT has 24 bits of digits: too few for an INT.
        (Some(DataType::Int | DataType::BigInt), Some(DataType::Float)) => DataType::Double,
        (_, Some(high)) => *high,
        _ => DataType::String,
    }
}

/// Whether every value of `narrow` is a value of `wide` without a change of its meaning.
pub fn holds(wide: DataType, narrow: DataType) -> bool {
    use DataType as T;
    if wide == narrow {
        return true;
    }
    match (wide, narrow) {
        (T::SmallInt, T::TinyInt)
        | (T::Int, T::TinyInt | T::SmallInt)
        | (T::BigInt, T::TinyInt | T::SmallInt | T::Int)
        | (T::Float, T::TinyInt | T::SmallInt)
        | (T::Double, T::TinyInt | T::SmallInt | T::Int | T::Float) => true,
        (T::Decimal { precision: p, scale: s }, T::Decimal { precision: q, scale: r }) => {
            s >= r && p.saturating_sub(s) >= q.saturating_sub(r)
        }
        (T::Decimal { precision, scale }, integer) => {
            integer_digits(integer).is_some_and(|digits| precision.saturating_sub(scale) >= digits)
        }
        (T::String, T::Char(_) | T::Varchar(_)) => true,
        (T::Varchar(n), T::Char(m) | T::Varchar(m)) | (T::Char(n), T::Char(m)) => n >= m,
        (T::Bytes, T::Binary(_) | T::Varbinary(_)) => true,
        // A BINARY is padded to its length, so that a longer one has other values.
        (T::Varbinary(n), T::Binary(m) | T::Varbinary(m)) => n >= m,
        (T::Timestamp(p), T::Timestamp(q)) | (T::TimestampLtz(p), T::TimestampLtz(q)) | (T::Time(p), T::Time(q)) => {
            p >= q
        }
        (T::Timestamp(_), T::Date) => true,
        _ => false,
    }
}

/// The type that a column gets when values of another type come to it: the wider one where one of them holds the other,
/// else what Flink CDC merges them into.
pub fn widened(current: DataType, other: DataType) -> DataType {
    if holds(current, other) {
        current
    } else if holds(other, current) {
        other
    } else {
        least_common_type(current, other)
    }
}

/// How the type of a column that two schemas have is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Widening {
    /// As Flink CDC merges several tables: [`least_common_type`].
    Merge,
    /// As a column follows the one table that it comes from: [`widened`].
    Follow,
}

/// The schema that holds the rows of both: columns of `current` with the common type, then those that only `other` has.
/// Key, partition key, options and comment are those of `current`. Columns are the same when their names are, without
/// regard to case, as MySQL has it.
///
/// Different from Flink CDC in one point: a column that only one of them has becomes nullable, for the rows of the other
/// one have NULL there. Columns of the key stay as they are.
pub fn merge(current: &TableSchema, other: &TableSchema, widening: Widening) -> TableSchema {
    let mut merged = current.clone();
    let key = current.key_indices();
    for (index, column) in merged.columns.iter_mut().enumerate() {
        match other.column(&column.name) {
            Some(new) => {
                column.max_bytes = common_max_bytes(column, new);
                column.data_type = match widening {
                    Widening::Merge => least_common_type(column.data_type, new.data_type),
                    Widening::Follow => widened(column.data_type, new.data_type),
                };
                column.nullable |= new.nullable;
            }
            None if !key.contains(&index) => column.nullable = true,
            None => {}
        }
    }
    for new in &other.columns {
        if current.column(&new.name).is_none() {
            merged.columns.push(Column { nullable: true, ..new.clone() });
        }
    }
    merged
}

/// How long the texts of a merged column get; unknown where it is so for one of them, or where numbers become texts.
fn common_max_bytes(a: &Column, b: &Column) -> Option<u64> {
    match (a.max_bytes, b.max_bytes) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => None,
    }
}

/// The changes that lead from one schema to another: added columns with their places, then altered ones, then dropped
/// ones, in the order of Flink CDC. The order of columns that both have is not changed, nor are keys.
pub fn difference(table: &TableId, before: Option<&TableSchema>, after: &TableSchema) -> Vec<SchemaChange> {
    let Some(before) = before else {
        return vec![SchemaChange::CreateTable { table: table.clone(), schema: Arc::new(after.clone()) }];
    };
    let mut added = Vec::new();
    let mut altered = Vec::new();
    let mut previous: Option<&str> = None;
    for column in &after.columns {
        match before.column(&column.name) {
            Some(old) => {
                altered.extend(altered_column(old, column.data_type, column.nullable));
                previous = Some(&old.name);
            }
            None => {
                let position = match previous {
                    None => ColumnPosition::First,
                    Some(name) => ColumnPosition::After(name.to_owned()),
                };
                added.push(AddedColumn { column: column.clone(), position });
                previous = Some(&column.name);
            }
        }
    }
    let dropped: Vec<String> =
        before.columns.iter().filter(|old| after.column(&old.name).is_none()).map(|old| old.name.clone()).collect();
    let table = || table.clone();
    let mut changes = Vec::new();
    if !added.is_empty() {
        changes.push(SchemaChange::AddColumns { table: table(), columns: added });
    }
    if !altered.is_empty() {
        changes.push(SchemaChange::AlterColumns { table: table(), columns: altered });
    }
    if !dropped.is_empty() {
        changes.push(SchemaChange::DropColumns { table: table(), names: dropped });
    }
    changes
}

/// The change of a column to a type and a nullability; `None` where it has both.
pub(super) fn altered_column(old: &Column, data_type: DataType, nullable: bool) -> Option<AlteredColumn> {
    (old.data_type != data_type || old.nullable != nullable).then(|| AlteredColumn {
        name: old.name.clone(),
        data_type,
        nullable,
        old: Some((old.data_type, old.nullable)),
        comment: None,
    })
}
