//! Statements in the binlog, with the session that they ran in.

use super::server_table::{binlog_end, session};
use crate::support::servers::{self, Database, Server, unique};
use rowferry::mysql::binlog::{Checksum, EventBody, EventParser};
use rowferry::mysql::wire::{DumpRequest, DumpStart};
use std::time::Duration;

#[test]
fn a_statement_is_read_in_the_charset_and_mode_of_its_session() {
    const ANSI_QUOTES: u64 = 4;
    for (server, options) in servers::all() {
        let database = Database::create(&options, "statements");
        let mut connection = session(&database);
        let start = binlog_end(&mut connection);
        connection.execute("SET character_set_client = gbk, sql_mode = 'ANSI_QUOTES', time_zone = '+03:00'").unwrap();
        // What `query` sends is UTF-8: these two characters of it are three in gbk.
        let sent = "CREATE TABLE \"a\" (id INT PRIMARY KEY, t TIMESTAMP NULL) COMMENT '备注'";
        connection.execute(sent).unwrap();
        let last_gtid = (server == Server::Mariadb)
            .then(|| connection.query_first("SELECT @@last_gtid").unwrap().unwrap().at(0).unwrap().to_owned());
        connection.execute("SET character_set_client = utf8mb4").unwrap();
        let comment = connection
            .query_first(&format!(
                "SELECT table_comment FROM information_schema.tables WHERE table_schema = '{}'",
                database.name
            ))
            .unwrap()
            .unwrap();
        let request = DumpRequest {
            server_id: 1_000_000 + unique() % 1_000_000_000,
            start: DumpStart::Position(start),
            heartbeat: Duration::from_secs(5),
            replica_uuid: None,
        };
        let mut stream = database.connect().start_dump(&request).unwrap();
        let mut parser =
            EventParser::new(if stream.starts_with_checksums() { Checksum::Crc32 } else { Checksum::None });
        let mut gtid = None;
        loop {
            let event = stream.next().unwrap().expect("the stream goes on");
            let event = parser.parse(event).unwrap_or_else(|e| panic!("{e}"));
            if let EventBody::MariadbGtid(event) = &event.body {
                assert!(!event.xa_prepared && !event.xa_completed);
                gtid =
                    Some(format!("{}-{}-{}", event.domain, event.server, event.sequence)).filter(|_| event.standalone);
            }
            let EventBody::Query(query) = &event.body else { continue };
            if query.database != database.name.as_bytes() {
                continue;
            }
            assert_eq!(gtid, last_gtid, "{server:?}");
            let text = query.sql_text().unwrap();
            let comment = comment.at(0).unwrap();
            assert!(text.ends_with(&format!("COMMENT '{comment}'")), "{server:?}: {text}");
            assert_eq!(query.client_charset_name(), Some("gbk"), "{server:?}");
            assert_eq!(query.sql_mode.map(|mode| mode & ANSI_QUOTES), Some(ANSI_QUOTES), "{server:?}");
            if server == Server::Mysql97 {
                assert!(query.utf8mb4_collation.is_some());
                assert_eq!(query.updated_databases, [database.name.as_bytes()]);
            }
            break;
        }
    }
}
