//! A pipeline at work: the stream of the source is joined with the snapshot, routed and given to the sink; checkpoints
//! tie both ends together.

mod attempt;
mod decode;
pub mod evolve;
mod progress;
mod route;
mod run;
mod settings;
mod snapshot;
mod start;

pub use run::{Outcome, Summary, run};
pub use settings::{Settings, Startup, Until};
pub use start::TableChoice;
