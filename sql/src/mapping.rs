//! From MySQL's column types to the stream's types.

use crate::{ColumnDef, ColumnType, TableDef};
use rowferry_model::{Column, DataType, TableSchema};

/// The options of the source that change how types are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappingOptions {
    /// `treat-tinyint1-as-boolean.enabled`: TINYINT(1) is BOOLEAN.
    pub tinyint1_as_boolean: bool,
    /// `include-comments.enabled`: comments of tables and columns are carried.
    pub include_comments: bool,
}

impl Default for MappingOptions {
    fn default() -> Self {
        Self { tinyint1_as_boolean: true, include_comments: false }
    }
}

/// A column's type has no counterpart in the stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}`: MySQL type {column_type} is not supported")]
pub struct UnsupportedType {
    /// The column.
    pub column: String,
    /// Its type as the server writes it.
    pub column_type: String,
}

impl ColumnType {
    /// The stream's type of this column type, `None` where it has none: VECTOR.
    pub fn data_type(&self, options: &MappingOptions) -> Option<DataType> {
        Some(match self {
            Self::TinyInt { unsigned: true, .. } => DataType::SmallInt,
            // A width of 1 is MySQL's only sign of a boolean; unsigned ones are numbers.
            Self::TinyInt { width: Some(1), .. } if options.tinyint1_as_boolean => DataType::Boolean,
            Self::TinyInt { .. } => DataType::TinyInt,
            Self::SmallInt { unsigned: true, .. } => DataType::Int,
            Self::SmallInt { .. } => DataType::SmallInt,
            Self::MediumInt { .. } => DataType::Int,
            Self::Int { unsigned: true, .. } => DataType::BigInt,
            Self::Int { .. } => DataType::Int,
            Self::BigInt { unsigned: true, .. } => DataType::Decimal { precision: 20, scale: 0 },
            Self::BigInt { .. } => DataType::BigInt,
            Self::Float { size: None, .. } => DataType::Float,
            Self::Float { size: Some(_), .. } | Self::Double { .. } => DataType::Double,
            Self::Decimal { precision: 39.., .. } => DataType::String,
            Self::Decimal { precision, scale, .. } => DataType::Decimal { precision: *precision, scale: *scale },
            Self::Bit(0 | 1) => DataType::Boolean,
            Self::Bit(n) => DataType::Binary(u32::from(n.div_ceil(8))),
            Self::Year => DataType::Int,
            Self::Date => DataType::Date,
            Self::Time(p) => DataType::Time(*p),
            Self::DateTime(p) => DataType::Timestamp(*p),
            Self::Timestamp(p) => DataType::TimestampLtz(*p),
            Self::Char { length, .. } => DataType::Char(*length),
            Self::Varchar { length: 0, .. } => DataType::String,
            Self::Varchar { length, .. } => DataType::Varchar(*length),
            Self::Text { .. } | Self::Json | Self::Enum { .. } | Self::Set { .. } | Self::Geometry(_) => {
                DataType::String
            }
            Self::Uuid | Self::Inet4 | Self::Inet6 => DataType::String,
            Self::Binary(n) => DataType::Binary(*n),
            Self::Varbinary(n) => DataType::Varbinary(*n),
            Self::Blob(_) => DataType::Bytes,
            Self::Vector(_) => return None,
        })
    }
}

impl ColumnDef {
    /// The stream's column of this column.
    ///
    /// # Errors
    /// Its type has no counterpart.
    pub fn to_column(&self, options: &MappingOptions) -> Result<Column, UnsupportedType> {
        let data_type = self
            .column_type
            .data_type(options)
            .ok_or_else(|| UnsupportedType { column: self.name.clone(), column_type: self.column_type.to_string() })?;
        Ok(Column {
            name: self.name.clone(),
            data_type,
            nullable: self.nullable,
            comment: Some(self.comment.clone()).filter(|c| options.include_comments && !c.is_empty()),
            default: self.default.as_ref().map(|d| d.text().to_owned()),
            max_bytes: self.column_type.max_bytes(),
        })
    }
}

impl TableDef {
    /// The stream's schema of this table. The key is [`TableDef::row_key`].
    ///
    /// # Errors
    /// A column's type has no counterpart.
    pub fn to_schema(&self, options: &MappingOptions) -> Result<TableSchema, UnsupportedType> {
        Ok(TableSchema {
            columns: self.columns.iter().map(|c| c.to_column(options)).collect::<Result<_, _>>()?,
            primary_key: self.row_key(),
            partition_key: vec![],
            comment: Some(self.comment.clone()).filter(|c| options.include_comments && !c.is_empty()),
            options: vec![],
        })
    }

    /// The columns that tell rows apart: the primary key, or else the first unique key that can serve as one. A unique
    /// key with a nullable column holds several rows with NULL, one with a prefix or an expression holds less than the
    /// column: neither identifies a row by the columns' values. Empty: there is none.
    pub fn row_key(&self) -> Vec<String> {
        if !self.primary_key.is_empty() {
            return self.primary_key.clone();
        }
        let whole = |(name, prefix): &(Option<String>, Option<u32>)| {
            let column = name.as_ref().and_then(|n| self.index_of(n)).map(|i| &self.columns[i]);
            column.filter(|c| !c.nullable && prefix.is_none()).map(|c| c.name.clone())
        };
        let columns = |key: &crate::Key| key.parts.iter().map(whole).collect::<Option<Vec<_>>>();
        self.keys.iter().filter(|k| k.unique).find_map(columns).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
