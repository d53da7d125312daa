//! From real servers into the sinks `starrocks` and `doris`: the program as users run it, and stand-ins behind it.

mod cases;
mod cells;
mod crash;
mod exact;
mod nodes;
mod shapes;
mod steps;
mod types;
