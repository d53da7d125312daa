//! The command line: what can be asked of rowferry, and how it answers.

mod check;
mod connect;
mod logging;
mod routes;
mod run;
mod settings;
mod status;

use crate::config::{PipelineConfig, Variables, load as load_config};
use crate::error::{Error, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

/// How a command ended, as the shell sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// The command line or the configuration is wrong.
    Configuration,
    /// Something in the way was found before the first row was read.
    Preflight,
    /// A permanent error stopped the pipeline.
    Failed,
    /// The user stopped it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Configuration => 2,
            Exit::Preflight => 3,
            Exit::Failed => 4,
            Exit::Interrupted => 130,
        })
    }
}

/// Carries MySQL tables, their changes and their schema changes into analytical systems.
#[derive(Debug, Parser)]
#[command(name = "rowferry", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What rowferry can be asked to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read a pipeline file and tell everything that is wrong with it
    Check(check::CheckArgs),
    /// Run the pipeline: a snapshot, then changes; goes on where it stopped
    Run(run::RunArgs),
    /// Tell how far the pipeline is, from its state
    Status(status::StatusArgs),
}

/// What all commands on a pipeline have in common.
#[derive(Args)]
pub struct Common {
    /// The pipeline file (Flink CDC's YAML)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Give a variable of the file a value; goes before --env-file and the environment
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Read variables from a file of lines NAME=VALUE
    #[arg(long, value_name = "PATH")]
    pub env_file: Option<PathBuf>,
    /// The form of log lines on the standard error
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

impl std::fmt::Debug for Common {
    /// Hides the values of variables: they may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common").field("file", &self.file).field("json", &self.json).finish_non_exhaustive()
    }
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Common {
    /// The variables that the command line gives.
    fn variables(&self) -> Result<Variables, Exit> {
        Variables::new(&self.set, self.env_file.as_deref()).map_err(|error| {
            report(&error);
            Exit::Configuration
        })
    }
}

/// Reads the pipeline's file; what is wrong with it goes to the standard error.
fn load(common: &Common) -> Result<PipelineConfig, Exit> {
    let variables = common.variables()?;
    let loaded = load_config(&common.file, &variables).map_err(|error| {
        eprintln!("rowferry: can't read {}: {error}", common.file.display());
        Exit::Configuration
    })?;
    for diagnostic in &loaded.diagnostics {
        eprintln!("{}", diagnostic.render(&common.file.display().to_string()).trim_end());
    }
    loaded.config.ok_or(Exit::Configuration)
}

/// Reads the pipeline's file again after `check` has told what is wrong with it.
fn load_silently(common: &Common) -> Result<PipelineConfig, Exit> {
    let variables = common.variables()?;
    load_config(&common.file, &variables).ok().and_then(|loaded| loaded.config).ok_or(Exit::Configuration)
}

/// Tells an error and gives the exit that belongs to it.
fn report_error(error: &Error) -> Exit {
    eprintln!("{}", error.report());
    match error.kind() {
        ErrorKind::Config => Exit::Configuration,
        ErrorKind::Preflight => Exit::Preflight,
        ErrorKind::Transient | ErrorKind::Permanent => Exit::Failed,
    }
}

/// Does what the command line says.
pub fn run(cli: Cli) -> ExitCode {
    let exit = match &cli.command {
        Command::Check(args) => {
            logging::start(args.common.log_format);
            check::run(args)
        }
        Command::Run(args) => {
            logging::start(args.common.log_format);
            run::run(args)
        }
        Command::Status(args) => {
            logging::start(args.common.log_format);
            status::run(args)
        }
    };
    exit.into()
}

/// Prints an error with what caused it.
fn report(error: &dyn std::error::Error) {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    eprintln!("rowferry: {text}");
}
