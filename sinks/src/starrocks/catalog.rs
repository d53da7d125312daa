//! What is there: a table's columns as a frontend shows them.

use super::ddl::table_name;
use super::default_value::restated;
use super::target_type::TargetType;
use crate::olap::mysql::{Client, SqlError};
use rowferry_model::TableId;

/// A column of a table in StarRocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetColumn {
    pub(super) name: String,
    pub(super) target: TargetType,
    pub(super) nullable: bool,
    pub(super) key: bool,
    /// What is behind `DEFAULT`, as it is written.
    pub(super) default: Option<String>,
    pub(super) comment: String,
}

/// The columns of a table in StarRocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TargetTable {
    pub(super) columns: Vec<TargetColumn>,
    /// Whether it is a table of primary keys, which alone take updates and deletions.
    pub(super) primary: bool,
}

impl TargetTable {
    /// The column of exactly that name.
    pub(super) fn column(&self, name: &str) -> Option<&TargetColumn> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// A column whose name differs in case at most: StarRocks takes the two for one.
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

/// Whether an error says that there is no such table or database.
pub(super) fn is_missing(error: &SqlError) -> bool {
    match error {
        // StarRocks' own numbers, and MySQL's, which older versions gave.
        SqlError::Server { code: 5501 | 5502 | 1049 | 1051 | 1146, .. } => true,
        SqlError::Server { code: 1064, message, .. } => {
            message.contains("Unknown table")
                || message.contains("Unknown database")
                || message.contains("is not found")
        }
        _ => false,
    }
}

/// A table's columns; `None`: there is no such table.
///
/// # Errors
/// The server refuses to tell or can't be reached.
pub(super) async fn inspect(client: &mut Client, table: &TableId) -> Result<Option<TargetTable>, SqlError> {
    let rows = match client.query(&format!("SHOW FULL COLUMNS FROM {}", table_name(table))).await {
        Ok(rows) => rows,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let created = match client.query(&format!("SHOW CREATE TABLE {}", table_name(table))).await {
        Ok(rows) => rows,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let created = created.rows.first().and_then(|row| row.get(1)).and_then(Option::as_deref).unwrap_or_default();
    let columns = rows
        .rows
        .iter()
        .map(|row| {
            let name = rows.get(row, "Field").unwrap_or_default();
            let target = TargetType::parse(rows.get(row, "Type").unwrap_or_default());
            let shown = rows.get(row, "Default");
            TargetColumn {
                name: name.to_owned(),
                nullable: rows.get(row, "Null").is_some_and(|v| v.eq_ignore_ascii_case("YES")),
                key: rows
                    .get(row, "Key")
                    .is_some_and(|v| v.eq_ignore_ascii_case("YES") || v.eq_ignore_ascii_case("true")),
                // A column that was added with CURRENT_TIMESTAMP shows the time of that as its default here, and the truth
                // in the statement that would create the table.
                default: shown.map(|d| default_clause(created, name).unwrap_or_else(|| restated(d, &target))),
                target,
                comment: unescape(rows.get(row, "Comment").unwrap_or_default()),
            }
        })
        .collect();
    let primary = created.lines().any(|line| line.starts_with("PRIMARY KEY"));
    Ok(Some(TargetTable { columns, primary }))
}

/// Comments, and only they, come with a backslash before backslashes and double quotes.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    out
}

/// What is behind `DEFAULT` of a column in the statement that `SHOW CREATE TABLE` gives, as it is written there.
fn default_clause(created: &str, column: &str) -> Option<String> {
    let start = format!("\n  `{column}` ");
    let rest = &created[created.find(&start)? + start.len()..];
    // The type has no quotes, and NULL or NOT NULL is always said.
    let null = rest.find(" NULL ")?;
    let rest = rest[null + " NULL ".len()..].strip_prefix("DEFAULT ")?;
    let mut previous = ' ';
    let mut quoted = false;
    let mut depth = 0_u32;
    for (i, c) in rest.char_indices() {
        match c {
            '"' if previous != '\\' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            ' ' if !quoted && depth == 0 => return Some(rest[..i].to_owned()),
            _ => {}
        }
        // Of two backslashes the second escapes nothing.
        previous = if c == '\\' && previous == '\\' { ' ' } else { c };
    }
    None
}

/// The server's version, where it tells: `(3, 3, 2)`.
///
/// # Errors
/// The server can't be reached.
pub(super) async fn version(client: &mut Client) -> Result<Option<(u32, u32, u32)>, SqlError> {
    match client.query("SELECT current_version()").await {
        Ok(rows) => Ok(rows.rows.first().and_then(|r| r.first()).and_then(Option::as_deref).and_then(parse_version)),
        Err(SqlError::Server { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// `3.3.2-abc def`, `v3.1`.
fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let number = text.trim_start_matches(['v', 'V']);
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).take(3).map(|p| p.parse().ok());
    Some((parts.next().flatten()?, parts.next().flatten()?, parts.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{default_clause, parse_version, unescape};

    /// Lines as the recorded frontend gives them.
    const CREATED: &str = "CREATE TABLE `t` (\n  `id` bigint(20) NOT NULL COMMENT \"\",\n  `c` datetime NULL DEFAULT \
        CURRENT_TIMESTAMP COMMENT \"\",\n  `q` varchar(50) NULL DEFAULT \"a\\\"b c\\\\\" COMMENT \"DEFAULT \",\n  `u` \
        varchar(50) NOT NULL DEFAULT (uuid()) COMMENT \"\"\n) ENGINE=OLAP \nPRIMARY KEY(`id`)";

    #[test]
    fn defaults_are_taken_as_they_are_written() {
        assert_eq!(default_clause(CREATED, "id"), None);
        assert_eq!(default_clause(CREATED, "c").unwrap(), "CURRENT_TIMESTAMP");
        assert_eq!(default_clause(CREATED, "q").unwrap(), "\"a\\\"b c\\\\\"");
        assert_eq!(default_clause(CREATED, "u").unwrap(), "(uuid())");
        assert_eq!(default_clause(CREATED, "none"), None);
    }

    #[test]
    fn comments_come_escaped() {
        assert_eq!(unescape("say \\\"hi\\\" back\\\\slash"), "say \"hi\" back\\slash");
    }

    #[test]
    fn versions() {
        assert_eq!(parse_version("3.3.2-abc 5e1a"), Some((3, 3, 2)));
        assert_eq!(parse_version("v2.5"), Some((2, 5, 0)));
        assert_eq!(parse_version("UNKNOWN"), None);
    }
}
