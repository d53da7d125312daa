//! How the rows of one schema are written.

#[cfg(feature = "doris")]
use super::arrow::{Arrow, Wire};
use super::csv::Csv;
use super::escape::append_string;
use super::json::Json;
use rowferry_model::TableSchema;
use std::sync::Arc;

/// How a column's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As the type suggests: numbers bare, decimals and times as strings, text as it is.
    Plain,
    /// Numbers in quotes, for a target column of text.
    Quoted,
    /// Bytes as base64.
    Base64,
    /// Bytes as upper-case hexadecimal digits, as MySQL's `HEX()` gives them.
    Hex,
}

/// A value that is the same for all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constant {
    /// None.
    Null,
    /// A number or a boolean.
    Bare(&'static str),
    /// A text, a day or a time.
    Text(&'static str),
}

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnPlan {
    /// The name in the target.
    pub(crate) name: String,
    /// How values are written.
    pub(crate) form: Form,
    /// The greatest length of a value, in bytes as the target counts them; `None`: no value can exceed it.
    pub(crate) limit: Option<usize>,
    /// What NULL is written as.
    pub(crate) null: Constant,
    /// What a deletion gives for a value that is not known: `Null` where that is allowed.
    pub(crate) filler: Constant,
    head: Head,
}

/// What comes before a value: a copy of a fixed length costs less than one of the right length.
#[derive(Clone, Debug)]
struct Head {
    /// It, or its first bytes, and zeros behind it.
    start: [u8; Head::START],
    whole: Vec<u8>,
}

impl Head {
    const START: usize = 32;

    fn new(whole: Vec<u8>) -> Self {
        let mut start = [0; Self::START];
        for (to, from) in start.iter_mut().zip(&whole) {
            *to = *from;
        }
        Self { start, whole }
    }

    fn append(&self, out: &mut Vec<u8>) {
        if self.whole.len() <= Self::START {
            let end = out.len() + self.whole.len();
            out.extend_from_slice(&self.start);
            out.truncate(end);
        } else {
            out.extend_from_slice(&self.whole);
        }
    }
}

impl ColumnPlan {
    /// A column whose JSON field has the name `field`.
    pub(crate) fn new(name: &str, field: &str, form: Form, limit: Option<usize>, filler: Constant) -> Self {
        let mut head = Vec::with_capacity(field.len() + 3);
        append_string(&mut head, field);
        head.push(b':');
        Self { name: name.to_owned(), form, limit, null: Constant::Null, filler, head: Head::new(head) }
    }

    /// Appends the field's name, quoted and escaped, with the colon.
    pub(super) fn append_head(&self, out: &mut Vec<u8>) {
        self.head.append(out);
    }
}

/// How rows are written.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// As JSON objects.
    Json(Json),
    /// As CSV records.
    Csv(Csv),
    /// As Arrow IPC streams.
    #[cfg(feature = "doris")]
    Arrow(Arrow),
}

/// What a load says of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadColumns {
    /// The `columns` header.
    pub(crate) header: String,
    /// What the target's columns must be read as for the rows to be what they are; empty where they tell by themselves.
    #[cfg(feature = "doris")]
    pub(crate) wires: Vec<(String, Wire)>,
}

impl LoadColumns {
    /// Of rows whose values tell by themselves what they are.
    pub(crate) fn new(header: String) -> Self {
        Self {
            header,
            #[cfg(feature = "doris")]
            wires: Vec::new(),
        }
    }
}

/// How the rows of one schema are written.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The columns in the schema's order.
    pub(crate) columns: Vec<ColumnPlan>,
    /// Where the key's columns are.
    pub(crate) keys: Vec<usize>,
    /// How rows are written.
    pub(crate) format: Format,
    /// Whether deletions are written; without, they are left out.
    pub(crate) deletes: bool,
    /// What a load says of its columns, where it needs to.
    pub(crate) load_columns: Option<Arc<LoadColumns>>,
}

impl Plan {
    /// A plan for a schema, with deletions.
    pub(crate) fn new(schema: &TableSchema, columns: Vec<ColumnPlan>, format: Format) -> Self {
        Self { columns, keys: schema.key_indices(), format, deletes: true, load_columns: None }
    }
}
