//! Changes of columns.

use super::super::attempts::Transactions;
use super::super::column_type::ColumnType;
use super::super::default_value::{default_value, implied_value};
use super::ddl::{self, ColumnClause};
use super::dialect::Dialect;
use super::renames::{Present, check_not_parked, renames};
use super::steps::Step;
use super::table::{TargetColumn, TargetTable};
use crate::SinkError;
use rowferry_model::{AddedColumn, AlteredColumn, Column, ColumnPosition, TableId, TableSchema};

const ANEW: &str = "snapshot the table again into a new one";

/// A table whose columns change: what it is in the target, and the schema behind the change.
pub(super) struct Columns<'a, D: Dialect> {
    pub(super) dialect: &'a D,
    pub(super) table: &'a TableId,
    pub(super) after: Option<&'a TableSchema>,
    pub(super) present: &'a TargetTable<D>,
}

/// The default of a new column, as it is written; `None`: it has none, or the server can't have it.
pub(crate) fn default_sql<D: Dialect>(column: &Column, target: &D::Type) -> Option<String> {
    default_value(column, target.kind()).and_then(D::default_literal)
}

/// The default of a new column. One that the server can't have is left out with a warning.
pub(super) fn default_or_warn<D: Dialect>(table: &TableId, column: &Column, target: &D::Type) -> Option<String> {
    let sql = default_sql::<D>(column, target);
    if sql.is_none()
        && let Some(text) = &column.default
    {
        let sink = D::Client::SINK;
        tracing::warn!("{sink}: `{}` of {table} gets no default: {target} can't have `{text}`", column.name);
    }
    sql
}

/// A comment as it is written; `None` where there is none.
pub(super) fn comment<D: Dialect>(comment: Option<&str>) -> Option<String> {
    comment.filter(|c| !c.is_empty()).map(D::comment_literal)
}

impl<D: Dialect> Columns<'_, D> {
    fn is_key(&self, name: &String) -> bool {
        self.after.is_some_and(|s| s.primary_key.contains(name))
    }

    fn wanted_type(&self, column: &Column) -> D::Type {
        self.dialect.target_type(column, self.is_key(&column.name))
    }

    fn change(&self, clauses: &str) -> Step {
        Step::Alter(ddl::alter_table(self.table, clauses, &self.dialect.alter_options()))
    }

    /// A column that is there may be narrower than the sink would make it: what does not fit is refused when it comes.
    pub(super) fn warn_if_narrow(&self, column: &Column, there: &TargetColumn<D::Type>) {
        let wanted = self.wanted_type(column);
        if !there.target.holds(&wanted) {
            tracing::warn!(
                "{}: `{}` of {} is {}, the sink would make it {wanted}: values that don't fit are refused",
                D::Client::SINK,
                column.name,
                self.table,
                there.target
            );
        }
    }

    /// The statement for those columns that are not there.
    pub(super) fn add(&self, columns: &[AddedColumn]) -> Result<Vec<Step>, SinkError> {
        let table = self.table;
        let mut clauses: Vec<(ColumnClause, Option<String>)> = Vec::new();
        for added in columns {
            let column = &added.column;
            D::check_column(table, &column.name)?;
            check_not_parked(table, &column.name)?;
            if let Some(there) = self.present.column_any_case(&column.name) {
                if there.name != column.name {
                    return Err(SinkError::unsupported(format!(
                        "`{}` of {table} is added, but {} has `{}` and takes the two names for one",
                        column.name,
                        D::SERVER,
                        there.name
                    ))
                    .hint(format!("drop the old column in {}, or rename the new one by a transform", D::SERVER)));
                }
                self.warn_if_narrow(column, there);
                continue;
            }
            if self.is_key(&column.name) {
                return Err(SinkError::unsupported(format!(
                    "`{}` of {table} is added to the key, which makes other rows of those that are there",
                    column.name
                ))
                .hint(ANEW));
            }
            let target = self.dialect.target_type(column, false);
            // Rows that are there get in MySQL what the default says, or the type's zero.
            let default = match default_or_warn::<D>(table, column, &target) {
                None if !column.nullable && column.default.is_none() => {
                    implied_value(column, target.kind()).and_then(D::default_literal)
                }
                default => default,
            };
            let behind = self.neighbour(added, &clauses);
            let clause = ColumnClause {
                name: column.name.clone(),
                target: target.to_string(),
                key: false,
                nullable: true,
                default,
                comment: comment::<D>(column.comment.as_deref()),
            };
            clauses.push((clause, behind));
        }
        Ok(if clauses.is_empty() { Vec::new() } else { vec![self.change(&ddl::add_columns(&clauses))] })
    }

    /// The column that a new one comes behind; `None`: the last.
    fn neighbour(&self, added: &AddedColumn, before: &[(ColumnClause, Option<String>)]) -> Option<String> {
        let present = self.present;
        // No column can come before or among the key's.
        let behind_key = || present.last_key().map(|c| c.name.clone());
        match &added.position {
            ColumnPosition::Last => None,
            ColumnPosition::First => behind_key(),
            ColumnPosition::After(name) => match present.column_any_case(name) {
                Some(column) if column.key => behind_key(),
                Some(column) => Some(column.name.clone()),
                None => before.iter().find(|(c, _)| c.name == *name).map(|(c, _)| c.name.clone()),
            },
            ColumnPosition::Before(name) => {
                let at = present.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name))?;
                match at.checked_sub(1).and_then(|i| present.columns.get(i)) {
                    Some(column) if !column.key => Some(column.name.clone()),
                    _ => behind_key(),
                }
            }
        }
    }

    /// The statement for those columns that are still there.
    pub(super) fn drop(&self, names: &[String]) -> Result<Vec<Step>, SinkError> {
        let mut there = Vec::new();
        for name in names {
            match self.present.column_any_case(name) {
                None => {}
                Some(column) if column.key => {
                    return Err(SinkError::unsupported(format!(
                        "`{name}` of {} is dropped, but is part of its key in {}",
                        self.table,
                        D::SERVER
                    ))
                    .hint(ANEW));
                }
                Some(column) => there.push(column.name.clone()),
            }
        }
        Ok(if there.is_empty() { Vec::new() } else { vec![self.change(&ddl::drop_columns(&there))] })
    }

    /// A statement for each name that is not changed yet.
    pub(super) fn rename(&self, names: &[(String, String)]) -> Result<Vec<Step>, SinkError> {
        for (_, new) in names {
            D::check_column(self.table, new)?;
            check_not_parked(self.table, new)?;
        }
        let todo = renames(D::SERVER, self.table, names, self)?;
        if !todo.is_empty() {
            D::check_rename(self.table, &self.present.kind)?;
        }
        Ok(todo.into_iter().map(|(from, to)| Step::Alter(D::rename_column(self.table, &from, &to))).collect())
    }

    /// The statements for types, nullability and comments that are not as they should be: one for all columns that are
    /// made anew, before the comments.
    pub(super) fn alter(&self, columns: &[AlteredColumn]) -> Result<Vec<Step>, SinkError> {
        let mut modified = Vec::new();
        let mut comments = Vec::new();
        for altered in columns {
            let Some(there) = self.present.column_any_case(&altered.name) else {
                return Err(SinkError::permanent(format!(
                    "column `{}` of {} is changed, but {} has no such column",
                    altered.name,
                    self.table,
                    D::SERVER
                )));
            };
            let described = self.after.and_then(|s| s.column(&altered.name)).cloned().unwrap_or_else(|| {
                let mut column = Column::new(&altered.name, altered.data_type);
                column.nullable = altered.nullable;
                column
            });
            let key = there.key || self.is_key(&altered.name);
            let target = there.target.widened(self.dialect.target_type(&described, key));
            // A column that takes NULL takes everything that is not.
            let nullable = there.nullable || (altered.nullable && !key);
            let new = altered.comment.as_deref().filter(|c| !D::is_comment(&there.comment, c));
            if target == there.target && nullable == there.nullable {
                comments.extend(new.map(|c| Step::Alter(D::comment_column(self.table, &there.name, c))));
                continue;
            }
            // What a description can't hold comes behind it, in a statement of its own.
            let wanted = new.unwrap_or(&there.comment);
            let held = D::keeps_comment(wanted);
            modified.push(self.redefined(there, &target, nullable, if held { wanted } else { &there.comment })?);
            if !held {
                comments.push(Step::Alter(D::comment_column(self.table, &there.name, wanted)));
            }
        }
        let mut steps = Vec::new();
        if !modified.is_empty() {
            steps.push(self.change(&ddl::modify_columns(&modified)));
        }
        steps.extend(comments);
        Ok(steps)
    }

    /// A column with another type. A default can't be changed, and must be said again; so must the comment.
    fn redefined(
        &self,
        there: &TargetColumn<D::Type>,
        target: &D::Type,
        nullable: bool,
        with_comment: &str,
    ) -> Result<ColumnClause, SinkError> {
        let table = self.table;
        if there.key && !D::CHANGES_KEYS {
            return Err(SinkError::unsupported(format!(
                "`{}` of {table} becomes {target}, but is part of its key in {} ({}), which can't be changed",
                there.name,
                D::SERVER,
                there.target
            ))
            .hint(ANEW));
        }
        let restated = |text: &String| {
            D::restated_default(text, target).ok_or_else(|| {
                SinkError::unsupported(format!(
                    "`{}` of {table} becomes {target}, but its default `{text}` can't be written again, as {} asks for",
                    there.name,
                    D::SERVER
                ))
            })
        };
        Ok(ColumnClause {
            name: there.name.clone(),
            key: there.key,
            default: there.default.as_ref().map(restated).transpose()?,
            nullable,
            comment: comment::<D>(Some(with_comment)),
            target: target.to_string(),
        })
    }
}

impl<D: Dialect> Present for Columns<'_, D> {
    fn has(&self, name: &str) -> bool {
        self.present.column(name).is_some()
    }

    fn fits(&self, there: &str, wanted: &str) -> bool {
        match (self.present.column(there), self.after.and_then(|s| s.column(wanted))) {
            (Some(there), Some(column)) => there.target.holds(&self.wanted_type(column)),
            _ => false,
        }
    }
}
