//! The warehouse: what the writer and the applier share.

use super::config::Config;
use super::guard;
use crate::{Retry, SinkError};
use paimon::catalog::Identifier;
use paimon::spec::CoreOptions;
use paimon::table::Table;
use paimon::{Catalog, CatalogOptions, FileSystemCatalog, Options};
use rowferry_model::{TableId, TableSchema};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// A Paimon warehouse and how to use it.
pub(super) struct Lake {
    /// The options.
    pub(super) config: Config,
    /// The catalog.
    pub(super) catalog: FileSystemCatalog,
    /// The commit user of rows. Commits of schema changes have another one, so that their identifiers, which Paimon
    /// compares with those of rows of the same user, don't get in the way.
    pub(super) commit_user: String,
    /// Counts each table's changes: a table that was opened before its last change is opened again.
    generations: Mutex<HashMap<TableId, u64>>,
}

impl Lake {
    /// The warehouse of these options; touches no file.
    pub(super) fn new(config: Config, instance: &str) -> Result<Self, SinkError> {
        let mut options = Options::new();
        for (key, value) in &config.catalog {
            options.set(key, value);
        }
        options.set(CatalogOptions::WAREHOUSE, config.warehouse.to_string_lossy().into_owned());
        let catalog = FileSystemCatalog::new(options)
            .map_err(|e| SinkError::permanent("paimon sink: the catalog can't be opened").caused_by(e))?;
        let commit_user = format!("{}{instance}", config.commit_user_prefix);
        Ok(Self { config, catalog, commit_user, generations: Mutex::default() })
    }

    /// The present generation of a table's schema.
    pub(super) fn generation(&self, table: &TableId) -> u64 {
        self.generations.lock().map_or(0, |generations| generations.get(table).copied().unwrap_or_default())
    }

    /// Says that a table has changed. Others are not touched by it: they may hold rows that are not committed.
    pub(super) fn changed(&self, table: &TableId) {
        if let Ok(mut generations) = self.generations.lock() {
            *generations.entry(table.clone()).or_default() += 1;
        }
    }

    /// A table as it is now; `None`: there is none.
    pub(super) async fn table(&self, table: &TableId) -> Result<Option<Table>, SinkError> {
        let found = match self.catalog.get_table(&identifier(table)).await {
            Err(paimon::Error::DataInvalid { .. }) if self.drop_torn_schema(table) => {
                self.catalog.get_table(&identifier(table)).await
            }
            found => found,
        };
        match found {
            Ok(found) => {
                let options = found.schema().options();
                guard::refuse_options(
                    options.iter().map(|(k, v)| (k.as_str(), v.as_str())),
                    &format!("the existing table {table}"),
                )?;
                Ok(Some(found))
            }
            Err(paimon::Error::TableNotExist { .. } | paimon::Error::DatabaseNotExist { .. }) => Ok(None),
            Err(e) => Err(failed(e, format!("paimon sink: table {table} can't be opened"))),
        }
    }

    /// Where a table's files are.
    fn directory(&self, table: &TableId) -> PathBuf {
        self.config.warehouse.join(format!("{}.db", table.database())).join(table.table())
    }

    /// Removes a table's newest schema if only a part of it was written; `true`: it was so. The library writes schemas in
    /// place, so a kill may cut one short. Nothing can refer to it yet, and the change that wanted it comes again.
    fn drop_torn_schema(&self, table: &TableId) -> bool {
        let Ok(entries) = std::fs::read_dir(self.directory(table).join("schema")) else { return false };
        let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("schema-")?.parse::<u64>().ok();
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let Some((_, newest)) = paths.filter_map(|path| Some((number(&path)?, path))).max() else { return false };
        let Ok(text) = std::fs::read(&newest) else { return false };
        let torn = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_err_and(|error| error.is_eof());
        if torn {
            tracing::warn!(%table, file = %newest.display(), "a schema that was not written to its end is removed");
        }
        torn && std::fs::remove_file(&newest).is_ok()
    }

    /// Takes a table's files out of the way at one stroke, and removes them. Removed where they are, a kill in the middle
    /// would leave a table that has lost some of its files.
    pub(super) fn take_away(&self, table: &TableId) -> std::io::Result<()> {
        let from = self.directory(table);
        if !from.is_dir() {
            return Ok(());
        }
        // On the same file system, and no database to Paimon, whose directories end in `.db`.
        let bin = self.config.warehouse.join(DROPPED);
        std::fs::create_dir_all(&bin)?;
        let unique = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        std::fs::rename(&from, bin.join(format!("{unique}")))?;
        // What a kill has left here goes as well.
        std::fs::remove_dir_all(&bin)
    }

    /// An option that a table gets: its own goes before the sink's.
    pub(super) fn table_option<'a>(&'a self, schema: &'a TableSchema, key: &str) -> Option<&'a str> {
        let own = schema.options.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        own.or_else(|| self.config.table_options.get(key).map(String::as_str))
    }

    /// The partition columns that a table gets: the sink's option goes before the schema's own.
    pub(super) fn partition_keys(&self, table: &TableId, schema: &TableSchema) -> Vec<String> {
        let keys = self.config.partition_keys.get(&table.to_string()).unwrap_or(&schema.partition_key);
        keys.iter().map(|k| schema.column(k).map_or_else(|| k.clone(), |c| c.name.clone())).collect()
    }

    /// The primary key that a table gets: partition columns are a part of it.
    pub(super) fn primary_key(&self, table: &TableId, schema: &TableSchema) -> Vec<String> {
        let mut key: Vec<String> = schema.key_indices().into_iter().map(|i| schema.columns[i].name.clone()).collect();
        if !key.is_empty() {
            for column in self.partition_keys(table, schema) {
                if !key.contains(&column) {
                    key.push(column);
                }
            }
        }
        key
    }
}

/// Where in the warehouse dropped tables are while they are removed.
const DROPPED: &str = ".rowferry-dropped";

/// A table's name in the catalog.
pub(super) fn identifier(table: &TableId) -> Identifier {
    Identifier::new(table.database(), table.table())
}

/// Whether a table of Paimon writes the old rows of updates into its changelog.
pub(super) fn wants_update_before(table: &Table) -> bool {
    CoreOptions::new(table.schema().options()).changelog_producer().eq_ignore_ascii_case("input")
}

/// An error of the library, with what was being done.
pub(super) fn failed(error: paimon::Error, what: impl Into<String>) -> SinkError {
    let retry = match &error {
        paimon::Error::IoUnexpected { source, .. } if source.is_temporary() => Retry::Transient,
        paimon::Error::Unsupported { .. } => Retry::Unsupported,
        _ => Retry::Permanent,
    };
    let message = format!("{}: {error}", what.into());
    match retry {
        Retry::Transient => SinkError::transient(message),
        Retry::Unsupported => SinkError::unsupported(message),
        Retry::Permanent => SinkError::permanent(message),
    }
    .caused_by(error)
}
