//! Types as SQL writes them, in CAST.

use crate::error::Fault;
use crate::types::{MAX_PRECISION, TEXT, Type, decimal};
use rowferry_model::DataType;
use sqlparser::ast::{self, ExactNumberInfo, TimezoneInfo};

/// The type that CAST names. `time_precision`: that of the value, where it is a time.
pub(super) fn sql_type(ty: &ast::DataType, time_precision: Option<u8>) -> Result<Type, Fault> {
    let precision = |given: Option<u64>| -> Result<u8, Fault> {
        match given {
            None => Ok(time_precision.unwrap_or(0)),
            Some(p @ 0..=9) => Ok(p as u8),
            Some(p) => Err(Fault::new(format!("a time has at most 9 digits behind the second, not {p}"))),
        }
    };
    Ok(match ty {
        ast::DataType::Boolean | ast::DataType::Bool => Type::Plain(DataType::Boolean),
        ast::DataType::TinyInt(_) => Type::Plain(DataType::TinyInt),
        ast::DataType::SmallInt(_) => Type::Plain(DataType::SmallInt),
        ast::DataType::Int(_) | ast::DataType::Integer(_) => Type::Plain(DataType::Int),
        ast::DataType::BigInt(_) => Type::Plain(DataType::BigInt),
        ast::DataType::Float(_) | ast::DataType::Real => Type::Plain(DataType::Float),
        ast::DataType::Double(_) | ast::DataType::DoublePrecision => Type::Plain(DataType::Double),
        ast::DataType::Decimal(info) | ast::DataType::Numeric(info) | ast::DataType::Dec(info) => exact(*info)?,
        // A length does not cut: Flink CDC's casts ignore it (recording `CAST(memo AS VARCHAR(3))`).
        ast::DataType::Char(_)
        | ast::DataType::Character(_)
        | ast::DataType::Varchar(_)
        | ast::DataType::CharVarying(_)
        | ast::DataType::CharacterVarying(_)
        | ast::DataType::Text
        | ast::DataType::String(_) => TEXT,
        ast::DataType::Binary(_) | ast::DataType::Varbinary(_) | ast::DataType::Bytes(_) => {
            Type::Plain(DataType::Bytes)
        }
        ast::DataType::Date => Type::Plain(DataType::Date),
        ast::DataType::Time(p, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            Type::Plain(DataType::Time(precision(*p)?))
        }
        ast::DataType::Timestamp(p, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone)
        | ast::DataType::Datetime(p) => Type::Plain(DataType::Timestamp(precision(*p)?)),
        ast::DataType::Custom(name, modifiers) if name.to_string().eq_ignore_ascii_case("TIMESTAMP_LTZ") => {
            let digits = modifiers.first().map(|m| m.to_string());
            let given = match digits {
                None => None,
                Some(digits) => {
                    Some(digits.parse().map_err(|_| Fault::new(format!("`{digits}` is not a number of digits")))?)
                }
            };
            Type::Plain(DataType::TimestampLtz(precision(given)?))
        }
        other => return Err(Fault::new(format!("a cast to {other} is not supported"))),
    })
}

fn exact(info: ExactNumberInfo) -> Result<Type, Fault> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => (10, 0),
        ExactNumberInfo::Precision(p) => (p, 0),
        ExactNumberInfo::PrecisionAndScale(p, s) => (p, s),
    };
    let wrong = || {
        Fault::new(format!("DECIMAL({precision}, {scale}) is not a type"))
            .hint("it has 1 to 38 digits, of which some may stand behind the point")
    };
    let precision_ok = (1..=u64::from(MAX_PRECISION)).contains(&precision);
    let scale_ok = scale >= 0 && scale.unsigned_abs() <= precision;
    if !precision_ok || !scale_ok {
        return Err(wrong());
    }
    Ok(decimal(u8::try_from(precision).map_err(|_| wrong())?, u8::try_from(scale).map_err(|_| wrong())?))
}
