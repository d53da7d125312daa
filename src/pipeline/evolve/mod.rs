//! What becomes of schema changes and rows on their way from a source table to a target table: the behaviours, the
//! merging of several tables into one, and the casts that bring rows into the shape that the target has.
//!
//! Nothing here does input or output. [`Targets`] is what the pipeline drives; the other modules are its parts:
//!
//! 1. [`Targets::register`] every source table with its schema and its targets, and [`Targets::restore`] what the last
//!    checkpoint saved.
//! 2. [`Targets::create`] before a source's first rows; [`Targets::plan`] for each schema change. Both give changes that
//!    the sink is to make, one after another: after each, [`Targets::applied`] or [`Targets::tolerated`].
//! 3. [`Targets::route`] for every batch of rows.
//! 4. [`Targets::saved`] goes into the checkpoint.

pub mod behavior;
pub mod filter;
pub mod lattice;
pub mod coerce;
pub mod targets;
pub mod collisions;
mod describe;
mod error;

#[cfg(test)]
mod tests;

pub use coerce::Coercion;
pub use collisions::{Collision, Detector, Finding, KeyRisk};
pub use error::{EvolveError, Place};
pub use targets::{Options, Planned, Targets};
