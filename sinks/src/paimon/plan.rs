//! How the rows of one schema go into one Paimon table: worked out once, used for every batch.

use super::convert::{Failure, convert};
use super::lake::{Lake, wants_update_before};
use super::types;
use crate::SinkError;
use arrow_array::{Array, ArrayRef, Int8Array, RecordBatch, new_null_array};
use arrow_schema::{DataType as ArrowType, Field, Schema};
use paimon::arrow::build_target_arrow_schema;
use paimon::spec::DataType as LakeType;
use paimon::table::Table;
use rowferry_model::{Column, TableId, TableSchema};
use std::sync::Arc;

/// The name of the column that tells Paimon's writer what happened to a row.
const VALUE_KIND: &str = "_VALUE_KIND";

/// How rows of one schema go into one table.
pub(super) struct Plan {
    table: TableId,
    schema: Arc<TableSchema>,
    /// For each column of the table, where it is in a batch; `None`: not there, NULL is written.
    sources: Vec<Option<usize>>,
    /// What the writer takes: the table's columns and, with a key, the kind of each row.
    target: Arc<Schema>,
    /// Where the key's columns are in a batch.
    pub(super) key: Vec<usize>,
    /// Whether the table has a key.
    pub(super) keyed: bool,
    /// Whether the old rows of updates are of use to the table.
    pub(super) update_before: bool,
}

impl Plan {
    /// Compares a schema with a table.
    ///
    /// # Errors
    /// The table can't hold rows of this schema: names the column and the way out.
    pub(super) fn new(
        lake: &Lake,
        table: &TableId,
        schema: &Arc<TableSchema>,
        existing: &Table,
    ) -> Result<Self, SinkError> {
        check_keys(lake, table, schema, existing)?;
        let lake_schema = existing.schema();
        let fields = build_target_arrow_schema(lake_schema.fields())
            .map_err(|e| SinkError::permanent(format!("paimon sink: table {table} can't be written")).caused_by(e))?;
        let mut sources = vec![None; lake_schema.fields().len()];
        for (i, column) in schema.columns.iter().enumerate() {
            let at = find(existing, &column.name).ok_or_else(|| {
                SinkError::permanent(format!("paimon sink: the existing table {table} has no column `{}`", column.name))
                    .hint("add the column to the table, drop it from the projection, or drop the table")
            })?;
            check_type(lake, table, column, lake_schema.fields()[at].data_type())?;
            sources[at] = Some(i);
        }
        for (field, source) in lake_schema.fields().iter().zip(&sources) {
            if source.is_none() && !field.data_type().is_nullable() {
                return Err(SinkError::permanent(format!(
                    "paimon sink: column `{}` of the existing table {table} is NOT NULL and the source has no such \
                     column",
                    field.name()
                ))
                .hint("make the column nullable, or give it a value in a `transform` rule"));
            }
        }
        let keyed = !lake_schema.primary_keys().is_empty();
        let mut target: Vec<Arc<Field>> = fields.fields().iter().cloned().collect();
        if keyed {
            target.push(Arc::new(Field::new(VALUE_KIND, ArrowType::Int8, false)));
        }
        Ok(Self {
            table: table.clone(),
            schema: Arc::clone(schema),
            sources,
            target: Arc::new(Schema::new(target)),
            key: lake_schema.primary_keys().iter().filter_map(|k| schema.index_of(k)).collect(),
            keyed,
            update_before: keyed && wants_update_before(existing),
        })
    }

    /// Whether this plan is for rows of that schema.
    pub(super) fn is_for(&self, schema: &Arc<TableSchema>) -> bool {
        Arc::ptr_eq(&self.schema, schema) || self.schema == *schema
    }

    /// Rows as the table's writer takes them. `kinds` has one entry a row; it is left out for tables without a key.
    ///
    /// # Errors
    /// A value can't be held: names table, column, key and way out.
    pub(super) fn rows(&self, rows: &RecordBatch, kinds: Int8Array) -> Result<RecordBatch, SinkError> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.target.fields().len());
        for (source, field) in self.sources.iter().zip(self.target.fields()) {
            columns.push(match source {
                None => new_null_array(field.data_type(), rows.num_rows()),
                Some(i) => self.column(rows, *i, field)?,
            });
        }
        if self.keyed {
            columns.push(Arc::new(kinds));
        }
        RecordBatch::try_new(Arc::clone(&self.target), columns).map_err(|e| {
            SinkError::permanent(format!("paimon sink: rows of {} don't fit the table", self.table)).caused_by(e)
        })
    }

    fn column(&self, rows: &RecordBatch, i: usize, field: &Field) -> Result<ArrayRef, SinkError> {
        let (column, array) = (&self.schema.columns[i], rows.column(i));
        if !field.is_nullable()
            && let Some(nulls) = array.nulls().filter(|n| n.null_count() > 0)
        {
            let row = nulls.iter().position(|valid| !valid).unwrap_or_default();
            return Err(SinkError::permanent(format!(
                "paimon sink: column `{}` of {} is NOT NULL but a row has NULL there ({})",
                column.name,
                self.table,
                self.key_text(rows, row)
            ))
            .hint("make the target's column nullable, or give it a value in a `transform` rule"));
        }
        convert(array, column.data_type, field.data_type()).map_err(|failure| match failure {
            Failure::Value { row, text } => SinkError::permanent(format!(
                "paimon sink: column `{}` of {} has the value {text} ({}), but Paimon's TIME is a time of day in \
                 whole milliseconds",
                column.name,
                self.table,
                self.key_text(rows, row)
            ))
            .hint("set `rowferry.time-type: STRING` in the sink block, or cast the column in a `transform` rule"),
            Failure::Type => SinkError::permanent(format!(
                "paimon sink: column `{}` of {} has type {}, which can't be written as {}",
                column.name,
                self.table,
                column.data_type,
                field.data_type()
            )),
        })
    }

    /// The key of a row, for messages.
    fn key_text(&self, rows: &RecordBatch, row: usize) -> String {
        if self.key.is_empty() {
            return "the table has no key".to_owned();
        }
        let parts = self.key.iter().map(|i| {
            let value = arrow_value(rows.column(*i).as_ref(), row);
            format!("{}={value}", self.schema.columns[*i].name)
        });
        format!("key {}", parts.collect::<Vec<_>>().join(", "))
    }
}

/// A value as text, for messages; types that keys seldom have are not spelled out.
fn arrow_value(array: &dyn Array, row: usize) -> String {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
    if array.is_null(row) {
        return "NULL".to_owned();
    }
    match array.data_type() {
        ArrowType::Int8 => array.as_primitive::<Int8Type>().value(row).to_string(),
        ArrowType::Int16 => array.as_primitive::<Int16Type>().value(row).to_string(),
        ArrowType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        ArrowType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        ArrowType::Utf8 => format!("'{}'", array.as_string::<i32>().value(row)),
        other => format!("({other})"),
    }
}

/// Where a column is in a table: by its exact name, else without case.
pub(super) fn find(table: &Table, name: &str) -> Option<usize> {
    let fields = table.schema().fields();
    fields.iter().position(|f| f.name() == name).or_else(|| {
        let name = name.to_lowercase();
        fields.iter().position(|f| f.name().to_lowercase() == name)
    })
}

/// Checks that a table has the key and the partitions that it would be created with.
///
/// # Errors
/// It has not.
pub(super) fn check_keys(
    lake: &Lake,
    table: &TableId,
    schema: &TableSchema,
    existing: &Table,
) -> Result<(), SinkError> {
    let differ = |what: &str, have: &[String], want: &[String]| {
        SinkError::permanent(format!(
            "paimon sink: the existing table {table} has {what} ({}) where ({}) was expected",
            have.join(", "),
            want.join(", ")
        ))
        .hint("drop the table so that it is created anew, or route the source table elsewhere")
    };
    let same = |have: &[String], want: &[String]| {
        let sorted = |names: &[String]| {
            let mut names: Vec<_> = names.iter().map(|n| n.to_lowercase()).collect();
            names.sort();
            names
        };
        sorted(have) == sorted(want)
    };
    let (key, partitions) = (lake.primary_key(table, schema), lake.partition_keys(table, schema));
    let have = existing.schema();
    if !same(have.primary_keys(), &key) {
        return Err(differ("the primary key", have.primary_keys(), &key));
    }
    // Where nothing is said of partitions, those of the table are taken, if they are a part of its key.
    let unsaid = partitions.is_empty() && have.partition_keys().iter().all(|p| key.is_empty() || key.contains(p));
    if !unsaid && !same(have.partition_keys(), &partitions) {
        return Err(differ("the partition key", have.partition_keys(), &partitions));
    }
    Ok(())
}

/// Checks that a table's column holds every value of ours.
///
/// # Errors
/// It does not.
pub(super) fn check_type(lake: &Lake, table: &TableId, column: &Column, have: &LakeType) -> Result<(), SinkError> {
    let want = types::lake_type(table, column, true, lake.config.time_type)?;
    if types::widens(&want, have) {
        return Ok(());
    }
    Err(SinkError::permanent(format!(
        "paimon sink: column `{}` of the existing table {table} has type {have}, which can't hold every {}",
        column.name, column.data_type
    ))
    .hint("alter the column's type in the table, or cast it in a `transform` rule"))
}
