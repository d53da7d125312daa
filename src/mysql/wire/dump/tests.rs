#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::mysql::wire::ConnectOptions;

const ROTATE: u8 = 4;
const FORMAT: u8 = 15;
const ROWS: u8 = 30;
const HEARTBEAT: u8 = 27;
const ARTIFICIAL: u8 = 0x20;

fn event(kind: u8, flags: u8, len: usize) -> Vec<u8> {
    let mut event = vec![0; len];
    event[4] = kind;
    event[17] = flags;
    event
}

#[test]
fn a_file_is_counted_through_to_a_position() {
    // 4 + 100 + 50 + 50 = 204.
    let mut skip = Skip { at: FIRST, until: 204, seen_format: false };
    for (kind, flags, len, expected) in [
        (ROTATE, ARTIFICIAL, 40, Passing::Named),
        (FORMAT, 0, 100, Passing::Kept),
        (ROWS, 0, 50, Passing::Skipped),
        (HEARTBEAT, 0, 40, Passing::Kept),
        (ROWS, 0, 50, Passing::Skipped),
        (ROWS, 0, 60, Passing::Arrived),
    ] {
        assert_eq!(skip.passes(&event(kind, flags, len)).unwrap(), expected);
    }
}

#[test]
fn a_position_that_is_no_event_is_refused() {
    let mut skip = Skip { at: FIRST, until: 120, seen_format: false };
    skip.passes(&event(FORMAT, 0, 100)).unwrap();
    assert!(skip.passes(&event(ROWS, 0, 50)).is_err());
    let mut skip = Skip { at: FIRST, until: 1000, seen_format: false };
    skip.passes(&event(FORMAT, 0, 100)).unwrap();
    assert!(skip.passes(&event(ROTATE, 0, 50)).is_err(), "the file ends before");
    assert!(Skip { at: FIRST, until: 9, seen_format: false }.passes(&[0; 10]).is_err());
}

fn dump_error(code: u16, message: &str) -> WireError {
    let mut packet = vec![0xff];
    packet.extend_from_slice(&code.to_le_bytes());
    packet.extend_from_slice(b"#HY000");
    packet.extend_from_slice(message.as_bytes());
    WireError::Server(parse_err(&packet)).of_dump(9)
}

/// The texts are those of the servers' own message files.
#[test]
fn errors_of_the_stream_are_told_apart() {
    for text in [
        "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from \
         elsewhere, or provision a new replica from backup.",
        "The slave is connecting using CHANGE MASTER TO MASTER_AUTO_POSITION = 1, but the master has purged binary \
         logs containing GTIDs that the slave requires.",
        "Could not find first log file name in binary log index file",
        "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and \
         required binlog files have been purged.",
    ] {
        assert!(matches!(dump_error(1236, text), WireError::PurgedLogs(_)), "{text}");
    }
    let text = "A slave with the same server_uuid/server_id as this slave has connected to the master; the first \
                event 'binlog.000001' at 4";
    assert!(matches!(dump_error(1236, text), WireError::DuplicateServerId { server_id: 9, .. }));
    let text = "A replica with the same server_uuid/server_id as this replica has connected to the source; the first \
                event '' at 4";
    assert!(matches!(dump_error(1236, text), WireError::DuplicateServerId { .. }));
    assert!(matches!(dump_error(1236, "log event entry exceeded max_allowed_packet"), WireError::Server(_)));
}

/// The real servers that the integration tests use too.
fn servers() -> Vec<(String, ConnectOptions)> {
    let mut servers = Vec::new();
    for name in ["ROWFERRY_TEST_MYSQL_97", "ROWFERRY_TEST_MYSQL_56", "ROWFERRY_TEST_MARIADB"] {
        let Ok(url) = std::env::var(name) else {
            eprintln!("skipped: {name} is not set (see scripts/mysql)");
            continue;
        };
        let address = url.rsplit_once('@').unwrap().1;
        let (host, port) = address.rsplit_once(':').unwrap();
        servers.push((name.to_owned(), ConnectOptions::new(host, port.parse().unwrap(), "root")));
    }
    servers
}

/// Positions beyond 4 GiB are made by lowering what the plain request may name. What is read is written here, so that the
/// test neither waits for others nor depends on what they have written.
#[test]
fn both_ways_around_the_limit_give_the_same_events() {
    let own = format!("rowferry_limit_{}", std::process::id());
    for (name, options) in servers() {
        let mut connection = Connection::connect(&options).unwrap();
        let gtids = connection.takes_long_positions().unwrap();
        connection.execute("FLUSH BINARY LOGS").unwrap();
        for _ in 0..5 {
            connection.execute(&format!("CREATE DATABASE {own}")).unwrap();
            connection.execute(&format!("DROP DATABASE {own}")).unwrap();
        }
        let (file, pos) = place_of(&mut connection, &own);
        assert!(pos > FIRST, "{name}");
        let request = DumpRequest {
            server_id: u32::MAX - 0x20_0000 - std::process::id() % 0x10_0000,
            start: DumpStart::Position(BinlogPosition::new(&*file, pos)),
            heartbeat: Duration::from_secs(5),
            replica_uuid: None,
        };
        let first = |limit: u32| {
            let connection = Connection::connect(&options).unwrap();
            let mut stream = connection.start_dump_from(&request, limit).unwrap();
            assert_eq!(stream.skip.is_some(), limit == 0 && !gtids, "{name}");
            let mut kept = Vec::new();
            while kept.len() < 6 {
                let event = stream.next().unwrap().unwrap().to_vec();
                if ![HEARTBEAT, 41, FORMAT].contains(&event[4]) {
                    kept.push(event);
                }
            }
            kept
        };
        assert_eq!(first(u32::MAX), first(0), "{name}");
        assert_eq!(gtids, connection.server().mysql_since(80_000), "the test servers have GTIDs on");
    }
}

/// The place of the first event whose text names a database; at least nine transactions of the test stand behind it.
fn place_of(connection: &mut Connection, database: &str) -> (String, u64) {
    let files = connection.query("SHOW BINARY LOGS").unwrap();
    for file in files.iter().rev() {
        let file = file.require("Log_name").unwrap();
        let events = connection.query(&format!("SHOW BINLOG EVENTS IN '{file}' LIMIT 400")).unwrap();
        if let Some(event) = events.iter().find(|e| e.require("Info").is_ok_and(|info| info.contains(database))) {
            return (file.to_owned(), event.number("Pos").unwrap());
        }
    }
    panic!("no file of the log names {database}");
}
