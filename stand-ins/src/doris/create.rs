//! CREATE and DROP.

use super::sql::{ColumnDef, Create, DefaultDef, Failure, TableName};
use super::types::Ty;
use super::values;
use super::world::{Column, Database, Table, World};
use std::collections::BTreeMap;

/// Properties that a frontend knows and that change nothing here.
const IGNORED: [&str; 3] = ["disable_auto_compaction", "in_memory", "storage_medium"];

impl World {
    pub fn create_database(&mut self, name: &str, if_not_exists: bool) -> Result<(), Failure> {
        let letter = |c: char| if self.unicode_names { c.is_alphabetic() } else { c.is_ascii_alphabetic() };
        let other = |c: char| letter(c) || c.is_ascii_digit() || matches!(c, '_' | '-');
        if !name.starts_with(letter) || !name.chars().all(other) || name.chars().count() > 64 {
            return Err(Failure::new(format!("Incorrect database name '{name}'")));
        }
        if self.databases.contains_key(name) {
            return if if_not_exists {
                Ok(())
            } else {
                Err(Failure::new(format!("Can't create database '{name}'; database exists")))
            };
        }
        self.databases.insert(name.to_owned(), Database::default());
        Ok(())
    }

    pub fn drop_database(&mut self, name: &str, if_exists: bool) -> Result<(), Failure> {
        if matches!(name, "information_schema" | "mysql" | "__internal_schema") {
            return Err(Failure::new(format!("Access denied for user 'root' to database '{name}'")));
        }
        match self.databases.remove(name) {
            None if !if_exists => Err(Failure::new(format!("Can't drop database '{name}'; database doesn't exist"))),
            _ => Ok(()),
        }
    }

    pub fn create_table(&mut self, database: &str, create: &Create) -> Result<(), Failure> {
        let name = &create.name.table;
        self.check_table_name(name)?;
        let table = self.new_table(create)?;
        let Some(db) = self.databases.get_mut(database) else { return Err(unknown_database(database)) };
        if db.tables.contains_key(name) {
            return if create.if_not_exists {
                Ok(())
            } else {
                Err(Failure::new(format!("Table '{name}' already exists")))
            };
        }
        db.tables.insert(name.clone(), table);
        Ok(())
    }

    pub fn check_table_name(&self, name: &str) -> Result<(), Failure> {
        let ok = if self.unicode_names {
            !name.is_empty() && !name.ends_with(char::is_whitespace)
        } else {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'))
        };
        if !ok {
            return Err(Failure::new(format!("Incorrect table name '{name}'")));
        }
        if name.chars().count() > 64 {
            return Err(Failure::new(format!("Table name length exceeds limit, the length of table name '{name}'")));
        }
        Ok(())
    }

    pub fn check_column_name(&self, name: &str) -> Result<(), Failure> {
        let ascii = |c: char| c.is_ascii_alphanumeric() || "_.+-/?@#$%^&*\" \t\n,:".contains(c);
        let last = |c: char| c.is_ascii_alphanumeric() || "_.+-/?@#$%^&*\",:".contains(c);
        let ok = if self.unicode_names {
            !name.ends_with(char::is_whitespace)
        } else {
            name.chars().all(ascii) && name.ends_with(last)
        };
        if !ok || name.is_empty() || name.chars().count() > 256 {
            return Err(Failure::new(format!("Incorrect column name '{name}'")));
        }
        Ok(())
    }

    fn new_table(&mut self, create: &Create) -> Result<Table, Failure> {
        let mut properties = Properties::read(create, self.backends_alive)?;
        for (i, def) in create.columns.iter().enumerate() {
            self.check_column_name(&def.name)?;
            if def.name.to_uppercase().starts_with("__DORIS_") {
                return Err(Failure::new(format!(
                    "Disable to create table column with name start with __DORIS_: {}",
                    def.name.to_uppercase()
                )));
            }
            let lower = def.name.to_lowercase();
            if create.columns[..i].iter().any(|b| b.name.to_lowercase() == lower) {
                return Err(Failure::new(format!("Duplicate column name '{}'", def.name)));
            }
        }
        let (model, keys) = match &create.key {
            Some((model, keys)) => (model.clone(), keys.clone()),
            None if properties.without_keys => (String::new(), Vec::new()),
            None => ("DUPLICATE".to_owned(), default_keys(&create.columns)?),
        };
        for (i, key) in keys.iter().enumerate() {
            if !create.columns.iter().any(|c| c.name.eq_ignore_ascii_case(key)) {
                return Err(Failure::new(format!("Key column[{key}] doesn't exist.")));
            }
            match create.columns.get(i) {
                Some(c) if c.name.eq_ignore_ascii_case(key) => {}
                there => {
                    let there = there.map_or("", |c| c.name.as_str());
                    return Err(Failure::new(format!(
                        "Key columns should be a ordered prefix of the schema. KeyColumns[{i}] (starts from zero) is \
                         {key}, but corresponding column is {there} in the previous columns declaration."
                    )));
                }
            }
        }
        let is_key = |name: &str| keys.iter().any(|k| k.eq_ignore_ascii_case(name));
        let mut columns = Vec::new();
        for def in &create.columns {
            columns.push(column(self.id(), def, is_key(&def.name))?);
        }
        let unique = model == "UNIQUE";
        let spelled = |name: &String| {
            columns.iter().find(|c| c.name.eq_ignore_ascii_case(name)).map_or_else(|| name.clone(), |c| c.name.clone())
        };
        let partition = match &create.partition {
            None => None,
            Some((name, unit)) => Some((partition_column(&columns, name, unique)?, unit.clone())),
        };
        let hash = match &create.hash {
            None | Some(_) if unique && create.hash.as_ref().is_none_or(Vec::is_empty) => {
                return Err(Failure::new("Create unique keys table should not contain random distribution desc"));
            }
            None => Vec::new(),
            Some(names) => names.iter().map(spelled).collect(),
        };
        for name in &hash {
            match columns.iter().find(|c| c.name == *name) {
                None => return Err(Failure::new(format!("Distribution column({name}) doesn't exist"))),
                Some(c) if unique && !c.key => {
                    return Err(Failure::new(format!("Distribution column[{name}] is not key column")));
                }
                Some(c) if matches!(c.ty, Ty::Float | Ty::Double) => {
                    return Err(Failure::new(format!(
                        "Floating point type should not be used in distribution column[{name}]."
                    )));
                }
                Some(_) => {}
            }
        }
        if !unique && properties.merge_on_write.take().is_some() {
            return Err(Failure::new("enable_unique_key_merge_on_write property only support unique key table"));
        }
        // Only for the key that is given as a clause, or none: the columns themselves say nothing.
        let buckets = create.buckets.unwrap_or(if create.hash.is_none() { 0 } else { 10 });
        Ok(Table {
            id: self.id(),
            columns,
            model,
            comment: create.comment.clone(),
            partition,
            hash,
            buckets,
            replicas: properties.replicas,
            light: properties.light,
            merge_on_write: properties.merge_on_write.unwrap_or(unique),
            sequence: 0,
            rows: BTreeMap::new(),
        })
    }

    pub fn drop_table(
        &mut self,
        name: &TableName,
        database: &str,
        if_exists: bool,
        force: bool,
    ) -> Result<(), Failure> {
        let busy = self.has_running_job(database, &name.table);
        let Some(db) = self.databases.get_mut(database) else { return Err(unknown_database(database)) };
        if !db.tables.contains_key(&name.table) {
            return if if_exists {
                Ok(())
            } else {
                Err(Failure::new(format!("Unknown table '{}' in {database}", name.table)))
            };
        }
        if busy && !force {
            return Err(Failure::new(format!(
                "The table [{}]'s state is SCHEMA_CHANGE, cannot be dropped. please cancel the operation on olap table \
                 firstly.",
                name.table
            )));
        }
        db.tables.remove(&name.table);
        Ok(())
    }

    pub fn truncate(&mut self, name: &TableName, database: &str) -> Result<(), Failure> {
        if !self.databases.contains_key(database) {
            return Err(unknown_database(database));
        }
        if self.table(database, &name.table).is_none() {
            return Err(Failure::new(format!("Unknown table '{}'", name.table)));
        }
        if self.has_running_job(database, &name.table) {
            return Err(super::alter::not_normal(&name.table));
        }
        self.table_mut(database, &name.table).unwrap().rows.clear();
        Ok(())
    }
}

pub fn unknown_database(name: &str) -> Failure {
    Failure::new(format!("Unknown database '{name}'"))
}

/// The sort key of a table that names none: the first columns, up to three, 36 bytes, or the first text.
/// The column that partitions, as it is spelled.
fn partition_column(columns: &[Column], name: &str, unique: bool) -> Result<String, Failure> {
    let Some(column) = columns.iter().find(|c| c.name.eq_ignore_ascii_case(name)) else {
        return Err(Failure::not_modelled("partitions by a column that is not there"));
    };
    if !matches!(column.ty, Ty::Date | Ty::DateTime(_)) {
        return Err(Failure::new("partition expr date_trunc is illegal!"));
    }
    if column.nullable {
        return Err(Failure::new("AUTO RANGE PARTITION doesn't support NULL column"));
    }
    if unique && !column.key {
        return Err(Failure::new("Merge-on-Write table's partition column must be KEY column"));
    }
    Ok(column.name.clone())
}

fn default_keys(columns: &[ColumnDef]) -> Result<Vec<String>, Failure> {
    let mut keys = Vec::new();
    let mut bytes = 0;
    for column in columns {
        let size = match column.ty {
            Ty::Float | Ty::Double | Ty::String | Ty::Json => break,
            Ty::Boolean | Ty::TinyInt => 1,
            Ty::SmallInt => 2,
            Ty::Int | Ty::Date => 4,
            Ty::BigInt | Ty::DateTime(_) => 8,
            Ty::LargeInt | Ty::Decimal(..) => 16,
            Ty::Char(n) => n,
            Ty::Varchar(_) => {
                keys.push(column.name.clone());
                break;
            }
        };
        bytes += size;
        if keys.len() >= 3 || bytes > 36 {
            if keys.is_empty() {
                keys.push(column.name.clone());
            }
            break;
        }
        keys.push(column.name.clone());
    }
    if keys.is_empty() {
        return Err(Failure::new(
            "The olap table first column could not be float, double, string or array, struct, map, please use decimal or \
             varchar instead.",
        ));
    }
    Ok(keys)
}

struct Properties {
    replicas: u32,
    light: bool,
    merge_on_write: Option<bool>,
    without_keys: bool,
}

impl Properties {
    fn read(create: &Create, alive: usize) -> Result<Self, Failure> {
        let mut properties = Self { replicas: 3, light: true, merge_on_write: None, without_keys: false };
        let too_few = |n: u32| {
            if n as usize > alive {
                Err(Failure::new(
                    "replication num should be less than the number of available backends. replication num is \
                     "
                    .to_owned()
                        + &format!("{n}, available backend num is {alive}"),
                ))
            } else {
                Ok(())
            }
        };
        let flag = |key: &str, value: &str| match value.to_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Failure::new(format!("{key} must be `true` or `false`"))),
        };
        let mut unknown = Vec::new();
        for (i, (key, value)) in create.properties.iter().enumerate() {
            if let Some((_, old)) = create.properties[..i].iter().find(|(k, _)| k == key) {
                return Err(Failure::new(format!("Multiple entries with same key: {key}={value} and {key}={old}")));
            }
            match key.as_str() {
                "replication_num" => {
                    let n: i64 = value.parse().map_err(|_| Failure::new(format!("For input string: \"{value}\"")))?;
                    if !(1..=32_767).contains(&n) {
                        return Err(Failure::new("Replication num should between 1 and 32767"));
                    }
                    properties.replicas = n as u32;
                }
                "light_schema_change" => properties.light = flag(key, value)?,
                "enable_unique_key_merge_on_write" => properties.merge_on_write = Some(flag(key, value)?),
                "enable_duplicate_without_keys_by_default" => properties.without_keys = flag(key, value)?,
                key if IGNORED.contains(&key) => {
                    return Err(Failure::not_modelled("properties of no concern to the sink"));
                }
                _ if super::values::OTHER_PROPERTIES.contains(&key.as_str()) => {
                    return Err(Failure::not_modelled("properties of no concern to the sink"));
                }
                _ => unknown.push(format!("{key}={value}")),
            }
        }
        if !unknown.is_empty() {
            return Err(Failure::new(format!("Unknown properties: {{{}}}", unknown.join(", "))));
        }
        too_few(properties.replicas)?;
        Ok(properties)
    }
}

/// A column of a new table, or a new or changed one of an old table.
pub fn column(id: u64, def: &ColumnDef, key: bool) -> Result<Column, Failure> {
    if key {
        match def.ty {
            Ty::Float | Ty::Double => {
                return Err(Failure::new("Float or double can not used as a key, use decimal instead."));
            }
            Ty::String => {
                return Err(Failure::new(format!("String Type should not be used in key column[{}]", def.name)));
            }
            Ty::Json => {
                return Err(Failure::new(format!("JsonType type should not be used in key column[{}].", def.name)));
            }
            _ => {}
        }
    }
    let nullable = def.nullable.unwrap_or(true);
    let (default, default_is_function) = match &def.default {
        None => (None, false),
        Some(DefaultDef::Null) if !nullable => {
            return Err(Failure::new(format!("Can not set null default value to non nullable column: {}", def.name)));
        }
        Some(DefaultDef::Null) => (None, false),
        Some(default) => {
            values::check_default(default, &def.ty).map_err(Failure::new)?;
            match default {
                DefaultDef::Text(text) => (Some(text.clone()), false),
                DefaultDef::Today => (Some("CURRENT_DATE".to_owned()), true),
                DefaultDef::Now(None | Some(0)) => (Some("CURRENT_TIMESTAMP".to_owned()), true),
                DefaultDef::Now(Some(n)) => (Some(format!("CURRENT_TIMESTAMP({n})")), true),
                DefaultDef::Null => unreachable!(),
            }
        }
    };
    Ok(Column {
        id,
        name: def.name.clone(),
        ty: def.ty.clone(),
        nullable,
        default,
        default_is_function,
        comment: def.comment.clone(),
        key,
    })
}
