//! Batches through a plan.

use crate::column::{Col, as_bools};
use crate::error::{EvalError, EvalFailure};
use crate::kernel::{append_value, fill_nulls};
use crate::node::{Context, Failure, Input, Node, evaluate};
use crate::plan::TablePlan;
use crate::types::Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow_buffer::BooleanBuffer;
use arrow_ord::ord::make_comparator;
use arrow_schema::DataType as ArrowType;
use arrow_select::filter::filter;
use rowferry_model::{ChangeBatch, Changes, RowOp};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

impl TablePlan {
    /// The rows of the target that a batch of the source's rows becomes; `None`: no row passes the filter.
    ///
    /// An update of which only one side passes becomes an insert or a delete. Where the rule gives the table another key,
    /// an update that changes it becomes a delete and an insert.
    ///
    /// # Errors
    /// An expression can't be computed: a model gave no answer, or a value does not fit and the rules are strict.
    pub fn apply(&self, batch: ChangeBatch) -> Result<Option<ChangeBatch>, EvalError> {
        let context = self.context();
        let result = self.run(&batch, &context);
        let (zeros, lost) = (context.zero_divisions.get(), context.lost_values.get());
        let (first_zero, first_lost) = self.counters.add(zeros, lost);
        if first_zero {
            tracing::warn!(table = %self.table, rule = self.rule, "a division by zero in a transform gives NULL");
        }
        if first_lost {
            tracing::warn!(table = %self.table, rule = self.rule, "a value in a transform does not fit its type");
        }
        result
    }

    /// Whether the plan must see each update as two rows, `UpdateBefore` and `UpdateAfter`: for its filter, its new key, or
    /// because it shows what happened to a row. Where it need not, a source may leave out the rows from before.
    pub fn needs_before_images(&self) -> bool {
        self.filter.is_some() || self.new_key.is_some() || self.reads(self.source.columns.len())
    }

    fn context(&self) -> Context {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(0));
        let options = &self.environment.options;
        Context {
            now,
            zone: options.zone,
            strict: options.strict,
            zero_divisions: Cell::new(0),
            lost_values: Cell::new(0),
        }
    }

    fn run(&self, batch: &ChangeBatch, context: &Context) -> Result<Option<ChangeBatch>, EvalError> {
        if !Arc::ptr_eq(batch.schema(), &self.source) && batch.schema() != &self.source {
            let failure = Failure::new("the rows have another schema than the plan was made for");
            return Err(self.failed(failure, "projection", "*", &[]));
        }
        let rows = batch.num_rows();
        let mut changes = batch.changes().clone();
        let mut columns: Vec<ArrayRef> = batch.columns().columns().to_vec();
        let event_type = columns.len();
        columns.push(self.event_types(&changes));
        columns.push(self.event_times(batch.op_ts(), rows));
        let shared = RefCell::new(vec![None; self.shared.len()]);
        let mut input = Input { columns, rows, shared };
        let mut op_ts = batch.op_ts().map(|times| Arc::new(times.clone()));
        if let Some((condition, text)) = &self.filter {
            let passes = evaluate(condition, &input, context)
                .and_then(|column| Ok(column.spread(rows)?))
                .map_err(|failure| self.failed(failure, "filter", text, &input.columns))?;
            let passes = as_bools(&passes).map_err(|e| self.failed(e.into(), "filter", text, &input.columns))?;
            let passes = fill_nulls(passes, false);
            let kept = keep(&changes, passes.values());
            if kept.rows == 0 {
                return Ok(None);
            }
            if kept.rows < rows {
                self.filter_input(&mut input, &kept.mask, event_type)
                    .map_err(|failure| self.failed(failure, "filter", text, &input.columns))?;
                let times = op_ts.map(|times| filter(times.as_ref(), &kept.mask)).transpose();
                let times = times.map_err(|e| self.failed(e.into(), "filter", text, &input.columns))?;
                op_ts = times.and_then(|array| array.as_any().downcast_ref::<Int64Array>().cloned()).map(Arc::new);
                changes = kept.changes;
                if let Some(column) = input.columns.get_mut(event_type) {
                    *column = self.event_types(&changes);
                }
            }
        }
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let column = evaluate(&output.node, &input, context)
                .and_then(|column| self.fitted(&column, &output.column.data_type.arrow(), input.rows))
                .map_err(|failure| self.failed(failure, "projection", &output.text, &input.columns))?;
            outputs.push(column);
        }
        if let Some(key) = &self.new_key {
            split_key_changes(&mut changes, key, &outputs)
                .map_err(|f| self.failed(f, "projection", "", &input.columns))?;
        }
        if self.soft_delete
            && let Changes::Mixed(ops) = &mut changes
        {
            ops.iter_mut().filter(|op| **op == RowOp::Delete).for_each(|op| *op = RowOp::Insert);
        }
        let internal = |message: String| self.failed(Failure::new(message), "projection", "", &[]);
        let record = RecordBatch::try_new(Arc::clone(&self.arrow), outputs).map_err(|e| internal(e.to_string()))?;
        let result = ChangeBatch::new(batch.table().clone(), Arc::clone(&self.schema), changes, record)
            .map_err(|e| internal(e.to_string()))?;
        match op_ts {
            None => Ok(Some(result)),
            Some(times) => result.with_op_ts(times).map(Some).map_err(|e| internal(e.to_string())),
        }
    }

    /// The column with one value a row and the Arrow type that the schema says.
    fn fitted(&self, column: &Col, wanted: &ArrowType, rows: usize) -> Result<ArrayRef, Failure> {
        let array = column.spread(rows)?;
        if array.data_type() == wanted {
            return Ok(array);
        }
        Err(Failure::new(format!("the values are {}, where {wanted} was expected", array.data_type())))
    }

    /// Leaves only the rows of a mask, in the columns that are still read.
    fn filter_input(&self, input: &mut Input, mask: &BooleanArray, event_type: usize) -> Result<(), Failure> {
        let mut wanted = self.source.key_indices();
        for output in &self.outputs {
            output.node.columns(&mut wanted);
        }
        for index in wanted {
            if let Some(column) = input.columns.get_mut(index) {
                *column = filter(column.as_ref(), mask)?;
            }
        }
        input.rows = mask.true_count();
        for (node, shared) in self.shared.iter().zip(input.shared.borrow_mut().iter_mut()) {
            // What depends on the operation is computed again: an update may have become an insert.
            let mut read = Vec::new();
            node.columns(&mut read);
            if read.contains(&event_type) {
                *shared = None;
            } else if let Some(column) = shared.as_mut().filter(|column| !column.scalar) {
                column.array = filter(column.array.as_ref(), mask)?;
            }
        }
        Ok(())
    }

    fn reads(&self, index: usize) -> bool {
        let reads = |node: &Node| {
            let mut read = Vec::new();
            node.columns(&mut read);
            read.contains(&index)
        };
        self.outputs.iter().any(|output| reads(&output.node))
            || self.filter.as_ref().is_some_and(|(node, _)| reads(node))
    }

    /// `+I`, `-U`, `+U`, `-D` for each row, where an expression reads it.
    fn event_types(&self, changes: &Changes) -> ArrayRef {
        if !self.reads(self.source.columns.len()) {
            return new_null_array(&ArrowType::Utf8, changes.len());
        }
        let name = |op: RowOp| match op {
            RowOp::Insert => "+I",
            RowOp::UpdateBefore => "-U",
            RowOp::UpdateAfter => "+U",
            RowOp::Delete => "-D",
        };
        Arc::new(StringArray::from_iter_values((0..changes.len()).map(|row| name(changes.op(row)))))
    }

    /// The time of each row's event, 0 for rows of the snapshot.
    fn event_times(&self, times: Option<&Int64Array>, rows: usize) -> ArrayRef {
        match times {
            Some(times) => Arc::new(times.clone()),
            None => {
                Arc::new(Int64Array::from(vec![0; if self.reads(self.source.columns.len() + 1) { rows } else { 0 }]))
            }
        }
    }

    fn failed(&self, failure: Failure, key: &'static str, expression: &str, columns: &[ArrayRef]) -> EvalError {
        let row = failure.row.and_then(|row| self.key_text(row, columns));
        EvalError(Box::new(EvalFailure {
            table: self.table.to_string(),
            rule: self.rule,
            key,
            expression: expression.to_owned(),
            row,
            message: failure.message,
            transient: failure.transient,
        }))
    }

    /// The key of a row, `id=7, part=x`.
    fn key_text(&self, row: usize, columns: &[ArrayRef]) -> Option<String> {
        let mut out = String::new();
        for index in self.source.key_indices() {
            let (column, array) = (self.source.columns.get(index)?, columns.get(index)?);
            if row >= array.len() {
                return None;
            }
            if !out.is_empty() {
                out.push_str(", ");
            }
            out.push_str(&column.name);
            out.push('=');
            if array.is_null(row) {
                out.push_str("NULL");
            } else {
                append_value(&mut out, array.as_ref(), &Type::Plain(column.data_type), row)?;
            }
        }
        (!out.is_empty()).then_some(out)
    }
}

/// What is left of a batch.
struct Kept {
    mask: BooleanArray,
    rows: usize,
    changes: Changes,
}

/// Which rows stay, and as what: the sides of an update are looked at one by one.
fn keep(changes: &Changes, passes: &BooleanBuffer) -> Kept {
    let mask = BooleanArray::new(passes.clone(), None);
    let rows = mask.true_count();
    let changes = match changes {
        Changes::Inserts(_) => Changes::Inserts(rows),
        Changes::Mixed(ops) => {
            let passes = |row: usize| row < passes.len() && passes.value(row);
            let mut kept = Vec::with_capacity(rows);
            for (row, op) in ops.iter().enumerate().filter(|(row, _)| passes(*row)) {
                kept.push(match op {
                    RowOp::UpdateBefore if !passes(row + 1) => RowOp::Delete,
                    RowOp::UpdateAfter if !row.checked_sub(1).is_some_and(passes) => RowOp::Insert,
                    other => *other,
                });
            }
            Changes::Mixed(kept)
        }
    };
    Kept { mask, rows, changes }
}

/// An update that changes the new key is a delete of the old row and an insert of the new one.
fn split_key_changes(changes: &mut Changes, key: &[usize], columns: &[ArrayRef]) -> Result<(), Failure> {
    let Changes::Mixed(ops) = changes else { return Ok(()) };
    if !ops.contains(&RowOp::UpdateBefore) {
        return Ok(());
    }
    let comparators = key
        .iter()
        .filter_map(|index| columns.get(*index))
        .map(|column| make_comparator(column.as_ref(), column.as_ref(), Default::default()))
        .collect::<Result<Vec<_>, _>>()?;
    for row in 0..ops.len().saturating_sub(1) {
        let pair = ops.get(row) == Some(&RowOp::UpdateBefore);
        if pair
            && comparators.iter().any(|compare| compare(row, row + 1) != Ordering::Equal)
            && let Some([before, after]) = ops.get_mut(row..row + 2)
        {
            *before = RowOp::Delete;
            *after = RowOp::Insert;
        }
    }
    Ok(())
}
