//! The client against real servers.

mod authentication;
mod dump;
mod results;
