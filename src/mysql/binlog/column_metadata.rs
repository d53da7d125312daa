//! The optional part of TABLE_MAP events: signs, collations, names, labels, keys.

use super::cursor::Cursor;
use super::error::BinlogErrorKind;
use super::table_map::{TableMap, WireColumn, WireType, name};

/// Numbers of the fields.
mod field {
    pub(super) const SIGNEDNESS: u8 = 1;
    pub(super) const DEFAULT_CHARSET: u8 = 2;
    pub(super) const COLUMN_CHARSET: u8 = 3;
    pub(super) const COLUMN_NAME: u8 = 4;
    pub(super) const SET_LABELS: u8 = 5;
    pub(super) const ENUM_LABELS: u8 = 6;
    pub(super) const GEOMETRY_TYPE: u8 = 7;
    pub(super) const SIMPLE_PRIMARY_KEY: u8 = 8;
    pub(super) const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
    pub(super) const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
    pub(super) const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
    pub(super) const VISIBILITY: u8 = 12;
    pub(super) const VECTOR_DIMENSIONS: u8 = 13;
}

/// Reads all fields; unknown ones are skipped.
pub(super) fn read(mut c: Cursor<'_>, map: &mut TableMap) -> Result<(), BinlogErrorKind> {
    let character = |column: &WireColumn| column.wire_type.is_character();
    let labelled = |column: &WireColumn| matches!(column.wire_type, WireType::Enum(_) | WireType::Set(_));
    while !c.is_empty() {
        let field = c.u8()?;
        let mut value = Cursor::new(c.lenenc_bytes()?);
        match field {
            field::SIGNEDNESS => {
                let mut numbers = map.columns.iter_mut().filter(|c| c.wire_type.is_numeric());
                each_bit(value, &mut numbers, |column, unsigned| column.unsigned = Some(unsigned));
            }
            field::VISIBILITY => {
                each_bit(value, &mut map.columns.iter_mut(), |column, visible| column.visible = Some(visible));
            }
            field::DEFAULT_CHARSET => default_charset(&mut value, &mut map.columns, character)?,
            field::ENUM_AND_SET_DEFAULT_CHARSET => default_charset(&mut value, &mut map.columns, labelled)?,
            field::COLUMN_CHARSET => {
                each(&mut value, &mut map.columns, character, |column, id| column.collation = Some(id))?;
            }
            field::ENUM_AND_SET_COLUMN_CHARSET => {
                each(&mut value, &mut map.columns, labelled, |column, id| column.collation = Some(id))?;
            }
            field::COLUMN_NAME => {
                for column in &mut map.columns {
                    column.name = Some(name(value.lenenc_bytes()?)?);
                }
            }
            field::SET_LABELS => labels(&mut value, &mut map.columns, |t| matches!(t, WireType::Set(_)))?,
            field::ENUM_LABELS => labels(&mut value, &mut map.columns, |t| matches!(t, WireType::Enum(_)))?,
            field::GEOMETRY_TYPE => {
                let geometry = |column: &WireColumn| matches!(column.wire_type, WireType::Geometry(_));
                each(&mut value, &mut map.columns, geometry, |column, kind| column.geometry_type = Some(kind))?;
            }
            field::VECTOR_DIMENSIONS => {
                let vector = |column: &WireColumn| matches!(column.wire_type, WireType::Vector(_));
                each(&mut value, &mut map.columns, vector, |column, n| column.dimensions = Some(n))?;
            }
            field::SIMPLE_PRIMARY_KEY | field::PRIMARY_KEY_WITH_PREFIX => {
                let mut key = Vec::new();
                while !value.is_empty() {
                    let column = value.lenenc_len()?;
                    if column >= map.columns.len() {
                        return Err(BinlogErrorKind::Malformed("the primary key has a column that is not there"));
                    }
                    let prefix = if field == field::PRIMARY_KEY_WITH_PREFIX { small(&mut value)? } else { 0 };
                    key.push((column, prefix));
                }
                map.primary_key = Some(key);
            }
            _ => {}
        }
    }
    Ok(())
}

/// One bit for each column, the first one in the highest place.
fn each_bit(
    value: Cursor<'_>,
    columns: &mut dyn Iterator<Item = &mut WireColumn>,
    set: impl Fn(&mut WireColumn, bool),
) {
    let bits = value.rest().iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1 == 1));
    for (column, bit) in columns.zip(bits) {
        set(column, bit);
    }
}

/// One number for each column that `of` selects.
fn each(
    value: &mut Cursor<'_>,
    columns: &mut [WireColumn],
    of: impl Fn(&WireColumn) -> bool,
    set: impl Fn(&mut WireColumn, u32),
) -> Result<(), BinlogErrorKind> {
    for column in columns.iter_mut().filter(|c| of(c)) {
        set(column, small(value)?);
    }
    Ok(())
}

/// A collation for all columns that `of` selects, then those that have another one.
fn default_charset(
    value: &mut Cursor<'_>,
    columns: &mut [WireColumn],
    of: impl Fn(&WireColumn) -> bool,
) -> Result<(), BinlogErrorKind> {
    let default = small(value)?;
    let mut selected: Vec<&mut WireColumn> = columns.iter_mut().filter(|c| of(c)).collect();
    for column in &mut selected {
        column.collation = Some(default);
    }
    while !value.is_empty() {
        let (i, collation) = (value.lenenc_len()?, small(value)?);
        match selected.get_mut(i) {
            Some(column) => column.collation = Some(collation),
            None => return Err(BinlogErrorKind::Malformed("a collation is for a column that is not there")),
        }
    }
    Ok(())
}

fn labels(
    value: &mut Cursor<'_>,
    columns: &mut [WireColumn],
    of: impl Fn(WireType) -> bool,
) -> Result<(), BinlogErrorKind> {
    for column in columns.iter_mut().filter(|c| of(c.wire_type)) {
        let count = value.lenenc_len()?;
        let mut labels = Vec::new();
        for _ in 0..count {
            labels.push(value.lenenc_bytes()?.into());
        }
        column.labels = Some(labels);
    }
    Ok(())
}

fn small(value: &mut Cursor<'_>) -> Result<u32, BinlogErrorKind> {
    u32::try_from(value.lenenc()?).map_err(|_| BinlogErrorKind::Malformed("a number is too large"))
}
