//! Rows as bodies of loads, JSON objects or CSV records: what each column needs is settled once a schema, its array's type
//! once a batch; after that a value costs no allocation and no dynamic cast.

mod cells;
mod csv;
mod encoder;
mod escape;
mod json;
mod numbers;
mod plan;
mod rows;
mod syntax;
mod time;
mod zone;

#[cfg(test)]
mod tests;

pub(crate) use csv::{Csv, Separators};
pub(crate) use json::{Framing, Json, OpField};
pub(crate) use plan::{ColumnPlan, Constant, Form, Format, Plan};
pub(crate) use rows::Rows;
pub(crate) use zone::Zone;
