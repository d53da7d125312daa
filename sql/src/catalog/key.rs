//! Keys of tracked tables.

use super::{position, same_name};
use crate::ddl::{KeyKind, KeySpec};
use crate::{ColumnDef, ColumnType, DefaultValue, Flavor, Key, ServerVersion, TableDef};

/// Numbers with ZEROFILL are shown in their width.
fn zero_fill(column: &mut ColumnDef) {
    let (ColumnType::TinyInt { width: Some(width), zerofill: true, .. }
    | ColumnType::SmallInt { width: Some(width), zerofill: true, .. }
    | ColumnType::MediumInt { width: Some(width), zerofill: true, .. }
    | ColumnType::Int { width: Some(width), zerofill: true, .. }
    | ColumnType::BigInt { width: Some(width), zerofill: true, .. }) = &column.column_type
    else {
        return;
    };
    column.default = Some(DefaultValue::Literal("0".repeat(*width as usize)));
}

/// The value of a NOT NULL column that is given none.
fn implicit_default(column_type: &ColumnType) -> Option<String> {
    Some(match column_type {
        ColumnType::TinyInt { .. }
        | ColumnType::SmallInt { .. }
        | ColumnType::MediumInt { .. }
        | ColumnType::Int { .. }
        | ColumnType::BigInt { .. }
        | ColumnType::Float { size: None, .. }
        | ColumnType::Double { size: None, .. } => "0".to_owned(),
        ColumnType::Decimal { scale, .. } if *scale > 0 => format!("0.{}", "0".repeat(usize::from(*scale))),
        ColumnType::Decimal { .. } => "0".to_owned(),
        ColumnType::Float { size: Some((_, d)), .. } | ColumnType::Double { size: Some((_, d)), .. } => {
            format!("{:.*}", (*d).min(30) as usize, 0.0)
        }
        ColumnType::Char { .. }
        | ColumnType::Varchar { .. }
        | ColumnType::Varbinary(_)
        | ColumnType::Text { .. }
        | ColumnType::Blob(_)
        | ColumnType::Geometry(_)
        | ColumnType::Set { .. } => String::new(),
        ColumnType::Bit(_) => "b'0'".to_owned(),
        ColumnType::Time(p) => super::temporal::zero_datetime(*p).split_off(11),
        ColumnType::Binary(n) => "\0".repeat((*n).min(255) as usize),
        ColumnType::Year => "0000".to_owned(),
        ColumnType::Date => "0000-00-00".to_owned(),
        ColumnType::DateTime(p) | ColumnType::Timestamp(p) => super::temporal::zero_datetime(*p),
        ColumnType::Enum { labels, .. } => labels.first()?.to_string(),
        _ => return None,
    })
}

impl TableDef {
    /// Adds a key as the server does: names it, takes the primary key's columns for NOT NULL.
    pub(crate) fn add_key(&mut self, spec: &KeySpec, server: ServerVersion) {
        let spelled = |name: &String| {
            position(&self.columns, name).map_or_else(|| name.clone(), |i| self.columns[i].name.clone())
        };
        if spec.kind == KeyKind::Primary {
            self.primary_key = spec.parts.iter().filter_map(|p| p.column.as_ref()).map(spelled).collect();
            self.require_primary_key(server);
            return;
        }
        let parts: Vec<_> = spec.parts.iter().map(|p| (p.column.as_ref().map(spelled), p.prefix)).collect();
        if spec.kind == KeyKind::Foreign && self.serves(&parts) {
            return;
        }
        let name = match &spec.name {
            Some(name) => name.clone(),
            None => self.free_key_name(parts.first().and_then(|(c, _)| c.as_deref())),
        };
        self.keys.push(Key { name, unique: spec.kind == KeyKind::Unique, parts });
    }

    /// Whether a key starts with those parts: then a foreign key needs none of its own.
    fn serves(&self, parts: &[(Option<String>, Option<u32>)]) -> bool {
        let primary: Vec<_> = self.primary_key.iter().map(|c| (Some(c.clone()), None)).collect();
        primary.starts_with(parts) || self.keys.iter().any(|k| k.parts.starts_with(parts))
    }

    /// The name that the server gives a key without one: its first column's, with a number when it is taken.
    fn free_key_name(&self, column: Option<&str>) -> String {
        let base = column.unwrap_or("functional_index");
        let taken =
            |name: &str| name.eq_ignore_ascii_case("PRIMARY") || self.keys.iter().any(|k| same_name(&k.name, name));
        if !taken(base) {
            return base.to_owned();
        }
        (2u32..).map(|n| format!("{base}_{n}")).find(|name| !taken(name)).unwrap_or_default()
    }

    /// Columns of a primary key are NOT NULL, whether it is said or not. Where it isn't, servers before MySQL 5.7 give
    /// them a default as well.
    pub(crate) fn require_primary_key(&mut self, server: ServerVersion) {
        let old = server.flavor == Flavor::Mysql && server.number < 50_700;
        for name in &self.primary_key {
            let Some(i) = position(&self.columns, name) else { continue };
            let column = &mut self.columns[i];
            if old && column.nullable && column.default.is_none() {
                column.default = implicit_default(&column.column_type).map(DefaultValue::Literal);
                zero_fill(column);
            }
            column.nullable = false;
        }
    }

    /// Renames a column in all keys.
    pub(crate) fn rename_in_keys(&mut self, names: &[(String, String)]) {
        let renamed = |name: &mut String| {
            if let Some((_, new)) = names.iter().find(|(old, _)| same_name(old, name)) {
                name.clone_from(new);
            }
        };
        self.primary_key.iter_mut().for_each(renamed);
        self.keys.iter_mut().flat_map(|k| &mut k.parts).filter_map(|(c, _)| c.as_mut()).for_each(renamed);
    }

    /// A prefix that isn't shorter than its column is the whole column, and so is one of a column that can't have one.
    pub(crate) fn trim_prefixes(&mut self) {
        let columns = &self.columns;
        for (column, prefix) in self.keys.iter_mut().flat_map(|k| &mut k.parts) {
            let Some(at) = column.as_ref().and_then(|c| position(columns, c)) else { continue };
            let longest = match &columns[at].column_type {
                ColumnType::Char { length, .. } | ColumnType::Varchar { length, .. } => *length,
                ColumnType::Binary(length) | ColumnType::Varbinary(length) => *length,
                ColumnType::Text { .. } | ColumnType::Blob(_) | ColumnType::Geometry(_) => continue,
                _ => 0,
            };
            if prefix.is_some_and(|n| n >= longest) {
                *prefix = None;
            }
        }
    }

    /// Takes dropped columns out of all keys; keys without parts are gone.
    pub(crate) fn drop_from_keys(&mut self, dropped: &[String]) {
        let gone = |name: &str| dropped.iter().any(|d| same_name(d, name));
        self.primary_key.retain(|c| !gone(c));
        for key in &mut self.keys {
            key.parts.retain(|(c, _)| !c.as_deref().is_some_and(gone));
        }
        self.keys.retain(|k| !k.parts.is_empty());
    }
}
