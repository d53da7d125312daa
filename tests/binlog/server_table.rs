//! A table on a real server, read both ways: by SELECT and from the binlog.

use crate::support::servers::{Database, unique};
use arrow_array::RecordBatch;
use rowferry::mysql::binlog::{
    BatchLimits, Checksum, DecodeOptions, EventBody, EventParser, JsonStyle, RowPlan, RowsDecoder, RowsKind,
    TextDecoder, TextPlan,
};
use rowferry::mysql::wire::{Connection, DumpRequest, DumpStart};
use rowferry_model::{BinlogPosition, Changes, Column, DataType, TableSchema};
use rowferry_sql::{CharSet, ColumnDef, ColumnType, MappingOptions, TableDef};
use std::sync::Arc;
use std::time::Duration;

/// A session as rowferry opens it for reading rows.
pub(super) fn session(database: &Database) -> Connection {
    let mut connection = database.connect();
    connection.execute("SET NAMES utf8mb4").unwrap();
    connection.execute("SET time_zone = '+00:00', sql_mode = ''").unwrap();
    connection
}

/// Where the server's binlog ends.
pub(super) fn binlog_end(connection: &mut Connection) -> BinlogPosition {
    let row = connection
        .query_first("SHOW MASTER STATUS")
        .or_else(|_| connection.query_first("SHOW BINARY LOG STATUS"))
        .unwrap()
        .expect("the server writes a binlog");
    BinlogPosition::new(row.get("File").unwrap(), row.number("Position").unwrap())
}

/// A table's definition, from the server.
pub(super) fn table_def(connection: &mut Connection, database: &str, table: &str) -> TableDef {
    let rows = connection
        .query(&format!(
            "SELECT column_name AS name, column_type AS type, is_nullable AS nullable, character_set_name AS charset, \
             collation_name AS collation, column_key AS col_key FROM information_schema.columns \
             WHERE table_schema = '{database}' AND table_name = '{table}' ORDER BY ordinal_position"
        ))
        .unwrap();
    let mut def = TableDef {
        columns: vec![],
        primary_key: vec![],
        keys: vec![],
        charset: "utf8mb4".into(),
        collation: "utf8mb4_bin".into(),
        comment: String::new(),
    };
    for row in rows {
        let charset = row
            .get("charset")
            .zip(row.get("collation"))
            .map(|(name, collation)| CharSet { name: name.into(), collation: collation.into() });
        let name = row.get("name").unwrap().to_owned();
        if row.get("col_key") == Some("PRI") {
            def.primary_key.push(name.clone());
        }
        let column_type = row.get("type").unwrap();
        def.columns.push(ColumnDef {
            name,
            column_type: ColumnType::parse(column_type, charset.as_ref()).unwrap_or_else(|e| panic!("{e}")),
            nullable: row.get("nullable") == Some("YES"),
            default: None,
            on_update: false,
            auto_increment: false,
            comment: String::new(),
            generated: None,
            invisible: false,
        });
    }
    def
}

/// The stream's schema, with text for types that have no counterpart yet.
pub(super) fn schema(table: &TableDef) -> Arc<TableSchema> {
    let column = |c: &ColumnDef| match c.to_column(&MappingOptions::default()) {
        Ok(column) => column,
        Err(_) => Column { nullable: c.nullable, ..Column::new(&c.name, DataType::String) },
    };
    Arc::new(TableSchema {
        columns: table.columns.iter().map(column).collect(),
        primary_key: table.primary_key.clone(),
        ..TableSchema::default()
    })
}

/// All rows, by SELECT.
pub(super) fn snapshot(
    connection: &mut Connection,
    name: &str,
    table: &TableDef,
    schema: &Arc<TableSchema>,
    json: JsonStyle,
) -> RecordBatch {
    let plan = Arc::new(TextPlan::new(name, table, schema, json).unwrap());
    let sql = format!("SELECT {} FROM `{name}` ORDER BY id", plan.select_list().join(", "));
    let mut decoder = TextDecoder::new(plan);
    let mut rows = connection.query_stream(&sql).unwrap();
    while let Some(row) = rows.next_row().unwrap() {
        decoder.decode(row).unwrap_or_else(|e| panic!("{e}"));
    }
    decoder.finish().unwrap().1
}

/// Changes of a table.
pub(super) struct Changed {
    pub(super) ops: Changes,
    pub(super) batch: RecordBatch,
    /// Events with partial updates.
    pub(super) partial_events: usize,
}

/// Changes of a table from the binlog, from a position until there are so many.
pub(super) fn changes(
    database: &Database,
    start: BinlogPosition,
    name: &str,
    table: &TableDef,
    schema: &Arc<TableSchema>,
    options: DecodeOptions,
    count: usize,
) -> Changed {
    let request = DumpRequest {
        server_id: 1_000_000 + unique() % 1_000_000_000,
        start: DumpStart::Position(start),
        heartbeat: Duration::from_secs(5),
        replica_uuid: None,
    };
    let mut stream = database.connect().start_dump(&request).unwrap();
    let checksum = if stream.starts_with_checksums() { Checksum::Crc32 } else { Checksum::None };
    let mut reader = Reader {
        parser: EventParser::new(checksum),
        database: database.name.clone(),
        name: name.to_owned(),
        table: table.clone(),
        schema: Arc::clone(schema),
        options,
        table_id: None,
        decoder: None,
        seen: 0,
        partial_events: 0,
    };
    while reader.seen < count {
        let event = stream.next().unwrap().expect("the stream goes on").to_vec();
        let mut parser = reader.parser.clone();
        let parsed = parser.parse(&event).unwrap_or_else(|e| panic!("{e}"));
        reader.parser = parser;
        reader.event(&parsed.body);
    }
    let (ops, batch) = reader.decoder.expect("there were rows").finish().unwrap_or_else(|e| panic!("{e}"));
    Changed { ops, batch, partial_events: reader.partial_events }
}

struct Reader {
    parser: EventParser,
    database: String,
    name: String,
    table: TableDef,
    schema: Arc<TableSchema>,
    options: DecodeOptions,
    table_id: Option<u64>,
    decoder: Option<RowsDecoder>,
    seen: usize,
    partial_events: usize,
}

impl Reader {
    fn event(&mut self, body: &EventBody<'_>) {
        match body {
            EventBody::TableMap(raw)
                if raw.table == self.name.as_bytes() && raw.database == self.database.as_bytes() =>
            {
                let map = raw.columns().unwrap_or_else(|e| panic!("{e}"));
                let plan =
                    RowPlan::new(&map, &self.table, &self.schema, self.options).unwrap_or_else(|e| panic!("{e}"));
                self.table_id = Some(raw.table_id);
                match &mut self.decoder {
                    Some(decoder) => decoder.set_plan(plan).expect("the same schema"),
                    None => self.decoder = Some(RowsDecoder::new(plan)),
                }
            }
            EventBody::Rows(rows) if Some(rows.table_id) == self.table_id => {
                let decoder = self.decoder.as_mut().unwrap();
                let progress = decoder.decode(&rows.images(), 0, &BatchLimits::NONE).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(progress.next, rows.images.len());
                self.seen += progress.changes;
                self.partial_events += usize::from(rows.kind == RowsKind::PartialUpdate);
            }
            EventBody::TransactionPayload(payload) => {
                let parser = self.parser.clone();
                let mut events = payload.events(1 << 26).unwrap();
                while let Some(event) = events.next_event().unwrap() {
                    self.event(&parser.parse_inner(event).unwrap().body);
                }
            }
            _ => {}
        }
    }
}
