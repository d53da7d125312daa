//! Schema changes of a real server through a whole pipeline.

mod basics;
