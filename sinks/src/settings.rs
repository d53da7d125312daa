//! Typed access to a sink's options, which are text.

use crate::SinkError;
use std::collections::BTreeMap;
use std::str::FromStr;

/// An address as messages may show it: without user and password, and without a query, which may have others.
#[cfg(any(feature = "starrocks", feature = "doris"))]
pub(crate) fn without_secrets(url: &str) -> String {
    let shown = url.split('?').next().unwrap_or_default();
    match (shown.split_once("//"), shown.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}//***@{host}"),
        (None, Some((_, host))) => format!("***@{host}"),
        (_, None) => shown.to_owned(),
    }
}

/// The options of one sink's block, without `type` and `name`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'a> {
    sink: &'static str,
    options: &'a BTreeMap<String, String>,
}

impl<'a> Settings<'a> {
    /// The options of a sink of that type; the type is for messages.
    pub(crate) fn new(sink: &'static str, options: &'a BTreeMap<String, String>) -> Self {
        Self { sink, options }
    }

    /// An option as it was written, without blanks around it.
    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.options.get(key).map(|v| v.trim())
    }

    /// An option as it was written; its key may be in any case.
    #[cfg(any(feature = "starrocks", feature = "doris"))]
    pub(crate) fn raw(&self, key: &str) -> Option<&'a str> {
        self.options.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v.as_str())
    }

    /// An option that is `true` or `false` in any case.
    #[cfg(feature = "values")]
    pub(crate) fn flag(&self, key: &str, default: bool) -> Result<bool, SinkError> {
        match self.text(key) {
            None => Ok(default),
            Some(v) if v.eq_ignore_ascii_case("true") => Ok(true),
            Some(v) if v.eq_ignore_ascii_case("false") => Ok(false),
            Some(v) => Err(self.bad(key, v, "true or false")),
        }
    }

    /// An option that is a number.
    pub(crate) fn number<T: FromStr>(&self, key: &str) -> Result<Option<T>, SinkError> {
        match self.text(key) {
            None => Ok(None),
            Some(v) => v.parse().map(Some).map_err(|_| self.bad(key, v, "a number")),
        }
    }

    /// All options whose keys begin with a prefix, with the prefix taken off.
    #[cfg(feature = "paimon")]
    pub(crate) fn with_prefix(&self, prefix: &'static str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.options.iter().filter_map(move |(k, v)| k.strip_prefix(prefix).map(|k| (k, v.as_str())))
    }

    /// The error for a value that can't be understood.
    pub(crate) fn bad(&self, key: &str, value: &str, wanted: &str) -> SinkError {
        SinkError::permanent(format!("{} sink: option `{key}` is `{value}` where {wanted} was expected", self.sink))
    }
}
