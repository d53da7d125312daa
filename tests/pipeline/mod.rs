//! Whole pipelines: the program on real servers.

mod basics;
mod cases;
mod exact;
mod faults;
mod golden;
mod lake;
mod resume;
mod schema;
mod startup;
mod transform;
