//! What real servers say of themselves and of their tables.

mod positions;
mod preflight;
mod tables;
