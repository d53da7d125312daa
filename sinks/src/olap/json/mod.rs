//! Rows as JSON objects: what each column needs is settled once a schema, its array's type once a batch; after that a
//! value costs no allocation and no dynamic cast.

mod cells;
mod encoder;
mod escape;
mod numbers;
mod plan;
mod time;
mod zone;

#[cfg(test)]
mod tests;

pub(crate) use encoder::BatchEncoder;
pub(crate) use plan::{ColumnPlan, Form, Framing, OpField, Plan};
pub(crate) use zone::Zone;
