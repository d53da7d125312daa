//! Where a table is cut into chunks.

use super::key::{ChunkKey, KeyBound};
use crate::error::Result;
use crate::mysql::catalog::quote_table;
use crate::mysql::wire::{Connection, Row};
use rowferry_model::TableId;

/// A half-open range of a table's key that is read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChunk {
    /// Its place among the table's chunks: compared part by part, as a split chunk's parts stand where it stood.
    pub order: Vec<u32>,
    /// The lowest key; `None`: no lower bound.
    pub low: Option<KeyBound>,
    /// The first key that is not in it; `None`: no upper bound.
    pub high: Option<KeyBound>,
}

/// How a table is cut: the options of the source.
#[derive(Clone, Copy, Debug)]
pub struct ChunkOptions {
    /// `scan.incremental.snapshot.chunk.size`: rows a chunk.
    pub size: u64,
    /// `chunk-key.even-distribution.factor.upper-bound`.
    pub even_upper: f64,
    /// `chunk-key.even-distribution.factor.lower-bound`.
    pub even_lower: f64,
    /// `scan.incremental.snapshot.unbounded-chunk-first.enabled`.
    pub last_first: bool,
}

/// Cuts one table, from the lowest key upwards, chunk by chunk, leaving out what is done. The last chunk may come first.
#[derive(Debug)]
pub struct Planner {
    table: TableId,
    key: ChunkKey,
    options: ChunkOptions,
    /// Ranges still to cut, lowest last, with the number that orders their chunks among the done ranges.
    gaps: Vec<(u32, Option<KeyBound>, Option<KeyBound>)>,
    next: u32,
    /// Whether the last chunk comes now.
    last_first: bool,
    /// The chunks' width, where the key can be cut by arithmetic: width and highest key.
    even: Option<(i128, i128)>,
}

/// One side of a range; `None`: open.
type Bound = Option<KeyBound>;

/// A query's answer can't be used.
pub(super) fn unexpected(table: &TableId, what: &str) -> crate::error::Error {
    crate::error::Error::permanent("RF-SNP-003", format!("the server's answer about {what} can't be used"))
        .with("table", table)
}

impl Planner {
    /// Prepares to cut a table: asks for the key's range. `estimated_rows` is the server's estimate.
    ///
    /// # Errors
    /// The server can't be asked.
    pub fn new(
        connection: &mut Connection,
        table: TableId,
        key: ChunkKey,
        options: ChunkOptions,
        estimated_rows: u64,
        done: &[(Bound, Bound)],
    ) -> Result<Self> {
        let mut gaps = Vec::new();
        let mut low: Bound = None;
        let mut ended = false;
        for (i, (done_low, done_high)) in done.iter().enumerate() {
            if i > 0 || done_low.is_some() {
                gaps.push((2 * i as u32, low.take(), done_low.clone()));
            }
            low.clone_from(done_high);
            ended = done_high.is_none();
        }
        if !ended {
            gaps.push((2 * done.len() as u32, low, None));
        }
        gaps.reverse();
        let even = match key.integer_column() {
            Some(_) => Self::even_width(connection, &table, &key, options, estimated_rows)?,
            None => None,
        };
        // Once begun, a table's end may have been read already.
        let last_first = options.last_first && done.is_empty();
        Ok(Self { table, key, options, gaps, next: 0, last_first, even })
    }

    /// The width of chunks of an integer key whose values are spread evenly enough, and the highest key.
    fn even_width(
        connection: &mut Connection,
        table: &TableId,
        key: &ChunkKey,
        options: ChunkOptions,
        estimated_rows: u64,
    ) -> Result<Option<(i128, i128)>> {
        let column = key.order_by();
        let sql = format!("SELECT MIN({column}) AS low, MAX({column}) AS high FROM {}", quote_table(table));
        let rows = connection.query(&sql)?;
        let number = |name: &str| rows.first().and_then(|r| r.get(name)).and_then(|t| t.parse::<i128>().ok());
        let (Some(low), Some(high)) = (number("low"), number("high")) else { return Ok(None) };
        let factor = (high - low + 1) as f64 / estimated_rows.max(1) as f64;
        if estimated_rows == 0 || factor > options.even_upper || factor < options.even_lower {
            return Ok(None);
        }
        Ok(Some((((factor * options.size as f64) as i128).max(1), high)))
    }

    /// The next chunk, `None` once all are planned.
    ///
    /// # Errors
    /// The server can't be asked.
    pub fn next(&mut self, connection: &mut Connection) -> Result<Option<PlannedChunk>> {
        if std::mem::take(&mut self.last_first)
            && let Some(chunk) = self.last_chunk(connection)?
        {
            return Ok(Some(chunk));
        }
        let Some((gap, low, high)) = self.gaps.pop() else { return Ok(None) };
        let cut = match self.even {
            Some((width, highest)) => self.even_cut(connection, low.as_ref(), width, highest)?,
            None => keyset_cut(connection, &self.table, &self.key, low.as_ref(), high.as_ref(), self.options.size)?,
        };
        let order = vec![gap, self.next];
        self.next += 1;
        // A cut by arithmetic may lie behind the gap.
        let cut = cut.filter(|cut| match (&high, cut) {
            (Some(KeyBound(high)), KeyBound(cut)) if self.even.is_some() => cut < high,
            _ => true,
        });
        Ok(Some(match cut {
            Some(cut) => {
                self.gaps.push((gap, Some(cut.clone()), high));
                PlannedChunk { order, low, high: Some(cut) }
            }
            None => PlannedChunk { order, low, high },
        }))
    }

    /// Cuts the last chunk off a table that is not begun; `None` where the table has no more rows than a chunk.
    fn last_chunk(&mut self, connection: &mut Connection) -> Result<Option<PlannedChunk>> {
        let [(gap, None, high @ None)] = self.gaps.as_mut_slice() else { return Ok(None) };
        let sql = format!(
            "SELECT {} FROM {} ORDER BY {} LIMIT {}, 1",
            self.key.select_list(),
            quote_table(&self.table),
            self.key.order_by_downwards(),
            self.options.size - 1
        );
        let rows = connection.query(&sql)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let low = bound_of(row, &self.table, &self.key)?;
        *high = Some(low.clone());
        Ok(Some(PlannedChunk { order: vec![*gap, u32::MAX], low: Some(low), high: None }))
    }

    fn even_cut(
        &self,
        connection: &mut Connection,
        low: Option<&KeyBound>,
        width: i128,
        highest: i128,
    ) -> Result<Option<KeyBound>> {
        let from = match low {
            Some(KeyBound(parts)) => match parts.first() {
                Some(super::KeyPart::Int(n)) => *n,
                _ => return Err(unexpected(&self.table, "the key's range")),
            },
            None => {
                let column = self.key.order_by();
                let sql = format!("SELECT MIN({column}) AS low FROM {}", quote_table(&self.table));
                match connection.query(&sql)?.first().and_then(|r| r.get("low")).and_then(|t| t.parse().ok()) {
                    Some(low) => low,
                    None => return Ok(None),
                }
            }
        };
        let cut = from + width;
        Ok((cut <= highest).then(|| ChunkKey::integer_bound(cut)))
    }
}

/// The bound that a row of [`ChunkKey::select_list`] tells.
fn bound_of(row: &Row, table: &TableId, key: &ChunkKey) -> Result<KeyBound> {
    let names = key.result_names();
    let values: Vec<Option<&[u8]>> = names.iter().map(|n| row.bytes(n)).collect();
    key.parse_bound(&values).ok_or_else(|| unexpected(table, "a chunk's bound"))
}

/// Cuts a range behind `size` rows: the first key of the next chunk, `None` if the range has no more rows than that.
pub(super) fn keyset_cut(
    connection: &mut Connection,
    table: &TableId,
    key: &ChunkKey,
    low: Option<&KeyBound>,
    high: Option<&KeyBound>,
    size: u64,
) -> Result<Option<KeyBound>> {
    let bound = |row: &Row| bound_of(row, table, key);
    let select = |low_condition: String, offset: u64| {
        let condition = [low_condition, key.range_condition(None, high)];
        let condition: Vec<_> = condition.into_iter().filter(|c| !c.is_empty()).collect();
        let filter = if condition.is_empty() { String::new() } else { format!(" WHERE {}", condition.join(" AND ")) };
        format!(
            "SELECT {} FROM {}{filter} ORDER BY {} LIMIT {offset}, 1",
            key.select_list(),
            quote_table(table),
            key.order_by()
        )
    };
    let rows = connection.query(&select(key.range_condition(low, None), size))?;
    let Some(cut) = rows.first().map(bound).transpose()? else { return Ok(None) };
    if low != Some(&cut) {
        return Ok(Some(cut));
    }
    // More than a chunk's rows share this value: go on behind it.
    let rows = connection.query(&select(key.above_condition(&cut), 0))?;
    rows.first().map(bound).transpose()
}
