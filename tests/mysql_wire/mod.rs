//! The client against real servers.

mod authentication;
mod dump;
mod hostile;
mod results;
