//! What is there: a table's columns as a frontend shows them.

use super::super::column_type::ColumnType;
use super::ddl::table_name;
use super::dialect::{Connection, Dialect, Failure};
use rowferry_model::TableId;

/// A column that is there.
#[derive(Debug)]
pub(super) struct TargetColumn<T> {
    pub(super) name: String,
    pub(super) target: T,
    pub(super) nullable: bool,
    pub(super) key: bool,
    /// What [`Dialect::shown_default`] makes of it.
    pub(super) default: Option<String>,
    pub(super) comment: String,
}

/// A table that is there.
pub(super) struct TargetTable<D: Dialect> {
    pub(super) columns: Vec<TargetColumn<D::Type>>,
    pub(super) kind: D::TableKind,
}

impl<D: Dialect> TargetTable<D> {
    /// The column of exactly that name.
    pub(super) fn column(&self, name: &str) -> Option<&TargetColumn<D::Type>> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// A column whose name differs in case at most: servers take the two for one.
    pub(super) fn column_any_case(&self, name: &str) -> Option<&TargetColumn<D::Type>> {
        self.column(name).or_else(|| {
            let lower = name.to_lowercase();
            self.columns.iter().find(|c| c.name.to_lowercase() == lower)
        })
    }

    /// The last column of the key.
    pub(super) fn last_key(&self) -> Option<&TargetColumn<D::Type>> {
        self.columns.iter().rev().find(|c| c.key)
    }
}

/// A table; `None`: there is no such one.
///
/// # Errors
/// The server refuses to tell or can't be reached.
pub(super) async fn inspect<D: Dialect>(
    connection: &mut dyn Connection,
    table: &TableId,
) -> Result<Option<TargetTable<D>>, Failure> {
    let rows = match connection.query(&format!("SHOW FULL COLUMNS FROM {}", table_name(table))).await {
        Ok(rows) => rows,
        Err(Failure::Missing(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let created = match connection.query(&format!("SHOW CREATE TABLE {}", table_name(table))).await {
        Ok(rows) => rows.first(1).unwrap_or_default().to_owned(),
        Err(Failure::Missing(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let columns = rows
        .rows
        .iter()
        .map(|row| {
            let text = |column| rows.get(row, column).unwrap_or_default();
            let yes = |column| text(column).eq_ignore_ascii_case("YES") || text(column).eq_ignore_ascii_case("true");
            let (name, target) = (text("Field"), D::Type::parse(text("Type")));
            TargetColumn {
                name: name.to_owned(),
                nullable: yes("Null"),
                key: yes("Key"),
                default: rows.get(row, "Default").map(|shown| D::shown_default(&created, name, &target, shown)),
                target,
                comment: D::shown_comment(text("Comment")),
            }
        })
        .collect();
    Ok(Some(TargetTable { columns, kind: D::table_kind(&created) }))
}
