//! The options of the `paimon` sink.

use super::guard;
use crate::SinkError;
use crate::settings::Settings;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// How much may wait in memory before it is written into a data file, in bytes, over all tables.
const BUFFER_BYTES: usize = 64 << 20;

/// What a column of type TIME becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeType {
    /// Paimon's TIME: a time of day in whole milliseconds.
    Time,
    /// Text, `[-]HH:MM:SS[.ffffff]`: holds all that MySQL's TIME can be.
    String,
}

/// The options of a `paimon` sink.
#[derive(Clone, Debug)]
pub(super) struct Config {
    /// The warehouse's directory, absolute.
    pub(super) warehouse: PathBuf,
    /// Options of the catalog, without `metastore` and `warehouse`.
    pub(super) catalog: BTreeMap<String, String>,
    /// What the commit user begins with.
    pub(super) commit_user_prefix: String,
    /// Partition columns by table, as `database.table`.
    pub(super) partition_keys: HashMap<String, Vec<String>>,
    /// Options of every table that is created.
    pub(super) table_options: BTreeMap<String, String>,
    /// What TIME becomes.
    pub(super) time_type: TimeType,
    /// How many bytes may wait in memory, over all tables.
    pub(super) buffer_bytes: usize,
}

impl Config {
    /// Reads the options.
    ///
    /// # Errors
    /// A value can't be understood, names a catalog that this build can't reach, or would make rows invisible.
    pub(super) fn parse(options: &BTreeMap<String, String>) -> Result<Self, SinkError> {
        let settings = Settings::new("paimon", options);
        match settings.text("catalog.properties.metastore") {
            None | Some("filesystem") => {}
            Some(other) => {
                return Err(SinkError::permanent(format!(
                    "paimon sink: `catalog.properties.metastore: {other}` is not supported by this version"
                ))
                .hint("use `filesystem`"));
            }
        }
        let warehouse = settings.text("catalog.properties.warehouse").filter(|w| !w.is_empty()).ok_or_else(|| {
            SinkError::permanent("paimon sink: `catalog.properties.warehouse` is missing")
                .hint("give the warehouse's directory, for example `catalog.properties.warehouse: /data/warehouse`")
        })?;
        let time_type = match settings.text("rowferry.time-type") {
            None => TimeType::Time,
            Some(v) if v.eq_ignore_ascii_case("TIME") => TimeType::Time,
            Some(v) if v.eq_ignore_ascii_case("STRING") => TimeType::String,
            Some(v) => return Err(settings.bad("rowferry.time-type", v, "TIME or STRING")),
        };
        let table_options: BTreeMap<String, String> = own(settings.with_prefix("table.properties."));
        guard::refuse_options(table_options.iter().map(|(k, v)| (k.as_str(), v.as_str())), "`table.properties`")?;
        let mut catalog = own(settings.with_prefix("catalog.properties."));
        catalog.retain(|k, _| k != "metastore" && k != "warehouse");
        Ok(Self {
            warehouse: local_path(warehouse)?,
            catalog,
            commit_user_prefix: settings
                .text("commit.user-prefix")
                .or_else(|| settings.text("commit.user"))
                .unwrap_or("admin")
                .to_owned(),
            partition_keys: partition_keys(settings.text("partition.key").unwrap_or_default())?,
            table_options,
            time_type,
            buffer_bytes: settings.number("rowferry.buffer-bytes")?.unwrap_or(BUFFER_BYTES),
        })
    }
}

fn own<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

/// The directory that a warehouse path or `file:` URI denotes.
fn local_path(warehouse: &str) -> Result<PathBuf, SinkError> {
    let path = match warehouse.split_once(':') {
        Some(("file", rest)) => match rest.strip_prefix("//") {
            // Between the slashes stands a host: none, or this one.
            Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
            None => rest,
        },
        Some((scheme, _)) if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            return Err(SinkError::permanent(format!(
                "paimon sink: a warehouse at `{scheme}:` is not supported by this version"
            ))
            .hint("use a directory, for example `/data/warehouse` or `file:///data/warehouse`"));
        }
        _ => warehouse,
    };
    std::path::absolute(path)
        .map_err(|e| SinkError::permanent(format!("paimon sink: `{warehouse}` is no path")).caused_by(e))
}

/// Reads `db.t1:c1,c2;db.t2:c3`.
fn partition_keys(text: &str) -> Result<HashMap<String, Vec<String>>, SinkError> {
    let mut keys = HashMap::new();
    for part in text.split(';').map(str::trim).filter(|p| !p.is_empty()) {
        let malformed = || {
            SinkError::permanent(format!("paimon sink: partition.key is malformed: `{part}`"))
                .hint("write `database.table:column,column`, with `;` between tables")
        };
        let (table, columns) = part.split_once(':').ok_or_else(malformed)?;
        let columns: Vec<String> = columns.split(',').map(|c| c.trim().to_owned()).collect();
        if table.trim().is_empty() || columns.iter().any(|c| c.is_empty() || c.contains(':')) {
            return Err(malformed());
        }
        keys.insert(table.trim().to_owned(), columns);
    }
    Ok(keys)
}
