//! Statements and their results.

use crate::support::proxy::Proxy;
use crate::support::rowferry::PATIENCE;
use crate::support::servers::{self, Database};
use rowferry::mysql::wire::{Connection, Isolation, MAX_CHUNK, TextValues, WireError};
use std::time::{Duration, Instant};

#[test]
fn the_session_is_set_up_alike_on_every_server() {
    for (server, mut options) in servers::all() {
        options.isolation = Some(Isolation::ReadCommitted);
        let mut connection = Connection::connect(&options).unwrap();
        let isolation = if connection.server().mysql_since(80_003) { "transaction_isolation" } else { "tx_isolation" };
        let row = connection
            .query_first(&format!(
                "SELECT @@time_zone AS zone, @@sql_mode AS mode, @@character_set_results AS results, \
                 @@character_set_client AS client, @@autocommit AS auto, @@net_write_timeout AS patience, \
                 @@{isolation} AS iso, VERSION() AS version, CONNECTION_ID() AS id"
            ))
            .unwrap()
            .unwrap();
        assert_eq!(row.get("zone"), Some("+00:00"), "{server:?}");
        assert_eq!(row.get("MODE"), Some(""), "{server:?}");
        assert_eq!(row.get("results"), Some("utf8mb4"), "{server:?}");
        assert_eq!(row.get("client"), Some("utf8mb4"), "{server:?}");
        assert_eq!(row.get("auto"), Some("1"), "{server:?}");
        assert_eq!(row.get("patience"), Some("86400"), "{server:?}");
        assert_eq!(row.get("iso"), Some("READ-COMMITTED"), "{server:?}");
        assert_eq!(row.number::<u32>("id").unwrap(), connection.id());
        assert!(connection.server_text().ends_with(row.require("version").unwrap()), "{server:?}");
        let mariadb = row.require("version").unwrap().contains("MariaDB");
        assert_eq!(connection.server().is_mariadb(), mariadb);
        assert!(!row.has("nothing"));
    }
}

#[test]
fn values_come_as_the_server_writes_them() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let row = connection
            .query_first(
                "SELECT NULL AS n, '' AS e, 'żółć 🦀' AS text, X'00FF80' AS raw, -12.50 AS exact, \
                 18446744073709551615 AS big",
            )
            .unwrap()
            .unwrap();
        assert!(row.has("n") && row.bytes("n").is_none(), "{server:?}");
        assert_eq!(row.bytes("e"), Some(&b""[..]));
        assert_eq!(row.get("text"), Some("żółć 🦀"));
        assert_eq!(row.bytes("raw"), Some(&[0, 0xff, 0x80][..]));
        assert_eq!(row.get("raw"), None, "not UTF-8");
        assert_eq!(row.get("exact"), Some("-12.50"));
        assert_eq!(row.number::<u64>("big").unwrap(), u64::MAX);
        assert!(row.number::<i8>("big").is_err());
        assert_eq!(row.columns()[3].charset, 63, "binary");
        let database = Database::create(&options, "zero");
        let mut connection = database.connect();
        connection.execute("CREATE TABLE z (d DATE, t DATETIME)").unwrap();
        connection.execute("INSERT INTO z VALUES ('0000-00-00', '2024-00-31 00:00:00')").unwrap();
        let row = connection.query_first("SELECT * FROM z").unwrap().unwrap();
        assert_eq!((row.get("d"), row.get("t")), (Some("0000-00-00"), Some("2024-00-31 00:00:00")), "{server:?}");
    }
}

#[test]
fn a_refused_statement_names_itself_and_leaves_the_connection_usable() {
    for (_, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let error = connection.query("SELECT nonsense FROM nowhere.nothing").unwrap_err();
        // ER_NO_SUCH_TABLE, or ER_BAD_DB_ERROR where the database is looked at first.
        assert!(matches!(error.code(), Some(1146 | 1049)), "{error}");
        assert!(error.to_string().contains("SELECT nonsense"), "{error}");
        assert!(!error.is_transient());
        let error = connection.execute("BLAH").unwrap_err();
        assert_eq!(error.code(), Some(1064), "{error}");
        connection.ping().unwrap();
        // An error in the middle of the rows.
        let error = connection.query("SELECT 1 UNION ALL SELECT (SELECT 1 UNION ALL SELECT 2)").unwrap_err();
        assert_eq!(error.code(), Some(1242), "{error}");
        assert_eq!(connection.query("SELECT 7 AS x").unwrap()[0].at(0), Some("7"));
    }
}

#[test]
fn an_unread_result_makes_the_connection_unusable() {
    for (_, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        {
            let mut stream = connection.query_stream("SELECT 1 UNION ALL SELECT 2").unwrap();
            assert!(stream.next_row().unwrap().is_some());
        }
        assert!(!connection.is_usable());
        assert!(matches!(connection.query("SELECT 1"), Err(WireError::Unusable)));
        let mut connection = Connection::connect(&options).unwrap();
        {
            let mut stream = connection.query_stream("SELECT 1 UNION ALL SELECT 2").unwrap();
            while stream.next_row().unwrap().is_some() {}
            assert!(stream.next_row().unwrap().is_none(), "the end stays the end");
        }
        assert_eq!(connection.query("SELECT 3").unwrap()[0].at(0), Some("3"));
    }
}

#[test]
fn rows_around_and_beyond_16_mib() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let limit: usize =
            connection.query_first("SELECT @@max_allowed_packet AS m").unwrap().unwrap().number("m").unwrap();
        // The row's payload is the value and its length prefix: 4 bytes below 2^24, else 9.
        let chunk = MAX_CHUNK;
        for len in [chunk - 5, chunk - 4, chunk - 3, chunk, chunk + 1, 2 * chunk - 9, 2 * chunk - 8, 40_000_000] {
            if len + 16 > limit {
                eprintln!("{server:?}: max_allowed_packet = {limit}: a row of {len} bytes is left out");
                continue;
            }
            let mut stream = connection.query_stream(&format!("SELECT REPEAT('x', {len}) AS big")).unwrap();
            let row = stream.next_row().unwrap().expect("a row");
            let values: Vec<_> = TextValues::new(row).collect();
            assert_eq!(values.len(), 1);
            let value = values[0].unwrap();
            assert_eq!(value.len(), len, "{server:?}");
            assert!(value.iter().step_by(4093).all(|b| *b == b'x'));
            assert!(stream.next_row().unwrap().is_none());
        }
        connection.ping().unwrap();
    }
}

#[test]
fn a_statement_beyond_16_mib() {
    for (_, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let len = 17_000_000;
        let row = connection.query_first("SELECT @@max_allowed_packet AS m").unwrap().unwrap();
        if row.number::<usize>("m").unwrap() < len + 100 {
            continue;
        }
        let sql = format!("SELECT LENGTH('{}') AS l", "y".repeat(len));
        assert_eq!(connection.query_first(&sql).unwrap().unwrap().number::<usize>("l").unwrap(), len);
    }
}

#[test]
fn many_rows_stream_through() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "rows");
        let mut connection = database.connect();
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(100))").unwrap();
        connection.execute("INSERT INTO t (v) VALUES ('a'),('b'),('c'),(NULL)").unwrap();
        for _ in 0..14 {
            connection.execute("INSERT INTO t (v) SELECT v FROM t").unwrap();
        }
        let expected: u64 =
            connection.query_first("SELECT COUNT(*) AS c FROM t").unwrap().unwrap().number("c").unwrap();
        assert_eq!(expected, 4 << 14);
        let mut stream = connection.query_stream("SELECT id, v FROM t").unwrap();
        assert_eq!(stream.columns().len(), 2);
        let (mut rows, mut nulls) = (0_u64, 0);
        while let Some(row) = stream.next_row().unwrap() {
            let values: Vec<_> = TextValues::new(row).collect();
            assert_eq!(values.len(), 2);
            nulls += u64::from(values[1].is_none());
            rows += 1;
        }
        assert_eq!((rows, nulls), (expected, expected / 4), "{server:?}");
    }
}

#[test]
fn silence_ends_in_a_timeout_and_a_cut_in_an_error() {
    for (server, mut options) in servers::all() {
        let proxy = Proxy::before(&options.host, options.port);
        options = proxy.through(&options);
        options.read_timeout = Some(Duration::from_millis(300));
        let mut connection = Connection::connect(&options).unwrap();
        proxy.stall(true);
        let start = Instant::now();
        let error = connection.query("SELECT 1").unwrap_err();
        assert!(matches!(error, WireError::Timeout { .. }), "{server:?}: {error}");
        assert!(error.is_transient() && start.elapsed() < PATIENCE);
        assert!(error.to_string().contains("0.3 s"), "{error}");
        assert!(!connection.is_usable());
        proxy.stall(false);
        let mut connection = Connection::connect(&options).unwrap();
        proxy.cut();
        let error = connection.query("SELECT 1").unwrap_err();
        assert!(error.is_transient(), "{error}");
    }
}

#[test]
fn a_stopper_wakes_a_blocked_reader() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let stopper = connection.stopper().unwrap();
        let start = Instant::now();
        let reader = std::thread::spawn(move || connection.query("SELECT SLEEP(600)"));
        std::thread::sleep(Duration::from_millis(200));
        stopper.stop();
        assert!(reader.join().unwrap().is_err(), "{server:?}");
        assert!(start.elapsed() < PATIENCE, "{server:?}");
    }
}

#[test]
fn no_server_is_an_error_that_names_the_address() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = rowferry::mysql::wire::ConnectOptions::new("127.0.0.1", port, "root");
    let error = Connection::connect(&options).unwrap_err();
    assert!(error.is_transient() && error.to_string().contains(&port.to_string()), "{error}");
}
