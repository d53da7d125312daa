//! The `source` block into its configuration.

use super::super::diagnostic::Diagnostics;
use super::super::pattern::TablePattern;
use super::super::reader::{Block, Unknown};
use super::super::suggest::did_you_mean;
use super::super::yaml::{Map, Node, Value};
use super::super::zone::Zone;
use super::options::{MYSQL_OPTIONS, OTHER_SOURCES, SLIPS};
use super::{MetadataColumn, ServerIds, SourceConfig, jdbc, server_id, startup};
use rowferry_sinks::options::{Options, Position, Secret};
use std::collections::BTreeMap;
use std::time::Duration;

/// Reads the block; `None` where it can't be used, which has been told then.
pub(crate) fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<SourceConfig> {
    let Value::Map(map) = &node.value else {
        let message = format!("must be a map, not {}", node.describe());
        diagnostics.invalid(node.position, "source", message).maybe(None);
        return None;
    };
    if !known_type(map, node.position, diagnostics) {
        return None;
    }
    let block = Block {
        path: "source",
        position: node.position,
        map,
        table: MYSQL_OPTIONS,
        reserved: &["type", "name"],
        unknown: Unknown::Refuse,
        owner: "the source `mysql`",
        known_slips: SLIPS,
    };
    let options = block.read(diagnostics);
    let name = super::super::text_of(map, "name", "source", diagnostics);
    Resolver { map, options: &options, block: node.position, diagnostics }.resolve(name)
}

/// Looks at `type`; options of other sources are not known.
fn known_type(map: &Map, block: Position, diagnostics: &mut Diagnostics) -> bool {
    let Some(name) = super::super::required_text(map, "type", "source", block, diagnostics) else { return false };
    if name.text == "mysql" {
        return true;
    }
    let at = name.position;
    if OTHER_SOURCES.contains(&name.text.as_str()) {
        let message = format!("this version of rowferry does not read from `{}`", name.shown);
        diagnostics.unsupported(at, "source.type", message).hint("it reads from mysql");
    } else {
        let hint = did_you_mean(&name.text, ["mysql"]).unwrap_or_else(|| "this version reads from mysql".to_owned());
        diagnostics.invalid(at, "source.type", format!("`{}` is not a source", name.shown)).hint(hint);
    }
    false
}

struct Resolver<'a> {
    map: &'a Map,
    options: &'a Options,
    block: Position,
    diagnostics: &'a mut Diagnostics,
}

impl Resolver<'_> {
    /// Reads everything before it gives up, so that all that is wrong is told at once.
    fn resolve(mut self, name: Option<String>) -> Option<SourceConfig> {
        let tables = self.pattern("tables");
        let tables_exclude = self.pattern("tables.exclude");
        let server_id = self.server_id();
        let server_time_zone = self.zone();
        let jdbc = jdbc::read(self.options, self.diagnostics);
        let map = self.map;
        let present = |name: &str| map.get(name).is_some_and(|entry| !entry.value.is_null());
        let startup = startup::read(self.options, &present, self.block, self.diagnostics);
        let metadata = self.metadata();
        self.cross_checks();
        for name in ["hostname", "username"] {
            if self.options.text(name).is_some_and(|text| text.trim().is_empty()) {
                let at = self.options.position(name).unwrap_or(self.block);
                self.diagnostics.invalid(at, format!("source.{name}"), "is empty").maybe(None);
            }
        }
        let o = self.options;
        let prefixed = |prefix: &str| -> BTreeMap<String, Secret> {
            o.with_prefix(prefix).map(|(key, value)| (key.to_owned(), Secret::new(value))).collect()
        };
        let chunk_keys = o
            .per_table("scan.incremental.snapshot.chunk.key-column")
            .iter()
            .filter_map(|entry| Some((TablePattern::parse(&entry.table).ok()?, entry.values.first()?.clone())));
        Some(SourceConfig {
            name: name.unwrap_or_else(|| "Flink CDC Event Source: mysql".to_owned()),
            hostname: o.text("hostname")?.to_owned(),
            port: u16::try_from(o.int("port")?).ok()?,
            username: o.text("username")?.to_owned(),
            password: o.secret("password")?.clone(),
            tables: tables?,
            tables_exclude,
            server_id,
            server_time_zone,
            connect_timeout: o.duration("connect.timeout")?,
            connect_max_retries: self.count("connect.max-retries")?,
            connection_pool_size: self.count("connection.pool.size")?,
            heartbeat_interval: o.duration("heartbeat.interval").filter(|d| *d > Duration::ZERO)?,
            tls: jdbc.tls,
            tls_authority: jdbc.authority,
            socket_timeout: jdbc.socket_timeout,
            jdbc_properties: prefixed("jdbc.properties."),
            debezium: prefixed("debezium."),
            startup: startup?,
            chunk_size: self.count("scan.incremental.snapshot.chunk.size")?,
            fetch_size: self.count("scan.snapshot.fetch.size")?,
            chunk_keys: chunk_keys.collect(),
            unbounded_chunk_first: o.flag("scan.incremental.snapshot.unbounded-chunk-first.enabled"),
            skip_backfill: o.flag("scan.incremental.snapshot.backfill.skip"),
            chunk_meta_group_size: self.count("chunk-meta.group.size")?,
            even_distribution_upper: o.double("chunk-key.even-distribution.factor.upper-bound")?,
            even_distribution_lower: o.double("chunk-key.even-distribution.factor.lower-bound")?,
            newly_added_tables: o.flag("scan.newly-added-table.enabled"),
            binlog_newly_added_tables: o.flag("scan.binlog.newly-added-table.enabled"),
            online_schema_changes: o.flag("scan.parse.online.schema.changes.enabled"),
            schema_changes: o.flag("schema-change.enabled"),
            comments: o.flag("include-comments.enabled"),
            tinyint1_as_boolean: o.flag("treat-tinyint1-as-boolean.enabled"),
            legacy_json_format: o.flag("use.legacy.json.format"),
            metadata,
            tolerate_gtid_holes: o.flag("scan.binlog.tolerate.gtid-holes"),
        })
    }

    fn count(&self, name: &str) -> Option<u32> {
        self.options.int(name).and_then(|n| u32::try_from(n).ok())
    }

    fn pattern(&mut self, name: &str) -> Option<TablePattern> {
        let text = self.options.text(name)?;
        let at = self.options.position(name).unwrap_or(self.block);
        let key = format!("source.{name}");
        match TablePattern::parse(text) {
            Ok(pattern) => {
                for warning in pattern.warnings() {
                    self.diagnostics.warning(at, key.as_str(), warning.as_str()).maybe(None);
                }
                Some(pattern)
            }
            Err(error) => {
                self.diagnostics.invalid(at, key, error.message).maybe(error.hint);
                None
            }
        }
    }

    /// What may be shown of an option: the text in the file.
    fn shown(&self, name: &str) -> &str {
        match self.map.get(name).map(|entry| &entry.value.value) {
            Some(Value::Scalar(scalar)) => scalar.shown(),
            _ => "",
        }
    }

    fn server_id(&mut self) -> Option<ServerIds> {
        let text = self.options.text("server-id")?;
        match ServerIds::parse(text) {
            Ok(ids) => Some(ids),
            Err(reason) => {
                let at = self.options.position("server-id").unwrap_or(self.block);
                let message = format!("`{}` {reason}", self.shown("server-id"));
                self.diagnostics.invalid(at, "source.server-id", message).maybe(None);
                None
            }
        }
    }

    fn zone(&mut self) -> Option<Zone> {
        let text = self.options.text("server-time-zone")?;
        let zone = Zone::parse_zone_id(text);
        if zone.is_none() {
            let at = self.options.position("server-time-zone").unwrap_or(self.block);
            let message = format!("`{}` is not a time zone", self.shown("server-time-zone"));
            let hint =
                Zone::suggest(text).unwrap_or_else(|| "write a region such as Europe/Paris, or +08:00".to_owned());
            self.diagnostics.invalid(at, "source.server-time-zone", message).hint(hint);
        }
        zone
    }

    fn metadata(&mut self) -> Vec<MetadataColumn> {
        let Some(text) = self.options.text("metadata.list") else { return Vec::new() };
        let at = self.options.position("metadata.list").unwrap_or(self.block);
        let key = "source.metadata.list";
        let mut columns = Vec::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let column = match name {
                "op_ts" => MetadataColumn::OpTs,
                "table_name" => MetadataColumn::TableName,
                "database_name" => MetadataColumn::DatabaseName,
                "row_kind" => {
                    let message = "`row_kind` can't be used: Flink CDC accepts the name and fails at the first row";
                    self.diagnostics.invalid(at, key, message).hint("use `__data_event_type__` in the transform");
                    continue;
                }
                other => {
                    let names = ["op_ts", "table_name", "database_name"];
                    let hint = did_you_mean(other, names).unwrap_or_else(|| format!("there are {}", names.join(", ")));
                    let message = format!("`{other}` is not metadata of MySQL");
                    self.diagnostics.invalid(at, key, message).hint(hint);
                    continue;
                }
            };
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    fn cross_checks(&mut self) {
        let both = ["scan.newly-added-table.enabled", "scan.binlog.newly-added-table.enabled"];
        if both.iter().all(|name| self.options.flag(name)) {
            let at = self.options.position(both[1]).unwrap_or(self.block);
            let message = format!("can't be true together with {}: rows could come twice after a restart", both[0]);
            self.diagnostics.invalid(at, format!("source.{}", both[1]), message).hint("choose one of them");
        }
        if self.options.duration("heartbeat.interval") == Some(Duration::ZERO) {
            let at = self.options.position("heartbeat.interval").unwrap_or(self.block);
            self.diagnostics.invalid(at, "source.heartbeat.interval", "must be longer than zero").maybe(None);
        }
    }
}

/// Each reader needs an id of its own, up to the number that rowferry ever uses.
pub(crate) fn check_server_ids(node: &Node, ids: ServerIds, parallelism: u32, diagnostics: &mut Diagnostics) {
    let at = match &node.value {
        Value::Map(map) => map.get("server-id").map_or(node.position, |entry| entry.value.position),
        _ => node.position,
    };
    let count = ids.count();
    if count >= parallelism {
        return;
    }
    let message =
        format!("the range has {count} {} but parallelism is {parallelism}", if count == 1 { "id" } else { "ids" });
    if count < parallelism.min(server_id::ENOUGH) {
        let last = u64::from(ids.first) + u64::from(parallelism) - 1;
        let hint = format!("write {}-{last}, or lower pipeline.parallelism", ids.first);
        diagnostics.invalid(at, "source.server-id", message).hint(hint);
    } else {
        let hint = "Flink CDC would refuse this; rowferry needs one";
        diagnostics.warning(at, "source.server-id", message).hint(hint);
    }
}
