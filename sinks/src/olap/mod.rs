//! What the StarRocks and Doris sinks share: a frontend that speaks MySQL's text protocol and HTTP, backends behind
//! redirects, and rows as JSON.

pub(crate) mod endpoints;
pub(crate) mod http;
pub(crate) mod json;
pub(crate) mod mysql;
pub(crate) mod quote;
pub(crate) mod secret;
