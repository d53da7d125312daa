#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use proptest::prelude::*;
use rowferry_model::{Column, DataType};
use rowferry_sql::{ColumnDef, ColumnType, TableDef};
use std::collections::BTreeMap;

/// What happens next, as seen from outside.
#[derive(Clone, Debug)]
enum Step {
    /// A client writes a row, or changes it.
    Put(i64, i64),
    /// A client deletes a row.
    Delete(i64),
    /// A client changes a row's key.
    Move(i64, i64),
    /// The stream shows so many more changes.
    Stream(usize),
    /// The next chunk is armed.
    Arm,
    /// An armed chunk is read.
    Read(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..40i64, 0..1000i64).prop_map(|(k, v)| Step::Put(k, v)),
        3 => (0..40i64).prop_map(Step::Delete),
        2 => (0..40i64, 0..40i64).prop_map(|(a, b)| Step::Move(a, b)),
        4 => (1..6usize).prop_map(Step::Stream),
        2 => Just(Step::Arm),
        2 => (0..3usize).prop_map(Step::Read),
    ]
}

type Change = (Option<(i64, i64)>, Option<(i64, i64)>);

fn def() -> TableDef {
    let column = |name: &str| ColumnDef {
        name: name.into(),
        column_type: ColumnType::BigInt { unsigned: false, zerofill: false, width: None },
        nullable: false,
        default: None,
        on_update: false,
        auto_increment: false,
        comment: String::new(),
        generated: None,
        invisible: false,
    };
    TableDef {
        columns: vec![column("id"), column("v")],
        primary_key: vec!["id".into()],
        keys: vec![],
        charset: "utf8mb4".into(),
        collation: "utf8mb4_bin".into(),
        comment: String::new(),
    }
}

fn rows(schema: &TableSchema, rows: &[(i64, i64)]) -> RecordBatch {
    let id: Int64Array = rows.iter().map(|r| r.0).collect();
    let v: Int64Array = rows.iter().map(|r| r.1).collect();
    RecordBatch::try_new(schema.arrow(), vec![Arc::new(id), Arc::new(v)]).unwrap()
}

/// A target that notices everything that is not exact.
#[derive(Default)]
struct StrictTarget(BTreeMap<i64, i64>);

impl StrictTarget {
    fn apply(&mut self, batch: &ChangeBatch) {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        let vs = batch.column(1).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let (id, v) = (ids.value(row), vs.value(row));
            match batch.changes().op(row) {
                RowOp::Insert | RowOp::UpdateAfter => {
                    assert_eq!(self.0.insert(id, v), None, "row {id} came twice");
                }
                RowOp::Delete | RowOp::UpdateBefore => {
                    assert_eq!(self.0.remove(&id), Some(v), "row {id} was changed before it came, or was another one");
                }
            }
        }
    }
}

struct World {
    schema: Arc<TableSchema>,
    table: TableId,
    join: TableJoin,
    server: BTreeMap<i64, i64>,
    log: Vec<Change>,
    streamed: usize,
    chunks: Vec<PlannedChunk>,
    unread: Vec<Vec<u32>>,
    ranges: BTreeMap<Vec<u32>, (i64, i64)>,
    target: StrictTarget,
}

fn position(at: usize) -> BinlogPosition {
    BinlogPosition::new("binlog.000001", at as u64)
}

impl World {
    fn new(initial: &BTreeMap<i64, i64>, last_first: bool) -> Self {
        let schema = Arc::new(TableSchema {
            columns: vec![
                Column::new("id", DataType::BigInt).not_null(),
                Column::new("v", DataType::BigInt).not_null(),
            ],
            primary_key: vec!["id".into()],
            ..TableSchema::default()
        });
        let table = TableId::new("d", "t");
        let key = ChunkKey::of(&def(), None).unwrap();
        let mut join = TableJoin::new(table.clone(), schema.clone(), key, &SnapshotProgress::default()).unwrap();
        let bounds = [None, Some(10), Some(20), Some(30), None];
        let mut chunks = Vec::new();
        let mut ranges = BTreeMap::new();
        for (i, pair) in bounds.windows(2).enumerate() {
            let order = vec![0, i as u32];
            ranges.insert(order.clone(), (pair[0].unwrap_or(i64::MIN), pair[1].unwrap_or(i64::MAX)));
            let bound = |b: Option<i64>| b.map(|b| ChunkKey::integer_bound(b.into()));
            chunks.push(PlannedChunk { order, low: bound(pair[0]), high: bound(pair[1]) });
            join.expect_chunk();
        }
        join.planning_done();
        chunks.reverse();
        if last_first {
            chunks.rotate_left(1);
        }
        Self {
            schema,
            table,
            join,
            server: initial.clone(),
            log: Vec::new(),
            streamed: 0,
            chunks,
            unread: Vec::new(),
            ranges,
            target: StrictTarget::default(),
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Put(k, v) => {
                let before = self.server.insert(k, v).map(|old| (k, old));
                self.log.push((before, Some((k, v))));
            }
            Step::Delete(k) => {
                if let Some(old) = self.server.remove(&k) {
                    self.log.push((Some((k, old)), None));
                }
            }
            Step::Move(a, b) => {
                if a != b
                    && !self.server.contains_key(&b)
                    && let Some(v) = self.server.remove(&a)
                {
                    self.server.insert(b, v);
                    self.log.push((Some((a, v)), Some((b, v))));
                }
            }
            Step::Stream(n) => self.stream(n),
            Step::Arm => {
                if let Some(chunk) = self.chunks.pop() {
                    self.unread.push(chunk.order.clone());
                    self.join.arm(chunk);
                }
            }
            Step::Read(n) => {
                if n < self.unread.len() {
                    let order = self.unread.remove(n);
                    let (low, high) = self.ranges[&order];
                    let found: Vec<_> =
                        self.server.iter().map(|(k, v)| (*k, *v)).filter(|(k, _)| (low..high).contains(k)).collect();
                    let batches = if found.is_empty() { vec![] } else { vec![rows(&self.schema, &found)] };
                    self.join.read(&order, ChunkRead { batches, high: position(self.log.len()) });
                }
            }
        }
        self.close();
    }

    fn stream(&mut self, n: usize) {
        let end = (self.streamed + n).min(self.log.len());
        let mut ops = Vec::new();
        let mut data = Vec::new();
        for change in &self.log[self.streamed..end] {
            match *change {
                (None, Some(after)) => {
                    ops.push(RowOp::Insert);
                    data.push(after);
                }
                (Some(before), None) => {
                    ops.push(RowOp::Delete);
                    data.push(before);
                }
                (Some(before), Some(after)) => {
                    ops.extend([RowOp::UpdateBefore, RowOp::UpdateAfter]);
                    data.extend([before, after]);
                }
                (None, None) => {}
            }
        }
        self.streamed = end;
        if ops.is_empty() {
            return;
        }
        let batch =
            ChangeBatch::new(self.table.clone(), self.schema.clone(), Changes::Mixed(ops), rows(&self.schema, &data))
                .unwrap();
        if let Some(batch) = self.join.pass(batch, None).unwrap() {
            self.target.apply(&batch);
        }
    }

    fn close(&mut self) {
        for batch in self.join.close(&position(self.streamed)).unwrap() {
            self.target.apply(&batch);
        }
    }

    fn finish(mut self) {
        while !self.join.is_complete() {
            self.step(&Step::Arm);
            self.step(&Step::Read(0));
            self.step(&Step::Stream(1000));
        }
        self.stream(usize::MAX - self.streamed);
        assert_eq!(self.target.0, self.server);
        assert_eq!(self.join.progress().done, vec![(None, None)], "touching ranges are merged");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn whatever_happens_during_the_snapshot_each_row_comes_once_and_the_target_ends_as_the_source(
        initial in prop::collection::btree_map(0..40i64, 0..1000i64, 0..40),
        steps in prop::collection::vec(step(), 0..120),
        last_first in any::<bool>(),
    ) {
        let mut world = World::new(&initial, last_first);
        for step in &steps {
            world.step(step);
        }
        world.finish();
    }
}

#[test]
fn superseded_changes_of_an_open_chunk_are_given_back() {
    let mut world = World::new(&BTreeMap::new(), false);
    world.step(&Step::Arm);
    for n in 0..200_000 {
        world.step(&Step::Put(n % 3, n));
        if n % 1000 == 0 {
            world.step(&Step::Stream(1000));
        }
    }
    assert!(
        world.join.open[0].overlay.held() < 40_000,
        "the overlay holds {} rows for 3 keys",
        world.join.open[0].overlay.held()
    );
    world.finish();
}
