//! Logs, for people or as JSON, on standard error: standard output belongs to the sink.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

/// Starts logging. The level comes from `ROWFERRY_LOG` (for example `debug` or `rowferry::mysql=trace`), else `info`.
pub fn init(format: LogFormat) {
    let filter = EnvFilter::try_from_env("ROWFERRY_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A second call, as in tests, changes nothing.
    let _ = match format {
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
