//! `||` and `TRIM(… FROM …)`: forms of the grammar that are functions over texts.

use super::{call_node, strings};
use crate::bind::coerce;
use crate::error::Fault;
use crate::node::Node;
use crate::rule::TransformOptions;
use crate::types::TEXT;
use std::sync::Arc;

/// The texts of all arguments, one after another; what is no text is cast to one. NULL if one is NULL.
pub(crate) fn concat_node(args: &[Arc<Node>], options: &TransformOptions) -> Result<Node, Fault> {
    let args = args
        .iter()
        .map(|arg| coerce(arg, &TEXT, options).ok_or_else(|| Fault::new(format!("{} can't be made a text", arg.ty))))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(call_node(TEXT, args, strings::concat_kernel(), options))
}

/// Which ends are trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Both,
    Leading,
    Trailing,
}

/// `TRIM([BOTH | LEADING | TRAILING] [what] FROM text)`; both are texts.
pub(crate) fn trim_node(ends: Ends, what: Option<Arc<Node>>, text: Arc<Node>, options: &TransformOptions) -> Node {
    let args = std::iter::once(text).chain(what).collect();
    call_node(TEXT, args, strings::trim_kernel(ends, None), options)
}
