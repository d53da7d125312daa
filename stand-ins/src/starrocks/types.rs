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
    Varbinary(Option<u32>),
    Date,
    DateTime,
    Json,
    /// `bitmap`, `array<int>`, …: can be had, and no more.
    Other(String),
}

impl Ty {
    /// As `SHOW FULL COLUMNS` and `DESC` show it.
    pub fn shown(&self) -> String {
        match self {
            Self::TinyInt => "tinyint".into(),
            Self::SmallInt => "smallint".into(),
            Self::Int => "int".into(),
            Self::BigInt => "bigint".into(),
            Self::LargeInt => "largeint".into(),
            Self::Decimal(p, s) => format!("decimal({p},{s})"),
            other => other.to_string(),
        }
    }

    /// As error messages name it.
    pub fn upper(&self) -> String {
        match self {
            Self::Boolean => "BOOLEAN".into(),
            Self::TinyInt => "TINYINT".into(),
            Self::SmallInt => "SMALLINT".into(),
            Self::Int => "INT".into(),
            Self::BigInt => "BIGINT".into(),
            Self::LargeInt => "LARGEINT".into(),
            Self::Float => "FLOAT".into(),
            Self::Double => "DOUBLE".into(),
            Self::Decimal(p, s) => {
                let bits = match p {
                    0..=9 => 32,
                    10..=18 => 64,
                    19..=38 => 128,
                    _ => 256,
                };
                format!("DECIMAL{bits}({p},{s})")
            }
            Self::Char(n) => format!("CHAR({n})"),
            Self::Varchar(n) => format!("VARCHAR({n})"),
            Self::Varbinary(None) => "VARBINARY".into(),
            Self::Varbinary(Some(n)) => format!("VARBINARY({n})"),
            Self::Date => "DATE".into(),
            Self::DateTime => "DATETIME".into(),
            Self::Json => "JSON".into(),
            Self::Other(text) => {
                if text.starts_with("struct") {
                    text.clone()
                } else {
                    text.replace("(11)", "").replace("(20)", "").to_uppercase()
                }
            }
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

    pub fn may_be_key(&self) -> bool {
        self.rank().is_some() || matches!(self, Self::Boolean | Self::Varchar(_) | Self::Date | Self::DateTime)
    }

    /// Whether a column of this type may become one of `to`.
    pub fn may_become(&self, to: &Self) -> Result<(), String> {
        let no = || Err(format!("Can not change {} to {}", self.upper(), to.upper()));
        let short = || Err("Cannot shorten string length".to_owned());
        if self == to {
            return Ok(());
        }
        match (self, to) {
            (Self::Char(a), Self::Char(b) | Self::Varchar(b)) | (Self::Varchar(a), Self::Varchar(b)) => {
                if b >= a {
                    Ok(())
                } else {
                    short()
                }
            }
            (Self::Varchar(_), Self::Json | Self::Date | Self::Decimal(..) | Self::Double | Self::Float) => Ok(()),
            (Self::Varchar(_), t) if t.rank().is_some() => Ok(()),
            (Self::Json, Self::Varchar(n)) => {
                if *n >= 1024 {
                    Ok(())
                } else {
                    Err("JSON needs minimum length of 1024".to_owned())
                }
            }
            (Self::Decimal(p, s), Self::Decimal(q, t)) if t >= s && q - t >= p - s && (q, t) != (p, s) => Ok(()),
            (Self::Decimal(..) | Self::Float | Self::Double, Self::Varchar(_)) => Ok(()),
            (f, Self::Varchar(_)) if f.rank().is_some() => Ok(()),
            (Self::Float, Self::Double) | (Self::Date, Self::DateTime) | (Self::DateTime, Self::Date) => Ok(()),
            (Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt, Self::Double) => Ok(()),
            (Self::Int, Self::Date) => Ok(()),
            (Self::Varbinary(_), Self::Varbinary(_)) => Ok(()),
            (f, t) => match (f.rank(), t.rank()) {
                (Some(a), Some(b)) if b > a => Ok(()),
                _ => no(),
            },
        }
    }
}

impl fmt::Display for Ty {
    /// As `SHOW CREATE TABLE` writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("boolean"),
            Self::TinyInt => f.write_str("tinyint(4)"),
            Self::SmallInt => f.write_str("smallint(6)"),
            Self::Int => f.write_str("int(11)"),
            Self::BigInt => f.write_str("bigint(20)"),
            Self::LargeInt => f.write_str("largeint(40)"),
            Self::Float => f.write_str("float"),
            Self::Double => f.write_str("double"),
            Self::Decimal(p, s) => write!(f, "decimal({p}, {s})"),
            Self::Char(n) => write!(f, "char({n})"),
            Self::Varchar(n) => write!(f, "varchar({n})"),
            Self::Varbinary(None) => f.write_str("varbinary"),
            Self::Varbinary(Some(n)) => write!(f, "varbinary({n})"),
            Self::Date => f.write_str("date"),
            Self::DateTime => f.write_str("datetime"),
            Self::Json => f.write_str("json"),
            Self::Other(text) => f.write_str(text),
        }
    }
}
