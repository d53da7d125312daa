//! Rows as bodies of loads, JSON objects, CSV records or Arrow IPC streams: what each column needs is settled once a schema, its array's type
//! once a batch; after that a value costs no allocation and no dynamic cast.

#[cfg(feature = "doris")]
mod arrow;
mod cells;
mod csv;
mod encoder;
mod escape;
mod json;
mod numbers;
mod plan;
mod syntax;
mod time;
mod zone;

#[cfg(test)]
mod tests;

#[cfg(feature = "doris")]
pub(crate) use arrow::{Arrow, Wire};
pub(crate) use csv::{Csv, Separators};
pub(crate) use encoder::BatchEncoder;
#[cfg(feature = "doris")]
pub(crate) use encoder::LEAVE_FORMAT_OUT;
pub(crate) use json::{Framing, Json, OpField};
pub(crate) use plan::{ColumnPlan, Constant, Form, Format, LoadColumns, Plan};
pub(crate) use zone::Zone;
