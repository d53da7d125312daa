//! How a table's rows lie in the log: from its TABLE_MAP event and its tracked definition.

use super::from_map::{definition_of, labels_differ};
use super::history::Ddl;
use super::rebuild::{Look, rebuild};
use super::rows::{NumberedTable, Planned};
use super::statement::session_of;
use super::stream::{BinlogReader, MAX_PAYLOAD};
use super::tables::Tracked;
use crate::error::{Error, Result};
use crate::mysql::binlog::{RawTableMap, RowPlan, TableMap};
use crate::mysql::wire::DumpRequest;
use rowferry_model::TableId;

impl BinlogReader {
    pub(super) fn table_map(&mut self, map: RawTableMap<'_>) -> Result<()> {
        if let Some(known) = self.numbers.get(&map.table_id)
            && known.body == map.body
        {
            return Ok(());
        }
        // Until this one is understood the number means nothing: never the old table.
        self.numbers.remove(&map.table_id);
        let table = TableId::new(
            String::from_utf8_lossy(map.database).into_owned(),
            String::from_utf8_lossy(map.table).into_owned(),
        );
        let (plan, body) = match self.history.tables().get(&table) {
            None => (None, map.body.to_vec()),
            // In the snapshot already. No body: the next event of the same bytes is looked at again.
            Some(tracked) if tracked.is_ahead_of(&self.at) => (None, Vec::new()),
            Some(tracked) => (self.plan(tracked.clone(), map)?, map.body.to_vec()),
        };
        // Numbers are given anew with each change of a table and after each flush: forget what is not in use.
        const MAX_NUMBERS: usize = 100_000;
        if self.numbers.len() >= MAX_NUMBERS {
            self.seal(false)?;
            self.numbers.clear();
        }
        self.numbers.insert(map.table_id, NumberedTable { body, plan, group: None });
        Ok(())
    }

    /// How a table's rows are decoded. Where the log is read from an old place, the definition may be newer than the
    /// rows: then the log's own metadata tell what the table was.
    fn plan(&mut self, mut tracked: Tracked, map: RawTableMap<'_>) -> Result<Option<Planned>> {
        let table = tracked.table.clone();
        let parsed = map.columns().map_err(|e| {
            Error::permanent("RF-SRC-038", "a TABLE_MAP event can't be read")
                .with("table", &table)
                .with("position", &self.at)
                .caused_by(e)
        })?;
        if self.history.is_provisional(&table, &self.at) {
            self.settle_definition(&tracked, &parsed)?;
            match self.history.tables().get(&table) {
                Some(now) => tracked = now.clone(),
                None => return Ok(None),
            }
        }
        let plan = RowPlan::new(&parsed, &tracked.def, &tracked.schema, self.options.decode);
        let plan = plan.map_err(|e| {
            Error::permanent("RF-SRC-039", "the log's columns are not those of the table's definition")
                .with("table", &table)
                .with("position", &self.at)
                .caused_by(e)
                .hint("the definition has changed since: SET PERSIST binlog_row_metadata = 'FULL' makes the log tell it from then on; now start at a later place, or with a new snapshot")
        })?;
        Ok(Some((table, plan, tracked.schema.clone())))
    }

    /// Finds out what a table was at this place, where the definition may be newer: the log's own metadata tell it, or all
    /// that was done to the table since is undone.
    fn settle_definition(&mut self, tracked: &Tracked, map: &TableMap) -> Result<()> {
        let table = &tracked.table;
        let fits = RowPlan::new(map, &tracked.def, &tracked.schema, self.options.decode).is_ok()
            && !labels_differ(map, &tracked.def);
        let mut changes = Vec::new();
        match definition_of(map, &tracked.def, self.context.server) {
            Some(_) if fits => self.history.make_exact(table),
            Some(def) => {
                changes.push(self.history.redefine(table, def)?);
                self.history.make_exact(table);
            }
            None => {
                let Some((until, tables)) = self.history.provisional_tables() else { return Ok(()) };
                let look = Look {
                    connect: &self.options.connect,
                    // Another replica's number: two of the same number push each other off the server.
                    request: DumpRequest {
                        server_id: self.options.server_id.wrapping_add(1_000_000).max(1),
                        replica_uuid: None,
                        ..self.request()
                    },
                    from: self.boundary.clone(),
                    until,
                    context: &self.context,
                    max_payload: MAX_PAYLOAD,
                };
                let rebuilt = rebuild(&look, tables, |query| session_of(&self.context, query))?;
                for (folded, def) in rebuilt {
                    let Some(known) = self.history.tables().get(&folded).cloned() else { continue };
                    if def != *known.def {
                        changes.push(self.history.redefine(&known.table, def)?);
                    }
                    self.history.make_exact(&known.table);
                }
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        if self.taken > 0 {
            return Err(Error::permanent("RF-DDL-005", "what a table was shows only in the middle of a transaction")
                .with("table", table)
                .with("position", &self.at)
                .hint("start at a later place, or with a new snapshot"));
        }
        tracing::info!(%table, position = %self.at, "the binlog shows what the table was here");
        self.seal_before_ddl()?;
        let statement = "(none: the definition at this place of the binlog)".to_owned();
        self.ddl = Some(Ddl { statement, position: self.at.clone(), tables: changes });
        self.seal(false)
    }
}
