//! What the integration tests share.

pub(crate) mod proxy;
pub(crate) mod servers;
pub(crate) mod rowferry;
pub(crate) mod target;
pub(crate) mod lake;
pub(crate) mod olap;
pub(crate) mod writers;
