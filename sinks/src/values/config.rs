//! The options of the `values` sink.

use crate::SinkError;
use crate::settings::Settings;
use std::collections::BTreeMap;

/// How events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Flink CDC's lines.
    Lines,
    /// One JSON object a line.
    Json,
}

/// Where events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The options of a `values` sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// Whether anything is printed.
    pub(super) print: bool,
    /// How.
    pub(super) format: Format,
    /// Where.
    pub(super) target: Target,
    /// How many data lines are printed at most; `None`: all.
    pub(super) limit: Option<u64>,
    /// Whether every schema change but the creation of a table is refused.
    pub(super) refuse_schema_changes: bool,
}

impl Config {
    /// Reads the options.
    ///
    /// # Errors
    /// A value can't be understood.
    pub(super) fn parse(options: &BTreeMap<String, String>) -> Result<Self, SinkError> {
        let settings = Settings::new("values", options);
        let format = match settings.text("rowferry.format") {
            None => Format::Lines,
            Some(v) if v.eq_ignore_ascii_case("lines") => Format::Lines,
            Some(v) if v.eq_ignore_ascii_case("json") => Format::Json,
            Some(v) => return Err(settings.bad("rowferry.format", v, "lines or json")),
        };
        if let Some(v) = settings.text("sink.api")
            && !v.eq_ignore_ascii_case("SINK_V2")
            && !v.eq_ignore_ascii_case("SINK_FUNCTION")
        {
            return Err(settings.bad("sink.api", v, "SINK_V2 or SINK_FUNCTION"));
        }
        if settings.flag("materialized.in.memory", false)? {
            tracing::warn!(
                "values sink: `materialized.in.memory` has no effect: no other job can look into this process"
            );
        }
        // Whether the lines also go to a log is Alibaba's distinction; here the printed lines are the only copy.
        settings.flag("sink.print.logger", true)?;
        Ok(Self {
            print: settings.flag("print.enabled", true)?,
            format,
            target: if settings.flag("sink.print.standard-error", false)? { Target::Stderr } else { Target::Stdout },
            limit: settings.number("sink.print.limit")?,
            refuse_schema_changes: settings.flag("error.on.schema.change", false)?,
        })
    }
}
