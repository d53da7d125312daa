//! What tables were at an old place of the log, where the log does not tell their columns' names: today's definitions,
//! with every DDL in between undone.

use super::stream::behind;
use crate::error::{Error, Result};
use crate::mysql::binlog::{Checksum, EventBody, EventParser, QueryEvent};
use crate::mysql::wire::{ConnectOptions, Connection, DumpRequest};
use rowferry_model::{BinlogPosition, TableId};
use rowferry_sql::TableDef;
use rowferry_sql::ddl::{DdlContext, DdlOutcome, DdlStatement, StatementKind, Touched, classify, parse_ddl};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A DDL between the old place and now.
struct Step {
    statement: String,
    position: BinlogPosition,
    outcome: DdlOutcome,
    /// Whether the log has rows of the table before it.
    rows_before: bool,
}

/// How the log is looked through.
pub(super) struct Look<'a> {
    pub(super) connect: &'a ConnectOptions,
    pub(super) request: DumpRequest,
    /// Where looking begins.
    pub(super) from: BinlogPosition,
    /// The place at which today's definitions were read.
    pub(super) until: BinlogPosition,
    pub(super) context: &'a DdlContext,
    /// The most bytes that a compressed transaction may unpack to in one piece.
    pub(super) max_payload: u64,
}

/// Looks through the log for DDL on these tables, given with today's definitions, and undoes it. A table that has no rows
/// before a DDL that can't be undone is left out: its first rows stand behind it, and the question comes again with them.
///
/// # Errors
/// The log can't be read, or a statement does not tell what was before it.
pub(super) fn rebuild(
    look: &Look<'_>,
    tables: BTreeMap<TableId, Arc<TableDef>>,
    context_of: impl Fn(&QueryEvent<'_>) -> DdlContext,
) -> Result<BTreeMap<TableId, TableDef>> {
    tracing::info!(from = %look.from, until = %look.until, "looking through the binlog for what tables were: it does not name their columns");
    let steps = read_steps(look, &tables, context_of)?;
    let mut rebuilt = BTreeMap::new();
    for (table, def) in tables {
        let steps = steps.get(&table).map_or(&[][..], Vec::as_slice);
        if let Some(def) = undo(&table, def.as_ref().clone(), steps)? {
            rebuilt.insert(table, def);
        }
    }
    Ok(rebuilt)
}

fn undo(table: &TableId, mut def: TableDef, steps: &[Step]) -> Result<Option<TableDef>> {
    for step in steps.iter().rev() {
        let before = match &step.outcome {
            DdlOutcome::Ignored(_) | DdlOutcome::Changes(DdlStatement::TruncateTable(_)) => Some(def.clone()),
            DdlOutcome::Changes(DdlStatement::AlterTable(alter)) => alter.undo(&def),
            _ => None,
        };
        match before {
            Some(before) => def = before,
            None if !step.rows_before => return Ok(None),
            None => {
                return Err(Error::permanent("RF-DDL-006", "what a table was at this place of the binlog can't be told")
                    .with("table", table)
                    .with("because of", &step.statement)
                    .with("position", &step.position)
                    .hint("SET PERSIST binlog_row_metadata = 'FULL' makes the binlog tell it from then on; now start behind this position, or with a new snapshot"));
            }
        }
    }
    Ok(Some(def))
}

fn read_steps(
    look: &Look<'_>,
    tables: &BTreeMap<TableId, Arc<TableDef>>,
    context_of: impl Fn(&QueryEvent<'_>) -> DdlContext,
) -> Result<BTreeMap<TableId, Vec<Step>>> {
    let connection = Connection::connect(look.connect)?;
    let mut stream = connection.start_dump(&look.request)?;
    let mut parser = EventParser::new(Checksum::Crc32);
    let mut found = Found { look, tables, at: look.from.clone(), steps: BTreeMap::new(), rows: BTreeSet::new() };
    let fault = |e: crate::mysql::binlog::BinlogError, at: &BinlogPosition| {
        Error::permanent("RF-SRC-035", "a binlog event can't be read").with("position", at).caused_by(e)
    };
    while found.at < look.until {
        let Some(bytes) = stream.next()? else {
            return Err(
                Error::transient("RF-SRC-033", "the server ended the binlog stream").with("position", &found.at)
            );
        };
        let event = parser.parse(bytes).map_err(|e| fault(e, &found.at))?;
        if !event.header.is_artificial() && event.header.log_pos != 0 {
            found.at.pos = behind(found.at.pos, event.header.log_pos);
        }
        match event.body {
            EventBody::Rotate { position, file } => {
                let next = BinlogPosition::new(String::from_utf8_lossy(file), position);
                found.at = found.at.max(next);
            }
            EventBody::Heartbeat { position: Some(position), .. } => found.at.pos = found.at.pos.max(position),
            EventBody::TransactionPayload(payload) => {
                let mut events = payload.events(look.max_payload).map_err(|e| fault(e, &found.at))?;
                while let Some(event) = events.next_event().map_err(|e| fault(e, &found.at))? {
                    let event = parser.parse_inner(event).map_err(|e| fault(e, &found.at))?;
                    found.take(event.body, &context_of);
                }
            }
            body => found.take(body, &context_of),
        }
    }
    Ok(found.steps)
}

struct Found<'a> {
    look: &'a Look<'a>,
    tables: &'a BTreeMap<TableId, Arc<TableDef>>,
    at: BinlogPosition,
    steps: BTreeMap<TableId, Vec<Step>>,
    /// Tables of which rows were seen.
    rows: BTreeSet<TableId>,
}

impl Found<'_> {
    fn take(&mut self, body: EventBody<'_>, context_of: &impl Fn(&QueryEvent<'_>) -> DdlContext) {
        match body {
            EventBody::TableMap(map) => {
                let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let table = self.look.context.table_id(&name(map.database), &name(map.table));
                if self.tables.contains_key(&table) {
                    self.rows.insert(table);
                }
            }
            EventBody::Query(query) if !matches!(&*query.sql, b"BEGIN" | b"COMMIT") => {
                let text = query.sql_text().unwrap_or_else(|_| String::from_utf8_lossy(&query.sql).into_owned());
                let context = context_of(&query);
                let classified = classify(&text, &context);
                if !matches!(classified.kind, StatementKind::Ddl | StatementKind::Unknown) {
                    return;
                }
                let touched: Vec<TableId> = match classified.touched {
                    Touched::None => return,
                    Touched::Tables(tables) => tables.into_iter().filter(|t| self.tables.contains_key(t)).collect(),
                    Touched::Database(name) => self.tables.keys().filter(|t| t.database() == name).cloned().collect(),
                    Touched::Unknown => self.tables.keys().cloned().collect(),
                };
                // A database's own statements change no table's columns, unless they drop it.
                let outcome = match parse_ddl(&text, &context) {
                    DdlOutcome::Changes(DdlStatement::CreateDatabase { .. } | DdlStatement::AlterDatabase { .. }) => {
                        return;
                    }
                    outcome => outcome,
                };
                for table in touched {
                    let step = Step {
                        statement: text.trim().to_owned(),
                        position: self.at.clone(),
                        outcome: outcome.clone(),
                        rows_before: self.rows.contains(&table),
                    };
                    self.steps.entry(table).or_default().push(step);
                }
            }
            _ => {}
        }
    }
}
