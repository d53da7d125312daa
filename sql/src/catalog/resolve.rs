//! From a column as it is written to the column that the server makes of it.

use super::ApplyError;
use super::default_value::resolve_default;
use crate::ddl::{CharsetOptions, ColumnSpec, DdlContext, TypeName, TypeSpec};
use crate::{BlobSize, CharSet, ColumnDef, ColumnType, DefaultValue, charset_max_bytes};
use std::sync::Arc;

/// The greatest length of a VARCHAR or VARBINARY in bytes.
const MAX_VARCHAR_BYTES: u64 = 65_535;

/// The charset that the options name; `default` where they name none.
pub(crate) fn resolve_charset(
    options: &CharsetOptions,
    default: &CharSet,
    context: &DdlContext,
) -> Result<CharSet, ApplyError> {
    let named = |name: &String| (!name.eq_ignore_ascii_case("DEFAULT")).then_some(name.clone());
    let unknown = ApplyError::UnknownCharset;
    if let Some(collation) = options.collation.as_ref().and_then(named) {
        // MariaDB's short names, `uca1400_ai_ci`, take the charset from elsewhere.
        let charset = options.charset.as_ref().and_then(named).unwrap_or_else(|| default.name.to_string());
        return CharSet::of_collation(&collation, context.server)
            .or_else(|| CharSet::of_collation(&format!("{charset}_{collation}"), context.server))
            .ok_or_else(|| unknown(collation));
    }
    match options.charset.as_ref().and_then(named) {
        Some(name) => context.charset(&name).ok_or_else(|| unknown(name)),
        None => Ok(default.clone()),
    }
}

/// The smallest TEXT or BLOB that holds so many bytes.
pub(crate) fn blob_size(bytes: u64) -> BlobSize {
    [BlobSize::Tiny, BlobSize::Regular, BlobSize::Medium]
        .into_iter()
        .find(|size| bytes <= size.max_bytes())
        .unwrap_or(BlobSize::Long)
}

/// An integer's display width: new servers keep it only where it means something.
fn width(spec: &TypeSpec, signed: u32, unsigned: u32, context: &DdlContext) -> Option<u32> {
    let written = spec.length.filter(|n| *n > 0).map(|n| n.min(255) as u32);
    let default = if spec.unsigned { unsigned } else { signed };
    if !context.server.mysql_since(80_019) || spec.zerofill {
        return Some(written.unwrap_or(default));
    }
    written.filter(|n| *n == 1 && spec.name == TypeName::TinyInt && !spec.unsigned)
}

/// The type that the server makes of a written one.
fn resolve_type(spec: &TypeSpec, table: &CharSet, context: &DdlContext) -> Result<ColumnType, String> {
    let TypeSpec { unsigned, zerofill, .. } = *spec;
    let charset = || -> Result<CharSet, String> {
        let charset = resolve_charset(&spec.charset, table, context).map_err(|e| e.to_string())?;
        if spec.binary_collation && spec.charset.collation.is_none() && &*charset.name != "binary" {
            let collation = format!("{}_bin", charset.name);
            return CharSet::of_collation(&collation, context.server).ok_or(collation);
        }
        Ok(charset)
    };
    let length = spec.length.map(|n| n.min(u64::from(u32::MAX)) as u32);
    let size = match (length, spec.decimals) {
        (Some(m), Some(d)) => Some((m, d as u32)),
        _ => None,
    };
    let fraction = spec.length.unwrap_or(0).min(6) as u8;
    let labels = || -> Arc<[Arc<str>]> { spec.labels.iter().map(|l| Arc::from(l.as_str())).collect() };
    Ok(match spec.name {
        TypeName::TinyInt => ColumnType::TinyInt { unsigned, zerofill, width: width(spec, 4, 3, context) },
        TypeName::SmallInt => ColumnType::SmallInt { unsigned, zerofill, width: width(spec, 6, 5, context) },
        TypeName::MediumInt => ColumnType::MediumInt { unsigned, zerofill, width: width(spec, 9, 8, context) },
        TypeName::Int => ColumnType::Int { unsigned, zerofill, width: width(spec, 11, 10, context) },
        TypeName::BigInt => ColumnType::BigInt { unsigned, zerofill, width: width(spec, 20, 20, context) },
        TypeName::Float if size.is_none() && length.is_some_and(|p| p > 24) => {
            ColumnType::Double { unsigned, zerofill, size: None }
        }
        TypeName::Float => ColumnType::Float { unsigned, zerofill, size },
        TypeName::Double => ColumnType::Double { unsigned, zerofill, size },
        TypeName::Decimal => {
            let precision = length.filter(|p| *p > 0).unwrap_or(10);
            let scale = spec.decimals.unwrap_or(0);
            if precision > 65 || scale > u64::from(precision) {
                return Err(format!("DECIMAL({precision},{scale}) is out of range"));
            }
            ColumnType::Decimal { precision: precision as u8, scale: scale as u8, unsigned, zerofill }
        }
        TypeName::Bit => ColumnType::Bit(length.unwrap_or(1).clamp(1, 64) as u8),
        TypeName::Year => ColumnType::Year,
        TypeName::Date => ColumnType::Date,
        TypeName::Time => ColumnType::Time(fraction),
        TypeName::DateTime => ColumnType::DateTime(fraction),
        TypeName::Timestamp => ColumnType::Timestamp(fraction),
        TypeName::Char | TypeName::Varchar => {
            let charset = charset()?;
            let length = match spec.name {
                TypeName::Char => length.unwrap_or(1),
                _ => length.ok_or("a VARCHAR needs a length")?,
            };
            let bytes = u64::from(length) * u64::from(charset_max_bytes(&charset.name).unwrap_or(1));
            match (spec.name, &*charset.name) {
                (TypeName::Char, "binary") => ColumnType::Binary(length),
                (TypeName::Char, _) => ColumnType::Char { length, charset },
                _ if bytes > MAX_VARCHAR_BYTES => {
                    if context.sql_mode.strict() {
                        return Err(format!("VARCHAR({length}) is too long"));
                    }
                    text(blob_size(bytes), charset)
                }
                (_, "binary") => ColumnType::Varbinary(length),
                _ => ColumnType::Varchar { length, charset },
            }
        }
        TypeName::Text(size) => {
            let charset = charset()?;
            let per_char = u64::from(charset_max_bytes(&charset.name).unwrap_or(1));
            // TEXT(n) is the smallest that holds n characters.
            text(length_of(spec, context).map_or(size, |n| blob_size(n.saturating_mul(per_char))), charset)
        }
        TypeName::Binary => ColumnType::Binary(length.unwrap_or(1)),
        TypeName::Varbinary => {
            let length = length.ok_or("a VARBINARY needs a length")?;
            if u64::from(length) <= MAX_VARCHAR_BYTES {
                ColumnType::Varbinary(length)
            } else if context.sql_mode.strict() {
                return Err(format!("VARBINARY({length}) is too long"));
            } else {
                ColumnType::Blob(blob_size(u64::from(length)))
            }
        }
        TypeName::Blob(size) => ColumnType::Blob(length_of(spec, context).map_or(size, blob_size)),
        TypeName::Enum => ColumnType::Enum { labels: labels(), charset: charset()? },
        TypeName::Set => ColumnType::Set { labels: labels(), charset: charset()? },
        TypeName::Json if context.server.is_mariadb() => {
            let charset = CharSet::of_collation("utf8mb4_bin", context.server).ok_or("utf8mb4_bin is not known")?;
            ColumnType::Text { size: BlobSize::Long, charset }
        }
        TypeName::Json => ColumnType::Json,
        TypeName::Geometry(kind) => ColumnType::Geometry(kind),
        TypeName::Vector => ColumnType::Vector(length.unwrap_or(2048)),
        TypeName::Uuid => ColumnType::Uuid,
        TypeName::Inet4 => ColumnType::Inet4,
        TypeName::Inet6 => ColumnType::Inet6,
    })
}

/// The length of a TEXT or BLOB as far as it counts: 0 is one to MySQL 8.
fn length_of(spec: &TypeSpec, context: &DdlContext) -> Option<u64> {
    spec.length.filter(|n| *n > 0 || context.server.mysql_since(80_000))
}

/// A TEXT, or a BLOB where the charset is binary.
pub(crate) fn text(size: BlobSize, charset: CharSet) -> ColumnType {
    if &*charset.name == "binary" { ColumnType::Blob(size) } else { ColumnType::Text { size, charset } }
}

/// The column that the server makes of a written one, in a table whose default charset is `table`.
pub(crate) fn resolve_column(
    spec: &ColumnSpec,
    table: &CharSet,
    context: &DdlContext,
) -> Result<ColumnDef, ApplyError> {
    let invalid = |reason: String| ApplyError::InvalidColumn { column: spec.name.clone(), reason };
    let column_type = resolve_type(&spec.column_type, table, context).map_err(invalid)?;
    let implicit_timestamp =
        matches!(column_type, ColumnType::Timestamp(_)) && !context.explicit_defaults_for_timestamp;
    let nullable = match spec.nullable {
        Some(nullable) => nullable,
        None => !implicit_timestamp && !spec.auto_increment,
    } && !spec.primary;
    let default = match &spec.default {
        Some(default) => resolve_default(default, &column_type, context).map_err(invalid)?,
        None => None,
    };
    Ok(ColumnDef {
        name: spec.name.clone(),
        column_type,
        nullable,
        default,
        on_update: spec.on_update,
        auto_increment: spec.auto_increment,
        comment: spec.comment.clone(),
        generated: spec.generated,
        invisible: spec.invisible,
    })
}

/// The defaults that TIMESTAMP columns get by themselves without `explicit_defaults_for_timestamp`: the table's first
/// one the current time, the others zero. `written` tells which columns the statement defines.
pub(crate) fn timestamp_defaults(columns: &mut [ColumnDef], written: impl Fn(&str) -> bool, context: &DdlContext) {
    if context.explicit_defaults_for_timestamp {
        return;
    }
    let mut first = true;
    for column in columns {
        let ColumnType::Timestamp(precision) = column.column_type else { continue };
        let bare = !column.nullable && column.default.is_none() && !column.on_update && column.generated.is_none();
        if bare && written(&column.name) {
            column.default = Some(if first {
                column.on_update = true;
                DefaultValue::current_timestamp(precision)
            } else {
                DefaultValue::Literal(super::temporal::zero_datetime(precision))
            });
        } else if !column.nullable && column.default.is_none() && written(&column.name) && column.on_update {
            column.default = Some(DefaultValue::Literal(super::temporal::zero_datetime(precision)));
        }
        first = false;
    }
}
