//! ALTER TABLE.

use super::create::{check_name, column};
use super::sql::{AlterClause, ColumnDef, Failure, Position, TableName};
use super::world::{Column, Table, World};

pub fn in_progress(table: &str) -> Failure {
    Failure::plain(format!(
        "A schema change operation is in progress on the table {table}. Please wait until the current operation \
         completes. To check the status of the operation, see \
         https://docs.starrocks.io/docs/sql-reference/sql-statements/table_bucket_part_index/SHOW_ALTER"
    ))
}

impl World {
    pub fn alter(
        &mut self,
        name: &TableName,
        database: &str,
        clauses: &[AlterClause],
        timeout: Option<&str>,
    ) -> Result<(), Failure> {
        if !self.databases.contains_key(database) {
            return Err(Failure::analysis(format!("Database default_catalog.{database} is not found")));
        }
        let Some(table) = self.table(database, &name.table).cloned() else {
            return Err(Failure::analysis(format!("Table {} is not found", name.table)));
        };
        for pair in clauses.windows(2) {
            let (a, b) = (pair[0].kind(), pair[1].kind());
            if a != b || a != "SCHEMA_CHANGE" {
                return Err(Failure::analysis(format!("Alter operation {b} conflicts with operation {a}")));
            }
        }
        for clause in clauses {
            if let AlterClause::RenameColumn(_, new) = clause {
                check_name(new)?;
            }
            if let AlterClause::Add(columns) = clause {
                for (def, position) in columns {
                    check_name(&def.name)?;
                    check_added(def, position)?;
                }
            }
            if let AlterClause::Modify(def, _) = clause {
                if def.key {
                    return Err(Failure::plain(format!(
                        "Getting analyzing error from line 1, column 0 to line 1, column 0. Detail message: Column \
                         definition is wrong. Cannot specify aggregate function 'REPLACE' for key column '{}'.",
                        def.name
                    )));
                }
                column(def, false, true)?;
            }
        }
        if self.has_running_job(database, &name.table) {
            return Err(in_progress(&name.table));
        }
        // The first COMMENT of a column is done, and whatever else the statement says is lost: recorded.
        let comment = clauses.iter().find_map(|c| match c {
            AlterClause::CommentColumn(column, text) => Some((column, text)),
            _ => None,
        });
        if let Some((column, text)) = comment {
            let table = self.table_mut(database, &name.table).unwrap();
            let at = table.column(column).ok_or_else(|| Failure::plain(format!("Column[{column}] does not exists")))?;
            table.columns[at].comment = text.clone();
            return Ok(());
        }
        match &clauses[0] {
            AlterClause::CommentTable(text) => {
                self.table_mut(database, &name.table).unwrap().comment = text.clone();
                Ok(())
            }
            AlterClause::RenameTable(new) => self.rename_table(database, &name.table, new),
            AlterClause::RenameColumn(from, to) => self.rename_column(database, &name.table, from, to),
            _ => self.schema_change(name, database, &table, clauses, timeout),
        }
    }

    fn rename_table(&mut self, database: &str, from: &str, to: &str) -> Result<(), Failure> {
        let tables = &mut self.databases.get_mut(database).unwrap().tables;
        if from == to {
            return Err(Failure::plain(format!(
                "Getting analyzing error from line 1, column 0 to line 1, column 0. Detail message: Same table name {to}."
            )));
        }
        if tables.contains_key(to) {
            return Err(Failure::plain(format!("Table name[{to}] is already used")));
        }
        let table = tables.remove(from).unwrap();
        tables.insert(to.to_owned(), table);
        Ok(())
    }

    fn rename_column(&mut self, database: &str, table_name: &str, from: &str, to: &str) -> Result<(), Failure> {
        let table = self.table_mut(database, table_name).unwrap();
        let Some(at) = table.column(from) else {
            return Err(Failure::new(5509, "42000", format!("Unknown column '{from}' in '{table_name}'")));
        };
        if table.column(to).is_some() {
            return Err(Failure::new(1060, "42S21", format!("Duplicate column name '{to}'")));
        }
        let old = table.columns[at].name.clone();
        table.columns[at].name = to.to_owned();
        for name in table.distribution.iter_mut().chain(table.sort.iter_mut()) {
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
        timeout: Option<&str>,
    ) -> Result<(), Failure> {
        let (columns, asynchronous) = apply(&name.table, table, clauses)?;
        if columns == table.columns {
            return Ok(());
        }
        let timeout = match timeout {
            None => 86_400,
            Some(t) => t.parse().map_err(|_| Failure::plain(format!("Invalid timeout format: {t}")))?,
        };
        let fast =
            self.fast_schema_evolution && table.properties.get("fast_schema_evolution").is_some_and(|v| v == "true");
        self.alter_table((database, &name.table), columns, !asynchronous && fast, Some(timeout));
        Ok(())
    }

    pub fn cancel_alter(&mut self, name: &TableName, database: &str) -> Result<(), Failure> {
        let Some(table) = self.table(database, &name.table) else {
            return Err(Failure::new(5502, "42602", format!("Unknown table '{}'", name.table)));
        };
        if self.cancel_job(table.id) {
            return Ok(());
        }
        Err(Failure::plain(format!("Table[{}] is not under SCHEMA_CHANGE/WAITING_STABLE.", name.table)))
    }
}

fn check_added(def: &ColumnDef, position: &Position) -> Result<(), Failure> {
    let from = "Getting analyzing error from line 1, column 0 to line 1, column 0. Detail message: ";
    if def.key {
        return Err(Failure::plain(format!(
            "{from}Column definition is wrong. Cannot specify aggregate function 'REPLACE' for key column '{}'.",
            def.name
        )));
    }
    column(def, false, true).map_err(|f| Failure {
        message: f
            .message
            .replace("Getting analyzing error. Detail message: Column definition", &format!("{from}Column definition")),
        ..f
    })?;
    let function = match &def.default {
        Some(super::sql::DefaultDef::Function(f)) => Some(f.clone()),
        _ => None,
    };
    if let Some(f) = function
        && !f.to_lowercase().starts_with("current_timestamp")
    {
        return Err(Failure::plain(format!("unsupported default expr:{f}")));
    }
    if def.nullable == Some(false) && def.default.is_none() {
        return Err(Failure::plain(format!("{from}Field '{}' is not null but doesnt have a default value.", def.name)));
    }
    if *position == Position::First {
        return Err(Failure::plain(format!("{from}Cannot add value column[{}] at first.", def.name)));
    }
    Ok(())
}

/// The columns behind a statement, and whether it takes a job.
fn apply(name: &str, table: &Table, clauses: &[AlterClause]) -> Result<(Vec<Column>, bool), Failure> {
    let mut columns = table.columns.clone();
    let mut asynchronous = false;
    let mut touched: Vec<String> = Vec::new();
    let mut added: Vec<Column> = Vec::new();
    let find = |columns: &[Column], n: &str| {
        let lower = n.to_lowercase();
        columns.iter().position(|c| c.name.to_lowercase() == lower)
    };
    for clause in clauses {
        match clause {
            AlterClause::Add(defs) => {
                for (def, position) in defs {
                    let mut new = column(def, false, true)?;
                    if new.default.as_deref().is_some_and(|d| d.eq_ignore_ascii_case("current_timestamp")) {
                        new.shown_default = Some("2026-01-01 00:00:00".to_owned());
                    }
                    if let Some(same) = added.iter().find(|c| c.name.eq_ignore_ascii_case(&new.name)) {
                        if same.ty != new.ty {
                            return Err(Failure::plain(format!(
                                "Repeatedly add same column with different definition: {}",
                                new.name
                            )));
                        }
                        continue;
                    }
                    let lower = new.name.to_lowercase();
                    let taken =
                        table.columns.iter().find(|c| c.id.to_lowercase() == lower || c.name.to_lowercase() == lower);
                    if let Some(old) = taken {
                        return Err(Failure::plain(format!(
                            "Can not add column which already exists in column id: {}, you can remove {} and try again.",
                            new.name,
                            super::show::column_sql(old)
                        )));
                    }
                    let at = match position {
                        Position::After(n) if touched.contains(&n.to_lowercase()) => {
                            return Err(Failure::plain(format!("Column[{n}] does not found")));
                        }
                        Position::After(n) => {
                            find(&columns, n).ok_or_else(|| Failure::plain(format!("Column[{n}] does not found")))? + 1
                        }
                        _ => columns.len(),
                    };
                    columns.insert(at, new.clone());
                    added.push(new);
                }
            }
            AlterClause::Drop(n) => {
                let Some(at) = find(&columns, n) else {
                    return Err(Failure::plain(format!("Column does not exists: {n}")));
                };
                if touched.contains(&n.to_lowercase()) {
                    return Err(Failure::plain(format!("Column does not exists: {n}")));
                }
                if columns[at].key {
                    return Err(Failure::plain("Can not drop key column in primary data model table"));
                }
                if table.sort.iter().any(|s| s.eq_ignore_ascii_case(n)) {
                    return Err(Failure::plain("Can not drop sort column in primary data model table"));
                }
                columns.remove(at);
            }
            AlterClause::Modify(def, position) => {
                let Some(at) = find(&columns, &def.name) else {
                    return Err(Failure::plain(format!("Column[{}] does not exists", def.name)));
                };
                if touched.contains(&def.name.to_lowercase()) {
                    return Err(Failure::plain(format!("Column[{}] does not exists", def.name)));
                }
                touched.push(def.name.to_lowercase());
                let changed = modified(&columns[at], def)?;
                asynchronous |= changed != columns[at];
                columns[at] = changed.clone();
                match position {
                    Position::Last => {}
                    Position::First => {
                        return Err(Failure::plain(format!(
                            "Invalid column order. value should be after key. index[{name}]"
                        )));
                    }
                    Position::After(n) => {
                        columns.remove(at);
                        let to = find(&columns, n).ok_or_else(|| {
                            Failure::plain(
                                "Cannot invoke \"com.starrocks.catalog.Column.isGeneratedColumn()\" because \
                                 \"afterColumn\" is null",
                            )
                        })?;
                        columns.insert(to + 1, changed);
                        asynchronous = true;
                    }
                }
            }
            other => return Err(Failure::not_modelled(&format!("{other:?} among other clauses"))),
        }
    }
    let keys = columns.iter().filter(|c| c.key).count();
    if columns[..keys].iter().any(|c| !c.key) {
        return Err(Failure::plain(format!("Invalid column order. value should be after key. index[{name}]")));
    }
    Ok((columns, asynchronous))
}

/// A column is redefined: what is not restated is lost.
fn modified(old: &Column, def: &ColumnDef) -> Result<Column, Failure> {
    if old.key {
        return Err(Failure::plain(format!("Can not modify key column: {} for primary key table", def.name)));
    }
    let mut new = column(def, false, true)?;
    old.ty.may_become(&new.ty).map_err(Failure::plain)?;
    if old.nullable && !new.nullable {
        return Err(Failure::plain("Can not change from nullable to non-nullable"));
    }
    if old.default != new.default {
        return Err(Failure::plain("Can not change default value"));
    }
    new.id = old.id.clone();
    new.shown_default = old.shown_default.clone();
    new.name = old.name.clone();
    Ok(new)
}
