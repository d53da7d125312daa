//! What the integration tests share.

pub(crate) mod proxy;
pub(crate) mod servers;
pub(crate) mod rowferry;
