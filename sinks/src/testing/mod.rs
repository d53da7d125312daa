//! What tests of sinks and of pipelines need: rows from text, a sink that keeps rows in memory, a sink that fails where
//! a script says, and the tests that every sink must pass.

mod batches;
pub mod contract;
mod faulty;
mod memory;

#[cfg(test)]
mod tests;

pub use batches::batch;
pub use faulty::{Call, Fault, Faults, faulty};
pub use memory::MemoryTarget;
