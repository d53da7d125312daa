//! Table definitions out of `information_schema`.

use super::error::CatalogError;
use super::identifier::{quote_string, quote_table};
use super::position::binlog_position;
use crate::mysql::wire::{Connection, Row};
use rowferry_model::{Offset, TableId};
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

/// The statement that makes a table, without the counter of AUTO_INCREMENT: the same text means the same definition.
/// Cheaper than [`table_defs`] where only a change is looked for. `None`: there is no such table.
///
/// # Errors
/// The connection fails.
pub fn create_statement(connection: &mut Connection, table: &TableId) -> Result<Option<String>, CatalogError> {
    // ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE
    const ABSENT: [u16; 2] = [1049, 1146];
    let row = match connection.query_first(&format!("SHOW CREATE TABLE {}", quote_table(table))) {
        Err(error) if error.code().is_some_and(|c| ABSENT.contains(&c)) => return Ok(None),
        other => other?,
    };
    let text = row.as_ref().and_then(|r| r.at(1)).unwrap_or_default();
    Ok(Some(without_counter(text)))
}

/// Takes `AUTO_INCREMENT=n` out of the table options, which stand behind the last closing parenthesis of a line's start.
fn without_counter(text: &str) -> String {
    const COUNTER: &str = " AUTO_INCREMENT=";
    let options = text.rfind("\n)").unwrap_or(0);
    let Some(at) = text.get(options..).and_then(|o| o.find(COUNTER)).map(|at| at + options) else {
        return text.to_owned();
    };
    let (before, counter) = text.split_at(at);
    let rest = counter.get(COUNTER.len()..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}{rest}")
}

/// A table as it stands at a place of the binlog.
#[derive(Clone, Debug)]
pub struct Defined {
    /// The table.
    pub table: TableId,
    /// Its definition.
    pub def: TableDef,
    /// The statement that makes it, as [`create_statement`] gives it.
    pub statement: String,
}

/// The definitions of tables, all as they are at one place of the binlog; tables that are not there are left out.
///
/// # Errors
/// The connection fails, a column's type is not known, or the definitions do not stand still.
pub fn definitions_at(connection: &mut Connection, tables: &[TableId]) -> Result<(Vec<Defined>, Offset), CatalogError> {
    const TRIES: usize = 10;
    let mut statements = create_statements(connection, tables)?;
    for _ in 0..TRIES {
        let there: Vec<TableId> = statements.iter().map(|(t, _)| t.clone()).collect();
        let defs = match table_defs(connection, &there) {
            Err(CatalogError::NoTable(_)) => None,
            other => Some(other?),
        };
        let at = binlog_position(connection)?;
        let after = create_statements(connection, tables)?;
        match defs {
            // Nothing has changed from before the first definition was read until behind the place.
            Some(defs) if after == statements => {
                let both = defs.into_iter().zip(after);
                return Ok((
                    both.map(|((table, def), (_, statement))| Defined { table, def, statement }).collect(),
                    at,
                ));
            }
            _ => statements = after,
        }
    }
    Err(CatalogError::Restless(tables.first().cloned().unwrap_or_else(|| TableId::new("", ""))))
}

fn create_statements(connection: &mut Connection, tables: &[TableId]) -> Result<Vec<(TableId, String)>, CatalogError> {
    let mut out = Vec::with_capacity(tables.len());
    for table in tables {
        if let Some(statement) = create_statement(connection, table)? {
            out.push((table.clone(), statement));
        }
    }
    Ok(out)
}

/// The default charset of each database, by name.
///
/// # Errors
/// The connection fails.
pub fn database_charsets(connection: &mut Connection) -> Result<Vec<(String, CharSet)>, CatalogError> {
    let version = connection.server();
    let rows = connection
        .query("SELECT SCHEMA_NAME AS d, DEFAULT_COLLATION_NAME AS collation_name FROM information_schema.SCHEMATA")?;
    let charset =
        |row: &Row| Some((row.get("d")?.to_owned(), CharSet::of_collation(row.get("collation_name")?, version)?));
    Ok(rows.iter().filter_map(charset).collect())
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
    let version = connection.server();
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
    /// It was there a moment ago.
    const NO_SUCH_TABLE: u16 = 1146;
    let rows = match connection.query(&format!("SHOW INDEX FROM {}", quote_table(id))) {
        Err(error) if error.code() == Some(NO_SUCH_TABLE) => return Err(CatalogError::NoTable(id.clone())),
        other => other?,
    };
    for row in rows {
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

#[cfg(test)]
mod tests {
    use super::without_counter;

    #[test]
    fn the_counter_is_not_part_of_a_definition() {
        let text = "CREATE TABLE `t` (\n  `a` int COMMENT 'x AUTO_INCREMENT=9',\n  PRIMARY KEY (`a`)\n) ENGINE=InnoDB AUTO_INCREMENT=17 DEFAULT CHARSET=utf8mb4";
        assert_eq!(without_counter(text), text.replace(" AUTO_INCREMENT=17", ""));
        let without = "CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB";
        assert_eq!(without_counter(without), without);
    }
}
