//! DDL on the catalog.

use super::resolve::resolve_charset;
use super::{ApplyError, Catalog, Effect};
use crate::TableDef;
use crate::ddl::{DdlContext, DdlStatement};
use rowferry_model::TableId;
use std::sync::Arc;

impl Catalog {
    /// Does to the tracked tables what the server did. An error leaves the catalog as it was.
    ///
    /// A statement that changes nothing, such as `CREATE TABLE IF NOT EXISTS` on a table that is there, has no effects.
    ///
    /// # Errors
    /// The statement names what is not tracked, or isn't one that a server accepts.
    pub fn apply(&mut self, statement: &DdlStatement, context: &DdlContext) -> Result<Vec<Effect>, ApplyError> {
        match statement {
            DdlStatement::CreateTable(create) => {
                if create.if_not_exists && self.table(&create.table).is_some() {
                    return Ok(vec![]);
                }
                let def = self.created(create, context)?;
                Ok(self.replace(create.table.clone(), Arc::new(def)))
            }
            DdlStatement::CreateTableLike { table, like, if_not_exists, .. } => {
                if *if_not_exists && self.table(table).is_some() {
                    return Ok(vec![]);
                }
                let def = self.table(like).ok_or_else(|| ApplyError::UnknownTable(like.clone()))?;
                Ok(self.replace(table.clone(), Arc::clone(def)))
            }
            DdlStatement::AlterTable(alter) => self.alter(alter, context),
            DdlStatement::DropTables(tables) => Ok(tables
                .iter()
                .filter(|table| self.tables.remove(table).is_some())
                .map(|table| Effect::Dropped { table: table.clone(), with_database: false })
                .collect()),
            DdlStatement::RenameTables(pairs) => {
                Ok(pairs.iter().map(|(from, to)| self.rename(from.clone(), to.clone())).collect())
            }
            DdlStatement::TruncateTable(table) => Ok(vec![Effect::Truncated { table: table.clone() }]),
            DdlStatement::CreateDatabase { name, charset, if_not_exists } => {
                if !(*if_not_exists && self.database(name).is_some()) {
                    let charset = resolve_charset(charset, &context.server_charset, context)?;
                    self.insert_database(name.clone(), charset);
                }
                Ok(vec![])
            }
            DdlStatement::AlterDatabase { name, charset } => {
                // DEFAULT means the server's, and what isn't named stays.
                let base = match charset.charset.as_ref().or(charset.collation.as_ref()) {
                    Some(_) => &context.server_charset,
                    None => match self.database(name) {
                        Some(charset) => charset,
                        None => return Ok(vec![]),
                    },
                };
                let charset = resolve_charset(charset, base, context)?;
                self.insert_database(name.clone(), charset);
                Ok(vec![])
            }
            DdlStatement::DropDatabase(name) => {
                self.databases.remove(name);
                let dropped: Vec<TableId> = self.tables.keys().filter(|t| t.database() == name).cloned().collect();
                Ok(dropped
                    .into_iter()
                    .map(|table| {
                        self.tables.remove(&table);
                        Effect::Dropped { table, with_database: true }
                    })
                    .collect())
            }
        }
    }

    /// Puts a new table in the place of whatever had its name.
    fn replace(&mut self, table: TableId, def: Arc<TableDef>) -> Vec<Effect> {
        let mut effects = vec![];
        if self.tables.insert(table.clone(), Arc::clone(&def)).is_some() {
            effects.push(Effect::Dropped { table: table.clone(), with_database: false });
        }
        effects.push(Effect::Created { table, def });
        effects
    }

    /// Renames a table; one that is not tracked is still reported.
    pub(super) fn rename(&mut self, from: TableId, to: TableId) -> Effect {
        let def = self.tables.remove(&from);
        match &def {
            Some(def) => self.tables.insert(to.clone(), Arc::clone(def)),
            None => self.tables.remove(&to),
        };
        Effect::Renamed { from, to, def }
    }
}
