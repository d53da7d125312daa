//! What the StarRocks and Doris sinks share: a frontend that speaks MySQL's text protocol and HTTP, backends behind
//! redirects, and rows as JSON or CSV.

pub(crate) mod answer;
pub(crate) mod applier;
pub(crate) mod attempts;
pub(crate) mod authorities;
pub(crate) mod body;
pub(crate) mod column_type;
pub(crate) mod commit;
pub(crate) mod committable;
#[cfg(all(test, feature = "starrocks", feature = "doris"))]
mod conformance;
pub(crate) mod default_value;
pub(crate) mod each;
pub(crate) mod encoding;
pub(crate) mod endpoints;
pub(crate) mod frontends;
pub(crate) mod http;
pub(crate) mod label;
pub(crate) mod load_error;
pub(crate) mod load_writer;
pub(crate) mod loads;
#[cfg(feature = "starrocks")]
pub(crate) mod mysql;
pub(crate) mod quote;
pub(crate) mod rows;
pub(crate) mod secret;
