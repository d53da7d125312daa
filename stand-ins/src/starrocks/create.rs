//! CREATE and DROP.

use super::sql::{ColumnDef, Create, DefaultDef, Failure, TableName};
use super::types::Ty;
use super::values;
use super::world::{Column, Database, Table, World};
use std::collections::BTreeMap;

/// Properties that a shared-nothing frontend knows, of those that were recorded.
const PROPERTIES: [&str; 18] = [
    "replication_num",
    "fast_schema_evolution",
    "light_schema_change",
    "enable_persistent_index",
    "compression",
    "bucket_size",
    "storage_medium",
    "replicated_storage",
    "write_quorum",
    "colocate_with",
    "bloom_filter_columns",
    "in_memory",
    "primary_index_cache_expire_sec",
    "partition_live_number",
    "storage_format",
    "labels.location",
    "storage_cooldown_time",
    "dynamic_partition.enable",
];

impl World {
    pub fn create_database(&mut self, name: &str, if_not_exists: bool) -> Result<(), Failure> {
        let ok = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'$');
        if name.is_empty() || name.len() > 256 || !name.bytes().all(ok) || name.as_bytes()[0].is_ascii_digit() {
            return Err(Failure::new(
                1102,
                "42000",
                format!("Getting analyzing error. Detail message: Incorrect database name '{name}'."),
            ));
        }
        if self.databases.contains_key(name) {
            if if_not_exists {
                return Ok(());
            }
            return Err(Failure::new(1007, "HY000", format!("Can't create database '{name}'; database exists")));
        }
        self.databases.insert(name.to_owned(), Database::default());
        Ok(())
    }

    pub fn drop_database(&mut self, name: &str, if_exists: bool) -> Result<(), Failure> {
        if self.databases.remove(name).is_none() && !if_exists {
            return Err(Failure::new(1008, "HY000", format!("Can't drop database '{name}'; database doesn't exist")));
        }
        Ok(())
    }

    pub fn create_table(&mut self, database: &str, create: &Create) -> Result<(), Failure> {
        if !self.databases.contains_key(database) {
            return Err(unknown_database(database));
        }
        let table = self.analyse(create)?;
        let tables = &mut self.databases.get_mut(database).unwrap().tables;
        if tables.contains_key(&create.name.table) {
            if create.if_not_exists {
                return Ok(());
            }
            return Err(Failure::new(
                1050,
                "42S01",
                format!("Getting analyzing error. Detail message: Table '{}' already exists.", create.name.table),
            ));
        }
        tables.insert(create.name.table.clone(), table);
        Ok(())
    }

    fn analyse(&mut self, create: &Create) -> Result<Table, Failure> {
        let name = &create.name.table;
        if name.is_empty() {
            return Err(Failure::analysis("Table name is null"));
        }
        if name.chars().count() > 1024 {
            return Err(Failure::new(
                1104,
                "42000",
                format!("Getting analyzing error. Detail message: Incorrect table name '{name}'."),
            ));
        }
        if let Some(engine) = &create.engine
            && !engine.eq_ignore_ascii_case("olap")
        {
            return Err(Failure::analysis(format!("Unknown engine name: {engine}")));
        }
        let Some((model, keys)) = &create.model else {
            return Err(Failure::not_modelled("tables without a key clause"));
        };
        let mut columns: Vec<Column> = Vec::new();
        for def in &create.columns {
            check_name(&def.name)?;
            let key = keys.iter().any(|k| k.eq_ignore_ascii_case(&def.name));
            if key && model == "PRIMARY" && !def.ty.may_be_key() {
                return Err(Failure::analysis(format!(
                    "primary key column[{}] type not supported: {}",
                    def.name, def.ty
                )));
            }
            columns.push(column(def, key, false)?);
        }
        for (i, a) in columns.iter().enumerate() {
            if columns[..i].iter().any(|b| a.name.to_lowercase() == b.name.to_lowercase()) {
                return Err(duplicate_column(&a.name));
            }
        }
        if let Some(key) = keys.iter().find(|k| !columns.iter().any(|c| c.name.eq_ignore_ascii_case(k))) {
            return Err(Failure::analysis(format!("Key column({key}) doesn't exist.")));
        }
        for (i, key) in keys.iter().enumerate() {
            if !columns.get(i).is_some_and(|c| c.name.eq_ignore_ascii_case(key)) {
                return Err(Failure::analysis(
                    "Key columns must be the first few columns of the schema and the order  of the key columns must be \
                     consistent with the order of the schema",
                ));
            }
        }
        if model == "PRIMARY" {
            for column in columns.iter_mut().filter(|c| c.key) {
                let def = create.columns.iter().find(|d| d.name == column.name).unwrap();
                if def.nullable == Some(true) {
                    return Err(Failure::analysis(format!("primary key column[{}] cannot be nullable", column.name)));
                }
                column.nullable = false;
            }
        }
        if create.random {
            return Err(Failure::plain(
                "Getting analyzing error from line 1, column 0 to line 1, column 0. Detail message: PRIMARY KEY must use \
                 hash distribution.",
            ));
        }
        for column in create.hash.iter().flatten() {
            match columns.iter().find(|c| c.name.eq_ignore_ascii_case(column)) {
                None => return Err(Failure::analysis(format!("Distribution column({column}) doesn't exist."))),
                Some(c) if !c.key => {
                    return Err(Failure::plain(format!("Distribution column[{column}] is not key column")));
                }
                Some(_) => {}
            }
        }
        let mut properties = self.properties(name, &create.properties)?;
        if model != "PRIMARY" {
            properties.remove("enable_persistent_index");
        }
        let spelled = |n: &String| {
            columns.iter().find(|c| c.name.eq_ignore_ascii_case(n)).map_or_else(|| n.clone(), |c| c.name.clone())
        };
        let distribution = create.hash.as_ref().unwrap_or(keys).iter().map(spelled).collect();
        let id = self.id();
        Ok(Table {
            id,
            columns,
            model: model.clone(),
            comment: create.comment.clone().unwrap_or_default(),
            distribution,
            sort: create.order_by.clone(),
            buckets: create.buckets.filter(|b| *b > 0),
            properties,
            rows: BTreeMap::new(),
        })
    }

    fn properties(&self, table: &str, given: &[(String, String)]) -> Result<BTreeMap<String, String>, Failure> {
        let mut all: BTreeMap<String, String> = [
            ("compression", "LZ4"),
            ("enable_persistent_index", "true"),
            ("fast_schema_evolution", "true"),
            ("replicated_storage", "true"),
            ("replication_num", "3"),
        ]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into();
        for (key, value) in given {
            let shown = match (key.as_str(), value.as_str()) {
                ("replication_num", v) => {
                    let n: i64 = v.parse().map_err(|_| {
                        Failure::plain(format!(
                            "For input string: \"{v}\" table={table}, properties.replication_num={v}"
                        ))
                    })?;
                    if n < 1 {
                        return Err(Failure::analysis("Replication num should larger than 0"));
                    }
                    if n as usize > self.backends_alive {
                        return Err(Failure::analysis(
                            "Table replication num should be less than of equal to the number of available BE nodes. You \
                             can change this default by setting the replication_num table properties",
                        ));
                    }
                    v.to_owned()
                }
                ("fast_schema_evolution", v) if !matches!(v, "true" | "false") => {
                    return Err(Failure::plain("fast_schema_evolution must be `true` or `false`"));
                }
                ("enable_persistent_index", "false") => {
                    return Err(Failure::plain(
                        "In-Memory index is not supported, please create table with persistent index",
                    ));
                }
                ("compression", v) => {
                    let base = v.split('(').next().unwrap();
                    if !matches!(base, "LZ4" | "ZSTD" | "SNAPPY" | "ZLIB") {
                        return Err(Failure::plain(format!("unknown compression type: {v}")));
                    }
                    v.to_owned()
                }
                (k, v) if PROPERTIES.contains(&k) => v.to_owned(),
                (k, v) => return Err(Failure::plain(format!("Unknown properties: {{{k}={v}}}"))),
            };
            if !matches!(key.as_str(), "light_schema_change" | "bucket_size" | "in_memory" | "storage_format") {
                all.insert(key.clone(), shown);
            }
        }
        if self.backends_alive < 3 && !given.iter().any(|(k, _)| k == "replication_num") {
            return Err(Failure::analysis(
                "Table replication num should be less than of equal to the number of available BE nodes. You can change \
                 this default by setting the replication_num table properties",
            ));
        }
        Ok(all)
    }

    pub fn drop_table(&mut self, name: &TableName, database: &str, if_exists: bool) -> Result<(), Failure> {
        let Some(db) = self.databases.get_mut(database) else { return Err(unknown_database(database)) };
        if db.tables.remove(&name.table).is_none() && !if_exists {
            return Err(Failure::new(
                5502,
                "42602",
                format!("Getting analyzing error. Detail message: Unknown table '{}'.", name.table),
            ));
        }
        Ok(())
    }

    pub fn truncate(&mut self, name: &TableName, database: &str) -> Result<(), Failure> {
        if !self.databases.contains_key(database) {
            return Err(Failure::new(5501, "3F000", format!("Unknown database '{database}'")));
        }
        if self.has_running_job(database, &name.table) {
            return Err(super::alter::in_progress(&name.table));
        }
        let table = self
            .table_mut(database, &name.table)
            .ok_or_else(|| Failure::analysis(format!("Table {} is not found", name.table)))?;
        table.rows.clear();
        Ok(())
    }
}

pub fn unknown_database(name: &str) -> Failure {
    Failure::new(5501, "3F000", format!("Getting analyzing error. Detail message: Unknown database '{name}'."))
}

pub fn duplicate_column(name: &str) -> Failure {
    Failure::new(1060, "42S21", format!("Getting analyzing error. Detail message: Duplicate column name '{name}'."))
}

/// Names of columns, as recorded.
pub fn check_name(name: &str) -> Result<(), Failure> {
    if matches!(name.to_lowercase().as_str(), "__op" | "__row") {
        return Err(Failure::analysis(format!(
            "Column name [{name}] is a system reserved name. Please choose a different one."
        )));
    }
    if name.is_empty()
        || name.chars().count() > 1024
        || name.contains(['*', '=', '<'])
        || name.starts_with("__starrocks_shadow_")
    {
        return Err(Failure::new(
            1166,
            "42000",
            format!("Getting analyzing error. Detail message: Incorrect column name '{name}'."),
        ));
    }
    Ok(())
}

/// A column of a new table, or a new or changed one of an old table.
pub fn column(def: &ColumnDef, key: bool, altering: bool) -> Result<Column, Failure> {
    let invalid = |reason: String| {
        let wrong = if altering { "Column definition is wrong. " } else { "" };
        Failure::analysis(format!("{wrong}Invalid default value for '{}'{reason}", def.name))
    };
    match &def.ty {
        Ty::Char(n) if *n > 255 => return Err(Failure::analysis(format!("Char size must be <= 255: {n}"))),
        Ty::Varchar(n) if *n > 1_048_576 => {
            return Err(Failure::analysis(format!("Varchar size must be <= 1048576: {n}")));
        }
        Ty::Varbinary(Some(n)) if *n > 1_048_576 => {
            return Err(Failure::analysis(format!("VARBINARY size must be <= 1048576: {n}")));
        }
        Ty::Other(t) if t == "time" => {
            return Err(Failure::analysis(format!("Type:TIME of column:{} does not support", def.name)));
        }
        _ => {}
    }
    let nullable = def.nullable.unwrap_or(true);
    let (default, default_is_expression) = match &def.default {
        None => (None, false),
        Some(DefaultDef::Null) if !nullable => return Err(invalid(String::new())),
        Some(DefaultDef::Null) => (None, false),
        Some(DefaultDef::Function(f)) => (Some(f.clone()), true),
        Some(DefaultDef::Text(text)) => {
            values::check_default(text, &def.ty).map_err(|e| invalid(format!(": {e}")))?;
            (Some(text.clone()), false)
        }
    };
    Ok(Column {
        id: def.name.clone(),
        name: def.name.clone(),
        ty: def.ty.clone(),
        nullable,
        default,
        shown_default: None,
        default_is_expression,
        comment: def.comment.clone().unwrap_or_default(),
        key,
    })
}
