//! The types of expressions: those of the stream's columns, and a few that live only inside an expression.

use arrow_schema::{DataType as ArrowType, Field, Fields};
use rowferry_model::DataType;
use std::fmt;
use std::sync::Arc;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Not known: a column while the table is not known yet.
    Unknown,
    /// The type of a bare `NULL`.
    Null,
    /// A type that a column can have.
    Plain(DataType),
    /// A number of months.
    Months,
    /// A number of microseconds.
    Micros,
    /// `ARRAY<…>`.
    Array(Box<Type>),
    /// `MAP<…, …>`.
    Map(Box<Type>, Box<Type>),
    /// `ROW<…>`.
    Row(Vec<Type>),
    /// A JSON document, kept as its text.
    Variant,
}

/// The text type that all computed texts have.
pub(crate) const TEXT: Type = Type::Plain(DataType::String);
/// The type of conditions.
pub(crate) const BOOL: Type = Type::Plain(DataType::Boolean);
/// 32-bit integers.
pub(crate) const INT: Type = Type::Plain(DataType::Int);
/// 64-bit integers.
pub(crate) const BIGINT: Type = Type::Plain(DataType::BigInt);
/// 64-bit floating point.
pub(crate) const DOUBLE: Type = Type::Plain(DataType::Double);

/// How many digits a decimal can have in the stream.
pub(crate) const MAX_PRECISION: u8 = 38;

impl Type {
    /// Digits and digits behind the point of an exact number.
    pub(crate) fn exact(&self) -> Option<(u8, u8)> {
        Some(match self {
            Self::Plain(DataType::TinyInt) => (3, 0),
            Self::Plain(DataType::SmallInt) => (5, 0),
            Self::Plain(DataType::Int) => (10, 0),
            Self::Plain(DataType::BigInt) => (19, 0),
            Self::Plain(DataType::Decimal { precision, scale }) => (*precision, *scale),
            _ => return None,
        })
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Self::Plain(DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt))
    }

    pub(crate) fn is_decimal(&self) -> bool {
        matches!(self, Self::Plain(DataType::Decimal { .. }))
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self, Self::Plain(DataType::Float | DataType::Double))
    }

    pub(crate) fn is_numeric(&self) -> bool {
        self.exact().is_some() || self.is_float()
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Plain(DataType::Char(_) | DataType::Varchar(_) | DataType::String))
    }

    pub(crate) fn is_bytes(&self) -> bool {
        matches!(self, Self::Plain(DataType::Binary(_) | DataType::Varbinary(_) | DataType::Bytes))
    }

    /// Whether it is a wall time or an instant.
    pub(crate) fn is_timestamp(&self) -> bool {
        matches!(self, Self::Plain(DataType::Timestamp(_) | DataType::TimestampLtz(_)))
    }

    pub(crate) fn is_nested(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Map(..) | Self::Row(_) | Self::Variant)
    }

    /// The Arrow type of a column of values of this type.
    pub(crate) fn arrow(&self) -> ArrowType {
        match self {
            Self::Unknown | Self::Null => ArrowType::Null,
            Self::Plain(plain) => plain.arrow(),
            Self::Months | Self::Micros => ArrowType::Int64,
            Self::Array(item) => ArrowType::List(Arc::new(Field::new("item", item.arrow(), true))),
            Self::Map(key, value) => ArrowType::List(Arc::new(Field::new(
                "item",
                ArrowType::Struct(Fields::from(vec![
                    Field::new("key", key.arrow(), true),
                    Field::new("value", value.arrow(), true),
                ])),
                true,
            ))),
            Self::Row(fields) => ArrowType::Struct(
                fields
                    .iter()
                    .enumerate()
                    .map(|(i, t)| Field::new(format!("f{i}"), t.arrow(), true))
                    .collect::<Vec<_>>()
                    .into(),
            ),
            Self::Variant => ArrowType::Utf8,
        }
    }

    /// The type that a column of the stream has when this is projected: nested values become JSON text.
    pub(crate) fn column(&self) -> Option<DataType> {
        match self {
            Self::Plain(DataType::Char(_) | DataType::Varchar(_)) => Some(DataType::String),
            Self::Plain(DataType::Binary(_) | DataType::Varbinary(_)) => Some(DataType::Bytes),
            Self::Plain(plain) => Some(*plain),
            Self::Array(_) | Self::Map(..) | Self::Row(_) | Self::Variant => Some(DataType::String),
            Self::Unknown | Self::Null | Self::Months | Self::Micros => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("an unknown type"),
            Self::Null => f.write_str("NULL"),
            Self::Plain(plain) => plain.fmt(f),
            Self::Months => f.write_str("INTERVAL MONTH"),
            Self::Micros => f.write_str("INTERVAL SECOND"),
            Self::Array(item) => write!(f, "ARRAY<{item}>"),
            Self::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Self::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "`EXPR${i}` {field}")?;
                }
                f.write_str(">")
            }
            Self::Variant => f.write_str("VARIANT"),
        }
    }
}

pub(crate) fn decimal(precision: u8, scale: u8) -> Type {
    Type::Plain(DataType::Decimal { precision, scale: scale.min(precision) })
}

/// The type that holds values of both: for CASE, COALESCE, comparisons and lists. `cap`: the greatest precision.
pub(crate) fn common(a: &Type, b: &Type, cap: u8) -> Option<Type> {
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (Type::Null, other) | (other, Type::Null) => return Some(other.clone()),
        (Type::Unknown, _) | (_, Type::Unknown) => return Some(Type::Unknown),
        (Type::Array(a), Type::Array(b)) => return Some(Type::Array(Box::new(common(a, b, cap)?))),
        (Type::Map(ka, va), Type::Map(kb, vb)) => {
            return Some(Type::Map(Box::new(common(ka, kb, cap)?), Box::new(common(va, vb, cap)?)));
        }
        _ => {}
    }
    if a.is_text() && b.is_text() {
        return Some(TEXT);
    }
    if a.is_bytes() && b.is_bytes() {
        return Some(Type::Plain(DataType::Bytes));
    }
    if a.is_numeric() && b.is_numeric() {
        return Some(common_number(a, b, cap));
    }
    match (a, b) {
        (Type::Plain(x), Type::Plain(y)) => match (*x, *y) {
            (DataType::Timestamp(p), DataType::Timestamp(q)) => Some(Type::Plain(DataType::Timestamp(p.max(q)))),
            (DataType::TimestampLtz(p), DataType::TimestampLtz(q)) => {
                Some(Type::Plain(DataType::TimestampLtz(p.max(q))))
            }
            (DataType::Timestamp(p), DataType::TimestampLtz(q))
            | (DataType::TimestampLtz(q), DataType::Timestamp(p)) => Some(Type::Plain(DataType::Timestamp(p.max(q)))),
            (DataType::Date, DataType::Timestamp(p) | DataType::TimestampLtz(p))
            | (DataType::Timestamp(p) | DataType::TimestampLtz(p), DataType::Date) => {
                Some(Type::Plain(DataType::Timestamp(p)))
            }
            (DataType::Time(p), DataType::Time(q)) => Some(Type::Plain(DataType::Time(p.max(q)))),
            _ => None,
        },
        _ => None,
    }
}

fn common_number(a: &Type, b: &Type, cap: u8) -> Type {
    if a.is_float() || b.is_float() {
        let double = |t: &Type| matches!(t, Type::Plain(DataType::Double | DataType::Decimal { .. }));
        return if double(a) || double(b) { DOUBLE } else { Type::Plain(DataType::Float) };
    }
    let (Some((pa, sa)), Some((pb, sb))) = (a.exact(), b.exact()) else { return DOUBLE };
    if a.is_integer() && b.is_integer() {
        return if pa >= pb { a.clone() } else { b.clone() };
    }
    let scale = sa.max(sb);
    decimal(((pa - sa).max(pb - sb) + scale).min(cap.max(pa).max(pb)), scale)
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// The type of an arithmetic result, as Calcite derives it (recordings `expr-given`): integers keep the wider type, but at
/// least INT, decimals grow up to `cap` digits, and floating point wins. `None`: these types can't be computed with.
pub(crate) fn arithmetic(op: Arithmetic, a: &Type, b: &Type, cap: u8) -> Option<Type> {
    if *a == Type::Unknown || *b == Type::Unknown {
        return Some(Type::Unknown);
    }
    let (a, b) = match (a, b) {
        (Type::Null, Type::Null) => (&INT, &INT),
        (Type::Null, b) => (b, b),
        (a, Type::Null) => (a, a),
        pair => pair,
    };
    if !a.is_numeric() || !b.is_numeric() {
        return None;
    }
    if a.is_float() || b.is_float() {
        return Some(common_number(a, b, cap));
    }
    let ((pa, sa), (pb, sb)) = (a.exact()?, b.exact()?);
    if a.is_integer() && b.is_integer() {
        return Some(if pa > 10 || pb > 10 { BIGINT } else { INT });
    }
    let (pa, sa, pb, sb, max) = (i32::from(pa), i32::from(sa), i32::from(pb), i32::from(sb), i32::from(cap));
    let (precision, scale) = match op {
        Arithmetic::Add | Arithmetic::Subtract => {
            let scale = sa.max(sb);
            ((pa - sa).max(pb - sb) + scale + 1, scale)
        }
        Arithmetic::Multiply => (pa + pb, (sa + sb).min(max)),
        Arithmetic::Divide => {
            let whole = (pa - sa + sb).min(max);
            let scale = (sa + pb + 1).max(6).min(max - whole);
            (whole + scale, scale)
        }
        Arithmetic::Modulo => {
            let scale = sa.max(sb);
            ((pa - sa).min(pb - sb) + scale, scale)
        }
    };
    let precision = precision.clamp(1, max);
    Some(decimal(u8::try_from(precision).ok()?, u8::try_from(scale.clamp(0, precision)).ok()?))
}
