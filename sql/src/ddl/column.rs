//! Column definitions: name, type, attributes.

use super::ast::{ColumnSpec, TypeName, TypeSpec};
use super::attribute::attributes;
use super::cursor::{Cursor, Parsed};
use super::{CharsetOptions, SqlMode};
use crate::BlobSize;
use crate::type_text::geometry;

/// `name type attribute…`
pub(crate) fn column(cursor: &mut Cursor<'_>) -> Parsed<ColumnSpec> {
    let mut spec = ColumnSpec {
        name: cursor.column()?,
        column_type: TypeSpec {
            name: TypeName::BigInt,
            length: None,
            decimals: None,
            labels: vec![],
            unsigned: false,
            zerofill: false,
            charset: CharsetOptions::default(),
            binary_collation: false,
        },
        nullable: None,
        default: None,
        on_update: false,
        auto_increment: false,
        comment: String::new(),
        generated: None,
        invisible: false,
        primary: false,
        unique: false,
    };
    if cursor.accept("SERIAL") {
        spec.column_type.unsigned = true;
        spec.nullable = Some(false);
        spec.auto_increment = true;
        spec.unique = true;
    } else {
        spec.column_type = column_type(cursor)?;
    }
    attributes(cursor, &mut spec)?;
    Ok(spec)
}

/// A character type's variants: what the words in front say.
fn national(cursor: &mut Cursor<'_>) -> Option<TypeName> {
    let varying = |cursor: &mut Cursor<'_>| cursor.accept_any(&["VARYING", "VARCHAR", "VARCHARACTER"]);
    if cursor.accept("NVARCHAR") {
        return Some(TypeName::Varchar);
    }
    if cursor.accept("NCHAR") {
        return Some(if varying(cursor) { TypeName::Varchar } else { TypeName::Char });
    }
    if cursor.accept("NATIONAL") {
        if cursor.accept_any(&["VARCHAR", "VARCHARACTER"]) {
            return Some(TypeName::Varchar);
        }
        if cursor.accept_any(&["CHAR", "CHARACTER"]) {
            return Some(if cursor.accept("VARYING") { TypeName::Varchar } else { TypeName::Char });
        }
    }
    None
}

/// A type with its attributes: sign, charset and the like.
fn column_type(cursor: &mut Cursor<'_>) -> Parsed<TypeSpec> {
    let mut spec = TypeSpec {
        name: TypeName::Int,
        length: None,
        decimals: None,
        labels: vec![],
        unsigned: false,
        zerofill: false,
        charset: CharsetOptions::default(),
        binary_collation: false,
    };
    if let Some(name) = national(cursor) {
        spec.name = name;
        spec.charset.charset = Some("utf8mb3".to_owned());
    } else {
        spec.name = type_name(cursor, &mut spec)?;
    }
    match spec.name {
        TypeName::Enum | TypeName::Set => {
            cursor.expect_symbol('(', "(")?;
            loop {
                spec.labels.push(label(cursor)?);
                if !cursor.symbol(',') {
                    break;
                }
            }
            cursor.expect_symbol(')', ")")?;
        }
        _ if cursor.is_symbol('(') && spec.length.is_none() => {
            cursor.at += 1;
            spec.length = Some(cursor.number()?);
            if cursor.symbol(',') {
                spec.decimals = Some(cursor.number()?);
            }
            cursor.expect_symbol(')', ")")?;
        }
        _ => {}
    }
    type_attributes(cursor, &mut spec)?;
    Ok(spec)
}

/// A label of ENUM or SET; MySQL cuts trailing blanks off. Hexadecimal ones are text, too.
fn label(cursor: &mut Cursor<'_>) -> Parsed<String> {
    use super::lexer::TokenKind;
    if cursor.token(0).is_some_and(|t| t.kind == TokenKind::Word) && cursor.raw(0).starts_with('_') {
        cursor.at += 1;
    }
    let text = match cursor.token(0).map(|t| &t.kind) {
        Some(TokenKind::Hex(bytes)) => {
            let text = String::from_utf8(bytes.clone()).map_err(|_| cursor.error("a label of readable text"))?;
            cursor.at += 1;
            text
        }
        _ => cursor.string()?,
    };
    Ok(text.trim_end_matches(' ').to_owned())
}

/// A type's name, synonyms resolved. Some names say more than the type.
fn type_name(cursor: &mut Cursor<'_>, spec: &mut TypeSpec) -> Parsed<TypeName> {
    let context = cursor.context;
    let word = cursor.raw(0).to_ascii_uppercase();
    if !cursor.is(&word) {
        return Err(cursor.error("a type"));
    }
    let mariadb = context.server.is_mariadb();
    let name = match word.as_str() {
        "TINYINT" | "INT1" => TypeName::TinyInt,
        "BOOL" | "BOOLEAN" => {
            spec.length = Some(1);
            TypeName::TinyInt
        }
        "SMALLINT" | "INT2" => TypeName::SmallInt,
        "MEDIUMINT" | "INT3" | "MIDDLEINT" => TypeName::MediumInt,
        "INT" | "INTEGER" | "INT4" => TypeName::Int,
        "BIGINT" | "INT8" => TypeName::BigInt,
        "FLOAT" | "FLOAT4" => TypeName::Float,
        "DOUBLE" | "FLOAT8" => TypeName::Double,
        "REAL" if context.sql_mode.has(SqlMode::REAL_AS_FLOAT) => TypeName::Float,
        "REAL" => TypeName::Double,
        "DECIMAL" | "DEC" | "NUMERIC" | "FIXED" => TypeName::Decimal,
        "NUMBER" if mariadb => TypeName::Decimal,
        "BIT" => TypeName::Bit,
        "YEAR" => TypeName::Year,
        "DATE" => TypeName::Date,
        "TIME" => TypeName::Time,
        "DATETIME" => TypeName::DateTime,
        "TIMESTAMP" => TypeName::Timestamp,
        "CHAR" | "CHARACTER" => TypeName::Char,
        "VARCHAR" | "VARCHARACTER" => TypeName::Varchar,
        "VARCHAR2" if mariadb => TypeName::Varchar,
        "TINYTEXT" => TypeName::Text(BlobSize::Tiny),
        "TEXT" => TypeName::Text(BlobSize::Regular),
        "MEDIUMTEXT" => TypeName::Text(BlobSize::Medium),
        "LONGTEXT" => TypeName::Text(BlobSize::Long),
        "CLOB" if mariadb => TypeName::Text(BlobSize::Long),
        "LONG" => TypeName::Text(BlobSize::Medium),
        "BINARY" => TypeName::Binary,
        "VARBINARY" => TypeName::Varbinary,
        "TINYBLOB" => TypeName::Blob(BlobSize::Tiny),
        "BLOB" => TypeName::Blob(BlobSize::Regular),
        "MEDIUMBLOB" => TypeName::Blob(BlobSize::Medium),
        "LONGBLOB" => TypeName::Blob(BlobSize::Long),
        "ENUM" => TypeName::Enum,
        "SET" => TypeName::Set,
        "JSON" => TypeName::Json,
        "VECTOR" => TypeName::Vector,
        "UUID" if mariadb => TypeName::Uuid,
        "INET4" if mariadb => TypeName::Inet4,
        "INET6" if mariadb => TypeName::Inet6,
        other => TypeName::Geometry(geometry(&other.to_ascii_lowercase()).ok_or_else(|| cursor.error("a known type"))?),
    };
    cursor.at += 1;
    Ok(match word.as_str() {
        "DOUBLE" => {
            cursor.accept("PRECISION");
            name
        }
        "CHAR" | "CHARACTER" if cursor.accept("VARYING") => TypeName::Varchar,
        "LONG" if cursor.accept("VARBINARY") => TypeName::Blob(BlobSize::Medium),
        "LONG" => {
            if cursor.accept_any(&["CHAR", "CHARACTER"]) {
                cursor.expect("VARYING")?;
            } else {
                cursor.accept_any(&["VARCHAR", "VARCHARACTER"]);
            }
            name
        }
        _ => name,
    })
}

/// What may follow a type in any order: sign, charset, collation.
fn type_attributes(cursor: &mut Cursor<'_>, spec: &mut TypeSpec) -> Parsed<()> {
    let binary_charset = |spec: &mut TypeSpec| spec.charset.charset = Some("binary".to_owned());
    loop {
        if cursor.accept("UNSIGNED") {
            spec.unsigned = true;
        } else if cursor.accept("ZEROFILL") {
            spec.zerofill = true;
            spec.unsigned = true;
        } else if cursor.accept("SIGNED") {
        } else if cursor.accept("BYTE") {
            binary_charset(spec);
        } else if cursor.accept("ASCII") {
            spec.charset.charset = Some("latin1".to_owned());
        } else if cursor.accept("UNICODE") {
            spec.charset.charset = Some("ucs2".to_owned());
        } else if cursor.accept("BINARY") {
            spec.binary_collation = true;
        } else if cursor.accept("CHARSET")
            || cursor.accept_all(&["CHARACTER", "SET"])
            || cursor.accept_all(&["CHAR", "SET"])
        {
            spec.charset.charset = Some(cursor.name_or_text()?);
        } else if cursor.accept("COMPRESSED") {
            // MariaDB: how it is stored.
            if cursor.symbol('=') {
                cursor.name()?;
            }
        } else {
            return Ok(());
        }
    }
}
