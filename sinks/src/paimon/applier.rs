//! Schema changes of the `paimon` sink. Each looks at the table first, so that a change that comes again is harmless.

use super::guard;
use super::lake::{self, Lake, identifier};
use super::plan::{check_keys, check_type, find};
use super::types;
use crate::{MetadataApplier, SinkError};
use async_trait::async_trait;
use paimon::Catalog;
use paimon::spec::{ColumnMove, Schema, SchemaChange as LakeChange};
use paimon::table::Table;
use rowferry_model::{AddedColumn, AlteredColumn, Column, ColumnPosition, SchemaChange, TableId, TableSchema};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Applies schema changes to a warehouse.
pub(super) struct PaimonApplier {
    lake: Arc<Lake>,
}

impl PaimonApplier {
    pub(super) fn new(lake: Arc<Lake>) -> Self {
        Self { lake }
    }

    async fn create(&self, id: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        if let Some(existing) = self.lake.table(id).await? {
            return self.inspect(id, schema, &existing);
        }
        guard::warn_of_merging(id, self.lake.table_option(schema, "merge-engine"));
        let lake_schema = self.lake_schema(id, schema)?;
        let catalog = &self.lake.catalog;
        catalog
            .create_database(id.database(), true, HashMap::new())
            .await
            .map_err(|e| lake::failed(e, format!("paimon sink: database {} can't be created", id.database())))?;
        catalog
            .create_table(&identifier(id), lake_schema, true)
            .await
            .map_err(|e| lake::failed(e, format!("paimon sink: table {id} can't be created")))
    }

    /// Whether an existing table can take the rows. A column that it lacks is no error yet: a replayed change may have
    /// dropped or renamed it already; the first row that needs it is refused.
    fn inspect(&self, id: &TableId, schema: &TableSchema, existing: &Table) -> Result<(), SinkError> {
        check_keys(&self.lake, id, schema, existing)?;
        for column in &schema.columns {
            match find(existing, &column.name) {
                Some(at) => check_type(&self.lake, id, column, existing.schema().fields()[at].data_type())?,
                None => tracing::warn!(table = %id, column = column.name, "the existing table lacks a column"),
            }
        }
        Ok(())
    }

    fn lake_schema(&self, id: &TableId, schema: &TableSchema) -> Result<Schema, SinkError> {
        let key = self.lake.primary_key(id, schema);
        let mut builder = Schema::builder();
        for column in &schema.columns {
            let nullable = column.nullable && !key.contains(&column.name);
            let data_type = types::lake_type(id, column, nullable, self.lake.config.time_type)?;
            builder = builder.column_with_description(&column.name, data_type, column.comment.clone());
        }
        builder
            .primary_key(key)
            .partition_keys(self.lake.partition_keys(id, schema))
            .options(self.lake.config.table_options.clone())
            .options(schema.options.iter().cloned())
            .comment(schema.comment.clone())
            .build()
            .map_err(|e| {
                SinkError::permanent(format!("paimon sink: table {id} can't be created: {e}"))
                    .hint("see `table.properties`, `partition.key` and the table's `table-options`")
                    .caused_by(e)
            })
    }

    fn additions(&self, id: &TableId, columns: &[AddedColumn], table: &Table) -> Result<Vec<LakeChange>, SinkError> {
        let mut names: Vec<String> = table.schema().fields().iter().map(|f| f.name().to_owned()).collect();
        let mut changes = Vec::new();
        for AddedColumn { column, position } in columns {
            if let Some(at) = find(table, &column.name) {
                check_type(&self.lake, id, column, table.schema().fields()[at].data_type())?;
                continue;
            }
            if !column.nullable || column.default.is_some() {
                tracing::info!(
                    table = %id, column = column.name,
                    "the column is added nullable and without a default: rows that are there already have NULL in it"
                );
            }
            let name = column.name.clone();
            let (at, column_move) = place(&names, &name, position);
            names.insert(at, name.clone());
            changes.push(LakeChange::AddColumn {
                field_names: vec![name],
                data_type: types::lake_type(id, column, true, self.lake.config.time_type)?,
                comment: column.comment.clone(),
                column_move,
            });
        }
        Ok(changes)
    }

    fn alterations(
        &self,
        id: &TableId,
        columns: &[AlteredColumn],
        table: &Table,
    ) -> Result<Vec<LakeChange>, SinkError> {
        let mut changes = Vec::new();
        for altered in columns {
            let at = find(table, &altered.name).ok_or_else(|| {
                SinkError::permanent(format!("paimon sink: table {id} has no column `{}` to alter", altered.name))
            })?;
            let field = &table.schema().fields()[at];
            let name = field.name().to_owned();
            let want =
                types::lake_type(id, &Column::new(&altered.name, altered.data_type), true, self.lake.config.time_type)?;
            if !types::same(&want, field.data_type()) {
                changes.push(LakeChange::UpdateColumnType {
                    field_names: vec![name.clone()],
                    new_data_type: want,
                    keep_nullability: true,
                });
            }
            // Only from NOT NULL to nullable: the other way old files may hold NULLs, and new rows fit anyway.
            let in_key = table.schema().primary_keys().contains(&name);
            if altered.nullable && !field.data_type().is_nullable() && !in_key {
                changes.push(LakeChange::update_column_nullability(name.clone(), true));
            }
            if let Some(comment) = altered.comment.as_ref().filter(|c| Some(c.as_str()) != field.description()) {
                changes.push(LakeChange::update_column_comment(name, comment.clone()));
            }
        }
        Ok(changes)
    }

    async fn alter(&self, id: &TableId, changes: Vec<LakeChange>) -> Result<(), SinkError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.lake.catalog.alter_table(&identifier(id), changes, false).await.map_err(|e| {
            lake::failed(e, format!("paimon sink: table {id} can't be altered"))
                .hint("Paimon can't change key and partition columns, nor a type into one that its values don't fit")
        })
    }

    async fn truncate(&self, id: &TableId, table: &Table) -> Result<(), SinkError> {
        let what = || format!("paimon sink: table {id} can't be truncated");
        let empty = table.snapshot_manager().get_latest_snapshot().await.map_err(|e| lake::failed(e, what()))?;
        if empty.is_none() {
            return Ok(());
        }
        let user = format!("{}-ddl", self.lake.commit_user);
        let builder = table.new_write_builder().with_commit_user(user).map_err(|e| lake::failed(e, what()))?;
        builder.new_commit().truncate_table().await.map_err(|e| lake::failed(e, what()))
    }

    async fn existing(&self, id: &TableId) -> Result<Table, SinkError> {
        self.lake.table(id).await?.ok_or_else(|| {
            SinkError::permanent(format!("paimon sink: table {id} does not exist, so it can't be altered"))
        })
    }
}

#[async_trait]
impl MetadataApplier for PaimonApplier {
    async fn apply(&mut self, change: &SchemaChange, after: Option<&TableSchema>) -> Result<(), SinkError> {
        let id = change.table();
        match change {
            SchemaChange::CreateTable { schema, .. } => self.create(id, schema).await?,
            SchemaChange::AddColumns { columns, .. } => {
                let table = self.existing(id).await?;
                self.alter(id, self.additions(id, columns, &table)?).await?;
            }
            SchemaChange::AlterColumns { columns, .. } => {
                let table = self.existing(id).await?;
                self.alter(id, self.alterations(id, columns, &table)?).await?;
            }
            SchemaChange::RenameColumns { names, .. } => {
                let table = self.existing(id).await?;
                self.alter(id, renames(id, names, after, &table)?).await?;
            }
            SchemaChange::DropColumns { names, .. } => {
                let table = self.existing(id).await?;
                let present = names.iter().filter_map(|n| find(&table, n));
                let drops = present.map(|at| LakeChange::drop_column(table.schema().fields()[at].name().to_owned()));
                self.alter(id, drops.collect()).await?;
            }
            SchemaChange::AlterTableComment { comment, .. } => {
                let table = self.existing(id).await?;
                if table.schema().comment() != comment.as_deref() {
                    self.alter(id, vec![LakeChange::update_comment(comment.clone())]).await?;
                }
            }
            SchemaChange::TruncateTable { .. } => {
                if let Some(table) = self.lake.table(id).await? {
                    self.truncate(id, &table).await?;
                }
            }
            SchemaChange::DropTable { .. } => {
                let failed = || format!("paimon sink: table {id} can't be dropped");
                self.lake.take_away(id).map_err(|e| SinkError::permanent(failed()).caused_by(e))?;
                let dropped = self.lake.catalog.drop_table(&identifier(id), true).await;
                dropped.map_err(|e| lake::failed(e, failed()))?;
            }
        }
        self.lake.changed(id);
        Ok(())
    }

    async fn probe(&mut self) -> Result<(), SinkError> {
        let warehouse = &self.lake.config.warehouse;
        let Some(nearest) = warehouse.ancestors().find(|p| p.exists()) else { return Ok(()) };
        let refused = |why: &str| {
            Err(SinkError::permanent(format!(
                "paimon sink: the warehouse {} can't be written: {} {why}",
                warehouse.display(),
                nearest.display()
            ))
            .hint("see `catalog.properties.warehouse`"))
        };
        if !nearest.is_dir() {
            return refused("is not a directory");
        }
        if is_read_only(nearest) {
            return refused("is read-only");
        }
        if nearest == warehouse {
            let listed = self.lake.catalog.list_databases().await;
            listed.map_err(|e| lake::failed(e, "paimon sink: the warehouse can't be listed"))?;
        }
        Ok(())
    }
}

fn is_read_only(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.permissions().readonly())
}

/// Where a new column goes among the names that are there, and Paimon's word for it.
fn place(names: &[String], name: &str, position: &ColumnPosition) -> (usize, Option<ColumnMove>) {
    let at = |neighbour: &str| names.iter().position(|n| n.eq_ignore_ascii_case(neighbour));
    let index = match position {
        ColumnPosition::Last => names.len(),
        ColumnPosition::First => 0,
        // A neighbour that is not there was dropped behind a change that is being replayed.
        ColumnPosition::After(c) => at(c).map_or(names.len(), |i| i + 1),
        ColumnPosition::Before(c) => at(c).unwrap_or(names.len()),
    };
    let name = name.to_owned();
    let column_move = if index == names.len() {
        None
    } else if index == 0 {
        Some(ColumnMove::move_first(name))
    } else {
        Some(ColumnMove::move_after(name, names[index - 1].clone()))
    };
    (index, column_move)
}

/// The renames that are still to be done. All happen at once: two columns may swap their names.
///
/// # Errors
/// A column is there neither under its old nor under its new name.
fn renames(
    id: &TableId,
    names: &[(String, String)],
    after: Option<&TableSchema>,
    table: &Table,
) -> Result<Vec<LakeChange>, SinkError> {
    let place = |name: &str| find(table, name);
    let mut pending = Vec::new();
    for (old, new) in names {
        match (place(old), place(new)) {
            (Some(at), _) => pending.push((at, old, new)),
            // They are made in one step: where one is done, all are.
            (None, Some(_)) => return Ok(Vec::new()),
            (None, None) => {
                return Err(SinkError::permanent(format!("paimon sink: table {id} has no column `{old}` to rename")));
            }
        }
    }
    // Where old and new names are the same set, only the order of the columns tells whether it was done already: a
    // renamed column keeps its place.
    let circular =
        !pending.is_empty() && pending.iter().all(|(_, _, new)| pending.iter().any(|(_, old, _)| old == new));
    if circular && let Some(after) = after {
        let order = |position: &dyn Fn(&str) -> Option<usize>| {
            let mut order: Vec<_> = pending.iter().map(|(_, _, new)| (position(new), new.as_str())).collect();
            order.sort();
            order.into_iter().map(|(_, name)| name.to_owned()).collect::<Vec<_>>()
        };
        if order(&place) == order(&|name| after.index_of(name)) {
            return Ok(Vec::new());
        }
    }
    let fields = table.schema().fields();
    let taken = |name: &str| fields.iter().any(|f| f.name() == name);
    let detour = pending.iter().any(|(_, _, new)| taken(new));
    let mut changes = Vec::new();
    if detour {
        for (i, (at, _, _)) in pending.iter().enumerate() {
            changes.push(LakeChange::rename_column(fields[*at].name().to_owned(), format!("_rowferry_rename_{i}")));
        }
        for (i, (_, _, new)) in pending.iter().enumerate() {
            changes.push(LakeChange::rename_column(format!("_rowferry_rename_{i}"), (*new).clone()));
        }
    } else {
        for (at, _, new) in pending {
            changes.push(LakeChange::rename_column(fields[at].name().to_owned(), new.clone()));
        }
    }
    Ok(changes)
}
