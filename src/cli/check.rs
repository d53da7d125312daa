//! `rowferry check`.

use super::{Common, Exit, report};
use crate::config::check::check_offline;
use std::io::Write as _;

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// What all commands have.
    #[command(flatten)]
    pub common: Common,
    /// Ask the server and the sink as well
    #[arg(long)]
    pub connect: bool,
}

/// Checks the file and prints what was found.
pub(super) fn run(args: &CheckArgs) -> Exit {
    let variables = match args.common.variables() {
        Ok(variables) => variables,
        Err(exit) => return exit,
    };
    let found = match check_offline(&args.common.file, &variables) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("rowferry: can't read {}: {error}", args.common.file.display());
            return Exit::Configuration;
        }
    };
    // With --connect the answer of the server is the JSON document.
    let text = if args.common.json && args.connect && found.is_ok() {
        String::new()
    } else if args.common.json {
        format!("{:#}\n", found.to_json())
    } else {
        found.render()
    };
    // The reader of the output may have gone, for example `head`.
    if let Err(error) = std::io::stdout().write_all(text.as_bytes()) {
        report(&error);
    }
    if !found.is_ok() {
        return Exit::Configuration;
    }
    if !args.connect {
        return Exit::Done;
    }
    match super::load_silently(&args.common) {
        Ok(config) => super::connect::run(&args.common, config),
        Err(exit) => exit,
    }
}
