//! Rows of text results into columns: the same values, in the same builders, as those of the binlog.

use super::builders::{BatchBuilder, ColumnBuilder, DecodeStats};
use super::column_decoder::{push_date, push_instant};
use super::cursor::Cursor;
use super::decode_error::{DecodeError, ValueError};
use super::jsonb::{self, JsonStyle};
use super::row_plan::PlanError;
use super::{decimal, geometry, temporal};
use arrow_array::RecordBatch;
use rowferry_model::{Changes, DataType, TableSchema};
use rowferry_sql::{ColumnType, TableDef};
use std::sync::Arc;

/// What stands for NULL instead of a length.
const NULL: u8 = 0xfb;

/// How a column of a text result gets into its builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextColumn {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    Decimal(u8),
    /// A decimal that is too long for 128 bits.
    DecimalText,
    BitAsBool,
    /// Bytes, given in the other order.
    Bit,
    Date,
    /// DATETIME and TIMESTAMP.
    Instant,
    Time,
    /// Text and bytes as they are.
    Bytes,
    Json(JsonStyle),
    Geometry,
}

/// How rows of a table are selected and read as text. The session must have `character_set_results = utf8mb4`,
/// `time_zone = '+00:00'` and an empty `sql_mode`.
#[derive(Clone, Debug)]
pub struct TextPlan {
    schema: Arc<TableSchema>,
    select: Vec<String>,
    columns: Vec<(TextColumn, bool)>,
}

impl TextPlan {
    /// Compiles a plan for the columns of `schema`, in that order. JSON comes out in the given style; the server's own
    /// text has [`JsonStyle::Server`].
    ///
    /// # Errors
    /// A column of the schema is not in the tracked definition, or its type can't be decoded.
    pub fn new(name: &str, table: &TableDef, schema: &Arc<TableSchema>, json: JsonStyle) -> Result<Self, PlanError> {
        let mut plan = Self { schema: Arc::clone(schema), select: Vec::new(), columns: Vec::new() };
        for column in &schema.columns {
            let def = table
                .index_of(&column.name)
                .and_then(|i| table.columns.get(i))
                .ok_or_else(|| PlanError::Schema { table: name.to_owned(), column: column.name.clone() })?;
            let decoder = decoder(&def.column_type, column.data_type, json).ok_or_else(|| PlanError::Unsupported {
                table: name.to_owned(),
                column: column.name.clone(),
                what: def.column_type.to_string(),
            })?;
            let quoted = format!("`{}`", def.name.replace('`', "``"));
            plan.select.push(match def.column_type {
                // The server prints a FLOAT with six digits, which is not its value. As a DOUBLE it prints as many as
                // the value needs; a product, unlike a sum, keeps the sign of zero.
                ColumnType::Float { size: None, .. } => format!("{quoted}*1E0"),
                _ => quoted,
            });
            plan.columns.push((decoder, def.nullable));
        }
        Ok(plan)
    }

    /// The expressions to select, one for each column of the schema: join them with commas.
    pub fn select_list(&self) -> &[String] {
        &self.select
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }
}

fn decoder(column_type: &ColumnType, data_type: DataType, json: JsonStyle) -> Option<TextColumn> {
    use ColumnType as C;
    Some(match column_type {
        C::TinyInt { .. } | C::SmallInt { .. } | C::MediumInt { .. } | C::Int { .. } | C::BigInt { .. } | C::Year => {
            match data_type {
                DataType::Boolean => TextColumn::Bool,
                DataType::TinyInt => TextColumn::I8,
                DataType::SmallInt => TextColumn::I16,
                DataType::Int => TextColumn::I32,
                DataType::BigInt => TextColumn::I64,
                DataType::Decimal { .. } => TextColumn::Decimal(0),
                _ => return None,
            }
        }
        C::Float { size: None, .. } => TextColumn::F32,
        C::Float { .. } | C::Double { .. } => TextColumn::F64,
        C::Decimal { precision: 39.., .. } => TextColumn::DecimalText,
        C::Decimal { scale, .. } => TextColumn::Decimal(*scale),
        C::Bit(0 | 1) => TextColumn::BitAsBool,
        C::Bit(_) => TextColumn::Bit,
        C::Date => TextColumn::Date,
        C::Time(_) => TextColumn::Time,
        C::DateTime(_) | C::Timestamp(_) => TextColumn::Instant,
        C::Char { .. }
        | C::Varchar { .. }
        | C::Text { .. }
        | C::Binary(_)
        | C::Varbinary(_)
        | C::Blob(_)
        | C::Enum { .. }
        | C::Set { .. }
        | C::Uuid
        | C::Inet4
        | C::Inet6 => TextColumn::Bytes,
        C::Json => TextColumn::Json(json),
        C::Geometry(_) => TextColumn::Geometry,
        C::Vector(_) => return None,
    })
}

/// Decodes text rows of one table into one batch after another.
pub struct TextDecoder {
    plan: Arc<TextPlan>,
    batch: BatchBuilder,
}

impl TextDecoder {
    /// A decoder with an empty batch.
    pub fn new(plan: Arc<TextPlan>) -> Self {
        let batch = BatchBuilder::new(plan.schema());
        Self { plan, batch }
    }

    /// The batch that grows.
    pub fn batch(&self) -> &BatchBuilder {
        &self.batch
    }

    /// What the values were other than usual, since the decoder was made.
    pub fn stats(&self) -> DecodeStats {
        self.batch.stats()
    }

    /// Decodes the payload of one row's packet.
    ///
    /// # Errors
    /// The row has not the plan's columns, or a value is not what its type says. The batch is unusable then.
    pub fn decode(&mut self, payload: &[u8]) -> Result<(), DecodeError> {
        let result = self.row(payload);
        self.batch.broken |= result.is_err();
        result
    }

    /// The rows so far, all inserts.
    ///
    /// # Errors
    /// A row could not be decoded, or a column is too large.
    pub fn finish(&mut self) -> Result<(Changes, RecordBatch), DecodeError> {
        self.batch.finish()
    }

    fn row(&mut self, payload: &[u8]) -> Result<(), DecodeError> {
        let BatchBuilder { columns: builders, stats, .. } = &mut self.batch;
        let mut c = Cursor::new(payload);
        for (i, ((column, nullable), builder)) in self.plan.columns.iter().zip(builders).enumerate() {
            let count = |_| DecodeError::ValueCount { want: self.plan.columns.len() };
            if c.rest().first() == Some(&NULL) {
                c.u8().map_err(count)?;
                builder.push_null();
                continue;
            }
            let text = c.lenenc_bytes().map_err(count)?;
            column.decode(text, builder, *nullable, stats).map_err(|kind| DecodeError::Column {
                column: self.plan.schema.columns.get(i).map(|c| c.name.clone()).unwrap_or_default(),
                kind,
            })?;
        }
        if !c.is_empty() {
            return Err(DecodeError::ValueCount { want: self.plan.columns.len() });
        }
        self.batch.end_row(rowferry_model::RowOp::Insert, payload.len());
        Ok(())
    }
}

impl TextColumn {
    #[inline]
    fn decode(
        self,
        text: &[u8],
        to: &mut ColumnBuilder,
        nullable: bool,
        stats: &mut DecodeStats,
    ) -> Result<(), ValueError> {
        const RANGE: ValueError = ValueError::Malformed("a number is beyond its column's range");
        match self {
            Self::Bool => to.push_bool(integer(text)? != 0),
            Self::I8 => to.push_i8(integer(text)?.try_into().map_err(|_| RANGE)?),
            Self::I16 => to.push_i16(integer(text)?.try_into().map_err(|_| RANGE)?),
            Self::I32 => to.push_i32(integer(text)?.try_into().map_err(|_| RANGE)?),
            Self::I64 => to.push_i64(integer(text)?),
            Self::F32 => to.push_f32(float(text)? as f32),
            Self::F64 => to.push_f64(float(text)?),
            Self::Decimal(scale) => to.push_i128(decimal::text_unscaled(text, scale)?),
            Self::DecimalText => to.write_bytes(|data| {
                decimal::write_text(text, data);
                Ok(())
            }),
            Self::BitAsBool => to.push_bool(text.last().is_some_and(|byte| byte & 1 != 0)),
            Self::Bit => to.write_bytes(|data| {
                data.extend(text.iter().rev());
                Ok(())
            }),
            Self::Date => push_date(temporal::text_date(text)?, to, nullable, stats),
            Self::Instant => push_instant(temporal::text_datetime(text)?, to, nullable, stats),
            Self::Time => to.push_i64(temporal::text_time(text)?),
            Self::Bytes | Self::Json(JsonStyle::Server) => to.push_bytes(text),
            Self::Json(JsonStyle::Compact) => to.write_bytes(|data| {
                jsonb::write_compact_text(text, data);
                Ok(())
            }),
            Self::Geometry => to.write_bytes(|data| geometry::write(text, data)),
        }
    }
}

/// A whole number with an optional sign, within 64 bits.
#[inline]
fn integer(text: &[u8]) -> Result<i64, ValueError> {
    const BAD: ValueError =
        ValueError::Malformed("a whole number has something other than digits, or too many of them");
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    // 18 digits can't overflow; MySQL writes longer ones with zeros in front under ZEROFILL.
    if digits.len() <= 18 && !digits.is_empty() {
        let mut n = 0_i64;
        for c in digits {
            let digit = c.wrapping_sub(b'0');
            if digit > 9 {
                return Err(BAD);
            }
            n = n * 10 + i64::from(digit);
        }
        return Ok(if negative { -n } else { n });
    }
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(BAD)
}

#[inline]
fn float(text: &[u8]) -> Result<f64, ValueError> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or(ValueError::Malformed("a floating-point number can't be read"))
}
