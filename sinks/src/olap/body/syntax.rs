//! What stands around values.

use super::cells::Unfit;
use super::plan::{ColumnPlan, Constant};

/// What happens to a row's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// The row is there.
    Upsert,
    /// It is gone.
    Delete,
}

/// How rows and values are set apart. A row is `open`, then for each column `field`, a value and `end_field`, then
/// `close`.
pub(super) trait Syntax {
    /// Begins a row.
    fn open(&self, out: &mut Vec<u8>, op: Op);

    /// What comes before a column's value.
    fn field(&self, out: &mut Vec<u8>, column: &ColumnPlan);

    /// What comes behind a column's value.
    fn end_field(&self, out: &mut Vec<u8>);

    /// Ends a row.
    fn close(&self, out: &mut Vec<u8>, op: Op);

    /// What comes before and behind a value that is not a bare number.
    fn quote(&self, out: &mut Vec<u8>);

    /// Appends a text as a whole value.
    fn text(&self, out: &mut Vec<u8>, text: &str);

    /// Appends a value that is the same for all rows.
    fn constant(&self, out: &mut Vec<u8>, constant: Constant);

    /// Whether a text, or bytes as text, that was just written can be told from what stands around it. Numbers, days and
    /// times always can.
    ///
    /// # Errors
    /// It can't.
    fn check(&self, value: &[u8]) -> Result<(), Unfit>;
}
