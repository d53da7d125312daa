//! Options of connectors: the tables that describe them, and how their text becomes values.
//!
//! One [`OptionSpec`] table a connector drives everything: what is accepted, how it is read, what it is when it is left
//! out, what may never be printed, and what the documentation says.

mod parse;
mod per_table;
mod set;
mod spec;

pub use parse::{ValueError, parse_bool, parse_duration, parse_list, parse_memory_size, parse_value};
pub use per_table::{PerTable, PerTableEntry, parse_per_table};
#[cfg(test)]
pub(crate) use set::default_is_sound;
pub use set::{OptionProblem, OptionValue, Options, Position, Secret, Severity};
pub use spec::{EffectOf, OptionKind, OptionSpec, is_secret_key};

#[cfg(test)]
mod tests;
