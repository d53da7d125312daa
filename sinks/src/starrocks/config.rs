//! The options of the StarRocks sink.

use super::jdbc_url::{self, JdbcUrl};
use crate::olap::body::{Separators, Zone};
use crate::olap::secret::Secret;
use crate::options::parse_duration;
use crate::settings::{Settings, without_secrets};
use crate::{SinkContext, SinkError};
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// Headers that the sink sets itself. Flink CDC overrides them silently as well.
const FORCED: [&str; 2] = ["strip_outer_array", "ignore_json_size"];
/// Headers that change what a CSV record means.
const CSV_MEANING: [&str; 6] = ["columns", "enclose", "escape", "skip_header", "trim_space", "jsonpaths"];
/// A label has 128 characters at most; the sink's part of it is below this.
const LABEL_ROOM: usize = 40;
/// What `timeout` of a transaction may be, in seconds.
const TRANSACTION_TIMEOUT: std::ops::RangeInclusive<u32> = 1..=259_200;

/// The options of a StarRocks sink.
#[derive(Debug)]
pub(super) struct Config {
    /// `host:port` of each frontend's MySQL port.
    pub(super) sql_addresses: Vec<String>,
    /// How connections to them are encrypted.
    pub(super) tls: rowferry_tls::Client,
    /// Each frontend's HTTP address.
    pub(super) load_urls: Vec<Url>,
    pub(super) username: String,
    pub(super) password: Secret,
    /// Before each label; empty or ending with `_`.
    pub(super) label_prefix: String,
    /// Unique to the pipeline's state.
    pub(super) instance: String,
    pub(super) zone: Zone,
    pub(super) connect_timeout: Duration,
    pub(super) socket_timeout: Option<Duration>,
    pub(super) wait_for_continue: Duration,
    /// What may be buffered and under way in all, in bytes.
    pub(super) max_bytes: usize,
    pub(super) flush_interval: Duration,
    pub(super) threads: usize,
    /// Transactions that end with checkpoints, or plain loads.
    pub(super) transactional: bool,
    /// Rows are CSV records with these separators, or else JSON.
    pub(super) csv: Option<Separators>,
    /// Headers of every load, from `sink.properties.*`, and the forced ones.
    pub(super) load_headers: Vec<(String, String)>,
    /// How long a transaction may stay open, in seconds.
    pub(super) transaction_timeout: u32,
    /// How long a prepared transaction may wait for its commit, in seconds, where the server takes that.
    pub(super) prepared_timeout: Option<u32>,
    pub(super) idle_timeout: Option<u32>,
    pub(super) buckets: Option<u32>,
    /// `table.create.properties.*`, keys in lower case.
    pub(super) table_properties: Vec<(String, String)>,
    pub(super) schema_change_timeout: Duration,
    /// `unicode-char.max-bytes`, where it is given.
    pub(super) char_bytes: Option<u32>,
    /// Whether a label that the server no longer knows counts as committed.
    pub(super) assume_committed: bool,
}

impl Config {
    /// Reads the options.
    ///
    /// # Errors
    /// One is missing, unknown or can't be understood.
    pub(super) fn parse(options: &BTreeMap<String, String>, context: &SinkContext) -> Result<Self, SinkError> {
        let settings = Settings::new("starrocks", options);
        let required = |key: &str| {
            settings
                .text(key)
                .filter(|v| !v.is_empty())
                .ok_or_else(|| SinkError::permanent(format!("starrocks sink: option `{key}` is missing")))
        };
        let password = options.get("password").ok_or_else(|| {
            SinkError::permanent("starrocks sink: option `password` is missing").hint("it may be empty")
        })?;
        let zone = Zone::parse(&context.time_zone).ok_or_else(|| {
            SinkError::permanent(format!("starrocks sink: there is no time zone `{}`", context.time_zone))
        })?;
        let millis = |key: &str, default: u64| -> Result<Duration, SinkError> {
            Ok(Duration::from_millis(settings.number(key)?.unwrap_or(default)))
        };
        // Both are Flink's: accepted, and without a counterpart here.
        settings.number::<u64>("sink.scan-frequency.ms")?;
        settings.number::<u32>("sink.metric.histogram-window-size")?;
        if let Some(v) = settings.text("sink.semantic")
            && !v.eq_ignore_ascii_case("at-least-once")
            && !v.eq_ignore_ascii_case("exactly-once")
        {
            return Err(settings.bad("sink.semantic", v, "at-least-once or exactly-once"));
        }
        let socket_timeout = match settings.number::<i64>("sink.socket.timeout-ms")? {
            None | Some(-1 | 0) => None,
            Some(ms) => Some(Duration::from_millis(u64::try_from(ms).map_err(|_| {
                settings.bad("sink.socket.timeout-ms", &ms.to_string(), "a number of milliseconds, or -1 for none")
            })?)),
        };
        let threads = settings.number("sink.io.thread-count")?.unwrap_or(2);
        if threads == 0 {
            return Err(settings.bad("sink.io.thread-count", "0", "at least 1"));
        }
        let max_bytes = settings.number("sink.buffer-flush.max-bytes")?.unwrap_or(157_286_400);
        if max_bytes == 0 {
            return Err(settings.bad("sink.buffer-flush.max-bytes", "0", "at least 1"));
        }
        let char_bytes: Option<u32> = settings.number("unicode-char.max-bytes")?;
        if let Some(n) = char_bytes
            && !(1..=4).contains(&n)
        {
            return Err(settings.bad("unicode-char.max-bytes", &n.to_string(), "1, 2, 3 or 4"));
        }
        let buckets = settings.number("table.create.num-buckets")?;
        if buckets == Some(0) {
            return Err(settings.bad("table.create.num-buckets", "0", "at least 1"));
        }
        let schema_change_timeout = match settings.text("table.schema-change.timeout") {
            None => Duration::from_secs(30 * 60),
            Some(v) => parse_duration(v)
                .ok()
                .filter(|d| d.as_secs() > 0 && d.subsec_nanos() == 0)
                .ok_or_else(|| settings.bad("table.schema-change.timeout", v, "a duration of whole seconds"))?,
        };
        let properties = load_properties(&settings, options)?;
        let JdbcUrl { addresses: sql_addresses, tls } = jdbc_url::parse(&settings, required("jdbc-url")?)?;
        Ok(Self {
            sql_addresses,
            tls,
            load_urls: load_urls(&settings, required("load-url")?)?,
            username: required("username")?.to_owned(),
            password: Secret::new(password),
            label_prefix: label_prefix(&settings)?,
            instance: context.instance.clone(),
            zone,
            connect_timeout: millis("sink.connect.timeout-ms", 30_000)?.max(Duration::from_millis(1)),
            socket_timeout,
            wait_for_continue: millis("sink.wait-for-continue.timeout-ms", 30_000)?.max(Duration::from_millis(1)),
            max_bytes,
            flush_interval: millis("sink.buffer-flush.interval-ms", 300_000)?,
            threads,
            transactional: settings.flag("sink.at-least-once.use-transaction-stream-load", true)?,
            csv: properties.csv,
            load_headers: properties.headers,
            transaction_timeout: properties.timeout,
            prepared_timeout: properties.prepared_timeout,
            idle_timeout: properties.idle_timeout,
            buckets,
            table_properties: prefixed(options, "table.create.properties.")
                .map(|(k, v)| (k.to_ascii_lowercase(), v.to_owned()))
                .collect(),
            schema_change_timeout,
            char_bytes,
            assume_committed: settings.flag("rowferry.assume-committed", false)?,
        })
    }

    /// The `columns` header, where the user has set one.
    pub(super) fn has_own_columns(&self) -> bool {
        self.load_headers.iter().any(|(k, _)| k.eq_ignore_ascii_case("columns") || k.eq_ignore_ascii_case("jsonpaths"))
    }
}

fn prefixed<'a>(
    options: &'a BTreeMap<String, String>,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
    options.iter().filter_map(move |(k, v)| Some((k.strip_prefix(prefix)?, v.trim())))
}

struct LoadProperties {
    csv: Option<Separators>,
    headers: Vec<(String, String)>,
    timeout: u32,
    prepared_timeout: Option<u32>,
    idle_timeout: Option<u32>,
}

fn load_properties(settings: &Settings<'_>, options: &BTreeMap<String, String>) -> Result<LoadProperties, SinkError> {
    // A transaction that was prepared before a crash must live until the pipeline is back: a day, which is also how
    // long newer servers keep prepared ones by default.
    let mut properties =
        LoadProperties { csv: None, headers: Vec::new(), timeout: 86_400, prepared_timeout: None, idle_timeout: None };
    if settings.raw("sink.properties.format").map(str::trim).is_some_and(|v| v.eq_ignore_ascii_case("csv")) {
        properties.csv = Some(Separators::parse(settings, "row_delimiter")?);
    }
    let csv = properties.csv.is_some();
    for (key, value) in prefixed(options, "sink.properties.") {
        let option = format!("sink.properties.{key}");
        let seconds = || {
            value
                .parse()
                .ok()
                .filter(|n| TRANSACTION_TIMEOUT.contains(n))
                .ok_or_else(|| settings.bad(&option, value, "a number of seconds from 1 to 259200"))
        };
        match key.to_ascii_lowercase().as_str() {
            "timeout" => properties.timeout = seconds()?,
            "prepared_timeout" => properties.prepared_timeout = Some(seconds()?),
            "idle_transaction_timeout" => properties.idle_timeout = Some(seconds()?),
            "label" => {
                return Err(settings.bad(&option, value, "nothing: labels are the sink's (`sink.label-prefix`)"));
            }
            "format" if csv || value.eq_ignore_ascii_case("json") => {}
            "format" => {
                tracing::warn!("starrocks sink: `{option}` is json, as in Flink CDC, or csv; `{value}` has no effect");
            }
            forced if FORCED.contains(&forced) => {
                if !csv && !value.eq_ignore_ascii_case("true") {
                    tracing::warn!(
                        "starrocks sink: `{option}` is always true, as in Flink CDC; `{value}` has no effect"
                    );
                }
            }
            "column_separator" | "row_delimiter" if csv => {}
            meaning if csv && CSV_MEANING.contains(&meaning) => {
                return Err(settings.bad(&option, value, "nothing: how CSV is written and read is the sink's"));
            }
            _ if value.chars().any(|c| c.is_control() && c != '\t') => {
                return Err(settings.bad(&option, value, "a value without control characters"));
            }
            _ => properties.headers.push((key.to_owned(), value.to_owned())),
        }
    }
    // Without it a value that can't be converted becomes NULL without a word.
    if !properties.headers.iter().any(|(k, _)| k.eq_ignore_ascii_case("strict_mode")) {
        properties.headers.push(("strict_mode".to_owned(), "true".to_owned()));
    }
    let mut own = |name: &str, value: String| properties.headers.push((name.to_owned(), value));
    if let Some(separators) = &properties.csv {
        let (column, row) = separators.headers();
        own("format", "csv".to_owned());
        own("column_separator", column);
        own("row_delimiter", row);
    } else {
        own("format", "json".to_owned());
        own("strip_outer_array", "true".to_owned());
        own("ignore_json_size", "true".to_owned());
    }
    Ok(properties)
}

fn label_prefix(settings: &Settings<'_>) -> Result<String, SinkError> {
    match settings.text("sink.label-prefix") {
        None | Some("") => Ok(String::new()),
        Some(v) if v.len() <= LABEL_ROOM && v.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') => {
            Ok(format!("{v}_"))
        }
        Some(v) => {
            Err(settings.bad("sink.label-prefix", v, &format!("at most {LABEL_ROOM} letters, digits, `-` and `_`")))
        }
    }
}

fn load_urls(settings: &Settings<'_>, text: &str) -> Result<Vec<Url>, SinkError> {
    let wanted = "host:port;https://host:port;…";
    let mut urls = Vec::new();
    for part in text.split([';', ',']).map(str::trim).filter(|p| !p.is_empty()) {
        let spelled = if part.contains("://") { part.to_owned() } else { format!("http://{part}") };
        match Url::parse(&spelled) {
            Ok(url)
                if matches!(url.scheme(), "http" | "https")
                    && url.host_str().is_some_and(|h| !h.is_empty())
                    && url.username().is_empty() =>
            {
                urls.push(url);
            }
            _ => return Err(settings.bad("load-url", &without_secrets(part), wanted)),
        }
    }
    if urls.is_empty() { Err(settings.bad("load-url", &without_secrets(text), wanted)) } else { Ok(urls) }
}
