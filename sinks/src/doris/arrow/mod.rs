//! Loads as Arrow. A backend copies the buffers of a column into the table's column without a look at their type, and reads
//! timestamps in a zone of its own. So the table's real column types say what is sent, they are looked at again around each
//! load, and a table of the sink's own proves once an attempt that backends read what was meant.

mod canary;
mod guard;
mod sample;
mod targets;
#[cfg(test)]
mod tests;

use super::config::Config;
use super::row_plan::DELETE_SIGN;
use super::shared::Shared;
use super::sql::SqlClient;
use super::target_type::TargetType;
use crate::SinkError;
use crate::olap::body::{Arrow, ColumnPlan, Constant, Format, LEAVE_FORMAT_OUT, LoadColumns, Plan, Wire};
use crate::olap::load_error::LoadError;
use canary::Canary;
pub(super) use guard::Guard;
use rowferry_model::{TableId, TableSchema};
use std::collections::HashSet;
use std::sync::Arc;
use targets::{Target, read};
use tokio::sync::Mutex;

/// What a column of a type is sent; `None`: such a column has no Arrow form that is known to be right.
pub(super) fn wire(target: &TargetType) -> Option<Wire> {
    Some(match target {
        TargetType::Boolean => Wire::Boolean,
        TargetType::TinyInt => Wire::Integer(1),
        TargetType::SmallInt => Wire::Integer(2),
        TargetType::Int => Wire::Integer(4),
        TargetType::BigInt => Wire::Integer(8),
        TargetType::LargeInt => Wire::LargeInteger,
        TargetType::Float => Wire::Float,
        TargetType::Double => Wire::Double,
        TargetType::Decimal(p @ ..=38, s) => Wire::Decimal(*p, *s),
        TargetType::Char(n) | TargetType::Varchar(n) => Wire::Text(Some(*n)),
        TargetType::String => Wire::Text(None),
        TargetType::Date => Wire::Date,
        TargetType::DateTime(p) => Wire::DateTime(*p),
        TargetType::Decimal(..) | TargetType::Other(_) => return None,
    })
}

/// How rows would be sent to a table that has the types that the sink gives.
pub(super) fn natural(columns: &[ColumnPlan], targets: &[TargetType], sign: Option<&str>) -> Arrow {
    // All types that the sink gives have a form.
    let wires = targets.iter().map(|target| wire(target).unwrap_or(Wire::Text(None))).collect();
    Arrow::new(columns, wires, sign)
}

/// What is known of the databases and tables that are loaded as Arrow.
pub(super) struct ArrowTables {
    config: Arc<Config>,
    shared: Arc<Shared>,
    sql: SqlClient,
    /// Databases in which loads have been proven in this attempt.
    proven: Mutex<HashSet<String>>,
}

impl ArrowTables {
    /// Nothing is known yet.
    pub(super) fn new(config: Arc<Config>, shared: Arc<Shared>, sql: SqlClient) -> Self {
        Self { config, shared, sql, proven: Mutex::new(HashSet::new()) }
    }

    /// A plan for a table with the types that it really has.
    ///
    /// # Errors
    /// A column's values have no Arrow form in its real type, loads as Arrow are not what they should be on this server, or
    /// no server can be reached.
    pub(super) async fn settle(&self, table: &TableId, schema: &TableSchema, plan: Plan) -> Result<Plan, SinkError> {
        self.prove(table.database()).await?;
        let (sql, there) = (self.sql.clone(), table.clone());
        let targets = blocking(move || read(&sql, &there)).await?.map_err(LoadError::into_sink_error)?;
        settled(table, schema, plan, &targets)
    }

    /// Proves once an attempt that loads into a database do what they should.
    async fn prove(&self, database: &str) -> Result<(), SinkError> {
        let mut proven = self.proven.lock().await;
        if proven.contains(database) {
            return Ok(());
        }
        let canary = Canary::new(Arc::clone(&self.config), Arc::clone(&self.shared), self.sql.clone(), database);
        blocking(move || canary.prove()).await??;
        proven.insert(database.to_owned());
        Ok(())
    }
}

/// On a thread where waiting is allowed.
async fn blocking<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> Result<T, SinkError> {
    tokio::task::spawn_blocking(job)
        .await
        .map_err(|e| SinkError::permanent(format!("doris sink: a thread ended unexpectedly: {e}")))
}

/// A plan for columns that are there.
fn settled(table: &TableId, schema: &TableSchema, mut plan: Plan, targets: &[Target]) -> Result<Plan, SinkError> {
    let mut wires = Vec::with_capacity(schema.columns.len());
    for (source, column) in schema.columns.iter().zip(&plan.columns) {
        let name = &column.name;
        let target = targets::find(targets, name).ok_or_else(|| {
            SinkError::permanent(format!("{table} has no column `{name}` in Doris, which a load as Arrow needs"))
                .hint("add the column, leave it out by a transform, or leave `sink.properties.format` out: JSON drops its values")
        })?;
        // What stands for NULL in a partition's column is a day or a moment.
        let constant = |wire: Wire| column.null == Constant::Null || matches!(wire, Wire::Date | Wire::DateTime(_));
        let found = wire(&target.target).filter(|w| w.holds(source.data_type, column.form) && constant(*w));
        wires.push(found.ok_or_else(|| {
            SinkError::permanent(format!(
                "column `{name}` of {table} is {} in the stream and {} in Doris: there is no Arrow form in which all its values \
                 are certain to become the same as by JSON",
                source.data_type, target.target
            ))
            .hint(LEAVE_FORMAT_OUT)
        })?);
    }
    let sign = (!plan.keys.is_empty() && plan.deletes).then_some(DELETE_SIGN);
    let layouts = plan.columns.iter().map(|c| c.name.clone()).zip(wires.iter().map(|w| w.layout())).collect();
    let header = plan.load_columns.as_ref().map(|c| c.header.clone()).unwrap_or_default();
    plan.load_columns = Some(Arc::new(LoadColumns { header, wires: layouts }));
    plan.format = Format::Arrow(Arrow::new(&plan.columns, wires, sign));
    Ok(plan)
}
