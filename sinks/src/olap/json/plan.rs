//! How the rows of one schema are written.

use super::escape::append_string;
use rowferry_model::TableSchema;

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

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct ColumnPlan {
    /// The name in the target.
    pub(crate) name: String,
    /// How values are written.
    pub(crate) form: Form,
    /// The greatest length of a value, in bytes as the target counts them; `None`: no value can exceed it.
    pub(crate) limit: Option<usize>,
    /// What NULL is written as, in JSON.
    pub(crate) null: &'static str,
    /// What a deletion gives for a value that must not be NULL but is not known, as JSON; `None`: NULL is allowed.
    pub(crate) filler: Option<&'static str>,
    head: Vec<u8>,
}

impl ColumnPlan {
    /// A column whose JSON field has the name `field`.
    pub(crate) fn new(name: &str, field: &str, form: Form, limit: Option<usize>, filler: Option<&'static str>) -> Self {
        let mut head = Vec::with_capacity(field.len() + 3);
        append_string(&mut head, field);
        head.push(b':');
        Self { name: name.to_owned(), form, limit, null: "null", filler, head }
    }

    /// The field's name, quoted and escaped, with the colon.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }
}

/// What stands between objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// They are an array, whose end is left to who sends it.
    Array,
    /// Each ends with a line feed.
    Lines,
}

/// The field that tells an upsert from a deletion; both texts empty: there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpField {
    /// Written behind the last column of a row that is there.
    pub(crate) upsert: &'static str,
    /// Written behind the last column of a row that is gone.
    pub(crate) delete: &'static str,
}

/// How the rows of one schema are written.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The columns in the schema's order.
    pub(crate) columns: Vec<ColumnPlan>,
    /// Where the key's columns are.
    pub(crate) keys: Vec<usize>,
    /// The field that tells an upsert from a deletion.
    pub(crate) op: OpField,
    /// What stands between objects.
    pub(crate) framing: Framing,
    /// Whether deletions are written; without, they are left out.
    pub(crate) deletes: bool,
}

impl Plan {
    /// A plan for a schema: objects of an array, with deletions.
    pub(crate) fn new(schema: &TableSchema, columns: Vec<ColumnPlan>, op: OpField) -> Self {
        Self { columns, keys: schema.key_indices(), op, framing: Framing::Array, deletes: true }
    }
}
