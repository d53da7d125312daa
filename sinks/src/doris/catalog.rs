//! What is there: a table's columns as a frontend shows them.

use super::ddl::table_name;
use super::sql::{SqlClient, SqlError};
use super::target_type::TargetType;
use rowferry_model::TableId;

/// What becomes of rows with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// The last one stays.
    Unique,
    /// All stay.
    Duplicate,
    /// They are added up.
    Aggregate,
}

/// A column of a table in Doris.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetColumn {
    pub(super) name: String,
    pub(super) target: TargetType,
    pub(super) nullable: bool,
    pub(super) key: bool,
    /// The default as it is shown.
    pub(super) default: Option<String>,
    pub(super) comment: String,
}

/// A table in Doris.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetTable {
    pub(super) columns: Vec<TargetColumn>,
    pub(super) model: Model,
    /// Whether columns can be added, dropped and renamed without rewriting the data.
    pub(super) light: bool,
}

impl TargetTable {
    /// The column of exactly that name.
    pub(super) fn column(&self, name: &str) -> Option<&TargetColumn> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// A column whose name differs in case at most: Doris takes the two for one.
    pub(super) fn column_any_case(&self, name: &str) -> Option<&TargetColumn> {
        self.column(name).or_else(|| {
            let lower = name.to_lowercase();
            self.columns.iter().find(|c| c.name.to_lowercase() == lower)
        })
    }

    /// The last column of the key.
    pub(super) fn last_key(&self) -> Option<&TargetColumn> {
        self.columns.iter().rev().find(|c| c.key)
    }
}

/// A table; `None`: there is no such one.
///
/// # Errors
/// The server refuses to tell or can't be reached.
pub(super) async fn inspect(client: &SqlClient, table: &TableId) -> Result<Option<TargetTable>, SqlError> {
    let rows = match client.query(&format!("SHOW FULL COLUMNS FROM {}", table_name(table))).await {
        Ok(rows) => rows,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error),
    };
    let created = match client.query(&format!("SHOW CREATE TABLE {}", table_name(table))).await {
        Ok(rows) => rows.first(1).unwrap_or_default().to_owned(),
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error),
    };
    let columns = rows
        .rows
        .iter()
        .map(|row| {
            let yes = |column| {
                rows.get(row, column).is_some_and(|v| v.eq_ignore_ascii_case("YES") || v.eq_ignore_ascii_case("true"))
            };
            TargetColumn {
                name: rows.get(row, "Field").unwrap_or_default().to_owned(),
                target: TargetType::parse(rows.get(row, "Type").unwrap_or_default()),
                nullable: yes("Null"),
                key: yes("Key"),
                default: rows.get(row, "Default").map(str::to_owned),
                comment: rows.get(row, "Comment").unwrap_or_default().to_owned(),
            }
        })
        .collect();
    let says = |start: &str| created.lines().any(|line| line.starts_with(start));
    let model = if says("UNIQUE KEY") {
        Model::Unique
    } else if says("AGGREGATE KEY") {
        Model::Aggregate
    } else {
        Model::Duplicate
    };
    let light = says("\"light_schema_change\" = \"true\"");
    Ok(Some(TargetTable { columns, model, light }))
}

/// The server's version, where it tells: `(2, 1, 5)` of `doris version doris-2.1.5-rc02`.
///
/// # Errors
/// The server can't be reached or refuses the user.
pub(super) async fn version(client: &SqlClient) -> Result<Option<(u32, u32, u32)>, SqlError> {
    match client.query("SHOW VARIABLES LIKE \"version_comment\"").await {
        Ok(rows) => Ok(rows.first(1).and_then(parse_version)),
        Err(SqlError::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let (_, number) = text.rsplit_once("doris-")?;
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).take(3).map(|p| p.parse().ok());
    let version = (parts.next().flatten()?, parts.next().flatten()?, parts.next().flatten().unwrap_or(0));
    // A build without a release number.
    (version != (0, 0, 0)).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn versions() {
        assert_eq!(parse_version("doris version doris-2.1.5-rc02-d5a02e095d"), Some((2, 1, 5)));
        // The recorded frontend.
        assert_eq!(parse_version("doris version doris-0.0.0-Unknown"), None);
        assert_eq!(parse_version("MySQL"), None);
    }
}
