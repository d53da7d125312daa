//! Partial updates of JSON documents.

use super::decode_error::ValueError;
use super::jsonb::JsonStyle;

pub(crate) fn apply(
    _before: &[u8],
    _differences: &[u8],
    _style: JsonStyle,
    _to: &mut Vec<u8>,
) -> Result<(), ValueError> {
    Err(ValueError::Unsupported("partial updates of JSON documents are not supported"))
}
