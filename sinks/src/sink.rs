//! The contract between the pipeline and a sink.

use crate::SinkError;
use async_trait::async_trait;
use rowferry_model::{ChangeBatch, CheckpointId, SchemaChange, TableId, TableSchema};
use std::sync::Arc;

/// Whether a list of table patterns means a table.
pub type TableSelector = Arc<dyn Fn(&TableId) -> bool + Send + Sync>;

/// What a sink is told of the pipeline when it is built.
#[derive(Clone, Debug)]
pub struct SinkContext {
    /// `pipeline.name`.
    pub pipeline: String,
    /// `pipeline.parallelism`.
    pub parallelism: usize,
    /// `pipeline.local-time-zone` as an IANA name or an offset such as `+08:00`; how instants become wall times.
    pub time_zone: String,
    /// A name that is unique to this pipeline's state and stays the same over restarts: 32 hexadecimal digits.
    pub instance: String,
    /// Reads a list of table patterns in the dialect of the source's `tables`; says what is wrong with it.
    pub select: fn(&str) -> Result<TableSelector, String>,
}

/// What a sink needs to make the rows of one checkpoint visible, also after a crash: opaque bytes that the pipeline
/// saves together with the offset. They must not hold secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committable(pub Vec<u8>);

/// A figure for the metrics page: name without prefix, labels, value.
pub type Gauge = (&'static str, Vec<(&'static str, String)>, f64);

/// What a sink can do; asked once, before rows flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether rows of tables without a key can be written.
    pub keyless_tables: bool,
    /// Whether a before image is of use to the sink at all. The key of an update that changes it is always given.
    pub before_images: bool,
    /// Whether a replay after a crash leaves no double rows, also in tables without a key.
    pub exactly_once: bool,
}

/// Takes rows. Calls come from one task, in the stream's order.
///
/// The order of a checkpoint `n` is: `write`…, `prepare(n)`, *the pipeline saves its state with the committable*,
/// `commit(n)`. After a crash the pipeline calls `recover` once, before any `write`, with the committable of the last
/// saved checkpoint, which may have been committed already.
#[async_trait]
pub trait EventSink: Send {
    /// What the sink can do.
    fn capabilities(&self) -> Capabilities;

    /// Whether rows of this schema can be held; called before a table's first row and after each of its changes.
    ///
    /// # Errors
    /// A type or a key that the target can't hold: names table, column and remedy.
    fn check(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError>;

    /// Takes rows; may buffer them within its own bounds and may make the caller wait. Who encodes or sends them beside the
    /// caller tells what is wrong with one by a later call, by the next `prepare` at the latest, and takes nothing more.
    ///
    /// # Errors
    /// A row of this call or of an earlier one can't be written.
    async fn write(&mut self, batch: ChangeBatch) -> Result<(), SinkError>;

    /// Writes out what is buffered if it has waited long enough; called about every 100 ms while no rows come.
    ///
    /// # Errors
    /// A row can't be written.
    async fn idle(&mut self) -> Result<(), SinkError>;

    /// Makes everything that was written durable, though not visible, and says what `commit` needs. `None`: nothing
    /// was written since the last call, or everything is visible already.
    ///
    /// # Errors
    /// A row can't be written.
    async fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Committable>, SinkError>;

    /// Makes the rows of a prepared checkpoint visible. **Idempotent**: a second call for the same checkpoint with the
    /// same committable changes nothing.
    ///
    /// # Errors
    /// The target refused the commit or could not be reached.
    async fn commit(&mut self, checkpoint: CheckpointId, committable: Committable) -> Result<(), SinkError>;

    /// After a restart, before any row: commits the last saved checkpoint once more and discards whatever was prepared
    /// behind it.
    ///
    /// # Errors
    /// The target refused the commit or could not be reached.
    async fn recover(&mut self, last: Option<(CheckpointId, Option<Committable>)>) -> Result<(), SinkError>;

    /// Figures for the metrics page.
    fn gauges(&self) -> Vec<Gauge>;

    /// Releases what it holds. Rows that were not prepared are dropped.
    ///
    /// # Errors
    /// Something could not be released.
    async fn close(&mut self) -> Result<(), SinkError>;
}

/// Changes the target's tables. **Idempotent**: it looks at what is there before it acts, so that a change that was
/// applied before a crash is harmless when it comes again. Returns only when the change is visible.
#[async_trait]
pub trait MetadataApplier: Send {
    /// Applies a change. `after` is the schema behind it, `None` for a dropped table. Everything written before it has
    /// been committed.
    ///
    /// # Errors
    /// [`Retry::Unsupported`](crate::Retry::Unsupported) where the target can't do it at all; else the target's answer.
    async fn apply(&mut self, change: &SchemaChange, after: Option<&TableSchema>) -> Result<(), SinkError>;

    /// Asks the target whether it can be reached and the user may write; for `check --connect`. Changes nothing.
    ///
    /// # Errors
    /// What is wrong, with the way out.
    async fn probe(&mut self) -> Result<(), SinkError>;
}

/// A sink: where rows go and where schema changes go.
pub struct Sink {
    /// Takes rows.
    pub events: Box<dyn EventSink>,
    /// Takes schema changes.
    pub metadata: Box<dyn MetadataApplier>,
}
