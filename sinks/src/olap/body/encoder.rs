//! A batch as rows of a body.

use super::cells::{Cells, Unfit};
use super::json::{Framing, Json, OpField};
use super::plan::{Constant, Format, Plan};
use super::syntax::{Op, Syntax};
use super::zone::Zone;
use crate::SinkError;
use crate::cells::Cells as Values;
use rowferry_model::{ChangeBatch, RowOp};

/// The way out of all that a format can't do.
pub(crate) const LEAVE_FORMAT_OUT: &str = "leave `sink.properties.format` out: JSON, the default, takes every value";

/// Writes the rows of one batch, as many at a time as fit.
pub(crate) struct BatchEncoder<'a> {
    pub(super) plan: &'a Plan,
    pub(super) batch: &'a ChangeBatch,
    pub(super) cells: Vec<Cells<'a>>,
    pub(super) next: usize,
}

impl<'a> BatchEncoder<'a> {
    /// An encoder that has written nothing yet.
    ///
    /// # Errors
    /// A column is not of the type that the schema says.
    pub(crate) fn new(plan: &'a Plan, batch: &'a ChangeBatch, zone: &'a Zone) -> Result<Self, SinkError> {
        let values = Values::of(batch)?;
        let cells: Vec<Cells<'a>> =
            plan.columns.iter().zip(values).map(|(column, values)| Cells::new(column, values, zone)).collect();
        if cells.len() != plan.columns.len() {
            return Err(SinkError::permanent(format!("a batch of {} lacks columns", batch.table())));
        }
        Ok(Self { plan, batch, cells, next: 0 })
    }

    /// The same, going on with a row.
    pub(crate) fn starting_at(mut self, row: usize) -> Self {
        self.next = row;
        self
    }

    /// The first row that is not written.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// Whether all rows are written.
    pub(crate) fn is_done(&self) -> bool {
        self.next >= self.batch.num_rows()
    }

    /// Appends rows until `out` has `limit` bytes, `rows` rows are taken or the batch ends. Says how many were written: a
    /// change of the key is two.
    ///
    /// # Errors
    /// A value that the target can't hold: names table, column and key.
    pub(crate) fn fill(&mut self, out: &mut Vec<u8>, limit: usize, rows: u64) -> Result<u64, SinkError> {
        match &self.plan.format {
            Format::Json(json) => self.fill_as(json, out, limit, rows),
            Format::Csv(csv) => self.fill_as(csv, out, limit, rows),
            #[cfg(feature = "doris")]
            Format::Arrow(arrow) => self.fill_arrow(arrow, out, limit, rows),
        }
    }

    fn fill_as<S: Syntax>(&mut self, syntax: &S, out: &mut Vec<u8>, limit: usize, rows: u64) -> Result<u64, SinkError> {
        let mut written = 0;
        while !self.is_done() && out.len() < limit && written < rows {
            let row = self.next;
            self.next += 1;
            match self.batch.changes().op(row) {
                RowOp::Insert => self.upsert(syntax, out, row)?,
                RowOp::Delete if !self.plan.deletes => continue,
                RowOp::Delete => self.delete(syntax, out, row)?,
                RowOp::UpdateBefore => {
                    let after = self.next;
                    self.next += 1;
                    if self.plan.deletes && self.key_differs(row, after) {
                        self.delete(syntax, out, row)?;
                        written += 1;
                    }
                    self.upsert(syntax, out, after)?;
                }
                // Its other half came first: the batch has been checked for pairs.
                RowOp::UpdateAfter => self.upsert(syntax, out, row)?,
            }
            written += 1;
        }
        Ok(written)
    }

    /// A before image may leave out a key that did not change. Where NULL is a value of the key, it is there.
    pub(super) fn key_differs(&self, before: usize, after: usize) -> bool {
        let keys = self.plan.keys.iter().filter_map(|k| Some((self.plan.columns.get(*k)?, self.cells.get(*k)?)));
        keys.into_iter().any(|(column, cells)| {
            let known = column.null != Constant::Null || !cells.is_null(before);
            known && !cells.same(before, after)
        })
    }

    fn upsert<S: Syntax>(&self, syntax: &S, out: &mut Vec<u8>, row: usize) -> Result<(), SinkError> {
        syntax.open(out, Op::Upsert);
        for (column, cells) in self.plan.columns.iter().zip(&self.cells) {
            syntax.field(out, column);
            if cells.is_null(row) {
                syntax.constant(out, column.null);
            } else if let Err(unfit) = cells.append(syntax, out, row) {
                return Err(self.refuse(&column.name, row, &unfit));
            }
            syntax.end_field(out);
        }
        syntax.close(out, Op::Upsert);
        Ok(())
    }

    /// A deletion needs the key alone, but the target checks the other columns all the same.
    fn delete<S: Syntax>(&self, syntax: &S, out: &mut Vec<u8>, row: usize) -> Result<(), SinkError> {
        syntax.open(out, Op::Delete);
        for (i, (column, cells)) in self.plan.columns.iter().zip(&self.cells).enumerate() {
            syntax.field(out, column);
            let key = self.plan.keys.contains(&i);
            if cells.is_null(row) {
                if column.null != Constant::Null {
                    syntax.constant(out, column.null);
                } else if key {
                    return Err(self.keyless_deletion(&column.name));
                } else {
                    syntax.constant(out, column.filler);
                }
            } else {
                let start = out.len();
                if let Err(unfit) = cells.append(syntax, out, row) {
                    if key {
                        return Err(self.refuse(&column.name, row, &unfit));
                    }
                    // A value that was never loaded needs no value to be deleted.
                    out.truncate(start);
                    syntax.constant(out, column.filler);
                }
            }
            syntax.end_field(out);
        }
        syntax.close(out, Op::Delete);
        Ok(())
    }

    pub(super) fn keyless_deletion(&self, column: &str) -> SinkError {
        let table = self.batch.table();
        SinkError::permanent(format!("a deletion in {table} comes without its key `{column}`"))
    }

    pub(super) fn refuse(&self, column: &str, row: usize, unfit: &Unfit) -> SinkError {
        let json = Json { op: OpField::default(), framing: Framing::Lines };
        let mut key = Vec::new();
        for k in &self.plan.keys {
            if !key.is_empty() {
                key.extend_from_slice(b", ");
            }
            if let (Some(plan), Some(cells)) = (self.plan.columns.get(*k), self.cells.get(*k)) {
                plan.append_head(&mut key);
                // The key itself may be what does not fit.
                if cells.is_null(row) || cells.append(&json, &mut key, row).is_err() {
                    key.extend_from_slice(b"?");
                }
            }
        }
        let what = match unfit {
            Unfit::TooLong { bytes, limit } => format!("has {bytes} bytes where the target takes {limit}"),
            Unfit::Year => "is outside the years 0 to 9999".to_owned(),
            Unfit::NotANumber => "is no finite number".to_owned(),
            Unfit::Separator => "has a character that a separator of the CSV begins with".to_owned(),
            Unfit::NullMark => "is the text `\\N`, which means NULL in CSV".to_owned(),
            #[cfg(feature = "doris")]
            Unfit::Before1970 => "is before 1970-01-01 08:00:00, which a backend reads wrongly from Arrow".to_owned(),
            #[cfg(feature = "doris")]
            Unfit::FirstYear => "is in the year 0, which a backend reads wrongly from Arrow".to_owned(),
            #[cfg(feature = "doris")]
            Unfit::Digits => "has more digits than its column in the target".to_owned(),
        };
        let hint = match unfit {
            Unfit::TooLong { .. } | Unfit::Year | Unfit::NotANumber => "leave the column or the row out by a transform",
            _ => LEAVE_FORMAT_OUT,
        };
        SinkError::permanent(format!(
            "a value of column `{column}` of {} {what}; its row's key is {}",
            self.batch.table(),
            String::from_utf8_lossy(&key)
        ))
        .hint(hint)
    }
}
