//! The two dialects in which pipeline files name tables. They look alike and differ:
//!
//! - [`TablePattern`] (`tables`, `tables.exclude`, chunk keys, `transform`): database and table are two regular
//!   expressions, each must match a whole name, case does not matter.
//! - [`RoutePattern`] (`route`): one regular expression over `database.table`, case matters, groups can be used in the
//!   target.
//!
//! Both write the regex sign "any character" as `\.`, since a bare dot separates database and table.

mod error;
mod hints;
mod route;
mod selectors;

pub use error::PatternError;
pub use route::{RoutePattern, RouteTarget};
pub use selectors::{TablePattern, select_tables};

pub(crate) use rowferry_transform::java_regex::group_names;

#[cfg(test)]
mod tests;
