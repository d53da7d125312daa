//! Column types, and which of them can become which: from the recorded ALTERs.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    LargeInt,
    Float,
    Double,
    Decimal(u32, u32),
    Char(u32),
    Varchar(u32),
    String,
    Date,
    DateTime(u32),
    Json,
}

impl Ty {
    /// As `SHOW FULL COLUMNS` shows it.
    pub fn full(&self) -> String {
        match self {
            Self::Decimal(p, s) => format!("decimalv3({p},{s})"),
            Self::Date => "datev2".into(),
            Self::DateTime(p) => format!("datetimev2({p})"),
            other => other.to_string(),
        }
    }

    /// As error messages name it.
    pub fn upper(&self) -> String {
        match self {
            Self::Decimal(p, _) if *p <= 9 => "DECIMAL32".into(),
            Self::Decimal(p, _) if *p <= 18 => "DECIMAL64".into(),
            Self::Decimal(..) => "DECIMAL128".into(),
            Self::Char(_) => "CHAR".into(),
            Self::Varchar(_) => "VARCHAR".into(),
            Self::String => "STRING".into(),
            Self::Date => "DATEV2".into(),
            Self::DateTime(_) => "DATETIMEV2".into(),
            other => other.to_string().to_uppercase(),
        }
    }

    fn rank(&self) -> Option<u8> {
        Some(match self {
            Self::TinyInt => 0,
            Self::SmallInt => 1,
            Self::Int => 2,
            Self::BigInt => 3,
            Self::LargeInt => 4,
            _ => return None,
        })
    }

    fn text_length(&self) -> Option<u32> {
        match self {
            Self::Char(n) | Self::Varchar(n) => Some(*n),
            _ => None,
        }
    }

    /// How many characters a value may take, where that decides about a VARCHAR.
    fn width(&self) -> u32 {
        match self {
            Self::TinyInt => 4,
            Self::SmallInt => 6,
            Self::Int => 11,
            Self::BigInt => 20,
            _ => u32::MAX,
        }
    }

    /// Whether a column of this type may become one of `to`.
    pub fn may_become(&self, to: &Self) -> Result<(), String> {
        let no = || Err(format!("Can not change {} to {}", self.upper(), to.upper()));
        if self == to {
            return Ok(());
        }
        let narrower = |needs: u32, n: u32| {
            if n >= needs {
                Ok(())
            } else {
                Err(format!("Can not change from wider type {} to narrower type {to}", self.full()))
            }
        };
        match (self, to) {
            (Self::Char(a), Self::Char(b) | Self::Varchar(b)) | (Self::Varchar(a), Self::Varchar(b)) => {
                if b >= a {
                    Ok(())
                } else {
                    Err(format!("Shorten type length is prohibited, srcType={self}, dstType={to}"))
                }
            }
            (Self::Char(_) | Self::Varchar(_), Self::String) => Ok(()),
            (Self::Char(_) | Self::Varchar(_), t) if t.rank().is_some() => Ok(()),
            (Self::Char(_) | Self::Varchar(_), Self::Float | Self::Double) => Ok(()),
            (Self::Varchar(_), Self::Date | Self::Json) | (Self::String, Self::Json) => Ok(()),
            (Self::Json, Self::Varchar(_) | Self::String) => Ok(()),
            (Self::Decimal(..), Self::Decimal(..)) => Ok(()),
            (Self::Decimal(..) | Self::Float | Self::Double, Self::String) => Ok(()),
            (Self::Decimal(..) | Self::Float | Self::Double, Self::Varchar(n)) => narrower(100, *n),
            (f, Self::String) if f.rank().is_some() => Ok(()),
            (f, Self::Varchar(n)) if f.rank().is_some() => narrower(f.width().min(100), *n),
            (f, Self::Float | Self::Double) if f.rank().is_some() => Ok(()),
            (Self::Float, Self::Double) => Ok(()),
            (Self::Date | Self::DateTime(_), Self::Date | Self::DateTime(_)) => Ok(()),
            (f, t) => match (f.rank(), t.rank()) {
                (Some(a), Some(b)) if b > a => Ok(()),
                _ => no(),
            },
        }
    }

    /// Whether a change to `to` is done at once: a longer VARCHAR.
    pub fn is_light_change(&self, to: &Self) -> bool {
        matches!((self, to), (Self::Varchar(_), Self::Varchar(_))) && self.text_length() <= to.text_length()
    }
}

impl fmt::Display for Ty {
    /// As `SHOW CREATE TABLE` and `DESC` write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("boolean"),
            Self::TinyInt => f.write_str("tinyint"),
            Self::SmallInt => f.write_str("smallint"),
            Self::Int => f.write_str("int"),
            Self::BigInt => f.write_str("bigint"),
            Self::LargeInt => f.write_str("largeint"),
            Self::Float => f.write_str("float"),
            Self::Double => f.write_str("double"),
            Self::Decimal(p, s) => write!(f, "decimal({p},{s})"),
            Self::Char(255) => f.write_str("character(255)"),
            Self::Char(n) => write!(f, "char({n})"),
            Self::Varchar(n) => write!(f, "varchar({n})"),
            Self::String => f.write_str("text"),
            Self::Date => f.write_str("date"),
            Self::DateTime(0) => f.write_str("datetime"),
            Self::DateTime(p) => write!(f, "datetime({p})"),
            Self::Json => f.write_str("json"),
        }
    }
}
