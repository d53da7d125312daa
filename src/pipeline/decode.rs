//! Decoding on threads of its own, in the stream's order.

use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::mysql::binlog::{BatchLimits, RowsDecoder};
use crate::mysql::reader::{Bystanders, Ddl, Group, Segment, StreamItem, StreamPoint};
use arrow_array::Int64Array;
use crossbeam_channel::{Receiver, Sender, bounded};
use rowferry_model::ChangeBatch;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A segment in columns.
#[derive(Debug)]
pub(super) struct Decoded {
    /// The rows, table by table.
    pub(super) batches: Vec<ChangeBatch>,
    /// A DDL behind them.
    pub(super) ddl: Option<Box<Ddl>>,
    /// What is known of tables that are not captured, where it has changed.
    pub(super) bystanders: Option<Box<Bystanders>>,
    /// The place behind all of it.
    pub(super) point: StreamPoint,
}

/// Segments that a worker may have waiting for it, and that may wait behind it: what bounds the memory.
const WAITING: usize = 1;

/// Starts the workers. Segments go to them in turn and are collected in the same turn, so the order stays.
pub(super) fn start(
    items: Receiver<StreamItem>,
    workers: usize,
    options: DecodeBatches,
    metrics: Arc<Metrics>,
) -> Result<InOrder> {
    let mut inputs: Vec<Sender<StreamItem>> = Vec::new();
    let mut outputs = Vec::new();
    for n in 0..workers.max(1) {
        let (input, work) = bounded::<StreamItem>(WAITING);
        let (done, output) = mpsc::channel::<Result<Decoded>>(WAITING);
        let metrics = metrics.clone();
        spawn(format!("decode-{n}"), move || {
            for item in work {
                let decoded = match item {
                    StreamItem::Segment(segment) => decode(segment, &options, &metrics),
                    StreamItem::Failed(error) => Err(error),
                };
                if done.blocking_send(decoded).is_err() {
                    return;
                }
            }
        })?;
        inputs.push(input);
        outputs.push(output);
    }
    spawn("decode-turn".into(), move || {
        for (turn, item) in items.into_iter().enumerate() {
            let Some(input) = inputs.get(turn % inputs.len().max(1)) else { return };
            if input.send(item).is_err() {
                return;
            }
        }
    })?;
    Ok(InOrder { outputs, turn: 0 })
}

/// Starts a named thread.
pub(super) fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name)
        .spawn(run)
        .map_err(|e| Error::permanent("RF-RUN-001", "a thread can't be started").caused_by(e))
}

/// How rows are cut into batches.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecodeBatches {
    /// When a batch is full.
    pub(super) limits: BatchLimits,
    /// Whether each row's time is wanted.
    pub(super) op_ts: bool,
}

/// Decoded segments in the stream's order.
pub(super) struct InOrder {
    outputs: Vec<mpsc::Receiver<Result<Decoded>>>,
    turn: usize,
}

impl InOrder {
    /// The next segment; `None`: there are no more. Safe to give up while waiting.
    pub(super) async fn next(&mut self) -> Option<Result<Decoded>> {
        let index = self.turn % self.outputs.len().max(1);
        let item = self.outputs.get_mut(index)?.recv().await;
        self.turn += 1;
        item
    }

    /// The next segment if it is there already.
    pub(super) fn next_now(&mut self) -> Option<Result<Decoded>> {
        let index = self.turn % self.outputs.len().max(1);
        let item = self.outputs.get_mut(index)?.try_recv().ok()?;
        self.turn += 1;
        Some(item)
    }
}

fn decode(segment: Segment, options: &DecodeBatches, metrics: &Metrics) -> Result<Decoded> {
    let mut batches = Vec::with_capacity(segment.groups.len());
    for group in segment.groups {
        decode_group(group, options, &segment.point, &mut batches, metrics)?;
    }
    Ok(Decoded { batches, ddl: segment.ddl, bystanders: segment.bystanders, point: segment.point })
}

fn decode_group(
    group: Group,
    options: &DecodeBatches,
    point: &StreamPoint,
    batches: &mut Vec<ChangeBatch>,
    metrics: &Metrics,
) -> Result<()> {
    let (table, schema) = (group.table.clone(), group.schema.clone());
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
        Error::permanent("RF-SRC-041", "a row of the binlog can't be decoded")
            .with("table", &table)
            .with("position", format!("before {}", point.at))
            .caused_by(error)
    };
    let mut decoder = RowsDecoder::new(group.plan.clone());
    let mut op_ts: Vec<i64> = Vec::new();
    let mut cut = |decoder: &mut RowsDecoder, op_ts: &mut Vec<i64>| -> Result<()> {
        let (changes, columns) = decoder.finish().map_err(|e| failed(e.into()))?;
        if changes.is_empty() {
            return Ok(());
        }
        let mut batch =
            ChangeBatch::new(table.clone(), schema.clone(), changes, columns).map_err(|e| failed(e.into()))?;
        if options.op_ts {
            let times = Arc::new(Int64Array::from(std::mem::take(op_ts)));
            batch = batch.with_op_ts(times).map_err(|e| failed(e.into()))?;
        }
        batches.push(batch);
        Ok(())
    };
    for (images, seconds) in group.images() {
        let mut from = 0;
        loop {
            let progress = decoder.decode(&images, from, &options.limits).map_err(|e| failed(e.into()))?;
            if options.op_ts {
                op_ts.resize(decoder.batch().rows(), i64::from(seconds) * 1000);
            }
            from = progress.next;
            if from >= images.bytes.len() {
                break;
            }
            cut(&mut decoder, &mut op_ts)?;
        }
    }
    cut(&mut decoder, &mut op_ts)?;
    Metrics::add(&metrics.zero_dates, decoder.batch().stats().zero_dates);
    Ok(())
}
