//! Table definitions out of `information_schema`.

use super::error::CatalogError;
use super::identifier::{quote_string, quote_table};
use crate::mysql::wire::{Connection, Row};
use rowferry_model::TableId;
use rowferry_sql::{CharSet, ColumnDef, ColumnType, DefaultValue, Generated, Key, ServerVersion, TableDef};
use std::collections::{BTreeMap, HashMap};

/// Statements stay readable and below any server's limits.
const TABLES_A_STATEMENT: usize = 200;

/// The definitions of tables, in the order in which they are named. Not one moment's picture: a DDL that runs
/// meanwhile may be in one table and not in the next.
///
/// # Errors
/// A table is not there, a column's type is not known, or the connection fails.
pub fn table_defs(connection: &mut Connection, tables: &[TableId]) -> Result<Vec<(TableId, TableDef)>, CatalogError> {
    let mut databases: BTreeMap<&str, Vec<&TableId>> = BTreeMap::new();
    for table in tables {
        databases.entry(table.database()).or_default().push(table);
    }
    let mut found: HashMap<TableId, TableDef> = HashMap::new();
    for (database, tables) in databases {
        for tables in tables.chunks(TABLES_A_STATEMENT) {
            read_tables(connection, database, tables, &mut found)?;
        }
    }
    let mut out = Vec::with_capacity(tables.len());
    for id in tables {
        let mut table = found.remove(id).filter(|t| !t.columns.is_empty());
        let table = table.take().ok_or_else(|| CatalogError::NoTable(id.clone()))?;
        out.push((id.clone(), read_keys(connection, id, table)?));
    }
    Ok(out)
}

fn read_tables(
    connection: &mut Connection,
    database: &str,
    tables: &[&TableId],
    found: &mut HashMap<TableId, TableDef>,
) -> Result<(), CatalogError> {
    let names: Vec<String> = tables.iter().map(|t| quote_string(t.table())).collect();
    // Names of schemas and tables are compared without case here: rows of other tables are dropped below.
    let condition = format!("TABLE_SCHEMA = {} AND TABLE_NAME IN ({})", quote_string(database), names.join(", "));
    let wanted = |row: &Row| -> Result<Option<TableId>, CatalogError> {
        let id = TableId::new(row.require("d")?, row.require("t")?);
        Ok(tables.contains(&&id).then_some(id))
    };
    for row in connection.query(&format!(
        "SELECT TABLE_SCHEMA AS d, TABLE_NAME AS t, TABLE_COLLATION AS collation_name, TABLE_COMMENT AS comment \
         FROM information_schema.TABLES WHERE {condition}"
    ))? {
        let Some(id) = wanted(&row)? else { continue };
        let collation = row.get("collation_name").unwrap_or_default().to_owned();
        // A collation's name begins with its charset's.
        let charset = collation.split('_').next().unwrap_or_default().to_owned();
        let comment = row.get("comment").unwrap_or_default().to_owned();
        let table =
            TableDef { columns: Vec::new(), primary_key: Vec::new(), keys: Vec::new(), charset, collation, comment };
        found.insert(id, table);
    }
    let version = connection.server().for_sql();
    for row in connection.query(&format!(
        "SELECT TABLE_SCHEMA AS d, TABLE_NAME AS t, COLUMN_NAME AS name, COLUMN_DEFAULT AS default_value, \
         IS_NULLABLE AS nullable, COLUMN_TYPE AS column_type, CHARACTER_SET_NAME AS charset, \
         COLLATION_NAME AS collation_name, EXTRA AS extra, COLUMN_COMMENT AS comment \
         FROM information_schema.COLUMNS WHERE {condition} ORDER BY TABLE_NAME, ORDINAL_POSITION"
    ))? {
        let Some(id) = wanted(&row)? else { continue };
        let column = read_column(&id, &row, version)?;
        if let Some(table) = found.get_mut(&id) {
            table.columns.push(column);
        }
    }
    Ok(())
}

fn read_column(table: &TableId, row: &Row, version: ServerVersion) -> Result<ColumnDef, CatalogError> {
    let name = row.require("name")?.to_owned();
    let charset = match (row.get("charset"), row.get("collation_name")) {
        (Some(name), Some(collation)) => Some(CharSet { name: name.into(), collation: collation.into() }),
        _ => None,
    };
    let column_type = ColumnType::parse(row.require("column_type")?, charset.as_ref())
        .map_err(|source| CatalogError::ColumnType { table: table.clone(), column: name.clone(), source })?;
    let extra = row.get("extra").unwrap_or_default();
    let has = |word: &str| extra.to_ascii_uppercase().contains(word);
    let generated = if has("STORED GENERATED") || has("PERSISTENT") {
        Some(Generated::Stored)
    } else if has("VIRTUAL") {
        Some(Generated::Virtual)
    } else {
        None
    };
    let default = match generated {
        Some(_) => None,
        None => DefaultValue::from_information_schema(row.get("default_value"), extra, &column_type, version),
    };
    Ok(ColumnDef {
        default,
        column_type,
        nullable: row.require("nullable")?.eq_ignore_ascii_case("YES"),
        on_update: has("ON UPDATE"),
        auto_increment: has("AUTO_INCREMENT"),
        comment: row.get("comment").unwrap_or_default().to_owned(),
        generated,
        invisible: has("INVISIBLE"),
        name,
    })
}

/// Asks for each table by itself: only `SHOW INDEX` gives the keys in their order.
fn read_keys(connection: &mut Connection, id: &TableId, mut table: TableDef) -> Result<TableDef, CatalogError> {
    for row in connection.query(&format!("SHOW INDEX FROM {}", quote_table(id)))? {
        let name = row.require("Key_name")?;
        let column = row.get("Column_name").map(str::to_owned);
        let part = (column, row.get("Sub_part").and_then(|n| n.parse().ok()));
        if name == "PRIMARY" {
            table.primary_key.extend(part.0);
            continue;
        }
        match table.keys.last_mut() {
            Some(last) if last.name == name => last.parts.push(part),
            _ => {
                let unique = row.require("Non_unique")? == "0";
                table.keys.push(Key { name: name.to_owned(), unique, parts: vec![part] });
            }
        }
    }
    Ok(table)
}
