//! What can be wrong with a row.

use super::cursor::Short;
use super::rows::RowsKind;

/// A row can't be decoded. The same bytes fail again: the error is permanent.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// A column's value is not what its type says.
    #[error("column `{column}`: {kind}")]
    Column {
        /// The column's name.
        column: String,
        /// What is wrong.
        kind: ValueError,
    },
    /// The rows have not all columns.
    #[error(
        "rows came without their columns {}: rowferry needs whole rows. Set binlog_row_image=FULL at the server, and in \
         sessions that were open before",
        .columns.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
    )]
    PartialImage {
        /// The columns that are not there.
        columns: Vec<String>,
    },
    /// The event has another number of columns than its TABLE_MAP event.
    #[error("rows with {got} columns came for a table that was announced with {want}")]
    ColumnCount {
        /// Columns of the rows.
        got: usize,
        /// Columns of the TABLE_MAP event.
        want: usize,
    },
    /// The last row is cut off.
    #[error("a row image of a {kind:?} event is cut off")]
    Truncated {
        /// The kind of event.
        kind: RowsKind,
    },
    /// A row has another number of values than the query has columns.
    #[error("a text row has not {want} values")]
    ValueCount {
        /// The query's columns.
        want: usize,
    },
    /// An earlier row could not be decoded, and the batch was used further.
    #[error("the batch is unusable since one of its rows could not be decoded")]
    Broken,
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The bytes end before the value does.
    #[error("the value is cut off")]
    Truncated,
    /// The value is not what its type says.
    #[error("the value is malformed: {0}")]
    Malformed(&'static str),
    /// A batch can't hold more than 2 GiB in a column.
    #[error("the values of one batch exceed 2 GiB")]
    TooLarge,
    /// The value has a form that rowferry can't read.
    #[error("{0}")]
    Unsupported(&'static str),
}

impl ValueError {
    /// A column's decoder was compiled for another builder: a defect of rowferry, never of the data.
    pub(crate) const WRONG_BUILDER: Self = Self::Malformed("decoder and builder do not fit one another");
}

impl From<Short> for ValueError {
    fn from(_: Short) -> Self {
        Self::Truncated
    }
}
