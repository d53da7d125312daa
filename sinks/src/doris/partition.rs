//! Tables that Doris partitions by itself: `table.create.auto-partition.properties.*`.
//!
//! The partition's column becomes the last of the key and takes no NULL: Doris asks for both in a table with a unique key.

use crate::settings::Settings;
use crate::{SinkContext, SinkError, TableSelector};
use rowferry_model::{DataType, TableId, TableSchema};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Before all options of partitions.
pub(super) const PREFIX: &str = "table.create.auto-partition.properties.";
/// What `date_trunc` cuts off by. A frontend takes any word when a table is made, and its rows fail then.
const UNITS: [&str; 8] = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"];

/// A table's partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// The column whose value says where a row lies.
    pub(super) column: String,
    /// How long one partition is.
    pub(super) unit: String,
}

/// What the options say of one table.
#[derive(Clone, Debug, Default)]
struct Choice {
    column: Option<String>,
    unit: Option<String>,
}

/// Which tables are partitioned, and how.
#[derive(Default)]
pub(super) struct Partitions {
    include: Option<TableSelector>,
    exclude: Option<TableSelector>,
    default: Choice,
    by_table: BTreeMap<String, Choice>,
}

impl fmt::Debug for Partitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partitions").field("default", &self.default).field("by_table", &self.by_table).finish()
    }
}

impl Partitions {
    /// Reads the options.
    ///
    /// # Errors
    /// A pattern or a unit can't be understood, or an option is none of those that there are.
    pub(super) fn parse(
        settings: &Settings<'_>,
        options: &BTreeMap<String, String>,
        context: &SinkContext,
    ) -> Result<Self, SinkError> {
        let mut partitions = Self::default();
        for (key, value) in options {
            let (Some(name), value) = (key.strip_prefix(PREFIX), value.trim()) else { continue };
            if value.is_empty() {
                continue;
            }
            let selector = || (context.select)(value).map_err(|e| settings.bad(key, value, &e));
            match name {
                "include" => partitions.include = Some(selector()?),
                "exclude" => partitions.exclude = Some(selector()?),
                "default-partition-key" => partitions.default.column = Some(value.to_owned()),
                "default-partition-unit" => partitions.default.unit = Some(unit(settings, key, value)?),
                _ => {
                    if let Some(table) = name.strip_suffix(".partition-key") {
                        partitions.by_table.entry(table.to_owned()).or_default().column = Some(value.to_owned());
                    } else if let Some(table) = name.strip_suffix(".partition-unit") {
                        let unit = unit(settings, key, value)?;
                        partitions.by_table.entry(table.to_owned()).or_default().unit = Some(unit);
                    } else {
                        return Err(SinkError::permanent(format!("doris sink: there is no option `{key}`")).hint(
                            "there are include, exclude, default-partition-key, default-partition-unit, \
                             <db>.<table>.partition-key and <db>.<table>.partition-unit",
                        ));
                    }
                }
            }
        }
        if let Some(table) = partitions.without_unit() {
            return Err(SinkError::permanent(format!(
                "doris sink: the partitions of {table} have no unit: option `{PREFIX}default-partition-unit` is missing"
            ))
            .hint(format!("set it to one of {}", UNITS.join(", "))));
        }
        Ok(partitions)
    }

    fn without_unit(&self) -> Option<&str> {
        if self.default.unit.is_some() {
            return None;
        }
        if self.default.column.is_some() {
            return Some("all tables");
        }
        self.by_table.iter().find(|(_, c)| c.column.is_some() && c.unit.is_none()).map(|(table, _)| table.as_str())
    }

    /// A table's partitions; `None`: it has none, also because it lacks the column or the column is no day or time.
    pub(super) fn of(&self, table: &TableId, schema: &TableSchema) -> Option<Partition> {
        let choice = self.choice(table)?;
        let found = schema.column(&choice.column)?;
        matches!(found.data_type, DataType::Date | DataType::Timestamp(_) | DataType::TimestampLtz(_)).then_some(choice)
    }

    /// Says which partitions a table is wanted to have and can't have.
    ///
    /// # Errors
    /// They are set for this very table.
    pub(super) fn check(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        let Some(Partition { column, .. }) = self.choice(table) else { return Ok(()) };
        if self.of(table, schema).is_some() {
            return Ok(());
        }
        let what = match schema.column(&column) {
            None => "there is no such column".to_owned(),
            Some(found) => format!("it is {}, and only days and times partition", found.data_type),
        };
        let key = format!("{PREFIX}{table}.partition-key");
        if self.by_table.get(&table.to_string()).is_some_and(|c| c.column.is_some()) {
            return Err(SinkError::permanent(format!(
                "{table} can't be partitioned by `{column}`, as `{key}` says: {what}"
            ))
            .hint("name a DATE or TIMESTAMP column, or leave the option out"));
        }
        tracing::warn!("doris: {table} is not partitioned by `{column}`: {what}");
        Ok(())
    }

    /// A schema as Doris has it: the partition's column in the key, and never NULL.
    pub(super) fn shape<'a>(&self, table: &TableId, schema: &'a TableSchema) -> Cow<'a, TableSchema> {
        let Some(partition) = self.of(table, schema) else { return Cow::Borrowed(schema) };
        let mut shaped = schema.clone();
        if let Some(column) = shaped.columns.iter_mut().find(|c| c.name == partition.column) {
            column.nullable = false;
        }
        if !shaped.primary_key.is_empty() && !shaped.primary_key.contains(&partition.column) {
            shaped.primary_key.push(partition.column);
        }
        Cow::Owned(shaped)
    }

    fn choice(&self, table: &TableId) -> Option<Partition> {
        if self.exclude.as_ref().is_some_and(|exclude| exclude(table))
            || self.include.as_ref().is_some_and(|include| !include(table))
        {
            return None;
        }
        let own = self.by_table.get(&table.to_string());
        let column = own.and_then(|c| c.column.as_ref()).or(self.default.column.as_ref())?.clone();
        let unit = own.and_then(|c| c.unit.as_ref()).or(self.default.unit.as_ref())?.clone();
        Some(Partition { column, unit })
    }
}

fn unit(settings: &Settings<'_>, key: &str, value: &str) -> Result<String, SinkError> {
    let lower = value.to_ascii_lowercase();
    if UNITS.contains(&lower.as_str()) {
        return Ok(lower);
    }
    Err(settings.bad(key, value, &format!("one of {}", UNITS.join(", "))))
}
