//! ALTER TABLE on the catalog.
//!
//! The clauses of an ALTER TABLE are not done one after another: names of columns to change, rename or drop are those
//! before the statement, names behind AFTER and in new keys are those after it. The steps here follow the server's.

use super::default_value::resolve_default;
use super::resolve::{blob_size, resolve_charset, resolve_column, text, timestamp_defaults};
use super::{AlterStep, ApplyError, Catalog, Effect, position, same_name};
use crate::ddl::{AlterAction, AlterTable, ColumnSpec, DdlContext, DefaultSpec, KeyKind, Place};
use crate::{BlobSize, CharSet, ColumnDef, ColumnType, DefaultValue, Flavor, TableDef, charset_max_bytes};
use rowferry_model::{ColumnPosition, TableId};
use std::sync::Arc;

/// An ALTER TABLE in progress.
struct Alteration<'a> {
    table: &'a TableId,
    context: &'a DdlContext,
    before: &'a TableDef,
    def: TableDef,
    /// The charset of columns that name none.
    charset: CharSet,
    /// CONVERT TO: also for columns that the statement defines with another charset.
    convert: Option<CharSet>,
    steps: Vec<AlterStep>,
    /// Old and new names of columns.
    renamed: Vec<(String, String)>,
    dropped: Vec<String>,
    /// Columns that the statement defines, by their new names.
    written: Vec<String>,
}

impl Catalog {
    pub(super) fn alter(&mut self, alter: &AlterTable, context: &DdlContext) -> Result<Vec<Effect>, ApplyError> {
        let table = &alter.table;
        let Some(before) = self.table(table).cloned() else {
            // What changes no definition needs none: ANALYZE PARTITION and the like.
            if alter.if_exists || alter.actions.iter().all(|a| *a == AlterAction::Nothing) {
                return Ok(vec![]);
            }
            return Err(ApplyError::UnknownTable(table.clone()));
        };
        let default = self.inherited_charset(table).ok();
        let merged;
        let alter = if context.server.is_mariadb() {
            merged = AlterTable { actions: merge_added(&alter.actions, &before), ..alter.clone() };
            &merged
        } else {
            alter
        };
        let (after, steps) = altered(&before, alter, default, context)?;
        let after = if after == *before { Arc::clone(&before) } else { Arc::new(after) };
        self.insert_table(table.clone(), Arc::clone(&after));
        let mut effects = vec![Effect::Altered { table: table.clone(), before, after, steps }];
        // The last one counts.
        let renamed = alter.actions.iter().rev().find_map(|action| match action {
            AlterAction::RenameTable(to) => Some(to),
            _ => None,
        });
        if let Some(to) = renamed.filter(|to| *to != table) {
            effects.push(self.rename(table.clone(), to.clone()));
        }
        for action in &alter.actions {
            if let AlterAction::RemovesRows { clause, other } = action {
                let tables = std::iter::once(table).chain(other);
                effects.extend(tables.map(|t| Effect::PartitionsChanged { table: t.clone(), clause }));
            }
        }
        Ok(effects)
    }
}

fn altered(
    before: &TableDef,
    alter: &AlterTable,
    inherited: Option<&CharSet>,
    context: &DdlContext,
) -> Result<(TableDef, Vec<AlterStep>), ApplyError> {
    let charset = CharSet { name: before.charset.as_str().into(), collation: before.collation.as_str().into() };
    let mut alteration = Alteration {
        table: &alter.table,
        context,
        before,
        def: before.clone(),
        charset,
        convert: None,
        steps: vec![],
        renamed: vec![],
        dropped: vec![],
        written: vec![],
    };
    alteration.options(&alter.actions, inherited)?;
    alteration.columns(&alter.actions)?;
    alteration.keys(&alter.actions)?;
    alteration.steps(&alter.actions);
    Ok((alteration.def, alteration.steps))
}

/// MariaDB lets a statement change a column that it adds: what is added is then the changed column, in the place of the
/// later clause.
fn merge_added(actions: &[AlterAction], before: &TableDef) -> Vec<AlterAction> {
    let mut merged = actions.to_vec();
    let mut at = 0;
    while at < merged.len() {
        let changed = match &merged[at] {
            AlterAction::ChangeColumn { old, .. } => old.clone(),
            AlterAction::SetDefault { name, .. } => name.clone(),
            _ => String::new(),
        };
        let added = merged
            .iter()
            .position(|a| matches!(a, AlterAction::AddColumn { column, .. } if same_name(&column.name, &changed)))
            .filter(|_| position(&before.columns, &changed).is_none());
        let Some(added) = added else {
            at += 1;
            continue;
        };
        match merged.remove(at) {
            AlterAction::ChangeColumn { column, place, .. } => {
                merged.insert(at, AlterAction::AddColumn { column, place, if_not_exists: false, clause: at });
                merged.remove(added);
            }
            AlterAction::SetDefault { default, .. } => {
                let added = if added > at { added - 1 } else { added };
                if let AlterAction::AddColumn { column, .. } = &mut merged[added] {
                    column.default = default;
                }
            }
            _ => {}
        }
    }
    merged
}

/// Whether a clause is about a column of that name, before the statement.
fn names(action: &AlterAction, column: &str) -> bool {
    match action {
        AlterAction::ChangeColumn { old, .. } | AlterAction::RenameColumn { old, .. } => same_name(old, column),
        AlterAction::DropColumn { name, .. }
        | AlterAction::SetDefault { name, .. }
        | AlterAction::SetInvisible { name, .. } => same_name(name, column),
        _ => false,
    }
}

impl Alteration<'_> {
    /// The table's charset and comment.
    fn options(&mut self, actions: &[AlterAction], inherited: Option<&CharSet>) -> Result<(), ApplyError> {
        let server = self.context.server;
        let mut default = None;
        for action in actions {
            let options = match action {
                AlterAction::Convert(options) => options,
                AlterAction::Options(options) => {
                    if let Some(comment) = &options.comment {
                        self.def.comment.clone_from(comment);
                    }
                    &options.charset
                }
                _ => continue,
            };
            if options.charset.is_none() && options.collation.is_none() {
                continue;
            }
            let to = resolve_charset(options, inherited.unwrap_or(&self.charset), self.context)?;
            if matches!(action, AlterAction::Convert(_)) {
                self.convert = Some(to.clone());
            }
            // MariaDB keeps the two apart; MySQL takes the last one, if it takes both.
            if default.is_none() || !(server.is_mariadb() && matches!(action, AlterAction::Convert(_))) {
                default = Some(to);
            }
        }
        let old = server.flavor == Flavor::Mysql && server.number < 50_700;
        if let Some(to) = &self.convert {
            let mut changed = false;
            for column in &mut self.def.columns {
                let column_type = converted(&column.column_type, to, true);
                changed |= column_type != column.column_type;
                retype(column, column_type, self.context);
            }
            if old && !changed && actions.len() == 1 {
                // MySQL 5.6 finds nothing to convert, and leaves the default as it is, too.
                return Ok(());
            }
        }
        if let Some(default) = default {
            self.def.charset = default.name.to_string();
            self.def.collation = default.collation.to_string();
            self.charset = self.convert.clone().unwrap_or(default);
        }
        Ok(())
    }

    /// MySQL 5.6 takes SET DEFAULT for columns whose default is the current time, and does nothing.
    fn keeps_default(&self, column: &ColumnDef) -> bool {
        let server = self.context.server;
        let old = server.flavor == Flavor::Mysql && server.number < 50_700;
        old && matches!(column.default, Some(DefaultValue::Expression(_)))
    }

    fn unknown(&self, column: &str) -> ApplyError {
        ApplyError::UnknownColumn { table: self.table.clone(), column: column.to_owned() }
    }

    fn resolve(&mut self, spec: &ColumnSpec, changes: bool) -> Result<ColumnDef, ApplyError> {
        self.written.push(spec.name.clone());
        let mut column = resolve_column(spec, &self.charset, self.context)?;
        if let Some(to) = &self.convert {
            let mut column_type = converted(&column.column_type, to, false);
            if let ColumnType::Text { size, .. } = &mut column_type
                && self.context.server.mysql_since(80_000)
                && changes
            {
                // MySQL 8 takes the length of such a TEXT for 0.
                *size = BlobSize::Tiny;
            }
            retype(&mut column, column_type, self.context);
        }
        Ok(column)
    }

    /// The columns: first what becomes of each that is there, then what is added or moved.
    fn columns(&mut self, actions: &[AlterAction]) -> Result<(), ApplyError> {
        self.missing(actions)?;
        let old = std::mem::take(&mut self.def.columns);
        let mut columns = Vec::with_capacity(old.len() + 1);
        for mut column in old {
            let old_name = column.name.clone();
            let mut stays = true;
            for action in actions.iter().filter(|a| names(a, &old_name)) {
                match action {
                    AlterAction::DropColumn { .. } => {
                        self.dropped.push(old_name.clone());
                        stays = false;
                    }
                    AlterAction::ChangeColumn { column: spec, .. } => {
                        column = self.resolve(spec, true)?;
                        self.renamed.push((old_name.clone(), spec.name.clone()));
                    }
                    AlterAction::RenameColumn { new, .. } => {
                        column.name.clone_from(new);
                        self.renamed.push((old_name.clone(), new.clone()));
                    }
                    AlterAction::SetDefault { default: Some(_), .. } if self.keeps_default(&column) => {}
                    AlterAction::SetDefault { default, .. } => {
                        column.default = match default {
                            Some(default) => resolve_default(default, &column.column_type, self.context)
                                .map_err(|reason| ApplyError::InvalidColumn { column: old_name.clone(), reason })?,
                            None => None,
                        };
                        // MariaDB takes ON UPDATE away as well.
                        column.on_update &= !self.context.server.is_mariadb();
                    }
                    AlterAction::SetInvisible { invisible, .. } => column.invisible = *invisible,
                    _ => {}
                }
            }
            if stays {
                columns.push(column);
            }
        }
        for action in actions {
            let (column, place) = match action {
                // A column stays where it is until its own clause moves it: others may be placed behind it before.
                AlterAction::ChangeColumn { column, place, .. } if *place != Place::Unsaid => {
                    match position(&columns, &column.name) {
                        Some(i) => (columns.remove(i), place),
                        None => continue,
                    }
                }
                AlterAction::AddColumn { column, if_not_exists, .. }
                    if *if_not_exists && position(&self.before.columns, &column.name).is_some() =>
                {
                    continue;
                }
                AlterAction::AddColumn { column, place, .. } => (self.resolve(column, false)?, place),
                _ => continue,
            };
            let at = match place {
                Place::Unsaid => columns.len(),
                Place::First => 0,
                Place::After(name) => position(&columns, name).ok_or_else(|| self.unknown(name))? + 1,
            };
            columns.insert(at, column);
        }
        let duplicate = (1..columns.len()).find(|i| position(&columns[..*i], &columns[*i].name).is_some());
        if let Some(i) = duplicate {
            let column = columns[i].name.clone();
            return Err(ApplyError::DuplicateColumn { table: self.table.clone(), column });
        }
        let written = &self.written;
        timestamp_defaults(&mut columns, |name| written.iter().any(|w| same_name(w, name)), self.context);
        self.def.columns = columns;
        Ok(())
    }

    /// That the columns of all clauses are there.
    fn missing(&self, actions: &[AlterAction]) -> Result<(), ApplyError> {
        for action in actions {
            let (name, tolerated) = match action {
                AlterAction::ChangeColumn { old: name, if_exists, .. }
                | AlterAction::RenameColumn { old: name, if_exists, .. }
                | AlterAction::DropColumn { name, if_exists }
                | AlterAction::SetDefault { name, if_exists, .. } => (name, *if_exists),
                AlterAction::SetInvisible { name, .. } => (name, false),
                _ => continue,
            };
            if !tolerated && position(&self.before.columns, name).is_none() {
                return Err(self.unknown(name));
            }
        }
        Ok(())
    }

    /// The keys: dropped ones, renamed and dropped columns, then new ones.
    fn keys(&mut self, actions: &[AlterAction]) -> Result<(), ApplyError> {
        for action in actions {
            match action {
                AlterAction::DropPrimaryKey => self.def.primary_key.clear(),
                AlterAction::DropKey(name) | AlterAction::DropConstraint(name) => {
                    self.def.keys.retain(|k| !same_name(&k.name, name));
                }
                AlterAction::RenameKey { old, new } => {
                    if let Some(key) = self.def.keys.iter_mut().find(|k| same_name(&k.name, old)) {
                        key.name.clone_from(new);
                    }
                }
                _ => {}
            }
        }
        // A key keeps a part whose column is dropped when the same statement adds one of that name.
        let columns = &self.def.columns;
        self.dropped.retain(|name| position(columns, name).is_none());
        self.def.drop_from_keys(&self.dropped);
        self.def.rename_in_keys(&self.renamed);
        self.def.trim_prefixes();
        for action in actions {
            if let AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } = action
                && self.written.contains(&column.name)
            {
                self.def.add_inline_keys(column, self.context.server);
            }
        }
        for foreign in [false, true] {
            for action in actions {
                let AlterAction::AddKey { key, if_not_exists } = action else { continue };
                if (key.kind == KeyKind::Foreign) != foreign {
                    continue;
                }
                let named = |name: &String| self.def.keys.iter().any(|k| same_name(&k.name, name));
                if !(*if_not_exists && key.name.as_ref().is_some_and(named)) {
                    self.def.check_key(key, self.table)?;
                    self.def.add_key(key, self.context.server);
                }
            }
        }
        self.def.require_primary_key(self.context.server);
        Ok(())
    }

    /// What was done, for those who follow. Columns are shown as they came out in the end.
    fn steps(&mut self, actions: &[AlterAction]) {
        let after = |name: &str| position(&self.def.columns, name).map(|i| self.def.columns[i].clone());
        let mut last_clause = None;
        let mut steps: Vec<AlterStep> = vec![];
        for action in actions {
            match action {
                AlterAction::AddColumn { column, place, clause, .. } if self.written.contains(&column.name) => {
                    let Some(column) = after(&column.name) else { continue };
                    let position = match place {
                        Place::Unsaid => ColumnPosition::Last,
                        Place::First => ColumnPosition::First,
                        Place::After(name) => ColumnPosition::After(after(name).map_or(name.clone(), |c| c.name)),
                    };
                    match steps.last_mut() {
                        Some(AlterStep::Add(columns)) if last_clause == Some(*clause) => {
                            columns.push((column, position));
                        }
                        _ => steps.push(AlterStep::Add(vec![(column, position)])),
                    }
                    last_clause = Some(*clause);
                }
                AlterAction::ChangeColumn { old, column, .. } => {
                    let Some(old) = position(&self.before.columns, old) else { continue };
                    let old = self.before.columns[old].name.clone();
                    steps.extend(after(&column.name).map(|column| AlterStep::Change { old, column }));
                }
                AlterAction::RenameColumn { old, new, .. } => {
                    if let Some(old) = position(&self.before.columns, old) {
                        let old = self.before.columns[old].name.clone();
                        steps.push(AlterStep::Rename { old, new: new.clone() });
                    }
                }
                AlterAction::DropColumn { name, .. } => {
                    if let Some(i) = position(&self.before.columns, name) {
                        steps.push(AlterStep::Drop(self.before.columns[i].name.clone()));
                    }
                }
                AlterAction::Options(options) => steps.extend(options.comment.clone().map(AlterStep::Comment)),
                _ => {}
            }
        }
        self.steps = steps;
    }
}

/// Gives a column another type; a default that now is of bytes is shown as such.
fn retype(column: &mut ColumnDef, column_type: ColumnType, context: &DdlContext) {
    if let Some(DefaultValue::Literal(text)) = &column.default
        && match &column_type {
            ColumnType::Binary(_) | ColumnType::Varbinary(_) => true,
            ColumnType::Enum { charset, .. } | ColumnType::Set { charset, .. } => &*charset.name == "binary",
            _ => false,
        }
        && column.column_type != column_type
    {
        column.default = resolve_default(&DefaultSpec::Text(text.clone()), &column_type, context).unwrap_or_default();
    }
    column.column_type = column_type;
}

/// A column's type after CONVERT TO CHARACTER SET: a TEXT that is there grows so that as many characters fit as before.
fn converted(column_type: &ColumnType, to: &CharSet, grow: bool) -> ColumnType {
    let Some(from) = column_type.charset() else { return column_type.clone() };
    if &*from.name == "binary" {
        return column_type.clone();
    }
    let per_char = |charset: &CharSet| u64::from(charset_max_bytes(&charset.name).unwrap_or(1));
    let charset = to.clone();
    match column_type {
        ColumnType::Char { length, .. } if &*to.name == "binary" => ColumnType::Binary(*length),
        ColumnType::Char { length, .. } => ColumnType::Char { length: *length, charset },
        ColumnType::Varchar { length, .. } if &*to.name == "binary" => ColumnType::Varbinary(*length),
        ColumnType::Varchar { length, .. } => ColumnType::Varchar { length: *length, charset },
        ColumnType::Text { size, .. } if !grow => text(*size, charset),
        ColumnType::Text { size, .. } => text(blob_size(size.max_bytes() / per_char(from) * per_char(to)), charset),
        ColumnType::Enum { labels, .. } => ColumnType::Enum { labels: Arc::clone(labels), charset },
        ColumnType::Set { labels, .. } => ColumnType::Set { labels: Arc::clone(labels), charset },
        other => other.clone(),
    }
}
