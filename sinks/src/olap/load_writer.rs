//! Takes rows: encodes them table by table, many at a time beside the caller, and keeps loads of several tables under way.

use super::attempts::{Attempts, Transactions};
use super::body::{Plan, Zone};
use super::commit::{Commits, commit_all, discard_all};
use super::committable;
use super::encoding::Encoding;
use super::loads::{Buffer, Limits, Loader, Loads};
use crate::{Capabilities, Committable, EventSink, Gauge, SinkError};
use async_trait::async_trait;
use rowferry_model::{ChangeBatch, CheckpointId, TableId, TableSchema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::task::{JoinHandle, spawn_blocking};

/// A kind of server with the user's options, as the writer needs it.
#[async_trait]
pub(crate) trait LoadTarget: Send + Sync + 'static {
    /// What commits.
    type Client: Commits<Prepared: Serialize + DeserializeOwned>;
    /// What loads.
    type Loader: Loader<Prepared = <Self::Client as Commits>::Prepared>;

    /// What the sink can do.
    fn capabilities(&self) -> Capabilities;

    /// How the rows of a table are written.
    ///
    /// # Errors
    /// A table or a schema that the server can't hold.
    fn plan(&self, table: &TableId, schema: &TableSchema) -> Result<Plan, SinkError>;

    /// A plan as it holds for the table that is there. Asked for once a schema and attempt, before rows are written.
    ///
    /// # Errors
    /// The table can't take the rows as the plan has them, or no server can be reached.
    async fn settle(&self, _table: &TableId, _schema: &TableSchema, plan: Plan) -> Result<Plan, SinkError> {
        Ok(plan)
    }
}

/// What the user has set for the writer itself.
pub(crate) struct WriterSettings {
    /// How much may be buffered, and how many tables may be loaded or committed at a time.
    pub(crate) limits: Limits,
    /// Where instants become wall times.
    pub(crate) zone: Zone,
    /// Whether a transaction that the server no longer knows counts as committed.
    pub(crate) assume_committed: bool,
}

/// Takes rows for one kind of server.
pub(crate) struct LoadWriter<T: LoadTarget> {
    target: Arc<T>,
    settings: WriterSettings,
    shared: Arc<Attempts<T::Client>>,
    loads: Loads<T::Loader>,
    /// Rows that are being encoded; those that come next wait for them.
    encoding: Option<JoinHandle<Result<(Encoding, Buffer), SinkError>>>,
    plans: HashMap<TableId, (Arc<TableSchema>, Arc<Plan>)>,
    /// Tables without a key whose changes can't be followed, as the log has said.
    warned: HashSet<TableId>,
    /// Why nothing more is taken: rows of this attempt are lost.
    failed: Option<String>,
}

impl<T: LoadTarget> LoadWriter<T> {
    const SINK: &'static str = <T::Client as Transactions>::SINK;

    /// A writer; nothing is connected yet.
    pub(crate) fn new(
        target: Arc<T>,
        shared: Arc<Attempts<T::Client>>,
        loader: T::Loader,
        settings: WriterSettings,
    ) -> Self {
        let loads = Loads::new(Arc::new(loader), settings.limits);
        Self {
            target,
            settings,
            shared,
            loads,
            encoding: None,
            plans: HashMap::new(),
            warned: HashSet::new(),
            failed: None,
        }
    }

    async fn plan(&mut self, batch: &ChangeBatch) -> Result<Arc<Plan>, SinkError> {
        if let Some((schema, plan)) = self.plans.get(batch.table())
            && (Arc::ptr_eq(schema, batch.schema()) || schema == batch.schema())
        {
            return Ok(Arc::clone(plan));
        }
        let plan = self.target.plan(batch.table(), batch.schema())?;
        let plan = Arc::new(self.target.settle(batch.table(), batch.schema(), plan).await?);
        self.plans.insert(batch.table().clone(), (Arc::clone(batch.schema()), Arc::clone(&plan)));
        Ok(plan)
    }

    async fn take(&mut self, batch: ChangeBatch) -> Result<(), SinkError> {
        self.encoded().await?;
        let plan = self.plan(&batch).await?;
        if plan.keys.is_empty() && !batch.changes().all_inserts() && self.warned.insert(batch.table().clone()) {
            tracing::warn!(
                "{}: {} has no key: its updates add rows, and its deletions are left out",
                Self::SINK,
                batch.table()
            );
        }
        let rows = Encoding::new(batch, plan);
        if rows.is_small() {
            self.encode_here(rows).await?;
        } else {
            self.encode_beside(rows).await?;
        }
        self.loads.start()
    }

    async fn encode_here(&mut self, mut rows: Encoding) -> Result<(), SinkError> {
        while !rows.is_done() {
            self.loads.make_room().await?;
            let mut buffer = self.loads.lend(rows.table(), rows.columns(), false);
            rows.fill(&mut buffer, &self.settings.zone)?;
            self.loads.take_back(buffer);
        }
        Ok(())
    }

    async fn encode_beside(&mut self, mut rows: Encoding) -> Result<(), SinkError> {
        self.loads.make_room().await?;
        let mut buffer = self.loads.lend(rows.table(), rows.columns(), true);
        let zone = self.settings.zone.clone();
        self.encoding = Some(spawn_blocking(move || {
            rows.fill(&mut buffer, &zone)?;
            Ok((rows, buffer))
        }));
        Ok(())
    }

    /// Waits until the rows that were taken last are in their table's buffer. Must be waited for to the end: rows between
    /// two pieces are nowhere else.
    async fn encoded(&mut self) -> Result<(), SinkError> {
        while let Some(task) = &mut self.encoding {
            let ended = task.await;
            self.encoding = None;
            let (rows, buffer) = ended.map_err(|e| {
                SinkError::permanent(format!("{} sink: a thread that encodes ended unexpectedly: {e}", Self::SINK))
            })??;
            self.loads.take_back(buffer);
            if !rows.is_done() {
                self.loads.start()?;
                self.encode_beside(rows).await?;
            }
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), SinkError> {
        // Rows under way don't hold up what is older: the next call comes soon.
        if self.encoding.as_ref().is_some_and(JoinHandle::is_finished) {
            self.encoded().await?;
        }
        self.loads.flush_old().await
    }

    async fn abandon(&mut self) {
        // Threads can't be broken off: this one ends by itself.
        if let Some(task) = self.encoding.take() {
            let _ = task.await;
        }
        self.loads.abandon().await;
    }

    async fn prepare_loads(&mut self) -> Result<Vec<<T::Loader as Loader>::Prepared>, SinkError> {
        self.encoded().await?;
        self.loads.prepare().await
    }

    /// Remembers a failure: a checkpoint that lost rows must not be prepared later.
    fn guard<R>(&mut self, result: Result<R, SinkError>) -> Result<R, SinkError> {
        if let Err(error) = &result {
            self.failed = Some(error.to_string());
        }
        result
    }

    fn check_alive(&self) -> Result<(), SinkError> {
        match &self.failed {
            None => Ok(()),
            Some(reason) => Err(SinkError::transient(format!(
                "{} sink: rows were lost since the last checkpoint and must come again: {reason}",
                Self::SINK
            ))),
        }
    }

    async fn commit_saved(&mut self, committable: &Committable) -> Result<Vec<TableId>, SinkError> {
        let transactions: Vec<<T::Client as Commits>::Prepared> = committable::decode(Self::SINK, committable)?;
        let tables = transactions.iter().map(T::Client::table).collect();
        commit_all(&self.shared, self.settings.limits.threads, self.settings.assume_committed, transactions).await?;
        Ok(tables)
    }
}

#[async_trait]
impl<T: LoadTarget> EventSink for LoadWriter<T> {
    fn capabilities(&self) -> Capabilities {
        self.target.capabilities()
    }

    fn check(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        self.target.plan(table, schema).map(|_| ())
    }

    async fn write(&mut self, batch: ChangeBatch) -> Result<(), SinkError> {
        self.check_alive()?;
        let result = self.take(batch).await;
        self.guard(result)
    }

    async fn idle(&mut self) -> Result<(), SinkError> {
        self.check_alive()?;
        let result = self.flush().await;
        self.guard(result)
    }

    async fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Committable>, SinkError> {
        self.check_alive()?;
        let result = self.prepare_loads().await;
        let prepared = self.guard(result)?;
        self.shared.set_checkpoint(checkpoint.saturating_add(1));
        if prepared.is_empty() { Ok(None) } else { committable::encode(Self::SINK, prepared).map(Some) }
    }

    async fn commit(&mut self, _checkpoint: CheckpointId, committable: Committable) -> Result<(), SinkError> {
        self.commit_saved(&committable).await.map(|_| ())
    }

    async fn recover(&mut self, last: Option<(CheckpointId, Option<Committable>)>) -> Result<(), SinkError> {
        self.abandon().await;
        self.plans.clear();
        self.failed = None;
        let Some((checkpoint, committable)) = last else {
            self.shared.begin(1);
            return Ok(());
        };
        self.shared.begin(checkpoint.saturating_add(1));
        let Some(committable) = committable else { return Ok(()) };
        let tables = self.commit_saved(&committable).await?;
        discard_all(&self.shared, self.settings.limits.threads, tables).await
    }

    fn gauges(&self) -> Vec<Gauge> {
        self.loads.gauges()
    }

    async fn close(&mut self) -> Result<(), SinkError> {
        self.abandon().await;
        Ok(())
    }
}
