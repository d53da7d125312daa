//! Statements, and what they answer.

use super::create::unknown_database;
use super::sql::{Failure, Statement, TableName, parse};
use super::world::{Column, Job, Table, World};
use std::time::Duration;

/// Columns and rows; NULL is `None`.
pub type ResultSet = (Vec<&'static str>, Vec<Vec<Option<String>>>);

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}

/// A column as `SHOW CREATE TABLE` writes it.
fn column_sql(c: &Column) -> String {
    let null = if c.nullable { "NULL" } else { "NOT NULL" };
    let default = match &c.default {
        None => String::new(),
        Some(d) if c.default_is_function => format!(" DEFAULT {d}"),
        // Defaults are not escaped again.
        Some(d) => format!(" DEFAULT \"{d}\""),
    };
    let comment = if c.comment.is_empty() { String::new() } else { format!(" COMMENT {}", quoted(&c.comment)) };
    format!("`{}` {} {null}{default}{comment}", c.name, c.ty)
}

/// As `SHOW CREATE TABLE` writes it.
pub fn create_sql(name: &str, table: &Table) -> String {
    let columns = table.columns.iter().map(|c| format!("  {}", column_sql(c))).collect::<Vec<_>>().join(",\n");
    let list = |names: Vec<&str>| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let keys: Vec<&str> = table.columns.iter().filter(|c| c.key).map(|c| c.name.as_str()).collect();
    let key = if table.model.is_empty() { String::new() } else { format!("{} KEY({})\n", table.model, list(keys)) };
    let comment = if table.comment.is_empty() {
        String::new()
    } else {
        format!("COMMENT '{}'\n", table.comment.replace('"', "\\\""))
    };
    let partition = match &table.partition {
        Some((column, unit)) => format!("AUTO PARTITION BY RANGE (date_trunc(`{column}`, '{unit}'))\n()\n"),
        None => String::new(),
    };
    let distribution = if table.hash.is_empty() {
        "RANDOM".to_owned()
    } else {
        format!("HASH({})", list(table.hash.iter().map(String::as_str).collect()))
    };
    let buckets = if table.buckets == 0 { "AUTO".to_owned() } else { table.buckets.to_string() };
    let mut properties = vec![
        ("replication_allocation".to_owned(), format!("tag.location.default: {}", table.replicas)),
        ("min_load_replica_num".to_owned(), "-1".to_owned()),
        ("is_being_synced".to_owned(), "false".to_owned()),
        ("storage_medium".to_owned(), "hdd".to_owned()),
        ("storage_format".to_owned(), "V2".to_owned()),
        ("inverted_index_storage_format".to_owned(), "V2".to_owned()),
    ];
    let mut add = |key: &str, value: &str| properties.push((key.to_owned(), value.to_owned()));
    if table.is_unique() {
        add("enable_unique_key_merge_on_write", if table.merge_on_write { "true" } else { "false" });
    }
    if table.light {
        add("light_schema_change", "true");
    }
    add("disable_auto_compaction", "false");
    add("enable_single_replica_compaction", "false");
    add("group_commit_interval_ms", "10000");
    add("group_commit_data_bytes", "134217728");
    if table.is_unique() && table.merge_on_write {
        add("enable_mow_light_delete", "false");
    }
    if table.model.is_empty() {
        add("enable_duplicate_without_keys_by_default", "true");
    }
    let properties = properties.iter().map(|(k, v)| format!("\"{k}\" = \"{v}\"")).collect::<Vec<_>>().join(",\n");
    format!(
        "CREATE TABLE `{name}` (\n{columns}\n) ENGINE=OLAP\n{key}{comment}{partition}DISTRIBUTED BY {distribution} BUCKETS \
         {buckets}\nPROPERTIES (\n{properties}\n);"
    )
}

fn time(at: Duration) -> String {
    format!("2026-01-01 {:02}:{:02}:{:02}", at.as_secs() / 3600 % 24, at.as_secs() / 60 % 60, at.as_secs() % 60)
}

impl World {
    /// Runs a statement.
    pub fn execute(&mut self, current: &str, user: &str, sql: &str) -> Result<Option<ResultSet>, Failure> {
        let statement = parse(sql)?;
        let database = |name: &TableName| name.database.clone().unwrap_or_else(|| current.to_owned());
        let looks = matches!(
            statement,
            Statement::ShowDatabases
                | Statement::SelectOne
                | Statement::Select { .. }
                | Statement::ShowVariables(_)
                | Statement::ShowAlter { .. }
                | Statement::ShowColumns { .. }
                | Statement::ShowCreate(_)
        );
        if !looks && self.without_rights.iter().any(|u| u == user) {
            return Err(Failure::new(format!(
                "ALTER TABLE command denied to user '{user}'@'127.0.0.1' for table '{current}'"
            )));
        }
        match &statement {
            Statement::CreateDatabase { name, if_not_exists } => self.create_database(name, *if_not_exists)?,
            Statement::DropDatabase { name, if_exists } => self.drop_database(name, *if_exists)?,
            Statement::CreateTable(create) => self.create_table(&database(&create.name), create)?,
            Statement::DropTable { name, if_exists, force } => {
                self.drop_table(name, &database(name), *if_exists, *force)?;
            }
            Statement::Truncate(name) => self.truncate(name, &database(name))?,
            Statement::Alter { name, clauses } => self.alter(name, &database(name), clauses)?,
            Statement::CancelAlter(name) => self.cancel_alter(name, &database(name))?,
            other => return self.show(other, current).map(Some),
        }
        Ok(None)
    }

    fn shown(&self, name: &TableName, current: &str) -> Result<&Table, Failure> {
        let database = name.database.as_deref().unwrap_or(current);
        let db = self.databases.get(database).ok_or_else(|| unknown_database(database))?;
        db.tables.get(&name.table).ok_or_else(|| Failure::new(format!("Unknown table '{}'", name.table)))
    }

    /// As `SHOW FULL COLUMNS` gives them.
    pub fn full_columns(&self, table: &Table) -> Vec<Vec<Option<String>>> {
        let extra = if table.is_unique() && !table.merge_on_write { "REPLACE" } else { "NONE" };
        table
            .columns
            .iter()
            .map(|c| {
                let yes = |b: bool| Some(if b { "YES" } else { "NO" }.to_owned());
                vec![
                    Some(c.name.clone()),
                    Some(c.ty.full()),
                    Some(String::new()),
                    yes(c.nullable),
                    yes(c.key),
                    c.default.clone(),
                    Some(if c.key { "" } else { extra }.to_owned()),
                    Some(String::new()),
                    Some(c.comment.clone()),
                ]
            })
            .collect()
    }

    fn select(&self, columns: &[String], table: &Table, order: &str) -> Result<ResultSet, Failure> {
        let id = |name: &str| {
            let at =
                table.column(name).ok_or_else(|| Failure::new(format!("Unknown column '{name}' in 'table list'")))?;
            Ok(table.columns[at].id)
        };
        let ids = columns.iter().map(|c| id(c)).collect::<Result<Vec<_>, Failure>>()?;
        let order = id(order)?;
        let mut rows: Vec<_> = table.rows.values().collect();
        rows.sort_by_key(|row| row[&order].as_ref().and_then(|v| v.parse::<i64>().ok()));
        let values = rows.iter().map(|row| ids.iter().map(|id| row.get(id).cloned().flatten()).collect());
        // Nobody asks for the names.
        Ok((vec!["value"; columns.len()], values.collect()))
    }

    fn show(&self, statement: &Statement, current: &str) -> Result<ResultSet, Failure> {
        match statement {
            Statement::ShowColumns { name } => Ok((
                vec!["Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"],
                self.full_columns(self.shown(name, current)?),
            )),
            Statement::ShowCreate(name) => {
                let table = self.shown(name, current)?;
                let sql = create_sql(&name.table, table);
                Ok((vec!["Table", "Create Table"], vec![vec![Some(name.table.clone()), Some(sql)]]))
            }
            Statement::ShowDatabases => {
                Ok((vec!["Database"], self.databases.keys().map(|d| vec![Some(d.clone())]).collect()))
            }
            Statement::Select { columns, name, order } => self.select(columns, self.shown(name, current)?, order),
            Statement::SelectOne => Ok((vec!["1"], vec![vec![Some("1".to_owned())]])),
            Statement::ShowVariables(pattern) if pattern == "version_comment" => {
                let row = vec![Some(pattern.clone()), Some(self.version.clone()), Some(self.version.clone())];
                Ok((vec!["Variable_name", "Value", "Default_Value"], vec![row]))
            }
            Statement::ShowAlter { database, table } => {
                let database = database.as_deref().unwrap_or(current);
                if !self.databases.contains_key(database) {
                    return Err(unknown_database(database));
                }
                let jobs = self.jobs_of(database, table.as_deref());
                Ok((Job::headings(), jobs.map(|job| job.cells(time, 2_592_000)).collect()))
            }
            other => Err(Failure::not_modelled(&format!("{other:?}"))),
        }
    }
}
