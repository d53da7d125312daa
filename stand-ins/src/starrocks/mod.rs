//! A StarRocks that is none: frontends that speak MySQL's protocol and HTTP, backends that take loads, tables that can
//! be read. It is strict: what the recorded frontend refuses, it refuses with the same number and words; what the
//! recordings do not show (all that a backend does) follows the vendor's manual.
//!
//! It keeps tables in memory, runs ALTER jobs by the clock, lets transactions time out, and breaks on demand.

mod alter;
mod backend;
mod create;
mod frontend;
mod mysql;
mod show;
mod sql;
mod transactions;
mod types;
mod values;
mod world;

pub use crate::faults::{FaultAction, Gate, When};
pub use crate::http::{Request, Response};
pub use crate::server::Settings;
pub use frontend::answer as frontend_answer;
pub use mysql::execute;
pub use show::create_sql;
pub use sql::NOT_MODELLED;
pub use types::Ty;
pub use world::World;

/// Frontends and backends.
pub type StandIn = crate::server::StandIn<world::StarRocks>;

impl StandIn {
    /// As the option has it.
    pub fn jdbc_url(&self) -> String {
        format!("jdbc:mysql://{}", self.sql_addresses(","))
    }

    pub fn load_url(&self) -> String {
        self.http_addresses(";")
    }
}
