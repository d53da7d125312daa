//! Whole pipelines: the program on real servers.

mod basics;
mod exact;
mod resume;
