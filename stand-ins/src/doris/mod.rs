//! A Doris that is none: frontends that speak HTTP, backends that take loads, tables that can be read. It is strict: what
//! the recorded frontend refuses, it refuses with the same words; what the recordings do not show (all that a backend
//! does) follows the vendor's manual.
//!
//! It keeps tables in memory, runs ALTER jobs by the clock, lets transactions time out, and breaks on demand.

mod alter;
mod arrow;
mod backend;
mod create;
mod frontend;
mod show;
mod sql;
mod transactions;
mod types;
mod values;
mod world;

pub use crate::faults::{FaultAction, Gate, When};
pub use crate::server::Settings;
pub use frontend::answer as frontend_answer;
pub use show::create_sql;
pub use sql::NOT_MODELLED;
pub use transactions::NotBegun;
pub use types::Ty;
pub use world::World;

/// Frontends and backends.
pub type StandIn = crate::server::StandIn<world::Doris>;

impl StandIn {
    /// As the option has them.
    pub fn fenodes(&self) -> String {
        self.http_addresses(",")
    }

    pub fn benodes(&self) -> String {
        self.backend_addresses(",")
    }
}
