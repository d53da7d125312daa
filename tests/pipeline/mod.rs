//! Whole pipelines: the program on real servers.

mod basics;
mod exact;
mod golden;
mod resume;
