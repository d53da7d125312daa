//! Our types and Paimon's.

use super::config::TimeType;
use crate::SinkError;
use paimon::spec::{
    BigIntType, BinaryType, BooleanType, CharType, DataType as LakeType, DateType, DecimalType, DoubleType, FloatType,
    IntType, LocalZonedTimestampType, SmallIntType, TimeType as LakeTimeType, TimestampType, TinyIntType,
    VarBinaryType, VarCharType,
};
use rowferry_model::{Column, DataType, TableId};

/// The Paimon type of a column.
///
/// # Errors
/// Paimon has no such type; the error names table, column and way out.
pub(super) fn lake_type(
    table: &TableId,
    column: &Column,
    nullable: bool,
    time_type: TimeType,
) -> Result<LakeType, SinkError> {
    let n = nullable;
    let made = match column.data_type {
        DataType::Boolean => Ok(LakeType::Boolean(BooleanType::with_nullable(n))),
        DataType::TinyInt => Ok(LakeType::TinyInt(TinyIntType::with_nullable(n))),
        DataType::SmallInt => Ok(LakeType::SmallInt(SmallIntType::with_nullable(n))),
        DataType::Int => Ok(LakeType::Int(IntType::with_nullable(n))),
        DataType::BigInt => Ok(LakeType::BigInt(BigIntType::with_nullable(n))),
        DataType::Float => Ok(LakeType::Float(FloatType::with_nullable(n))),
        DataType::Double => Ok(LakeType::Double(DoubleType::with_nullable(n))),
        DataType::Decimal { precision, scale } => {
            DecimalType::with_nullable(n, precision.into(), scale.into()).map(LakeType::Decimal)
        }
        DataType::Char(len) => CharType::with_nullable(n, len as usize).map(LakeType::Char),
        DataType::Varchar(len) => VarCharType::with_nullable(n, len).map(LakeType::VarChar),
        DataType::String => VarCharType::with_nullable(n, VarCharType::MAX_LENGTH).map(LakeType::VarChar),
        DataType::Binary(len) => BinaryType::with_nullable(n, len as usize).map(LakeType::Binary),
        DataType::Varbinary(len) => VarBinaryType::try_new(n, len).map(LakeType::VarBinary),
        DataType::Bytes => VarBinaryType::try_new(n, VarBinaryType::MAX_LENGTH).map(LakeType::VarBinary),
        DataType::Date => Ok(LakeType::Date(DateType::with_nullable(n))),
        DataType::Time(p) => match time_type {
            TimeType::Time => LakeTimeType::with_nullable(n, p.into()).map(LakeType::Time),
            TimeType::String => VarCharType::with_nullable(n, VarCharType::MAX_LENGTH).map(LakeType::VarChar),
        },
        DataType::Timestamp(p) => TimestampType::with_nullable(n, p.into()).map(LakeType::Timestamp),
        DataType::TimestampLtz(p) => {
            LocalZonedTimestampType::with_nullable(n, p.into()).map(LakeType::LocalZonedTimestamp)
        }
    };
    made.map_err(|e| {
        SinkError::unsupported(format!(
            "paimon sink: column `{}` of {table} has type {}, which Paimon can't hold",
            column.name, column.data_type
        ))
        .hint("cast the column in a `transform` rule, for example to STRING, or leave it out of the projection")
        .caused_by(e)
    })
}

/// Whether two Paimon types are the same, nullability aside.
pub(super) fn same(a: &LakeType, b: &LakeType) -> bool {
    matches!((a.copy_with_nullable(true), b.copy_with_nullable(true)), (Ok(a), Ok(b)) if a == b)
}

/// Whether every value of `from` is a value of `to`: what an existing table's column may be wider.
pub(super) fn widens(from: &LakeType, to: &LakeType) -> bool {
    use LakeType::{BigInt, Binary, Char, Decimal, Double, Float, Int, LocalZonedTimestamp, SmallInt};
    use LakeType::{Timestamp, TinyInt, VarBinary, VarChar};
    same(from, to)
        || match (from, to) {
            (TinyInt(_), SmallInt(_) | Int(_) | BigInt(_))
            | (SmallInt(_), Int(_) | BigInt(_))
            | (Int(_), BigInt(_))
            | (Float(_), Double(_)) => true,
            (Char(a), VarChar(b)) => a.length() <= b.length() as usize,
            (VarChar(a), VarChar(b)) => a.length() <= b.length(),
            (Binary(a), VarBinary(b)) => a.length() <= b.length() as usize,
            (VarBinary(a), VarBinary(b)) => a.length() <= b.length(),
            (Decimal(a), Decimal(b)) => a.scale() == b.scale() && a.precision() <= b.precision(),
            // Nanoseconds do not reach over all of MySQL's years.
            (Timestamp(a), Timestamp(b)) => a.precision() <= b.precision() && b.precision() <= 6,
            (LocalZonedTimestamp(a), LocalZonedTimestamp(b)) => a.precision() <= b.precision() && b.precision() <= 6,
            _ => false,
        }
}

/// Why a name can't be a database's or table's in a warehouse, where it is a directory.
pub(super) fn bad_name(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("is empty")
    } else if name == "." || name == ".." {
        Some("is a relative directory")
    } else if name.contains(['/', '\\']) {
        Some("has a path separator")
    } else if name.contains('$') {
        Some("has a `$`, which Paimon keeps for system tables")
    } else if name.chars().any(char::is_control) {
        Some("has a control character")
    } else {
        None
    }
}

/// Whether Paimon keeps this column name for itself.
pub(super) fn reserved_column(name: &str) -> bool {
    name.starts_with("_KEY_") || ["_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID"].contains(&name)
}
