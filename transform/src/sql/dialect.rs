//! The SQL of transforms: names in backticks or bare, texts in single quotes where only `''` escapes, and names that
//! begin with any letter.

use sqlparser::dialect::Dialect;

#[derive(Debug)]
pub(crate) struct TransformDialect;

impl Dialect for TransformDialect {
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_' || ch == '$'
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_' || ch == '$'
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        false
    }

    fn supports_select_wildcard_except(&self) -> bool {
        false
    }

    fn supports_dollar_placeholder(&self) -> bool {
        true
    }
}
