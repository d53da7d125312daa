//! A pipeline at work: the stream of the source is joined with the snapshot, routed and given to the sink; checkpoints
//! tie both ends together.

mod attempt;
mod collisions;
mod ddl_steps;
mod decode;
pub mod evolve;
mod output;
mod progress;
mod run;
mod schema;
mod settings;
mod snapshot;
mod source;
mod start;
mod tables;
mod transform;

pub use evolve::Options as TargetOptions;
pub use run::{Outcome, Summary, run};
pub use settings::{Settings, Startup, Until};
pub use start::TableChoice;
