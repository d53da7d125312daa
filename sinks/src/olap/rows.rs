//! What a statement gives back.

/// A result: none of the results that are asked for is large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// The columns' names.
    pub(crate) columns: Vec<String>,
    /// The rows; NULL is `None`.
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

impl Rows {
    /// A value of a row by its column's name, which is compared without case.
    pub(crate) fn get<'a>(&self, row: &'a [Option<String>], column: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|c| c.eq_ignore_ascii_case(column))?;
        row.get(at)?.as_deref()
    }

    /// The value of the first row's column of that number.
    pub(crate) fn first(&self, column: usize) -> Option<&str> {
        self.rows.first()?.get(column)?.as_deref()
    }
}
