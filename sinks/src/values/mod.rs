//! The `values` sink: prints every event, for trying out and for debugging.

mod applier;
mod config;
mod json;
mod lines;
mod numbers;
mod options;
mod output;
mod print;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use print::append_text;

use crate::{Sink, SinkContext, SinkError};
use applier::ValuesApplier;
use config::{Config, Target};
use output::Output;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use writer::ValuesWriter;

pub use options::OPTIONS;

/// A `values` sink that prints to standard output, or to standard error where the options say so.
///
/// # Errors
/// An option can't be understood.
pub fn build(options: &BTreeMap<String, String>, _context: &SinkContext) -> Result<Sink, SinkError> {
    let config = Config::parse(options)?;
    let to: Box<dyn Write + Send> = match config.target {
        Target::Stdout => Box::new(std::io::stdout()),
        Target::Stderr => Box::new(std::io::stderr()),
    };
    Ok(assemble(config, to))
}

/// A `values` sink that prints to `to`.
///
/// # Errors
/// An option can't be understood.
pub fn build_to(options: &BTreeMap<String, String>, to: Box<dyn Write + Send>) -> Result<Sink, SinkError> {
    Ok(assemble(Config::parse(options)?, to))
}

fn assemble(config: Config, to: Box<dyn Write + Send>) -> Sink {
    let output = Arc::new(Output::new(to, config.limit));
    Sink {
        events: Box::new(ValuesWriter::new(&config, Arc::clone(&output))),
        metadata: Box::new(ValuesApplier::new(&config, output)),
    }
}
