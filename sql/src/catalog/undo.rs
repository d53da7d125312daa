//! What a table was before an ALTER TABLE.

use super::position;
use crate::TableDef;
use crate::ddl::{AlterAction, AlterTable, KeyKind};

impl AlterTable {
    /// The definition before this statement, from that behind it, as far as it matters to rows: columns with their
    /// types, and the primary key. `None`: the statement does not tell what was there, as with a column that it drops or
    /// changes.
    pub fn undo(&self, after: &TableDef) -> Option<TableDef> {
        let mut def = after.clone();
        for action in self.actions.iter().rev() {
            match action {
                AlterAction::AddColumn { column, if_not_exists, .. } => {
                    // Whether it was there already is not told.
                    if *if_not_exists {
                        return None;
                    }
                    let at = position(&def.columns, &column.name)?;
                    let name = def.columns.remove(at).name;
                    def.primary_key.retain(|key| *key != name);
                    def.keys.retain(|key| key.parts.iter().all(|(part, _)| part.as_ref() != Some(&name)));
                }
                AlterAction::RenameColumn { old, new, if_exists } => {
                    if *if_exists {
                        return None;
                    }
                    let at = position(&def.columns, new)?;
                    let name = std::mem::replace(&mut def.columns.get_mut(at)?.name, old.clone());
                    for key in def.primary_key.iter_mut().filter(|key| **key == name) {
                        key.clone_from(old);
                    }
                    let parts = def.keys.iter_mut().flat_map(|key| &mut key.parts);
                    for (part, _) in parts.filter(|(part, _)| part.as_ref() == Some(&name)) {
                        *part = Some(old.clone());
                    }
                }
                AlterAction::AddKey { key, .. } if key.kind == KeyKind::Primary => def.primary_key.clear(),
                AlterAction::ChangeColumn { .. }
                | AlterAction::DropColumn { .. }
                | AlterAction::DropPrimaryKey
                | AlterAction::Convert(_)
                | AlterAction::RenameTable(_) => return None,
                AlterAction::SetDefault { .. }
                | AlterAction::SetInvisible { .. }
                | AlterAction::AddKey { .. }
                | AlterAction::DropKey(_)
                | AlterAction::DropConstraint(_)
                | AlterAction::DropForeignKey(_)
                | AlterAction::DropCheck(_)
                | AlterAction::RenameKey { .. }
                | AlterAction::Options(_)
                | AlterAction::Nothing
                | AlterAction::RemovesRows { .. } => {}
            }
        }
        Some(def)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

    use crate::ddl::{DdlContext, DdlOutcome, DdlStatement, parse_ddl};
    use crate::{Catalog, ServerVersion, TableDef};
    use rowferry_model::TableId;

    fn statement(sql: &str) -> DdlStatement {
        match parse_ddl(sql, &DdlContext::new(ServerVersion::mysql(90_700), "d")) {
            DdlOutcome::Changes(statement) => statement,
            other => panic!("{sql}: {other:?}"),
        }
    }

    fn shape(def: &TableDef) -> Vec<(String, String)> {
        let mut columns: Vec<_> = def.columns.iter().map(|c| (c.name.clone(), c.column_type.to_string())).collect();
        columns.push(("key".to_owned(), def.primary_key.join(",")));
        columns
    }

    #[test]
    fn what_is_undone_is_what_was() {
        let context = DdlContext::new(ServerVersion::mysql(90_700), "d");
        let mut catalog = Catalog::default();
        catalog.insert_database("d", context.server_charset.clone());
        let create = statement("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10), b INT, KEY (a))");
        catalog.apply(&create, &context).unwrap();
        let id = TableId::new("d", "t");
        for sql in [
            "ALTER TABLE t ADD COLUMN c INT FIRST, ADD COLUMN (x INT, y JSON)",
            "ALTER TABLE t RENAME COLUMN a TO a2, ADD KEY (b)",
            "ALTER TABLE t ADD COLUMN z INT AFTER id, RENAME COLUMN b TO b9, COMMENT = 'x'",
            "ALTER TABLE t RENAME COLUMN id TO nr",
        ] {
            let before = catalog.table(&id).unwrap().clone();
            let DdlStatement::AlterTable(alter) = statement(sql) else { panic!("{sql}") };
            catalog.apply(&DdlStatement::AlterTable(alter.clone()), &context).unwrap();
            let undone = alter.undo(catalog.table(&id).unwrap()).unwrap_or_else(|| panic!("{sql}"));
            assert_eq!(shape(&undone), shape(&before), "{sql}");
        }
    }

    #[test]
    fn what_is_not_told_is_not_guessed() {
        let context = DdlContext::new(ServerVersion::mysql(90_700), "d");
        let mut catalog = Catalog::default();
        catalog.insert_database("d", context.server_charset.clone());
        catalog.apply(&statement("CREATE TABLE t (id INT PRIMARY KEY, a INT)"), &context).unwrap();
        let def = catalog.table(&TableId::new("d", "t")).unwrap().clone();
        for sql in [
            "ALTER TABLE t DROP COLUMN gone",
            "ALTER TABLE t MODIFY a INT",
            "ALTER TABLE t CHANGE was a INT",
            "ALTER TABLE t DROP PRIMARY KEY",
            "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4",
            "ALTER TABLE t ADD COLUMN never_there INT",
        ] {
            let DdlStatement::AlterTable(alter) = statement(sql) else { panic!("{sql}") };
            assert_eq!(alter.undo(&def), None, "{sql}");
        }
    }
}
