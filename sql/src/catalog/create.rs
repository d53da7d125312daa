//! CREATE TABLE on the catalog.

use super::resolve::{resolve_charset, resolve_column, timestamp_defaults};
use super::{ApplyError, Catalog, position};
use crate::ddl::{ColumnSpec, CreateTable, DdlContext, KeyKind, KeyPart, KeySpec};
use crate::{CharSet, ColumnDef, ColumnType, ServerVersion, TableDef};
use rowferry_model::TableId;

impl Catalog {
    /// The charset that a table gets from its database.
    pub(super) fn inherited_charset(&self, table: &TableId) -> Result<&CharSet, ApplyError> {
        self.database(table.database()).ok_or_else(|| ApplyError::UnknownDatabase(table.database().to_owned()))
    }

    /// The table that a CREATE TABLE makes.
    pub(super) fn created(&self, create: &CreateTable, context: &DdlContext) -> Result<TableDef, ApplyError> {
        let options = &create.options;
        let named = options.charset.charset.is_some() || options.charset.collation.is_some();
        let inherited = match self.inherited_charset(&create.table) {
            Ok(charset) => charset,
            Err(_) if named => &context.server_charset,
            Err(error) => return Err(error),
        };
        let charset = resolve_charset(&options.charset, inherited, context)?;
        let mut def = TableDef {
            columns: Vec::with_capacity(create.columns.len()),
            primary_key: vec![],
            keys: vec![],
            charset: charset.name.to_string(),
            collation: charset.collation.to_string(),
            comment: options.comment.clone().unwrap_or_default(),
        };
        for spec in &create.columns {
            let column = resolve_column(spec, &charset, context)?;
            if position(&def.columns, &column.name).is_some() {
                return Err(ApplyError::DuplicateColumn { table: create.table.clone(), column: column.name });
            }
            def.columns.push(column);
        }
        timestamp_defaults(&mut def.columns, |_| true, context);
        for column in &create.columns {
            def.add_inline_keys(column, context.server);
        }
        // Foreign keys look for a key that serves them among all others.
        for foreign in [false, true] {
            for key in create.keys.iter().filter(|k| (k.kind == KeyKind::Foreign) == foreign) {
                def.check_key(key, &create.table)?;
                def.add_key(key, context.server);
            }
        }
        if context.generate_invisible_primary_key && def.primary_key.is_empty() {
            def.add_generated_primary_key();
        }
        Ok(def)
    }
}

impl TableDef {
    /// The keys that a column's attributes make.
    pub(super) fn add_inline_keys(&mut self, column: &ColumnSpec, server: ServerVersion) {
        for (wanted, kind) in [(column.primary, KeyKind::Primary), (column.unique, KeyKind::Unique)] {
            if wanted {
                let parts = vec![KeyPart { column: Some(column.name.clone()), prefix: None }];
                self.add_key(&KeySpec { kind, name: None, parts }, server);
            }
        }
    }

    /// That a key's columns are there.
    pub(super) fn check_key(&self, key: &KeySpec, table: &TableId) -> Result<(), ApplyError> {
        match key.parts.iter().filter_map(|p| p.column.as_ref()).find(|c| position(&self.columns, c).is_none()) {
            Some(column) => Err(ApplyError::UnknownColumn { table: table.clone(), column: column.clone() }),
            None => Ok(()),
        }
    }

    /// `sql_generate_invisible_primary_key`.
    fn add_generated_primary_key(&mut self) {
        let column = ColumnDef {
            name: "my_row_id".to_owned(),
            column_type: ColumnType::BigInt { unsigned: true, zerofill: false, width: None },
            nullable: false,
            default: None,
            on_update: false,
            auto_increment: true,
            comment: String::new(),
            generated: None,
            invisible: true,
        };
        self.primary_key = vec![column.name.clone()];
        self.columns.insert(0, column);
    }
}
