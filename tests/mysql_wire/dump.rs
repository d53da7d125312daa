//! The binlog stream of real servers.

use crate::support::proxy::Proxy;
use crate::support::rowferry::PATIENCE;
use crate::support::servers::{self, Database, Server, unique};
use rowferry::mysql::catalog::{self, CatalogError};
use rowferry::mysql::wire::{Connection, DumpRequest, DumpStart, DumpStream, WireError};
use rowferry_model::{BinlogPosition, GtidSet, Uuid};
use std::time::{Duration, Instant};

const QUERY: u8 = 2;
const ROTATE: u8 = 4;
const FORMAT_DESCRIPTION: u8 = 15;
const TABLE_MAP: u8 = 19;
const HEARTBEATS: [u8; 2] = [27, 41];
const MARIADB_ANNOTATE: u8 = 160;
const MARIADB_GTID: u8 = 162;

fn kind(event: &[u8]) -> u8 {
    event[4]
}

fn now(connection: &mut Connection) -> BinlogPosition {
    let sql = if connection.server().mysql_since(80_200) { "SHOW BINARY LOG STATUS" } else { "SHOW MASTER STATUS" };
    let row = connection.query_first(sql).unwrap().unwrap();
    BinlogPosition::new(row.require("File").unwrap(), row.number("Position").unwrap())
}

fn executed(connection: &mut Connection) -> GtidSet {
    let name = if connection.server().is_mariadb() { "gtid_binlog_pos" } else { "gtid_executed" };
    let row = connection.query_first(&format!("SELECT @@GLOBAL.{name} AS g")).unwrap().unwrap();
    row.require("g").unwrap().parse().unwrap()
}

fn request(start: DumpStart) -> DumpRequest {
    DumpRequest {
        server_id: 1_000_000 + unique(),
        start,
        heartbeat: Duration::from_secs(1),
        replica_uuid: Some(Uuid(*uuid::Uuid::new_v4().as_bytes())),
    }
}

/// Reads until an event has this text in it; gives the kinds of all events up to it, heartbeats left out.
fn read_until(stream: &mut DumpStream, text: &str) -> Vec<u8> {
    let mut kinds = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "{text} does not come: {kinds:?}");
        let event = stream.next().unwrap().expect("the stream goes on");
        assert_eq!(u32::from_le_bytes(event[9..13].try_into().unwrap()) as usize, event.len(), "the header's length");
        if !HEARTBEATS.contains(&kind(event)) {
            kinds.push(kind(event));
        }
        if event.windows(text.len()).any(|w| w == text.as_bytes()) {
            return kinds;
        }
    }
}

#[test]
fn from_a_position() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "dumppos");
        let mut connection = database.connect();
        let start = now(&mut connection);
        connection.execute("CREATE TABLE marker_one (id INT)").unwrap();
        let stream = Connection::connect(&options).unwrap();
        let mut stream = stream.start_dump(&request(DumpStart::Position(start.clone()))).unwrap();
        let event = stream.next().unwrap().unwrap();
        assert_eq!(kind(event), ROTATE, "{server:?}");
        assert!(event.windows(start.file.len()).any(|w| w == start.file.as_bytes()));
        let checksum = if stream.starts_with_checksums() { 4 } else { 0 };
        let event_len = 19 + 8 + start.file.len() + checksum;
        let mut again =
            Connection::connect(&options).unwrap().start_dump(&request(DumpStart::Position(start))).unwrap();
        assert_eq!(again.next().unwrap().unwrap().len(), event_len, "{server:?}");
        let kinds = read_until(&mut stream, "marker_one");
        assert_eq!(kinds.first(), Some(&FORMAT_DESCRIPTION), "{server:?}");
        assert_eq!(kinds.last(), Some(&QUERY), "{server:?}");
        // What comes later comes too.
        connection.execute("CREATE TABLE marker_two (id INT)").unwrap();
        read_until(&mut stream, "marker_two");
    }
}

#[test]
fn from_gtids() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "dumpgtid");
        let mut connection = database.connect();
        connection.execute("CREATE TABLE before_it (id INT)").unwrap();
        let start = executed(&mut connection);
        connection.execute("CREATE TABLE after_it (id INT)").unwrap();
        let stream = Connection::connect(&options).unwrap();
        let mut stream = stream.start_dump(&request(DumpStart::Gtids(start))).unwrap();
        let deadline = Instant::now() + PATIENCE;
        let mut found = false;
        while !found && Instant::now() < deadline {
            let event = stream.next().unwrap().unwrap();
            let has = |text: &str| event.windows(text.len()).any(|w| w == text.as_bytes());
            assert!(!(has(&database.name) && has("before_it")), "{server:?}: a transaction of the set was sent");
            found = has(&database.name) && has("after_it");
        }
        assert!(found, "{server:?}");
    }
}

#[test]
fn gtids_of_the_other_flavour_are_refused() {
    for (server, options) in servers::all() {
        let connection = Connection::connect(&options).unwrap();
        let set = if server == Server::Mariadb { "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5" } else { "0-1-5" };
        let error = connection.start_dump(&request(DumpStart::Gtids(set.parse().unwrap()))).unwrap_err();
        assert!(matches!(error, WireError::Unsupported(_)), "{error}");
    }
}

#[test]
fn mariadb_sends_its_own_events() {
    for (_, options) in servers::all().filter(|(s, _)| *s == Server::Mariadb) {
        let database = Database::create(&options, "mariaev");
        let mut connection = database.connect();
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, v TEXT)").unwrap();
        let start = now(&mut connection);
        // 169 is WRITE_ROWS_COMPRESSED_EVENT.
        connection.execute("SET SESSION binlog_annotate_row_events = 1").unwrap();
        connection.execute("INSERT INTO t VALUES (1, 'annotated_marker')").unwrap();
        let stream = Connection::connect(&options).unwrap();
        let mut stream = stream.start_dump(&request(DumpStart::Position(start))).unwrap();
        let kinds = read_until(&mut stream, "annotated_marker");
        assert!(kinds.contains(&MARIADB_GTID), "{kinds:?}");
        assert_eq!(kinds.last(), Some(&MARIADB_ANNOTATE), "{kinds:?}");
    }
}

#[test]
fn tagged_gtids() {
    for (_, options) in servers::all().filter(|(s, _)| *s == Server::Mysql97) {
        let database = Database::create(&options, "tagged");
        let mut connection = database.connect();
        let tag = format!("t{}", unique());
        connection.execute(&format!("SET GTID_NEXT='AUTOMATIC:{tag}'")).unwrap();
        connection.execute("CREATE TABLE tagged_before (id INT)").unwrap();
        let start = executed(&mut connection);
        assert!(start.to_string().contains(&tag), "{start}");
        connection.execute("CREATE TABLE tagged_after (id INT)").unwrap();
        connection.execute("SET GTID_NEXT='AUTOMATIC'").unwrap();
        let stream = Connection::connect(&options).unwrap();
        let mut stream = stream.start_dump(&request(DumpStart::Gtids(start))).unwrap();
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline);
            let event = stream.next().unwrap().unwrap();
            let has = |text: &str| event.windows(text.len()).any(|w| w == text.as_bytes());
            assert!(!(has(&database.name) && has("tagged_before")), "the tagged transaction was sent again");
            if has(&database.name) && has("tagged_after") {
                break;
            }
        }
    }
}

#[test]
fn heartbeats_keep_it_alive_and_their_absence_ends_it() {
    for (server, mut options) in servers::all() {
        let start = now(&mut Connection::connect(&options).unwrap());
        let proxy = Proxy::before(&options.host, options.port);
        options = proxy.through(&options);
        let mut request = request(DumpStart::Position(start));
        request.heartbeat = Duration::from_millis(300);
        let mut stream = Connection::connect(&options).unwrap().start_dump(&request).unwrap();
        // Other tests write to the same server: heartbeats come only in between.
        let deadline = Instant::now() + PATIENCE;
        let mut heartbeats = 0;
        while heartbeats < 3 {
            assert!(Instant::now() < deadline, "{server:?}: no heartbeat");
            heartbeats += usize::from(HEARTBEATS.contains(&kind(stream.next().unwrap().unwrap())));
        }
        proxy.stall(true);
        let stalled = Instant::now();
        let error = loop {
            match stream.next() {
                Ok(event) => assert!(event.is_some()),
                Err(e) => break e,
            }
        };
        assert!(matches!(error, WireError::Timeout { .. }) && error.is_transient(), "{server:?}: {error}");
        assert!(stalled.elapsed() < PATIENCE, "{server:?}");
    }
}

#[test]
fn a_stopper_ends_it() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let mut request = request(DumpStart::Position(now(&mut connection)));
        request.heartbeat = Duration::from_secs(600);
        let mut stream = connection.start_dump(&request).unwrap();
        let stopper = stream.stopper().unwrap();
        let reader = std::thread::spawn(move || while let Ok(Some(_)) = stream.next() {});
        std::thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        stopper.stop();
        reader.join().unwrap();
        // Long before a heartbeat would have come.
        assert!(start.elapsed() < PATIENCE, "{server:?}");
    }
}

#[test]
fn a_second_reader_with_the_same_identity_is_told_apart() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let request = request(DumpStart::Position(now(&mut connection)));
        let mut first = connection.start_dump(&request).unwrap();
        first.next().unwrap();
        let mut second = Connection::connect(&options).unwrap().start_dump(&request).unwrap();
        second.next().unwrap();
        let deadline = Instant::now() + PATIENCE;
        let error = loop {
            assert!(Instant::now() < deadline, "{server:?}");
            match first.next() {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(e) => break Some(e),
            }
        };
        let Some(error) = error else {
            // It ends the old stream without a word.
            assert_eq!(server, Server::Mysql56);
            continue;
        };
        match &error {
            WireError::DuplicateServerId { server_id, .. } => assert_eq!(*server_id, request.server_id),
            other => panic!("{server:?}: {other:?}"),
        }
        assert!(error.to_string().contains("server-id"), "{error}");
        assert!(!error.is_transient());
    }
}

#[test]
fn missing_files_and_gtids_are_told() {
    for (server, options) in servers::all() {
        let position = BinlogPosition::new("binlog.000000", 4);
        let connection = Connection::connect(&options).unwrap();
        let mut stream = connection.start_dump(&request(DumpStart::Position(position))).unwrap();
        let error = stream.next().unwrap_err();
        assert!(matches!(error, WireError::PurgedLogs(_)) && !error.is_transient(), "{server:?}: {error}");
    }
}

#[test]
fn a_position_beyond_the_file_is_refused_whatever_its_size() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let file = now(&mut connection).file;
        // Beyond 4 GiB: by GTID protocol, or by counting through the file.
        for pos in [3_000_000_000, 5_000_000_000] {
            let connection = Connection::connect(&options).unwrap();
            let start = DumpStart::Position(BinlogPosition::new(&*file, pos));
            match connection.start_dump(&request(start)) {
                Ok(mut stream) => {
                    let error = stream.next().unwrap_err();
                    assert_eq!(error.code(), Some(1236), "{server:?} {pos}: {error}");
                }
                Err(error) => {
                    assert!(pos > u64::from(u32::MAX) && server != Server::Mysql97, "{server:?} {pos}: {error}");
                    assert!(error.to_string().contains("has only"), "{error}");
                }
            }
        }
    }
}

#[test]
fn events_beyond_16_mib() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "bigevent");
        let mut connection = database.connect();
        connection.execute("CREATE TABLE big (id INT PRIMARY KEY, v LONGBLOB)").unwrap();
        let start = now(&mut connection);
        let max: usize =
            connection.query_first("SELECT @@max_allowed_packet AS m").unwrap().unwrap().number("m").unwrap();
        for (id, len) in [(1, 3_000_000), (2, 16_777_215), (3, 40_000_000)] {
            if len + 100 > max {
                eprintln!("{server:?}: max_allowed_packet = {max}: a row of {len} bytes is left out");
                continue;
            }
            connection.execute(&format!("INSERT INTO big VALUES ({id}, REPEAT('q', {len}))")).unwrap();
            let stream = Connection::connect(&options).unwrap();
            let mut stream = stream.start_dump(&request(DumpStart::Position(start.clone()))).unwrap();
            // Other tests write large rows as well: ours are those behind a table map of ours.
            let mut ours = false;
            loop {
                let event = stream.next().unwrap().unwrap();
                let behind_ours = std::mem::take(&mut ours);
                if kind(event) == TABLE_MAP {
                    ours = event.windows(database.name.len()).any(|w| w == database.name.as_bytes());
                }
                if behind_ours && event.len() > len {
                    // The value is the last thing in the event, but for the checksum.
                    let value = &event[event.len() - 4 - len..event.len() - 4];
                    assert!(value.iter().step_by(4093).all(|b| *b == b'q'), "{server:?}");
                    break;
                }
            }
        }
        connection.execute("CREATE TABLE done (id INT)").unwrap();
    }
}

#[test]
#[ignore = "purges log files that other tests read: run it by itself, with --ignored"]
fn purged_log_files_are_told_by_position_and_by_gtids() {
    let _alone = servers::over_log_files();
    for (server, options) in servers::disposable() {
        let database = Database::create(&options, "purged");
        let mut connection = database.connect();
        let saved = catalog::binlog_position(&mut connection).unwrap();
        for table in ["p1", "p2"] {
            connection.execute(&format!("CREATE TABLE {table} (id INT)")).unwrap();
            connection.execute("FLUSH BINARY LOGS").unwrap();
        }
        catalog::check_offset(&mut connection, &saved).unwrap();
        let file = now(&mut connection).file;
        servers::purge_to(&mut connection, &file);
        for start in [DumpStart::Position(saved.position.clone()), DumpStart::Gtids(saved.gtids.clone().unwrap())] {
            let stream = Connection::connect(&options).unwrap();
            let by_gtids = matches!(start, DumpStart::Gtids(_));
            let mut stream = stream.start_dump(&request(start)).unwrap();
            let error = loop {
                match stream.next() {
                    Ok(Some(event)) => assert!(kind(event) == ROTATE || kind(event) == FORMAT_DESCRIPTION),
                    Ok(None) => panic!("{server:?}: the stream ended"),
                    Err(e) => break e,
                }
            };
            assert!(matches!(error, WireError::PurgedLogs(_)), "{server:?} by GTIDs: {by_gtids}: {error:?}");
        }
        if server == Server::Mariadb {
            continue;
        }
        let error = catalog::check_offset(&mut connection, &saved).unwrap_err();
        let CatalogError::OffsetGone { reason, .. } = &error else { panic!("{server:?}: {error}") };
        assert!(reason.contains("purged"), "{reason}");
        let by_file = rowferry_model::Offset { gtids: None, ..saved };
        let error = catalog::check_offset(&mut connection, &by_file).unwrap_err();
        assert!(error.to_string().contains("new snapshot") && error.to_string().contains(&file), "{error}");
    }
}

#[test]
#[ignore = "begins log files: run it by itself, with --ignored"]
fn a_moment_is_found_among_several_log_files() {
    let _alone = servers::over_log_files();
    for (server, options) in servers::disposable() {
        let mut connection = Connection::connect(&options).unwrap();
        let mut moments = Vec::new();
        for _ in 0..3 {
            connection.execute("FLUSH BINARY LOGS").unwrap();
            std::thread::sleep(Duration::from_millis(2100));
            let millis = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
            moments.push((now(&mut connection).file, millis));
        }
        std::thread::sleep(Duration::from_millis(1100));
        for (file, millis) in moments {
            let found = catalog::position_for_timestamp(&options, 1_700_000 + unique(), millis).unwrap();
            assert_eq!(found.position, BinlogPosition::new(file, 4), "{server:?}");
        }
    }
}
