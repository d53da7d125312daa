#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::mysql::reader::{Bystanders, CapturedTables, HistoryOptions};
use rowferry_sql::{MappingOptions, ServerVersion};

const QUERY: u8 = 2;
const ROTATE: u8 = 4;
const XID: u8 = 16;
/// A statement's text in front of its rows: nothing to a reader.
const ROWS_QUERY: u8 = 29;

/// An event of the log whose header says that it ends there.
fn event(kind: u8, end: u64, body: &[u8]) -> Vec<u8> {
    let mut event = 1_700_000_000_u32.to_le_bytes().to_vec();
    event.push(kind);
    event.extend_from_slice(&1_u32.to_le_bytes());
    event.extend_from_slice(&(body.len() as u32 + 19).to_le_bytes());
    // The header has 32 bits for it.
    event.extend_from_slice(&(end as u32).to_le_bytes());
    event.extend_from_slice(&[0; 2]);
    event.extend_from_slice(body);
    event
}

fn begin(end: u64) -> Vec<u8> {
    event(QUERY, end, b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0BEGIN")
}

fn reader(from: BinlogPosition) -> (BinlogReader, crossbeam_channel::Receiver<StreamItem>) {
    let (items, received) = crossbeam_channel::bounded(10);
    let options = ReaderOptions {
        connect: ConnectOptions::new("localhost", 3306, "root"),
        server_id: 1,
        replica_uuid: None,
        heartbeat: Duration::from_secs(1),
        max_retries: 0,
        segment_bytes: 1 << 20,
        decode: DecodeOptions::default(),
        op_ts: false,
        skip_before_seconds: 0,
        skip: Skip::default(),
        use_gtids: false,
        seal_each: Arc::default(),
        server: "".into(),
        bound_to_server: Arc::default(),
    };
    let history = SchemaHistory::new(
        HistoryOptions { mapping: MappingOptions::default(), new_tables: None },
        CapturedTables::default(),
        [],
        Bystanders::default(),
    );
    let context = DdlContext::new(ServerVersion::mysql(80_400), "d");
    (BinlogReader::new(options, history, Offset { position: from, gtids: None, rows: 0 }, context, items), received)
}

/// What a checkpoint would save after these events, and where the reader is.
fn after(reader: &mut BinlogReader, events: &[Vec<u8>]) -> (BinlogPosition, BinlogPosition) {
    let mut parser = EventParser::new(Checksum::None);
    for bytes in events {
        let event = parser.parse(bytes).unwrap();
        reader.event(&EventParser::new(Checksum::None), event.header, event.body, false).unwrap();
    }
    (reader.boundary.clone(), reader.at.clone())
}

/// One transaction may push a file past 4 GiB, where the ends that headers tell begin at 0 again.
#[test]
fn a_file_beyond_4_gib_is_read_on_and_no_wrapped_place_is_saved() {
    const GIB_4: u64 = 1 << 32;
    let file = |pos| BinlogPosition::new("binlog.000001", pos);
    let (mut reader, items) = reader(file(4_294_950_000));
    let inside = [
        begin(4_294_954_865),
        event(ROWS_QUERY, 4_294_962_881, b"\0x"),
        event(ROWS_QUERY, GIB_4 + 3601, b"\0x"),
        event(ROWS_QUERY, GIB_4 + 11_617, b"\0x"),
    ];
    assert_eq!(after(&mut reader, &inside), (file(4_294_950_000), file(GIB_4 + 11_617)));
    let end = file(GIB_4 + 11_648);
    assert_eq!(after(&mut reader, &[event(XID, end.pos, &[7; 8])]), (end.clone(), end.clone()));
    // The next transaction goes into the same file if it was waiting for the first one.
    let second = [begin(GIB_4 + 11_700), event(XID, GIB_4 + 11_731, &[8; 8])];
    assert_eq!(after(&mut reader, &second), (file(GIB_4 + 11_731), file(GIB_4 + 11_731)));
    reader.seal(true).unwrap();
    let StreamItem::Segment(segment) = items.try_recv().unwrap() else { panic!("a segment is expected") };
    assert!(segment.point.boundary && segment.point.transactions == 2);
    assert_eq!((segment.point.offset.position, segment.point.at), (file(GIB_4 + 11_731), file(GIB_4 + 11_731)));
    let rotate = event(ROTATE, GIB_4 + 11_775, &[&4_u64.to_le_bytes()[..], b"binlog.000002"].concat());
    let next = BinlogPosition::new("binlog.000002", 4);
    assert_eq!(after(&mut reader, &[rotate]), (next.clone(), next));
    assert_eq!(
        after(&mut reader, &[begin(200), event(XID, 231, &[9; 8])]).0,
        BinlogPosition::new("binlog.000002", 231)
    );
}
