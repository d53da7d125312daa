//! Log lines go to the standard error, so that the standard output stays clean.

use super::LogFormat;
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// Starts logging; `ROWFERRY_LOG` sets levels, for example `info,rowferry::mysql=debug`. A second call does nothing.
pub(super) fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_env("ROWFERRY_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal());
    // The only failure is that a logger runs already.
    let _ = match format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
}
