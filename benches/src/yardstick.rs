//! What rowferry is measured against, each as a process of its own:
//! - *discard*: the binlog stream of `mysql_async`, no event decoded;
//! - *naive*: the same stream, each row through the decoder of `mysql_common`;
//! - *select*: one connection, `SELECT *`, each row as a `Row`.

use crate::child::{self, Usage};
use crate::server::{Place, Server, runtime};
use crate::{Bench, Result};
use futures_util::StreamExt;
use mysql_async::binlog::events::{EventData, RowsEventData};
use mysql_async::prelude::Queryable;
use mysql_async::{BinlogStreamRequest, Row};
use std::hint::black_box;
use std::process::{Command, Stdio};

/// The hidden first argument.
pub(crate) const COMMAND: &str = "yardstick";

/// The number under which the yardsticks register as replicas.
const SERVER_ID: u32 = 987_001;

/// A yardstick.
#[derive(Clone, Debug)]
pub(crate) enum Yardstick {
    /// The stream from a place to the log's end, nothing decoded.
    Discard(Place),
    /// The stream from a place to the log's end, every row decoded.
    Naive(Place),
    /// A table.
    Select(String),
}

impl Yardstick {
    fn arguments(&self) -> Vec<String> {
        match self {
            Self::Discard(from) => vec!["discard".into(), from.file.clone(), from.pos.to_string()],
            Self::Naive(from) => vec!["naive".into(), from.file.clone(), from.pos.to_string()],
            Self::Select(table) => vec!["select".into(), table.clone(), "0".into()],
        }
    }

    /// Runs it in a process of its own. Where rows are decoded, they must be as many as `expected`.
    pub(crate) fn run(&self, bench: &Bench, expected: u64) -> Result<Usage> {
        let mut command = Command::new(std::env::current_exe()?);
        let counted = tempfile::NamedTempFile::new()?;
        command.arg(COMMAND).arg(bench.server.url()).args(self.arguments());
        command.stdin(Stdio::null()).stdout(counted.reopen()?);
        let (usage, status) = child::run(&mut command)?;
        if !status.success() {
            return Err(format!("the yardstick {self:?} failed: {status}").into());
        }
        let counted: u64 = std::fs::read_to_string(counted.path())?.trim().parse()?;
        if !matches!(self, Self::Discard(_)) && counted != expected {
            return Err(format!("the yardstick {self:?} saw {counted} rows instead of {expected}").into());
        }
        Ok(usage)
    }
}

/// The process of a yardstick: prints how many events or rows it saw.
pub(crate) fn main(arguments: &[String]) -> Result<()> {
    let [url, kind, what, pos] = arguments else {
        return Err("a yardstick takes URL, kind, file or table, position".into());
    };
    let server = Server::new(url)?;
    let from = Place { file: what.clone(), pos: pos.parse()? };
    let seen = runtime()?.block_on(async {
        match kind.as_str() {
            "discard" => discard(&server, &from).await,
            "naive" => naive(&server, &from).await,
            "select" => select(&server, what).await,
            _ => Err(format!("no yardstick is called {kind}").into()),
        }
    })?;
    println!("{seen}");
    Ok(())
}

fn request(from: &Place) -> BinlogStreamRequest<'_> {
    BinlogStreamRequest::new(SERVER_ID).with_filename(from.file.as_bytes()).with_pos(from.pos).with_non_blocking()
}

async fn discard(server: &Server, from: &Place) -> Result<u64> {
    let mut stream = server.connect().await?.get_binlog_stream(request(from)).await?;
    let mut events = 0;
    while let Some(event) = stream.next().await {
        black_box(event?);
        events += 1;
    }
    stream.close().await?;
    Ok(events)
}

async fn naive(server: &Server, from: &Place) -> Result<u64> {
    let mut stream = server.connect().await?.get_binlog_stream(request(from)).await?;
    let mut rows = 0;
    while let Some(event) = stream.next().await {
        let event = event?;
        let Some(EventData::RowsEvent(data)) = event.read_data()? else { continue };
        let table = stream.get_tme(data.table_id()).ok_or("rows of an unknown table")?;
        if table.table_name() == "marker" {
            continue;
        }
        rows += count(&data, table)?;
    }
    stream.close().await?;
    Ok(rows)
}

fn count(data: &RowsEventData<'_>, table: &mysql_async::binlog::events::TableMapEvent<'_>) -> Result<u64> {
    let mut rows = 0;
    for row in data.rows(table) {
        black_box(row?);
        rows += 1;
    }
    Ok(rows)
}

async fn select(server: &Server, table: &str) -> Result<u64> {
    let mut connection = server.connect().await?;
    let mut result = connection.query_iter(format!("SELECT * FROM {table}")).await?;
    let mut rows = 0;
    result
        .for_each(|row: Row| {
            black_box(row);
            rows += 1;
        })
        .await?;
    Ok(rows)
}
