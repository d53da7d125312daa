//! Tables that a statement needs to be there before it.

use crate::Line;
use crate::server::{Refused, Server};
use rowferry_model::TableId;
use rowferry_sql::ddl::{
    AlterAction, AlterTable, DdlContext, DdlOutcome, DdlStatement, KeyKind, Place, Touched, classify, parse_ddl,
};
use std::collections::BTreeMap;

/// The database in which statements run.
pub(crate) const DATABASE: &str = "scratch";

/// A statement that makes a prerequisite.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) database: String,
    pub(crate) sql: String,
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// What to try, best first: tables from the same source, then tables made up from what the statement names.
pub(crate) fn fixtures(line: &Line, own: &[&Line], server: &Server) -> Vec<Vec<Step>> {
    let context = server.context(DATABASE);
    let databases = databases(line, own, &context);
    let (needed, alter) = match parse_ddl(&line.sql, &context) {
        DdlOutcome::Changes(statement) => needed(&statement),
        // Everything that its source creates.
        DdlOutcome::Ignored(_) | DdlOutcome::Unknown { .. } => {
            let mut all = databases.clone();
            let creates = own.iter().filter(|l| l.kind == "create_table" && l.id != line.id);
            all.extend(creates.map(|l| Step { database: DATABASE.to_owned(), sql: l.sql.clone() }));
            let made_up = match classify(&line.sql, &context).touched {
                Touched::Tables(tables) => tables.iter().map(|t| made_up(t, None, "VARCHAR(40)")).collect(),
                _ => vec![],
            };
            return vec![all, databases.into_iter().chain(made_up).collect()];
        }
    };
    let mut created: BTreeMap<TableId, Vec<Step>> = BTreeMap::new();
    for other in own.iter().filter(|l| l.kind == "create_table" && l.id != line.id) {
        for table in &needed {
            let at_home = server.context(table.database());
            if let DdlOutcome::Changes(DdlStatement::CreateTable(create)) = parse_ddl(&other.sql, &at_home)
                && create.table.table().eq_ignore_ascii_case(table.table())
            {
                let step = Step { database: table.database().to_owned(), sql: other.sql.clone() };
                created.entry(table.clone()).or_default().push(step);
            }
        }
    }
    let mut result = vec![];
    let most = created.values().map(Vec::len).max().unwrap_or(0).min(4);
    for i in 0..most {
        let mut steps = databases.clone();
        for table in &needed {
            let own = created.get(table).and_then(|c| c.get(i.min(c.len() - 1)).cloned());
            steps.push(own.unwrap_or_else(|| made_up(table, alter.as_ref(), "VARCHAR(40)")));
        }
        result.push(steps);
    }
    for column_type in ["VARCHAR(40)", "INT", "GEOMETRY NOT NULL SRID 0", "TEXT", "JSON"] {
        let mut steps = databases.clone();
        steps.extend(needed.iter().map(|table| made_up(table, alter.as_ref(), column_type)));
        result.push(steps.clone());
        if needed.is_empty() || alter.is_none() {
            break;
        }
        if column_type == "VARCHAR(40)" && line.sql.to_ascii_uppercase().contains("PARTITION") {
            steps.extend(needed.iter().map(partitions));
            result.push(steps);
        }
    }
    result
}

/// The databases that are named.
fn databases(line: &Line, own: &[&Line], context: &DdlContext) -> Vec<Step> {
    let mut names: Vec<String> = vec![];
    for (sql, is_own) in std::iter::once((&line.sql, true)).chain(own.iter().map(|l| (&l.sql, false))) {
        match (classify(sql, context).touched, parse_ddl(sql, context)) {
            (_, DdlOutcome::Changes(DdlStatement::CreateDatabase { .. })) => {}
            (Touched::Tables(tables), _) => names.extend(tables.iter().map(|t| t.database().to_owned())),
            (Touched::Database(name), _) if is_own => names.push(name),
            _ => {}
        }
    }
    names.sort();
    names.dedup();
    names
        .iter()
        .map(|name| Step { database: DATABASE.to_owned(), sql: format!("CREATE DATABASE {}", quoted(name)) })
        .collect()
}

/// The tables that must be there, and the ALTER that says with which columns.
fn needed(statement: &DdlStatement) -> (Vec<TableId>, Option<AlterTable>) {
    match statement {
        DdlStatement::AlterTable(alter) => (vec![alter.table.clone()], Some(alter.clone())),
        DdlStatement::CreateTableLike { like, .. } => (vec![like.clone()], None),
        DdlStatement::DropTables(tables) => (tables.clone(), None),
        DdlStatement::TruncateTable(table) => (vec![table.clone()], None),
        DdlStatement::RenameTables(pairs) => {
            let mut needed: Vec<TableId> = vec![];
            for (i, (from, _)) in pairs.iter().enumerate() {
                if !pairs[..i].iter().any(|(_, to)| to == from) && !needed.contains(from) {
                    needed.push(from.clone());
                }
            }
            (needed, None)
        }
        _ => (vec![], None),
    }
}

/// A table with the columns and keys that an ALTER names.
fn made_up(table: &TableId, alter: Option<&AlterTable>, column_type: &str) -> Step {
    let mut columns: Vec<String> = vec![];
    let mut added: Vec<&str> = vec![];
    let mut lines: Vec<String> = vec![];
    let mut primary = Some("rf_id");
    let mut auto_increment = None;
    let actions = alter.map_or(&[][..], |a| &a.actions);
    for action in actions {
        match action {
            AlterAction::AddColumn { column, .. } => {
                added.push(&column.name);
                if column.primary || column.auto_increment {
                    primary = None;
                }
            }
            AlterAction::ChangeColumn { old, column, .. } => {
                if !old.eq_ignore_ascii_case(&column.name) {
                    added.push(&column.name);
                }
                if column.auto_increment && !column.primary && !column.unique {
                    auto_increment = Some(old.clone());
                }
                if column.primary {
                    primary = None;
                }
            }
            AlterAction::RenameColumn { new, .. } => added.push(new),
            AlterAction::AddKey { key, .. } if key.kind == KeyKind::Primary => primary = None,
            _ => {}
        }
    }
    let drops_primary = actions.contains(&AlterAction::DropPrimaryKey);
    let new = |name: &str| added.iter().any(|a| a.eq_ignore_ascii_case(name));
    let mut want = |name: &String| {
        if !columns.iter().any(|c| c.eq_ignore_ascii_case(name)) {
            columns.push(name.clone());
        }
    };
    for action in actions {
        match action {
            AlterAction::AddColumn { place, .. } => {
                if let Place::After(name) = place
                    && !new(name)
                {
                    want(name);
                }
            }
            AlterAction::ChangeColumn { old, place, .. } => {
                want(old);
                if let Place::After(name) = place
                    && !new(name)
                {
                    want(name);
                }
            }
            AlterAction::RenameColumn { old, .. } => want(old),
            AlterAction::DropColumn { name, .. }
            | AlterAction::SetDefault { name, .. }
            | AlterAction::SetInvisible { name, .. } => want(name),
            AlterAction::AddKey { key, .. } => {
                key.parts.iter().filter_map(|p| p.column.as_ref()).filter(|c| !new(c)).for_each(&mut want);
            }
            AlterAction::DropKey(name)
            | AlterAction::RenameKey { old: name, .. }
            | AlterAction::DropConstraint(name) => {
                lines.push(format!("UNIQUE KEY {} (rf_k)", quoted(name)));
            }
            AlterAction::DropForeignKey(name) => {
                lines.push(format!("CONSTRAINT {} FOREIGN KEY (rf_k) REFERENCES rf_parent (id)", quoted(name)))
            }
            AlterAction::DropCheck(name) => lines.push(format!("CONSTRAINT {} CHECK (rf_k > 0)", quoted(name))),
            _ => {}
        }
    }
    let primary = match (auto_increment, columns.first()) {
        (Some(column), _) => Some(column),
        (None, Some(first)) if drops_primary && primary.is_none() => Some(first.clone()),
        _ if drops_primary => Some("rf_id".to_owned()),
        _ => primary.map(str::to_owned),
    };
    let mut body = vec!["rf_id INT NOT NULL".to_owned(), "rf_k INT".to_owned()];
    for column in &columns {
        let of_key = primary.as_ref().is_some_and(|p| p == column);
        body.push(format!("{} {}", quoted(column), if of_key { "INT NOT NULL" } else { column_type }));
    }
    body.extend(primary.map(|p| format!("PRIMARY KEY ({})", quoted(&p))));
    body.extend(lines);
    let name = format!("{}.{}", quoted(table.database()), quoted(table.table()));
    Step { database: DATABASE.to_owned(), sql: format!("CREATE TABLE {name} ({})", body.join(", ")) }
}

/// What is missing by the server's word: a column, a table, a database, partitions.
pub(crate) fn repair(refused: &Refused, sql: &str, context: &DdlContext) -> Option<Step> {
    let step = |sql: String| Some(Step { database: DATABASE.to_owned(), sql });
    let missing = refused.message.split('\'').nth(1)?;
    let table = match classify(sql, context).touched {
        Touched::Tables(tables) => tables.into_iter().next(),
        _ => None,
    };
    let name = table.map(|t| format!("{}.{}", quoted(t.database()), quoted(t.table())));
    match refused.code {
        1049 => step(format!("CREATE DATABASE {}", quoted(missing))),
        1054 | 1072 => {
            let column = missing.rsplit('.').next().unwrap_or(missing);
            step(format!("ALTER TABLE {} ADD COLUMN {} VARCHAR(40)", name?, quoted(column)))
        }
        1146 => {
            let (database, table) = missing.split_once('.')?;
            Some(made_up(&TableId::new(database, table), None, "INT"))
        }
        _ => None,
    }
}

/// Partitions for a table that an ALTER expects to have some.
fn partitions(table: &TableId) -> Step {
    let name = format!("{}.{}", quoted(table.database()), quoted(table.table()));
    let by = "PARTITION BY RANGE (rf_id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), \
              PARTITION p2 VALUES LESS THAN (30))";
    Step { database: DATABASE.to_owned(), sql: format!("ALTER TABLE {name} {by}") }
}
