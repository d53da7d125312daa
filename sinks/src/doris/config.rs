//! The options of the Doris sink.

use super::partition::Partitions;
use crate::olap::body::{Separators, Zone};
use crate::olap::secret::Secret;
use crate::options::parse_duration;
use crate::settings::{Settings, without_secrets};
use crate::{SinkContext, SinkError};
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// A label has 128 characters at most; the sink's part of it is below this.
const LABEL_ROOM: usize = 40;
/// The least that Flink CDC's connector takes.
const LEAST_ROWS: u64 = 10_000;
const LEAST_BYTES: usize = 10_485_760;
/// One load in streaming mode, where `sink.buffer-flush.*` has no effect in Flink CDC.
const STREAMING_PIECE: usize = 32 << 20;
/// A prepared transaction must live until the pipeline is back after a crash. The server's own limit is three days.
const TRANSACTION_TIMEOUT: u32 = 86_400;

/// How rows get into tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Loads that are seen at once.
    Plain,
    /// Loads that are seen at once and that the server puts together; they have no labels.
    GroupCommit,
    /// Loads that are committed with the checkpoint.
    TwoPhase,
}

/// What rows are sent as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowFormat {
    /// JSON objects, one a line.
    Json,
    /// CSV records with these separators.
    Csv(Separators),
    /// Arrow IPC streams.
    Arrow,
}

/// The options of a Doris sink.
#[derive(Debug)]
pub(super) struct Config {
    /// Each frontend's HTTP address.
    pub(super) frontends: Vec<Url>,
    /// Backends that the user names.
    pub(super) backends: Vec<Url>,
    pub(super) auto_redirect: bool,
    pub(super) username: String,
    pub(super) password: Secret,
    /// Before each label; empty or ending with `_`.
    pub(super) label_prefix: String,
    /// Unique to the pipeline's state.
    pub(super) instance: String,
    pub(super) zone: Zone,
    pub(super) mode: Mode,
    pub(super) deletes: bool,
    pub(super) max_retries: u32,
    /// One load.
    pub(super) piece_bytes: usize,
    pub(super) piece_rows: u64,
    /// What may be buffered and under way in all, in bytes.
    pub(super) max_bytes: usize,
    pub(super) flush_interval: Duration,
    pub(super) threads: usize,
    pub(super) gzip: bool,
    pub(super) format: RowFormat,
    /// Headers of every load, from `sink.properties.*`, and the fixed ones.
    pub(super) load_headers: Vec<(String, String)>,
    /// `table.create.properties.*`.
    pub(super) table_properties: Vec<(String, String)>,
    /// `table.create.auto-partition.properties.*`.
    pub(super) partitions: Partitions,
    pub(super) schema_change_timeout: Duration,
    /// Whether a transaction that the server no longer knows counts as committed.
    pub(super) assume_committed: bool,
}

impl Config {
    /// Reads the options.
    ///
    /// # Errors
    /// One is missing, or can't be understood, or asks for what this version does not do.
    pub(super) fn parse(options: &BTreeMap<String, String>, context: &SinkContext) -> Result<Self, SinkError> {
        let settings = Settings::new("doris", options);
        let required = |key: &str| {
            settings
                .text(key)
                .filter(|v| !v.is_empty())
                .ok_or_else(|| SinkError::permanent(format!("doris sink: option `{key}` is missing")))
        };
        let zone = Zone::parse(&context.time_zone).ok_or_else(|| {
            SinkError::permanent(format!("doris sink: there is no time zone `{}`", context.time_zone))
        })?;
        check_charset(&settings)?;
        let duration = |key: &str, default: Duration| match settings.text(key) {
            None => Ok(default),
            Some(v) => parse_duration(v).map_err(|_| settings.bad(key, v, "a duration")),
        };
        let batch_key = if options.contains_key("sink.enable-batch-mode") {
            "sink.enable-batch-mode"
        } else {
            "sink.enable.batch-mode"
        };
        let batch = settings.flag(batch_key, true)?;
        let two_phase = settings.flag("sink.enable-2pc", false)?;
        settings.flag("sink.ignore.update-before", true)?;
        settings.flag("sink.use-cache", false)?;
        for key in ["sink.check-interval", "sink.buffer-size", "sink.buffer-count"] {
            settings.number::<u64>(key)?;
        }
        let rows = settings.number("sink.buffer-flush.max-rows")?.unwrap_or(50_000);
        if rows < LEAST_ROWS {
            return Err(settings.bad("sink.buffer-flush.max-rows", &rows.to_string(), "at least 10000"));
        }
        let bytes = settings.number("sink.buffer-flush.max-bytes")?.unwrap_or(LEAST_BYTES);
        if bytes < LEAST_BYTES {
            return Err(settings.bad("sink.buffer-flush.max-bytes", &bytes.to_string(), "at least 10485760"));
        }
        let queue = settings.number::<usize>("sink.flush.queue-size")?.unwrap_or(2).max(1);
        let interval = duration("sink.buffer-flush.interval", Duration::from_secs(10))?;
        let properties = load_properties(&settings, options)?;
        let mode = match (batch, two_phase, properties.group_commit) {
            (false, true, true) => {
                return Err(SinkError::permanent(
                    "doris sink: `sink.properties.group_commit` and `sink.enable-2pc` exclude one another",
                )
                .hint("leave one of them out"));
            }
            (false, true, false) => Mode::TwoPhase,
            (_, _, true) => Mode::GroupCommit,
            (_, _, false) => Mode::Plain,
        };
        let (piece_bytes, piece_rows, flush_interval) =
            if batch { (bytes, rows, interval) } else { (bytes.max(STREAMING_PIECE), u64::MAX, Duration::MAX) };
        Ok(Self {
            frontends: addresses(&settings, "fenodes", required("fenodes")?)?,
            backends: match settings.text("benodes").filter(|v| !v.is_empty()) {
                Some(text) => addresses(&settings, "benodes", text)?,
                None => Vec::new(),
            },
            auto_redirect: settings.flag("auto-redirect", false)?,
            username: required("username")?.to_owned(),
            password: Secret::new(options.get("password").map(String::as_str).unwrap_or_default()),
            label_prefix: label_prefix(&settings)?,
            instance: context.instance.clone(),
            zone,
            mode,
            deletes: settings.flag("sink.enable-delete", true)?,
            max_retries: settings.number("sink.max-retries")?.unwrap_or(3),
            piece_bytes,
            piece_rows,
            // One piece that fills up, those that wait, and one more under way.
            max_bytes: piece_bytes.saturating_mul(queue.saturating_add(2)),
            flush_interval,
            threads: context.parallelism.max(4),
            gzip: properties.gzip,
            format: properties.format,
            load_headers: properties.headers,
            table_properties: prefixed(options, "table.create.properties.")
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            partitions: Partitions::parse(&settings, options, context)?,
            schema_change_timeout: duration("schema.evolution.timeout", Duration::from_secs(30 * 60))?,
            assume_committed: settings.flag("rowferry.assume-committed", false)?,
        })
    }
}

/// What statements are written in.
fn check_charset(settings: &Settings<'_>) -> Result<(), SinkError> {
    match settings.text("charset-encoding") {
        Some(v) if !v.eq_ignore_ascii_case("utf-8") && !v.eq_ignore_ascii_case("utf8") => {
            Err(settings.bad("charset-encoding", v, "UTF-8"))
        }
        _ => Ok(()),
    }
}

fn prefixed<'a>(
    options: &'a BTreeMap<String, String>,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
    options.iter().filter_map(move |(k, v)| Some((k.strip_prefix(prefix)?, v.trim())))
}

struct LoadProperties {
    format: RowFormat,
    headers: Vec<(String, String)>,
    group_commit: bool,
    gzip: bool,
}

/// Headers that change what a CSV record means.
const CSV_MEANING: [&str; 7] =
    ["columns", "enclose", "escape", "skip_lines", "trim_double_quotes", "empty_field_as_null", "jsonpaths"];
/// Headers that change what a record batch means. Backends don't unpack one.
const ARROW_MEANING: [&str; 3] = ["columns", "jsonpaths", "compress_type"];

fn load_properties(settings: &Settings<'_>, options: &BTreeMap<String, String>) -> Result<LoadProperties, SinkError> {
    let format = match settings.raw("sink.properties.format").map(str::trim) {
        None => RowFormat::Json,
        Some(v) if v.eq_ignore_ascii_case("json") => RowFormat::Json,
        Some(v) if v.eq_ignore_ascii_case("csv") => RowFormat::Csv(Separators::parse(settings, "line_delimiter")?),
        Some(v) if v.eq_ignore_ascii_case("arrow") => RowFormat::Arrow,
        Some(v) => return Err(settings.bad("sink.properties.format", v, "json, csv or arrow")),
    };
    let csv = matches!(format, RowFormat::Csv(_));
    let arrow = format == RowFormat::Arrow;
    let mut properties = LoadProperties { format, headers: Vec::new(), group_commit: false, gzip: false };
    let mut given = Vec::new();
    for (key, value) in prefixed(options, "sink.properties.") {
        let option = format!("sink.properties.{key}");
        let lower = key.to_ascii_lowercase();
        match lower.as_str() {
            "format" => continue,
            "read_json_by_line" if csv || arrow || value.eq_ignore_ascii_case("true") => continue,
            "read_json_by_line" => return Err(settings.bad(&option, value, "true")),
            "column_separator" | "line_delimiter" if csv => continue,
            _ if value.chars().any(|c| c.is_control() && c != '\t') => {
                return Err(settings.bad(&option, value, "a value without control characters"));
            }
            meaning if csv && CSV_MEANING.contains(&meaning) => {
                return Err(settings.bad(&option, value, "nothing: how CSV is written and read is the sink's"));
            }
            meaning if arrow && ARROW_MEANING.contains(&meaning) => {
                return Err(settings.bad(&option, value, "nothing: how Arrow is written and read is the sink's"));
            }
            "label" => {
                return Err(settings.bad(&option, value, "nothing: labels are the sink's (`sink.label-prefix`)"));
            }
            "two_phase_commit" => {
                return Err(settings.bad(&option, value, "nothing: it is set by `sink.enable-2pc`"));
            }
            "strip_outer_array" if value.eq_ignore_ascii_case("true") => {
                return Err(settings.bad(&option, value, "nothing: rows are sent as lines"));
            }
            "strip_outer_array" | "hidden_columns" => continue,
            "compress_type" => {
                if !value.eq_ignore_ascii_case("gz") {
                    return Err(settings.bad(&option, value, "gz"));
                }
                properties.gzip = true;
            }
            "group_commit" => match value {
                "sync_mode" | "async_mode" => properties.group_commit = true,
                "off_mode" => {}
                _ => return Err(settings.bad(&option, value, "sync_mode, async_mode or off_mode")),
            },
            _ => {}
        }
        given.push(lower);
        properties.headers.push((key.to_owned(), value.to_owned()));
    }
    // Without it a value that can't be converted becomes NULL without a word. With partial updates it means another
    // thing: that no row is added.
    let has = |name: &str| given.iter().any(|k| k == name);
    if !has("strict_mode") && !has("partial_columns") {
        properties.headers.push(("strict_mode".to_owned(), "true".to_owned()));
    }
    if !has("timeout") {
        properties.headers.push(("timeout".to_owned(), TRANSACTION_TIMEOUT.to_string()));
    }
    let headers = &mut properties.headers;
    let mut own = |name: &str, value: String| headers.push((name.to_owned(), value));
    match &properties.format {
        RowFormat::Csv(separators) => {
            let (column, row) = separators.headers();
            own("format", "csv".to_owned());
            own("column_separator", column);
            own("line_delimiter", row);
        }
        RowFormat::Json => {
            own("format", "json".to_owned());
            own("read_json_by_line", "true".to_owned());
        }
        RowFormat::Arrow => own("format", "arrow".to_owned()),
    }
    Ok(properties)
}

fn label_prefix(settings: &Settings<'_>) -> Result<String, SinkError> {
    let ok = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':');
    match settings.text("sink.label-prefix") {
        None | Some("") => Ok(String::new()),
        Some(v) if v.len() <= LABEL_ROOM && v.bytes().all(ok) => Ok(format!("{v}_")),
        Some(v) => Err(settings.bad(
            "sink.label-prefix",
            v,
            &format!("at most {LABEL_ROOM} letters, digits, `-`, `_` and `:`"),
        )),
    }
}

/// `host:port,https://host:port`
fn addresses(settings: &Settings<'_>, key: &str, text: &str) -> Result<Vec<Url>, SinkError> {
    let wanted = "host:port,host:port";
    let mut urls = Vec::new();
    for part in text.split([',', ';']).map(str::trim).filter(|p| !p.is_empty()) {
        let spelled = if part.contains("://") { part.to_owned() } else { format!("http://{part}") };
        match Url::parse(&spelled) {
            Ok(url)
                if matches!(url.scheme(), "http" | "https")
                    && url.host_str().is_some_and(|h| !h.is_empty())
                    && url.username().is_empty() =>
            {
                urls.push(url);
            }
            _ => return Err(settings.bad(key, &without_secrets(part), wanted)),
        }
    }
    if urls.is_empty() { Err(settings.bad(key, &without_secrets(text), wanted)) } else { Ok(urls) }
}
