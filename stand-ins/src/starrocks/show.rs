//! What SHOW and SELECT answer.

use super::create::unknown_database;
use super::sql::{Failure, Statement, TableName, quote_string};
use super::world::{Column, Job, Table, World};
use std::time::Duration;

/// Columns and rows; NULL is `None`.
pub type ResultSet = (Vec<&'static str>, Vec<Vec<Option<String>>>);

/// A column as `SHOW CREATE TABLE` writes it.
pub fn column_sql(c: &Column) -> String {
    let default = match &c.default {
        None => String::new(),
        Some(d) if c.default_is_expression && d.ends_with("()") => format!(" DEFAULT ({d})"),
        Some(d) if c.default_is_expression => format!(" DEFAULT {d}"),
        Some(d) => format!(" DEFAULT {}", quote_string(d).replace('\n', "\\n")),
    };
    let null = if c.nullable { "NULL" } else { "NOT NULL" };
    format!("`{}` {} {null}{default} COMMENT {}", c.name, c.ty, quote_string(&c.comment))
}

/// As `SHOW CREATE TABLE` writes it.
pub fn create_sql(name: &str, table: &Table) -> String {
    let columns = table.columns.iter().map(|c| format!("  {}", column_sql(c))).collect::<Vec<_>>().join(",\n");
    let list = |names: &[String]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let keys: Vec<String> = table.keys().map(|c| c.name.clone()).collect();
    let comment =
        if table.comment.is_empty() { String::new() } else { format!("COMMENT {}\n", quote_string(&table.comment)) };
    let buckets = table.buckets.map(|b| format!(" BUCKETS {b} ")).unwrap_or_default();
    let order = if table.sort.is_empty() { String::new() } else { format!("ORDER BY({})\n", list(&table.sort)) };
    let properties = table
        .properties
        .iter()
        .map(|(k, v)| format!("{} = {}", quote_string(k), quote_string(v)))
        .collect::<Vec<_>>()
        .join(",\n");
    format!(
        "CREATE TABLE `{name}` (\n{columns}\n) ENGINE=OLAP \n{} KEY({})\n{comment}DISTRIBUTED BY HASH({}){buckets}\n{order}\
         PROPERTIES (\n{properties}\n);",
        table.model,
        list(&keys),
        list(&table.distribution)
    )
}

fn time(at: Duration) -> String {
    format!("2026-01-01 {:02}:{:02}:{:02}", at.as_secs() / 3600 % 24, at.as_secs() / 60 % 60, at.as_secs() % 60)
}

impl World {
    fn shown(&self, name: &TableName, current: &str) -> Result<&Table, Failure> {
        let database = name.database.as_deref().unwrap_or(current);
        let db = self.databases.get(database).ok_or_else(|| unknown_database(database))?;
        db.tables.get(&name.table).ok_or_else(|| {
            Failure::new(
                5502,
                "42602",
                format!("Getting analyzing error. Detail message: Unknown table '{database}.{}'.", name.table),
            )
        })
    }

    /// `SHOW FULL COLUMNS`, which escapes comments.
    pub fn full_columns(&self, table: &Table) -> Vec<Vec<Option<String>>> {
        table
            .columns
            .iter()
            .map(|c| {
                let comment = c.comment.replace('\\', "\\\\").replace('"', "\\\"");
                let yes = |b: bool| Some(if b { "YES" } else { "NO" }.to_owned());
                vec![
                    Some(c.name.clone()),
                    Some(c.ty.shown()),
                    Some(String::new()),
                    yes(c.nullable),
                    yes(c.key),
                    c.shown_default.clone().or_else(|| c.default.clone()),
                    Some(String::new()),
                    Some(String::new()),
                    Some(comment),
                ]
            })
            .collect()
    }

    pub fn show(&self, statement: &Statement, current: &str) -> Result<ResultSet, Failure> {
        match statement {
            Statement::ShowColumns { name, full: true } => Ok((
                vec!["Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"],
                self.full_columns(self.shown(name, current)?),
            )),
            Statement::ShowColumns { name, full: false } | Statement::Describe(name) => {
                let short = |f: Failure| Failure {
                    message: if f.code == 5502 {
                        format!("Getting analyzing error. Detail message: Unknown table '{}'.", name.table)
                    } else {
                        f.message
                    },
                    ..f
                };
                let table = self.shown(name, current).map_err(short)?;
                let rows = table
                    .columns
                    .iter()
                    .map(|c| {
                        vec![
                            Some(c.name.clone()),
                            Some(c.ty.shown()),
                            Some(if c.nullable { "YES" } else { "NO" }.to_owned()),
                            Some(c.key.to_string()),
                            c.shown_default.clone().or_else(|| c.default.clone()),
                            Some(if c.default_is_expression { "DEFAULT_GENERATED" } else { "" }.to_owned()),
                        ]
                    })
                    .collect();
                Ok((vec!["Field", "Type", "Null", "Key", "Default", "Extra"], rows))
            }
            Statement::ShowCreate(name) => {
                let table = self.shown(name, current).map_err(|f| {
                    if f.code == 5502 { Failure::analysis(format!("Table {} is not found", name.table)) } else { f }
                })?;
                Ok((
                    vec!["Table", "Create Table"],
                    vec![vec![Some(name.table.clone()), Some(create_sql(&name.table, table))]],
                ))
            }
            Statement::ShowDatabases => {
                Ok((vec!["Database"], self.databases.keys().map(|d| vec![Some(d.clone())]).collect()))
            }
            Statement::ShowTables(database) => {
                let database = database.as_deref().unwrap_or(current);
                let db = self.databases.get(database).ok_or_else(|| unknown_database(database))?;
                Ok((vec!["Tables"], db.tables.keys().map(|t| vec![Some(t.clone())]).collect()))
            }
            Statement::ShowAlter { database, table, newest_by_id, limit } => {
                let database = database.as_deref().unwrap_or(current);
                if !self.databases.contains_key(database) {
                    return Err(unknown_database(database));
                }
                let mut jobs: Vec<_> = self.jobs_of(database, table.as_deref()).collect();
                jobs.sort_by_key(|j| j.id);
                if *newest_by_id {
                    jobs.reverse();
                }
                let rows = jobs
                    .into_iter()
                    .take(limit.unwrap_or(usize::MAX))
                    .map(|job| job.cells(time, job.timeout.unwrap_or_default()))
                    .collect();
                Ok((Job::headings(), rows))
            }
            Statement::Select(text) => match text.as_str() {
                "1" | "1;" => Ok((vec!["1"], vec![vec![Some("1".to_owned())]])),
                "version()" => Ok((vec!["version()"], vec![vec![Some("8.0.33".to_owned())]])),
                // Runs on a backend: the recorded frontend had none that could.
                "current_version()" => {
                    let rows = self.version.iter().map(|v| vec![Some(v.clone())]).collect();
                    Ok((vec!["current_version()"], rows))
                }
                t if t.starts_with("@@") => Err(Failure::new(
                    1193,
                    "HY000",
                    format!("Getting analyzing error. Detail message: Unknown system variable '{}'.", &t[2..]),
                )),
                other => Err(Failure::not_modelled(other)),
            },
            other => Err(Failure::not_modelled(&format!("{other:?}"))),
        }
    }
}
