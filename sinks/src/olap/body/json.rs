//! Rows as JSON objects.

use super::cells::Unfit;
use super::escape::append_string;
use super::plan::{ColumnPlan, Constant};
use super::syntax::{Op, Syntax};

/// What stands between objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// They are an array, whose end is left to who sends it.
    Array,
    /// Each ends with a line feed.
    Lines,
}

/// The field that tells an upsert from a deletion; both texts empty: there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpField {
    /// Written behind the last column of a row that is there.
    pub(crate) upsert: &'static str,
    /// Written behind the last column of a row that is gone.
    pub(crate) delete: &'static str,
}

/// Rows as JSON objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json {
    /// The field that tells an upsert from a deletion.
    pub(crate) op: OpField,
    /// What stands between objects.
    pub(crate) framing: Framing,
}

impl Syntax for Json {
    fn open(&self, out: &mut Vec<u8>, _op: Op) {
        if self.framing == Framing::Array {
            out.push(if out.is_empty() { b'[' } else { b',' });
        }
        out.push(b'{');
    }

    fn field(&self, out: &mut Vec<u8>, column: &ColumnPlan) {
        column.append_head(out);
    }

    fn end_field(&self, out: &mut Vec<u8>) {
        out.push(b',');
    }

    fn close(&self, out: &mut Vec<u8>, op: Op) {
        let field = if op == Op::Upsert { self.op.upsert } else { self.op.delete };
        if field.is_empty() {
            // The last column's comma.
            out.pop();
        } else {
            out.extend_from_slice(field.as_bytes());
        }
        out.push(b'}');
        if self.framing == Framing::Lines {
            out.push(b'\n');
        }
    }

    fn quote(&self, out: &mut Vec<u8>) {
        out.push(b'"');
    }

    fn text(&self, out: &mut Vec<u8>, text: &str) {
        append_string(out, text);
    }

    fn constant(&self, out: &mut Vec<u8>, constant: Constant) {
        match constant {
            Constant::Null => out.extend_from_slice(b"null"),
            Constant::Bare(text) => out.extend_from_slice(text.as_bytes()),
            Constant::Text(text) => append_string(out, text),
        }
    }

    fn check(&self, _value: &[u8]) -> Result<(), Unfit> {
        Ok(())
    }
}
