//! The command line.

use clap::Parser as _;
use rowferry::cli::{Cli, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run(Cli::parse())
}
