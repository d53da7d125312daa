//! A sink that fails where a script says: before it does what it was asked, or after.

use crate::{Capabilities, Committable, EventSink, Gauge, MetadataApplier, Sink, SinkError};
use async_trait::async_trait;
use rowferry_model::{ChangeBatch, CheckpointId, SchemaChange, TableId, TableSchema};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A call of a sink's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the methods")]
pub enum Call {
    Write,
    Idle,
    Prepare,
    Commit,
    Recover,
    Close,
    Apply,
    Probe,
}

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails without having done anything; trying again can help.
    TransientBefore,
    /// It does what it was asked and then fails, as when an answer is lost; trying again can help.
    TransientAfter,
    /// It fails without having done anything; trying again is useless.
    PermanentBefore,
    /// It does what it was asked and then fails; trying again is useless.
    PermanentAfter,
    /// It fails without having done anything: the sink says that it can't do this at all.
    Unsupported,
    /// It waits that long and then does what it was asked.
    Slow(Duration),
    /// It never returns; nothing was done.
    HangBefore,
    /// It does what it was asked and never returns.
    HangAfter,
}

#[derive(Default)]
struct Script {
    /// By call and its number, counted from 1 over all sinks that share the script.
    faults: HashMap<(Call, u64), Fault>,
    calls: HashMap<Call, u64>,
    hit: u64,
}

/// A script of faults, shared by a test and its sinks, also by those that are built after a "crash".
#[derive(Clone, Default)]
pub struct Faults(Arc<Mutex<Script>>);

impl Faults {
    /// The `nth` call of that kind, counted from 1, goes wrong.
    #[must_use]
    pub fn on(self, call: Call, nth: u64, fault: Fault) -> Self {
        self.lock().faults.insert((call, nth), fault);
        self
    }

    /// How many calls of a kind there were.
    pub fn calls(&self, call: Call) -> u64 {
        self.lock().calls.get(&call).copied().unwrap_or_default()
    }

    /// How many faults have happened.
    pub fn hit(&self) -> u64 {
        self.lock().hit
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, call: Call) -> Option<(u64, Fault)> {
        let mut script = self.lock();
        let count = script.calls.entry(call).or_default();
        *count += 1;
        let nth = *count;
        let fault = script.faults.get(&(call, nth)).copied();
        script.hit += u64::from(fault.is_some());
        fault.map(|f| (nth, f))
    }

    async fn around<T>(
        &self,
        call: Call,
        doing: impl Future<Output = Result<T, SinkError>> + Send,
    ) -> Result<T, SinkError> {
        let Some((nth, fault)) = self.next(call) else { return doing.await };
        let text = format!("scripted fault {fault:?} at {call:?} {nth}");
        match fault {
            Fault::TransientBefore => Err(SinkError::transient(text)),
            Fault::PermanentBefore => Err(SinkError::permanent(text)),
            Fault::Unsupported => Err(SinkError::unsupported(text)),
            Fault::TransientAfter => {
                doing.await?;
                Err(SinkError::transient(text))
            }
            Fault::PermanentAfter => {
                doing.await?;
                Err(SinkError::permanent(text))
            }
            Fault::Slow(time) => {
                tokio::time::sleep(time).await;
                doing.await
            }
            Fault::HangBefore => std::future::pending().await,
            Fault::HangAfter => {
                doing.await?;
                std::future::pending().await
            }
        }
    }
}

/// A sink that does what `inner` does, except where the script says.
pub fn faulty(inner: Sink, faults: &Faults) -> Sink {
    Sink {
        events: Box::new(FaultyEvents { inner: inner.events, faults: faults.clone() }),
        metadata: Box::new(FaultyMetadata { inner: inner.metadata, faults: faults.clone() }),
    }
}

struct FaultyEvents {
    inner: Box<dyn EventSink>,
    faults: Faults,
}

#[async_trait]
impl EventSink for FaultyEvents {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn check(&self, table: &TableId, schema: &TableSchema) -> Result<(), SinkError> {
        self.inner.check(table, schema)
    }

    async fn write(&mut self, batch: ChangeBatch) -> Result<(), SinkError> {
        self.faults.around(Call::Write, self.inner.write(batch)).await
    }

    async fn idle(&mut self) -> Result<(), SinkError> {
        self.faults.around(Call::Idle, self.inner.idle()).await
    }

    async fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Committable>, SinkError> {
        self.faults.around(Call::Prepare, self.inner.prepare(checkpoint)).await
    }

    async fn commit(&mut self, checkpoint: CheckpointId, committable: Committable) -> Result<(), SinkError> {
        self.faults.around(Call::Commit, self.inner.commit(checkpoint, committable)).await
    }

    async fn recover(&mut self, last: Option<(CheckpointId, Option<Committable>)>) -> Result<(), SinkError> {
        self.faults.around(Call::Recover, self.inner.recover(last)).await
    }

    fn gauges(&self) -> Vec<Gauge> {
        self.inner.gauges()
    }

    async fn close(&mut self) -> Result<(), SinkError> {
        self.faults.around(Call::Close, self.inner.close()).await
    }
}

struct FaultyMetadata {
    inner: Box<dyn MetadataApplier>,
    faults: Faults,
}

#[async_trait]
impl MetadataApplier for FaultyMetadata {
    async fn apply(&mut self, change: &SchemaChange, after: Option<&TableSchema>) -> Result<(), SinkError> {
        self.faults.around(Call::Apply, self.inner.apply(change, after)).await
    }

    async fn probe(&mut self) -> Result<(), SinkError> {
        self.faults.around(Call::Probe, self.inner.probe()).await
    }
}
