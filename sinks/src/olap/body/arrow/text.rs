//! Values as texts without anything around them.

use super::super::cells::Unfit;
use super::super::plan::{ColumnPlan, Constant};
use super::super::syntax::{Op, Syntax};

/// Nothing stands around a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bare;

impl Syntax for Bare {
    fn open(&self, _out: &mut Vec<u8>, _op: Op) {}

    fn field(&self, _out: &mut Vec<u8>, _column: &ColumnPlan) {}

    fn end_field(&self, _out: &mut Vec<u8>) {}

    fn close(&self, _out: &mut Vec<u8>, _op: Op) {}

    fn quote(&self, _out: &mut Vec<u8>) {}

    fn text(&self, out: &mut Vec<u8>, text: &str) {
        out.extend_from_slice(text.as_bytes());
    }

    fn constant(&self, out: &mut Vec<u8>, constant: Constant) {
        match constant {
            Constant::Null => {}
            Constant::Bare(text) | Constant::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    fn check(&self, _value: &[u8]) -> Result<(), Unfit> {
        Ok(())
    }
}
