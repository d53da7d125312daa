//! Whole pipelines: the program on real servers.

mod basics;
mod cases;
mod encryption;
mod exact;
mod failover;
mod faults;
mod golden;
mod lake;
mod large;
mod log_files;
mod olap;
mod resume;
mod schema;
mod snapshot;
mod startup;
mod transform;
