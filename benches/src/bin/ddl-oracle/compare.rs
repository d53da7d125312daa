//! Tracked tables against a server's.

use crate::server::State;
use rowferry_model::TableId;
use rowferry_sql::ddl::DdlContext;
use rowferry_sql::{Catalog, ColumnType, DefaultValue, Key, TableDef};
use std::fmt::Debug;

/// All differences between the tracked catalog and the server.
pub(crate) fn catalogs(tracked: &Catalog, server: &State, context: &DdlContext) -> Vec<String> {
    let mut differences = vec![];
    for (table, def) in &server.tables {
        match tracked.table(table) {
            Some(mine) => differences.extend(tables(table, mine, def, server, context)),
            None => differences.push(format!("{table} is not tracked")),
        }
    }
    for (table, _) in tracked.tables().filter(|(t, _)| !server.tables.contains_key(t)) {
        differences.push(format!("{table} is tracked, but not there"));
    }
    for (name, charset) in &server.databases {
        if tracked.database(name) != Some(charset) {
            differences.push(format!("database {name}: tracked {:?}, server {charset}", tracked.database(name)));
        }
    }
    differences
}

/// All differences between a tracked table and the server's.
pub(crate) fn tables(
    table: &TableId,
    mine: &TableDef,
    server: &TableDef,
    state: &State,
    context: &DdlContext,
) -> Vec<String> {
    let mut differences = vec![];
    let mut same = |what: &str, mine: &dyn Debug, server: &dyn Debug| {
        let (mine, server) = (format!("{mine:?}"), format!("{server:?}"));
        if mine != server {
            differences.push(format!("{table} {what}: tracked {mine}, server {server}"));
        }
    };
    let names = |def: &TableDef| def.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    same("columns", &names(mine), &names(server));
    same("primary key", &mine.primary_key, &server.primary_key);
    let unique = |def: &TableDef| {
        let mut keys: Vec<Key> = def.keys.iter().filter(|k| k.unique).cloned().collect();
        keys.sort_by_key(|k| k.name.to_lowercase());
        for part in keys.iter_mut().flat_map(|k| &mut k.parts) {
            // A prefix as long as the column is the whole column.
            let whole = part.0.as_ref().and_then(|c| def.index_of(c)).and_then(|i| match &def.columns[i].column_type {
                ColumnType::Char { length, .. }
                | ColumnType::Varchar { length, .. }
                | ColumnType::Binary(length)
                | ColumnType::Varbinary(length) => Some(*length),
                ColumnType::Geometry(_) => part.1,
                _ => None,
            });
            if whole.is_some() && part.1 == whole {
                part.1 = None;
            }
        }
        keys
    };
    same("unique keys", &unique(mine), &unique(server));
    same("charset", &(&mine.charset, &mine.collation), &(&server.charset, &server.collation));
    same("comment", &mine.comment, &server.comment);
    for (m, s) in mine.columns.iter().zip(&server.columns) {
        let what = |attribute: &str| format!("{}: {attribute}", s.name);
        // information_schema shows characters beyond utf8mb3 as question marks, and can't do otherwise.
        let shown = |text: String| text.chars().map(|c| if c > '\u{ffff}' { '?' } else { c }).collect::<String>();
        let default = m.default.clone().map(|d| match d {
            DefaultValue::Literal(text) => DefaultValue::Literal(shown(text)),
            DefaultValue::Expression(text) => DefaultValue::Expression(shown(text)),
        });
        same(&what("type"), &shown(m.column_type.to_string()), &s.column_type.to_string());
        same(&what("charset"), &m.column_type.charset(), &s.column_type.charset());
        same(&what("nullable"), &m.nullable, &s.nullable);
        let unshown = s.default == Some(DefaultValue::Expression(String::new()));
        if !(unshown && matches!(default, Some(DefaultValue::Expression(_)))) {
            same(&what("default"), &default, &s.default);
        }
        same(&what("on update"), &m.on_update, &s.on_update);
        same(&what("auto_increment"), &m.auto_increment, &s.auto_increment);
        same(&what("comment"), &m.comment, &s.comment);
        same(&what("generated"), &m.generated, &s.generated);
        same(&what("invisible"), &m.invisible, &s.invisible);
        if let (Some(octets), Some(mine)) =
            (state.octets.get(&(table.clone(), s.name.clone())), m.column_type.max_bytes())
        {
            same(&what("octets"), &mine, octets);
        }
    }
    let _ = context;
    differences
}
