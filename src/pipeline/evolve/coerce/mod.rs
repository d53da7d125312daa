//! Rows of a source table in the shape of their target: columns by name, with the casts that Flink CDC has.
//!
//! Where Flink CDC silently writes NULL because a value does not fit, this is an error that names the row.

mod cast;
mod wall;

use super::{EvolveError, Place};
use crate::config::Zone;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::SchemaRef;
use cast::{Cast, cast};
use rowferry_model::{ChangeBatch, RowOp, TableSchema};
use rowferry_sinks::text::column_text;
use std::sync::Arc;

/// How a target's column is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The source has no such column.
    Missing,
    /// The source's column at this index as it is.
    Same(usize),
    /// The source's column at this index, cast.
    Cast(usize, Cast),
}

/// The way from one schema to another, worked out once for many batches.
#[derive(Clone, Debug)]
pub struct Coercion {
    from: Arc<TableSchema>,
    to: Arc<TableSchema>,
    arrow: SchemaRef,
    /// One for each column of `to`, and whether NULL must be looked for.
    steps: Vec<(Step, bool)>,
    identity: bool,
    zone: Zone,
}

impl Coercion {
    /// The way from the schema of batches to that of a target. `zone` is the pipeline's, in which instants become wall
    /// times.
    pub fn new(from: &Arc<TableSchema>, to: &Arc<TableSchema>, zone: Zone) -> Self {
        let steps: Vec<(Step, bool)> = to
            .columns
            .iter()
            .map(|column| {
                let Some(index) = from.index_of(&column.name) else { return (Step::Missing, !column.nullable) };
                let Some(source) = from.columns.get(index) else { return (Step::Missing, !column.nullable) };
                let step = match Cast::between(source.data_type, column.data_type) {
                    Cast::Same => Step::Same(index),
                    cast => Step::Cast(index, cast),
                };
                (step, source.nullable && !column.nullable)
            })
            .collect();
        let same_columns = from.columns.len() == to.columns.len()
            && steps.iter().enumerate().all(|(i, (step, null_check))| *step == Step::Same(i) && !null_check)
            && from.columns.iter().zip(&to.columns).all(|(a, b)| a.name == b.name && a.data_type == b.data_type);
        let identity = Arc::ptr_eq(from, to)
            || (same_columns && from.primary_key == to.primary_key && from.partition_key == to.partition_key);
        Self { from: from.clone(), to: to.clone(), arrow: to.arrow(), steps, identity, zone }
    }

    /// Whether batches already have the target's shape, so that [`apply`](Self::apply) gives them back as they are.
    pub fn is_identity(&self) -> bool {
        self.identity
    }

    /// The schema of the batches that come in.
    pub fn from(&self) -> &Arc<TableSchema> {
        &self.from
    }

    /// The schema of the batches that go out.
    pub fn to(&self) -> &Arc<TableSchema> {
        &self.to
    }

    /// Brings rows into the target's shape. Columns that are the same are not copied.
    ///
    /// # Errors
    /// A value does not fit, or NULL comes to a column that is NOT NULL: names table, column and row. What a before image
    /// lacks is not looked at, for it need not have all values.
    pub fn apply(&self, batch: ChangeBatch) -> Result<ChangeBatch, EvolveError> {
        self.convert(batch, None)
    }

    /// As [`apply`](Self::apply), but a value that does not fit becomes NULL where the target's column has room for it:
    /// what IGNORE means, whose targets do not follow. Each is counted in `lost`.
    ///
    /// # Errors
    /// A value does not fit, and its column is NOT NULL.
    pub fn apply_lossy(&self, batch: ChangeBatch, lost: &mut u64) -> Result<ChangeBatch, EvolveError> {
        self.convert(batch, Some(lost))
    }

    fn convert(&self, batch: ChangeBatch, mut lost: Option<&mut u64>) -> Result<ChangeBatch, EvolveError> {
        if self.identity {
            return Ok(batch);
        }
        let rows = batch.num_rows();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.steps.len());
        for ((step, null_check), to) in self.steps.iter().zip(&self.to.columns) {
            let column = match step {
                Step::Missing => new_null_array(&to.data_type.arrow(), rows),
                Step::Same(index) => batch.column(*index).clone(),
                Step::Cast(index, how) => {
                    let from = self.from.columns.get(*index).map_or(to.data_type, |column| column.data_type);
                    let mut values = batch.column(*index).clone();
                    loop {
                        let misfit = match cast(*how, from, to.data_type, &values, &self.zone) {
                            Ok(cast) => break cast,
                            Err(misfit) => misfit,
                        };
                        let place = self.place(&batch, &to.name, misfit.row);
                        match lost.as_deref_mut() {
                            Some(lost) if to.nullable => {
                                if *lost == 0 {
                                    tracing::warn!(%place, from = %from, to = %to.data_type, "a value does not fit a target that does not follow its table (schema.change.behavior: IGNORE): it becomes NULL; more are only counted");
                                }
                                *lost += 1;
                                values = without(&values, misfit.row)?;
                            }
                            _ => {
                                let (from, to) = (from.to_string(), to.data_type.to_string());
                                return Err(EvolveError::Value { place: Box::new(place), from, to });
                            }
                        }
                    }
                }
            };
            if *null_check && let Some(row) = null_row(&batch, &column) {
                let what = if *step == Step::Missing { "no such column" } else { "NULL" };
                return Err(EvolveError::Null { place: Box::new(self.place(&batch, &to.name, row)), what });
            }
            columns.push(column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = RecordBatch::try_new_with_options(self.arrow.clone(), columns, &options)?;
        Ok(batch.with_columns(self.to.clone(), columns)?)
    }

    fn place(&self, batch: &ChangeBatch, column: &str, row: usize) -> Place {
        Place { table: batch.table().clone(), column: column.to_owned(), key: row_key(batch, row) }
    }
}

/// A column with NULL in one row.
fn without(values: &ArrayRef, row: usize) -> Result<ArrayRef, arrow_schema::ArrowError> {
    let nulls = (0..values.len()).map(|i| values.is_valid(i) && i != row).collect::<Vec<bool>>();
    let data = values.to_data().into_builder().nulls(Some(nulls.into())).build()?;
    Ok(arrow_array::make_array(data))
}

/// The first row after which the table has NULL in this column.
fn null_row(batch: &ChangeBatch, column: &ArrayRef) -> Option<usize> {
    if column.null_count() == 0 {
        return None;
    }
    (0..column.len())
        .find(|row| column.is_null(*row) && matches!(batch.changes().op(*row), RowOp::Insert | RowOp::UpdateAfter))
}

/// A row's key in words, for example `id=7, region=eu`; empty for a table without a key.
pub(super) fn row_key(batch: &ChangeBatch, row: usize) -> String {
    let mut key = String::new();
    for index in batch.schema().key_indices() {
        let Some(column) = batch.schema().columns.get(index) else { continue };
        if row >= batch.num_rows() {
            continue;
        }
        let value = column_text(&column.data_type, &batch.column(index).slice(row, 1));
        let text = match &value {
            Some(value) if !value.is_empty() && value.is_valid(0) => value.value(0),
            _ => "null",
        };
        if !key.is_empty() {
            key.push_str(", ");
        }
        key.push_str(&column.name);
        key.push('=');
        key.push_str(text);
    }
    key
}
