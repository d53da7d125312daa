//! What a TABLE_MAP event and the tracked table say, compiled once to a list of column decoders.

use super::charset::{Charset, charset_of_collation};
use super::column_decoder::{Decoder, length_bytes};
use super::decimal::DecimalLayout;
use super::jsonb::JsonStyle;
use super::table_map::{TableMap, WireColumn, WireType};
use rowferry_model::{DataType, TableSchema};
use rowferry_sql::{CharSet, ColumnDef, ColumnType, TableDef};
use std::sync::Arc;

/// Which images from before an update are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BeforeImages {
    /// All: an update is a pair of rows, `UpdateBefore` and `UpdateAfter`.
    All,
    /// None, except where the key changes; an update that leaves the key alone is one `Insert` row, which a keyed sink
    /// takes as an upsert. For tables without a key it is the same as `All`.
    KeyChanges,
}

/// How rows are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DecodeOptions {
    /// How JSON is spaced.
    pub json: JsonStyle,
    /// Which images from before an update are decoded.
    pub before_images: BeforeImages,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { json: JsonStyle::Compact, before_images: BeforeImages::All }
    }
}

/// The table of a TABLE_MAP event is not the one that is tracked. Nothing may be decoded with the tracked one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Another number of columns.
    #[error("the binlog has {binlog} columns for {table}, but the definition that rowferry tracks has {tracked}")]
    ColumnCount {
        /// The table.
        table: String,
        /// Columns of the TABLE_MAP event.
        binlog: usize,
        /// Columns of the tracked definition.
        tracked: usize,
    },
    /// Another name.
    #[error(
        "column {number} of {table} is `{binlog}` in the binlog, but `{tracked}` in the definition that rowferry tracks"
    )]
    Name {
        /// The table.
        table: String,
        /// The column's place, from 1.
        number: usize,
        /// Its name in the TABLE_MAP event.
        binlog: String,
        /// Its name in the tracked definition.
        tracked: String,
    },
    /// A type that the tracked column's values can't have.
    #[error(
        "column `{column}` of {table} is {binlog} in the binlog, but {tracked} in the definition that rowferry tracks"
    )]
    Type {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The type of the TABLE_MAP event.
        binlog: String,
        /// The type of the tracked definition.
        tracked: String,
    },
    /// A type or charset that rowferry can't decode.
    #[error("column `{column}` of {table}: {what} is not supported")]
    Unsupported {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The type or charset.
        what: String,
    },
    /// The stream's schema has a column that the tracked definition lacks: a defect of the caller.
    #[error("column `{column}` of the schema of {table} is not in the definition that rowferry tracks")]
    Schema {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
}

/// How one column of row images is read.
#[derive(Clone, Debug)]
pub(crate) struct ColumnPlan {
    pub(crate) name: Box<str>,
    pub(crate) wire: WireType,
    /// The decoder and the column of the batch; `None`: the value is passed over.
    pub(crate) target: Option<(Decoder, usize)>,
    pub(crate) nullable: bool,
    pub(crate) key: bool,
}

/// How rows of one table are read. Shared by all events with the same TABLE_MAP body, tracked definition and schema.
#[derive(Clone, Debug)]
pub struct RowPlan {
    pub(crate) columns: Vec<ColumnPlan>,
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) options: DecodeOptions,
    /// How many columns there are up to the last one of the key; 0 for a table without a key.
    pub(crate) key_end: usize,
    pub(crate) json_columns: usize,
}

impl RowPlan {
    /// Compiles a plan. Values go to the columns of `schema`, found by name; columns that are not in it are passed
    /// over.
    ///
    /// # Errors
    /// The TABLE_MAP event has another number of columns, other types or other names than the tracked definition; or a
    /// type or charset can't be decoded.
    pub fn new(
        map: &TableMap,
        table: &TableDef,
        schema: &Arc<TableSchema>,
        options: DecodeOptions,
    ) -> Result<Arc<Self>, PlanError> {
        let name = || format!("{}.{}", map.database, map.table);
        if map.columns.len() != table.columns.len() {
            return Err(PlanError::ColumnCount {
                table: name(),
                binlog: map.columns.len(),
                tracked: table.columns.len(),
            });
        }
        if let Some(stray) = schema.columns.iter().find(|c| table.index_of(&c.name).is_none()) {
            return Err(PlanError::Schema { table: name(), column: stray.name.clone() });
        }
        let mut columns = Vec::with_capacity(map.columns.len());
        for (i, (wire, def)) in map.columns.iter().zip(&table.columns).enumerate() {
            if let Some(binlog) = &wire.name
                && binlog.to_lowercase() != def.name.to_lowercase()
            {
                let (binlog, tracked) = (binlog.clone(), def.name.clone());
                return Err(PlanError::Name { table: name(), number: i + 1, binlog, tracked });
            }
            check_type(wire, def).map_err(|binlog| PlanError::Type {
                table: name(),
                column: def.name.clone(),
                binlog,
                tracked: match def.column_type.charset() {
                    Some(charset) => format!("{} in {}", def.column_type, charset.name),
                    None => def.column_type.to_string(),
                },
            })?;
            let target = match schema.index_of(&def.name) {
                None => None,
                Some(target) => {
                    let data_type = schema.columns.get(target).map(|c| c.data_type);
                    let decoder = decoder(wire.wire_type, &def.column_type, data_type, options.json);
                    let unsupported = |what| PlanError::Unsupported { table: name(), column: def.name.clone(), what };
                    Some((decoder.map_err(unsupported)?, target))
                }
            };
            columns.push(ColumnPlan {
                name: def.name.as_str().into(),
                wire: wire.wire_type,
                target,
                nullable: def.nullable,
                key: schema.primary_key.iter().any(|k| k.to_lowercase() == def.name.to_lowercase()),
            });
        }
        let key_end = columns.iter().rposition(|c| c.key).map_or(0, |i| i + 1);
        let json_columns = columns.iter().filter(|c| matches!(c.wire, WireType::Json(_))).count();
        Ok(Arc::new(Self { columns, schema: Arc::clone(schema), options, key_end, json_columns }))
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }
}

/// Whether values that lie so can be values of that type; else the type of the binlog.
fn check_type(wire: &WireColumn, def: &ColumnDef) -> Result<(), String> {
    use ColumnType as C;
    use WireType as W;
    let (fits, text) = match (wire.wire_type, &def.column_type) {
        (W::Tiny, C::TinyInt { .. })
        | (W::Short, C::SmallInt { .. })
        | (W::Int24, C::MediumInt { .. })
        | (W::Long, C::Int { .. })
        | (W::LongLong, C::BigInt { .. })
        | (W::Float, C::Float { .. })
        | (W::Double, C::Double { .. })
        | (W::Year, C::Year)
        | (W::Date, C::Date)
        // The old forms have no fraction.
        | (W::OldTime, C::Time(0))
        | (W::OldDateTime, C::DateTime(0))
        | (W::OldTimestamp, C::Timestamp(0))
        | (W::Json(_), C::Json)
        | (W::Vector(_), C::Vector(_))
        | (W::Geometry(_), C::Geometry(_)) => (true, None),
        (W::Decimal { precision: p, scale: s }, C::Decimal { precision, scale, .. }) => {
            (p == *precision && s == *scale, None)
        }
        (W::Bit(n), C::Bit(bits)) => (n == (*bits).max(1), None),
        (W::Time(p), C::Time(d)) | (W::DateTime(p), C::DateTime(d)) | (W::Timestamp(p), C::Timestamp(d)) => {
            (p == *d, None)
        }
        (W::Char(_), C::Char { charset, .. }) | (W::Varchar(_), C::Varchar { charset, .. }) => (true, Some(charset)),
        // Tables from before MySQL 5.0.3 keep VARCHAR as CHAR.
        (W::Char(_), C::Varchar { charset, .. }) => (true, Some(charset)),
        (W::Blob(_), C::Text { charset, .. }) => (true, Some(charset)),
        (W::Char(n), C::Binary(length)) => (u32::from(n) == *length, None),
        (W::Varchar(n), C::Varbinary(length)) => (u32::from(n) == *length, None),
        (W::Blob(_), C::Blob(_)) | (W::Char(16), C::Uuid | C::Inet6) | (W::Char(4), C::Inet4) => (true, None),
        (W::Enum(n), C::Enum { labels, charset }) => {
            (n == if labels.len() < 256 { 1 } else { 2 }, Some(charset))
        }
        (W::Set(n), C::Set { labels, charset }) => {
            let bytes = labels.len().div_ceil(8);
            (usize::from(n) == if bytes > 4 { 8 } else { bytes }, Some(charset))
        }
        _ => (false, None),
    };
    let unsigned = match &def.column_type {
        C::TinyInt { unsigned, .. }
        | C::SmallInt { unsigned, .. }
        | C::MediumInt { unsigned, .. }
        | C::Int { unsigned, .. }
        | C::BigInt { unsigned, .. } => Some(*unsigned),
        _ => None,
    };
    let sign_fits = wire.unsigned.is_none() || unsigned.is_none() || wire.unsigned == unsigned;
    if fits && sign_fits && charset_fits(wire.collation, text, &def.column_type) {
        return Ok(());
    }
    let mut binlog = format!("{:?}", wire.wire_type);
    if wire.unsigned == Some(true) {
        binlog.push_str(" unsigned");
    }
    if let Some(id) = wire.collation {
        binlog.push_str(&format!(" in collation {id} ({})", charset_of_collation(id).unwrap_or("unknown")));
    }
    Err(binlog)
}

/// Whether the collation that the binlog tells belongs to the charset that is tracked. Labels of ENUM and SET are not
/// in row images: their charset does not matter.
fn charset_fits(collation: Option<u32>, text: Option<&CharSet>, column_type: &ColumnType) -> bool {
    let Some(binlog) = collation.and_then(charset_of_collation) else { return true };
    match text {
        _ if matches!(column_type, ColumnType::Enum { .. } | ColumnType::Set { .. }) => true,
        Some(charset) => binlog == if &*charset.name == "utf8" { "utf8mb3" } else { &charset.name },
        None => {
            !matches!(column_type, ColumnType::Binary(_) | ColumnType::Varbinary(_) | ColumnType::Blob(_))
                || binlog == "binary"
        }
    }
}

/// The decoder of a column; or what can't be decoded.
fn decoder(
    wire: WireType,
    column_type: &ColumnType,
    data_type: Option<DataType>,
    json: JsonStyle,
) -> Result<Decoder, String> {
    use ColumnType as C;
    let length = length_bytes(wire).unwrap_or(1);
    let text = |charset: &CharSet| match Charset::named(&charset.name) {
        Some(Charset::Utf8) => Ok(Decoder::Utf8(length)),
        Some(charset) => Ok(Decoder::Text(length, charset)),
        None => Err(format!("the charset {}", charset.name)),
    };
    Ok(match column_type {
        C::TinyInt { .. } if data_type == Some(DataType::Boolean) => Decoder::TinyAsBool,
        C::TinyInt { unsigned: false, .. } => Decoder::I8,
        C::TinyInt { unsigned: true, .. } => Decoder::U8,
        C::SmallInt { unsigned: false, .. } => Decoder::I16,
        C::SmallInt { unsigned: true, .. } => Decoder::U16,
        C::MediumInt { unsigned: false, .. } => Decoder::I24,
        C::MediumInt { unsigned: true, .. } => Decoder::U24,
        C::Int { unsigned: false, .. } => Decoder::I32,
        C::Int { unsigned: true, .. } => Decoder::U32,
        C::BigInt { unsigned: false, .. } => Decoder::I64,
        C::BigInt { unsigned: true, .. } => Decoder::U64,
        C::Float { size: None, .. } => Decoder::F32,
        C::Float { size: Some((_, decimals)), .. } => Decoder::F32Fixed(small(*decimals)),
        C::Double { size: None, .. } => Decoder::F64,
        C::Double { size: Some((_, decimals)), .. } => Decoder::F64Fixed(small(*decimals)),
        C::Decimal { precision, scale, .. } => {
            let layout = DecimalLayout::new(*precision, *scale);
            if *precision > 38 { Decoder::DecimalText(layout, *scale) } else { Decoder::Decimal(layout) }
        }
        C::Bit(0 | 1) => Decoder::BitAsBool,
        C::Bit(bits) => Decoder::Bit(bits.div_ceil(8)),
        C::Year => Decoder::Year,
        C::Date => Decoder::Date,
        C::Time(_) => match wire {
            WireType::Time(digits) => Decoder::Time(digits),
            _ => Decoder::OldTime,
        },
        C::DateTime(_) => match wire {
            WireType::DateTime(digits) => Decoder::DateTime(digits),
            _ => Decoder::OldDateTime,
        },
        C::Timestamp(_) => match wire {
            WireType::Timestamp(digits) => Decoder::Timestamp(digits),
            _ => Decoder::OldTimestamp,
        },
        C::Char { charset, .. } | C::Varchar { charset, .. } | C::Text { charset, .. } => text(charset)?,
        C::Binary(n) => Decoder::PaddedBytes(length, *n as usize),
        C::Varbinary(_) | C::Blob(_) => Decoder::Bytes(length),
        C::Enum { labels, .. } => match wire {
            WireType::Enum(n) => Decoder::Enum(n, Arc::clone(labels)),
            _ => return Err(column_type.to_string()),
        },
        C::Set { labels, .. } => match wire {
            WireType::Set(n) => Decoder::Set(n, Arc::clone(labels)),
            _ => return Err(column_type.to_string()),
        },
        C::Json => Decoder::Json(length, json),
        C::Geometry(_) => Decoder::Geometry(length),
        C::Uuid => Decoder::Uuid(length),
        C::Inet4 => Decoder::Inet4(length),
        C::Inet6 => Decoder::Inet6(length),
        C::Vector(_) => return Err(column_type.to_string()),
    })
}

/// The server allows at most 30 decimals.
fn small(decimals: u32) -> u8 {
    decimals.min(30) as u8
}
