//! Row images into columns.

use super::builders::{BatchBuilder, DecodeStats};
use super::column_decoder::skip;
use super::cursor::{Cursor, bit};
use super::decode_error::{DecodeError, ValueError};
use super::json_diff;
use super::row_plan::{BeforeImages, ColumnPlan, RowPlan};
use super::rows::{RowImages, RowsKind};
use super::table_map::WireType;
use arrow_array::RecordBatch;
use rowferry_model::{Changes, RowOp};
use std::ops::Range;
use std::sync::Arc;

/// When a batch is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// It has at least so many rows. An update is never split: one row more may come of it.
    pub rows: usize,
    /// Its rows had at least so many bytes on the wire.
    pub bytes: usize,
}

impl BatchLimits {
    /// No limits.
    pub const NONE: Self = Self { rows: usize::MAX, bytes: usize::MAX };

    /// Whether a batch is full.
    pub fn reached(&self, batch: &BatchBuilder) -> bool {
        batch.rows() >= self.rows || batch.bytes() >= self.bytes
    }
}

/// How far the decoding of an event came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Where in the images to go on; their length when all are decoded.
    pub next: usize,
    /// How many changes were decoded; an update counts once.
    pub changes: usize,
}

/// Decodes the rows of one table and one schema version into one batch after another.
pub struct RowsDecoder {
    plan: Arc<RowPlan>,
    batch: BatchBuilder,
    before: ImageParts,
    after: ImageParts,
}

/// Where in the images the parts of a row lie that are needed more than once.
#[derive(Default)]
struct ImageParts {
    /// Values of the key's columns; `None` for NULL.
    key: Vec<Option<Range<usize>>>,
    /// Documents, one for each JSON column; `None` for NULL.
    json: Vec<Option<Range<usize>>>,
}

impl ImageParts {
    fn clear(&mut self) {
        self.key.clear();
        self.json.clear();
    }

    #[inline]
    fn note(&mut self, column: &ColumnPlan, value: Option<Range<usize>>) {
        if column.key {
            self.key.push(value.clone());
        }
        if let WireType::Json(n) = column.wire {
            // A document's length stands in front of it.
            self.json.push(value.map(|range| range.start + usize::from(n)..range.end));
        }
    }
}

impl RowsDecoder {
    /// A decoder with an empty batch.
    pub fn new(plan: Arc<RowPlan>) -> Self {
        let batch = BatchBuilder::new(plan.schema());
        Self { plan, batch, before: ImageParts::default(), after: ImageParts::default() }
    }

    /// The batch that grows.
    pub fn batch(&self) -> &BatchBuilder {
        &self.batch
    }

    /// What the values were other than usual, since the decoder was made.
    pub fn stats(&self) -> DecodeStats {
        self.batch.stats()
    }

    /// Goes on with another plan of the same schema, such as comes of a new TABLE_MAP event.
    ///
    /// # Errors
    /// The schema is another one: finish the batch and make a new decoder.
    pub fn set_plan(&mut self, plan: Arc<RowPlan>) -> Result<(), Arc<RowPlan>> {
        if plan.schema == self.plan.schema {
            self.plan = plan;
            Ok(())
        } else {
            Err(plan)
        }
    }

    /// Decodes an event's rows, beginning at byte `from` of its images, until they end or the batch is full.
    ///
    /// # Errors
    /// The rows have not all columns, or are not what the plan says. The batch is unusable then.
    pub fn decode(
        &mut self,
        images: &RowImages<'_>,
        from: usize,
        limits: &BatchLimits,
    ) -> Result<Progress, DecodeError> {
        self.check_columns(images)?;
        let mut progress = Progress { next: from, changes: 0 };
        while progress.next < images.bytes.len() && !limits.reached(&self.batch) {
            match self.row(images, progress.next) {
                Ok(next) => progress = Progress { next, changes: progress.changes + 1 },
                Err(error) => {
                    self.batch.broken = true;
                    return Err(error);
                }
            }
        }
        Ok(progress)
    }

    /// Passes over up to `changes` changes of an event without decoding them; how resuming within a transaction goes
    /// about what was taken before.
    ///
    /// # Errors
    /// The rows are not what the plan says.
    pub fn skip(&self, images: &RowImages<'_>, from: usize, changes: usize) -> Result<Progress, DecodeError> {
        self.check_columns(images)?;
        let mut c = cursor_at(images, from);
        let mut skipped = 0;
        while skipped < changes && !c.is_empty() {
            let mut nothing = ImageParts::default();
            pass_over(&self.plan, images, &mut c, self.plan.columns.len(), &mut nothing)?;
            if matches!(images.kind, RowsKind::Update | RowsKind::PartialUpdate) {
                patch(&self.plan, images, &mut c, &[])?;
                pass_over(&self.plan, images, &mut c, self.plan.columns.len(), &mut nothing)?;
            }
            skipped += 1;
        }
        Ok(Progress { next: images.bytes.len() - c.len(), changes: skipped })
    }

    /// The rows so far.
    ///
    /// # Errors
    /// A row could not be decoded, or a column is too large.
    pub fn finish(&mut self) -> Result<(Changes, RecordBatch), DecodeError> {
        self.batch.finish()
    }

    fn check_columns(&self, images: &RowImages<'_>) -> Result<(), DecodeError> {
        let columns = &self.plan.columns;
        if images.columns != columns.len() {
            return Err(DecodeError::ColumnCount { got: images.columns, want: columns.len() });
        }
        let update = matches!(images.kind, RowsKind::Update | RowsKind::PartialUpdate);
        let absent = |i: usize| !bit(images.present, i) || (update && !bit(images.present_after, i));
        if (0..columns.len()).any(absent) {
            let names = columns.iter().enumerate().filter(|(i, _)| absent(*i)).map(|(_, c)| c.name.to_string());
            return Err(DecodeError::PartialImage { columns: names.collect() });
        }
        // Every row takes at least one byte: else a loop over rows would not end.
        if columns.is_empty() && !images.bytes.is_empty() {
            return Err(DecodeError::Truncated { kind: images.kind });
        }
        Ok(())
    }

    /// Decodes one row that begins at `from`; says where the next one begins.
    fn row(&mut self, images: &RowImages<'_>, from: usize) -> Result<usize, DecodeError> {
        let Self { plan, batch, before, after } = self;
        let mut c = cursor_at(images, from);
        let end = |c: &Cursor<'_>| images.bytes.len() - c.len();
        match images.kind {
            RowsKind::Insert => {
                image(plan, batch, images, &mut c, None, None)?;
                batch.end_row(RowOp::Insert, end(&c) - from);
            }
            RowsKind::Delete => {
                image(plan, batch, images, &mut c, None, None)?;
                batch.end_row(RowOp::Delete, end(&c) - from);
            }
            RowsKind::Update | RowsKind::PartialUpdate => {
                before.clear();
                after.clear();
                if plan.options.before_images == BeforeImages::All || plan.key_end == 0 {
                    image(plan, batch, images, &mut c, None, Some(&mut *before))?;
                    let middle = end(&c);
                    let patch = patch(plan, images, &mut c, &before.json)?;
                    image(plan, batch, images, &mut c, patch, Some(&mut *after))?;
                    let (first, second) = if same(images.bytes, &before.key, &after.key) {
                        (RowOp::UpdateBefore, RowOp::UpdateAfter)
                    } else {
                        (RowOp::Delete, RowOp::Insert)
                    };
                    batch.end_row(first, middle - from);
                    batch.end_row(second, end(&c) - middle);
                } else {
                    let start = c;
                    pass_over(plan, images, &mut c, plan.columns.len(), before)?;
                    let middle = end(&c);
                    let patch = patch(plan, images, &mut c, &before.json)?;
                    pass_over(plan, images, &mut c.clone(), plan.key_end, after)?;
                    let changed = !same(images.bytes, &before.key, &after.key);
                    if changed {
                        image(plan, batch, images, &mut start.clone(), None, None)?;
                        batch.end_row(RowOp::Delete, middle - from);
                    }
                    image(plan, batch, images, &mut c, patch, None)?;
                    batch.end_row(RowOp::Insert, end(&c) - if changed { middle } else { from });
                }
            }
        }
        Ok(end(&c))
    }
}

/// Which documents of an image from after a partial update are differences, and to what.
#[derive(Clone, Copy)]
struct Patch<'a> {
    /// A bit for each JSON column: the value is a list of differences.
    bits: &'a [u8],
    /// Where the documents from before lie.
    before: &'a [Option<Range<usize>>],
}

/// What stands in front of an image from after a partial update.
fn patch<'a>(
    plan: &RowPlan,
    images: &RowImages<'a>,
    c: &mut Cursor<'a>,
    before: &'a [Option<Range<usize>>],
) -> Result<Option<Patch<'a>>, DecodeError> {
    const PARTIAL_JSON: u64 = 1;
    if images.kind != RowsKind::PartialUpdate {
        return Ok(None);
    }
    let truncated = |_| DecodeError::Truncated { kind: images.kind };
    if c.lenenc().map_err(truncated)? & PARTIAL_JSON == 0 {
        return Ok(None);
    }
    let bits = c.take(plan.json_columns.div_ceil(8)).map_err(truncated)?;
    Ok(Some(Patch { bits, before }))
}

/// Decodes one image into the batch's columns.
fn image(
    plan: &RowPlan,
    batch: &mut BatchBuilder,
    images: &RowImages<'_>,
    c: &mut Cursor<'_>,
    patch: Option<Patch<'_>>,
    mut parts: Option<&mut ImageParts>,
) -> Result<(), DecodeError> {
    let columns = plan.columns.as_slice();
    let nulls = c.take(columns.len().div_ceil(8)).map_err(|_| DecodeError::Truncated { kind: images.kind })?;
    let BatchBuilder { columns: builders, stats, .. } = batch;
    let mut documents = 0;
    for (i, column) in columns.iter().enumerate() {
        let document = documents;
        let is_json = matches!(column.wire, WireType::Json(_));
        documents += usize::from(is_json);
        let null = bit(nulls, i);
        let start = images.bytes.len() - c.len();
        match &column.target {
            None if null => {}
            None => skip(column.wire, c).map_err(|kind| in_column(column, kind))?,
            Some((decoder, target)) => {
                let Some(builder) = builders.get_mut(*target) else {
                    return Err(in_column(column, ValueError::WRONG_BUILDER));
                };
                match patch {
                    _ if null => builder.push_null(),
                    Some(Patch { bits, before }) if is_json && bit(bits, document) => {
                        let before = before.get(document).cloned().flatten().and_then(|range| images.bytes.get(range));
                        patched(column, before, c, plan.options.json, builder)
                            .map_err(|kind| in_column(column, kind))?;
                    }
                    _ => decoder.decode(c, builder, column.nullable, stats).map_err(|kind| in_column(column, kind))?,
                }
            }
        }
        if let Some(parts) = &mut parts
            && (column.key || is_json)
        {
            parts.note(column, (!null).then_some(start..images.bytes.len() - c.len()));
        }
    }
    Ok(())
}

fn cursor_at<'a>(images: &RowImages<'a>, from: usize) -> Cursor<'a> {
    Cursor::new(images.bytes.get(from..).unwrap_or_default())
}

#[cold]
fn in_column(column: &ColumnPlan, kind: ValueError) -> DecodeError {
    DecodeError::Column { column: column.name.to_string(), kind }
}

/// Applies the differences of a JSON column to its document from before.
fn patched(
    column: &ColumnPlan,
    before: Option<&[u8]>,
    c: &mut Cursor<'_>,
    style: super::JsonStyle,
    builder: &mut super::builders::ColumnBuilder,
) -> Result<(), ValueError> {
    let WireType::Json(n) = column.wire else { return Err(ValueError::WRONG_BUILDER) };
    let length = c.uint_le(n.into())? as usize;
    let differences = c.take(length)?;
    let before = before.ok_or(ValueError::Malformed("differences to a JSON document that was NULL"))?;
    builder.write_bytes(|data| json_diff::apply(before, differences, style, data))
}

/// Passes over an image's null bitmap and its first `columns` columns, noting what is needed more than once. The
/// differences of a partial update have their length in front just like a document.
fn pass_over(
    plan: &RowPlan,
    images: &RowImages<'_>,
    c: &mut Cursor<'_>,
    columns: usize,
    parts: &mut ImageParts,
) -> Result<(), DecodeError> {
    let nulls = c.take(plan.columns.len().div_ceil(8)).map_err(|_| DecodeError::Truncated { kind: images.kind })?;
    for (i, column) in plan.columns.iter().enumerate().take(columns) {
        if bit(nulls, i) {
            parts.note(column, None);
            continue;
        }
        let start = images.bytes.len() - c.len();
        skip(column.wire, c).map_err(|kind| in_column(column, kind))?;
        let end = images.bytes.len() - c.len();
        parts.note(column, Some(start..end));
    }
    Ok(())
}

/// Whether two lists of values are the same.
fn same(bytes: &[u8], a: &[Option<Range<usize>>], b: &[Option<Range<usize>>]) -> bool {
    let value = |range: &Option<Range<usize>>| range.clone().and_then(|r| bytes.get(r));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| value(a) == value(b))
}
