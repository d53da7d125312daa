//! ALTER TABLE.

use super::create::column;
use super::sql::{AlterClause, ColumnDef, Failure, Position, TableName};
use super::world::{Column, Table, World};

pub fn not_normal(table: &str) -> Failure {
    Failure::new(format!("Table[{table}]'s state(SCHEMA_CHANGE) is not NORMAL. Do not allow doing ALTER ops"))
}

impl World {
    pub fn alter(&mut self, name: &TableName, database: &str, clauses: &[AlterClause]) -> Result<(), Failure> {
        if !self.databases.contains_key(database) {
            return Err(super::create::unknown_database(database));
        }
        for clause in clauses {
            self.check_clause(clause)?;
        }
        let Some(table) = self.table(database, &name.table).cloned() else {
            return Err(Failure::new(format!("Unknown table '{}'", name.table)));
        };
        for pair in clauses.windows(2) {
            let (a, b) = (pair[0].kind(), pair[1].kind());
            if a != b || a == "RENAME" {
                return Err(Failure::new(format!("Alter operation {b} conflicts with operation {a}")));
            }
        }
        if self.has_running_job(database, &name.table) {
            return Err(not_normal(&name.table));
        }
        match &clauses[0] {
            AlterClause::CommentTable(text) => {
                self.table_mut(database, &name.table).unwrap().comment = text.clone();
                Ok(())
            }
            AlterClause::CommentColumn(..) => {
                for clause in clauses {
                    let AlterClause::CommentColumn(column, text) = clause else { continue };
                    let table = self.table_mut(database, &name.table).unwrap();
                    let at = table.column(column).ok_or_else(|| Failure::new(format!("Unknown column: {column}")))?;
                    table.columns[at].comment = text.clone();
                }
                Ok(())
            }
            AlterClause::RenameTable(new) => self.rename_table(database, &name.table, new),
            AlterClause::RenameColumn(from, to) => self.rename_column(database, &name.table, from, to),
            _ => self.schema_change(name, database, &table, clauses),
        }
    }

    fn check_clause(&self, clause: &AlterClause) -> Result<(), Failure> {
        let check = |name: &str| {
            if name.to_uppercase().starts_with("__DORIS_") {
                return Err(Failure::new(format!(
                    "Incorrect column name {name}, column name can't start with '__DORIS_'"
                )));
            }
            self.check_column_name(name)
        };
        match clause {
            AlterClause::RenameColumn(_, new) if new.is_empty() => Err(Failure::new("New column name is not set")),
            AlterClause::RenameColumn(_, new) => check(new),
            AlterClause::Add(columns, position) => {
                for def in columns {
                    check(&def.name)?;
                    column(0, def, def.key)?;
                    if def.nullable == Some(false) && def.default.is_none() && !def.key {
                        return Err(Failure::new(format!("Field '{}' doesn't have a default value", def.name)));
                    }
                    if *position == Position::First && !def.key {
                        return Err(Failure::new(format!("Can't add value column {} as First column", def.name)));
                    }
                }
                Ok(())
            }
            AlterClause::Modify(def, position) => {
                check(&def.name)?;
                column(0, def, def.key)?;
                if *position == Position::First && !def.key {
                    return Err(Failure::new(format!("Can't add value column {} as First column", def.name)));
                }
                Ok(())
            }
            AlterClause::Drop(name) if name.to_uppercase().starts_with("__DORIS_") => {
                Err(Failure::new("Do not support drop hidden column"))
            }
            _ => Ok(()),
        }
    }

    fn rename_table(&mut self, database: &str, from: &str, to: &str) -> Result<(), Failure> {
        if to.is_empty() {
            return Err(Failure::new("New Table name is not set"));
        }
        self.check_table_name(to)?;
        let tables = &mut self.databases.get_mut(database).unwrap().tables;
        if from == to {
            return Err(Failure::new("Same table name"));
        }
        if tables.contains_key(to) {
            return Err(Failure::new(format!("Table name[{to}] is already used")));
        }
        let table = tables.remove(from).unwrap();
        tables.insert(to.to_owned(), table);
        Ok(())
    }

    fn rename_column(&mut self, database: &str, table_name: &str, from: &str, to: &str) -> Result<(), Failure> {
        let table = self.table_mut(database, table_name).unwrap();
        if from.eq_ignore_ascii_case(to) {
            return Err(Failure::new("Same column name"));
        }
        let Some(at) = table.column(from) else {
            return Err(Failure::new(format!("Column[{from}] does not exists")));
        };
        if table.column(to).is_some() {
            return Err(Failure::new(format!("Column name[{to}] is already used")));
        }
        if !table.light {
            return Err(Failure::new(
                "not implemented for table without column unique id, which are created with property \
                 'light_schema_change'.",
            ));
        }
        if table.partition.as_ref().is_some_and(|(column, _)| column.eq_ignore_ascii_case(from)) {
            return Err(Failure::new("Renaming partition columns has problems, forbidden in current Doris version"));
        }
        let old = table.columns[at].name.clone();
        table.columns[at].name = to.to_owned();
        for name in &mut table.hash {
            if *name == old {
                *name = to.to_owned();
            }
        }
        Ok(())
    }

    fn schema_change(
        &mut self,
        name: &TableName,
        database: &str,
        table: &Table,
        clauses: &[AlterClause],
    ) -> Result<(), Failure> {
        let mut change = Change { table, columns: table.columns.clone(), light: table.light };
        for clause in clauses {
            change.apply(self, clause)?;
        }
        let Change { columns, light, .. } = change;
        // A unique table's change of a value column always sets something that makes it differ: recorded.
        let modifies_value = clauses.iter().any(|c| matches!(c, AlterClause::Modify(d, _) if !d.key));
        if columns == table.columns && !(table.is_unique() && modifies_value) {
            return Err(Failure::new("Nothing is changed. please check your alter stmt."));
        }
        self.alter_table((database, &name.table), columns, light, None);
        Ok(())
    }

    pub fn cancel_alter(&mut self, name: &TableName, database: &str) -> Result<(), Failure> {
        let Some(table) = self.table(database, &name.table) else {
            return Err(Failure::new(format!("Unknown table '{}'", name.table)));
        };
        if self.cancel_job(table.id) {
            return Ok(());
        }
        Err(Failure::new(format!("Table[{}] is not under SCHEMA_CHANGE.", name.table)))
    }
}

/// The columns behind a statement, and whether they are there at once.
struct Change<'a> {
    table: &'a Table,
    columns: Vec<Column>,
    light: bool,
}

impl Change<'_> {
    fn find(&self, name: &str) -> Option<usize> {
        let lower = name.to_lowercase();
        self.columns.iter().position(|c| c.name.to_lowercase() == lower)
    }

    fn place(&self, position: &Position, key: bool, name: &str) -> Result<usize, Failure> {
        match position {
            Position::First => Ok(0),
            Position::Last if key => Ok(self.columns.iter().filter(|c| c.key).count()),
            Position::Last => Ok(self.columns.len()),
            Position::After(n) => {
                let at = self.find(n).ok_or_else(|| Failure::new(format!("Column[{n}] does not found")))?;
                if key && !self.columns[at].key {
                    return Err(Failure::new(format!("can't add key column {name} after value column {n}")));
                }
                if !key && self.columns.get(at + 1).is_some_and(|c| c.key) {
                    return Err(Failure::new(format!("Can't add value column {name} before key column")));
                }
                Ok(at + 1)
            }
        }
    }

    fn apply(&mut self, world: &mut World, clause: &AlterClause) -> Result<(), Failure> {
        match clause {
            AlterClause::Add(defs, position) => {
                for def in defs {
                    self.add(world, def, position)?;
                }
                Ok(())
            }
            AlterClause::Drop(n) => {
                if self.table.lies_by(n) {
                    return Err(Failure::new(format!("Can not drop partition or distribution column : {n}")));
                }
                let Some(at) = self.find(n) else {
                    return Err(Failure::new(format!("Column does not exists: {n}")));
                };
                if self.columns[at].key && self.table.is_unique() {
                    return Err(Failure::new(format!("Can not drop key column {n} in unique data model table")));
                }
                self.light &= !self.columns[at].key;
                self.columns.remove(at);
                Ok(())
            }
            AlterClause::Modify(def, position) => self.modify(def, position),
            other => Err(Failure::not_modelled(&format!("{other:?} among other clauses"))),
        }
    }

    fn add(&mut self, world: &mut World, def: &ColumnDef, position: &Position) -> Result<(), Failure> {
        let new = column(world.id(), def, def.key)?;
        if self.table.column(&new.name).is_some() {
            return Err(Failure::new(format!("Can not add column which already exists in base table: {}", new.name)));
        }
        if let Some(at) = self.find(&new.name) {
            return if self.columns[at].ty == new.ty {
                Ok(())
            } else {
                Err(Failure::new(format!("Repeatedly add same column with different definition: {}", new.name)))
            };
        }
        let at = self.place(position, def.key, &def.name)?;
        self.light &= !def.key;
        self.columns.insert(at, new);
        Ok(())
    }

    /// A column is redefined: what is not restated is lost.
    fn modify(&mut self, def: &ColumnDef, position: &Position) -> Result<(), Failure> {
        if self.table.lies_by(&def.name) {
            return Err(Failure::new(format!("Can not modify partition or distribution column : {}", def.name)));
        }
        let Some(at) = self.find(&def.name) else {
            return Err(Failure::new(format!("Column[{}] does not exists", def.name)));
        };
        let old = self.columns[at].clone();
        if old.key != def.key {
            return Err(Failure::not_modelled("values that become keys and the other way"));
        }
        let mut new = column(old.id, def, def.key)?;
        old.ty.may_become(&new.ty).map_err(Failure::new)?;
        if old.nullable && !new.nullable {
            return Err(Failure::new("Can not change from nullable to non-nullable"));
        }
        if old.default != new.default {
            return Err(Failure::new("Can not change default value"));
        }
        new.name = old.name.clone();
        self.light &= old.ty.is_light_change(&new.ty);
        self.columns[at] = new.clone();
        if *position != Position::Last {
            self.columns.remove(at);
            let to = self.place(position, def.key, &def.name)?;
            self.columns.insert(to, new);
            self.light = false;
        }
        Ok(())
    }
}
