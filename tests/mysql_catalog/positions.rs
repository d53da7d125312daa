//! Positions in the binlog.

use crate::support::servers::{self, Database, Server, unique};
use rowferry::mysql::catalog::{self, CatalogError};
use rowferry::mysql::wire::Connection;
use rowferry_model::{BinlogPosition, GtidSet, Offset, Uuid};

#[test]
fn the_position_moves_with_writes() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "pos");
        let mut connection = database.connect();
        let before = catalog::binlog_position(&mut connection).unwrap();
        connection.execute("CREATE TABLE t (id INT)").unwrap();
        let after = catalog::binlog_position(&mut connection).unwrap();
        assert!(before.position < after.position, "{server:?}: {before} {after}");
        let (old, new) = (before.gtids.unwrap(), after.gtids.clone().unwrap());
        assert!(new.contains_all(&old) && !old.contains_all(&new), "{server:?}: {old} {new}");
        assert_eq!(matches!(new, GtidSet::Mariadb(_)), server == Server::Mariadb);
        let files = catalog::binlog_files(&mut connection).unwrap();
        assert!(files.iter().any(|f| f.name == after.position.file), "{server:?}");
        let first = catalog::first_position(&mut connection).unwrap();
        assert_eq!((first.position.file.as_str(), first.position.pos), (files[0].name.as_str(), 4));
        catalog::check_offset(&mut connection, &after).unwrap();
        catalog::check_offset(&mut connection, &first).unwrap();
        assert!(catalog::server_id(&mut connection).unwrap() > 0);
        assert_eq!(catalog::server_uuid(&mut connection).unwrap().is_none(), server == Server::Mariadb);
    }
}

#[test]
fn offsets_that_are_gone_are_told() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let now = catalog::binlog_position(&mut connection).unwrap();
        let gone = |connection: &mut Connection, offset: &Offset| match catalog::check_offset(connection, offset) {
            Err(CatalogError::OffsetGone { wanted, reason }) => (wanted, reason),
            other => panic!("{server:?}: {other:?}"),
        };
        let missing = Offset { position: BinlogPosition::new("binlog.000000", 4), gtids: None, rows: 0 };
        let (wanted, reason) = gone(&mut connection, &missing);
        assert!(wanted.contains("binlog.000000:4"), "{wanted}");
        let oldest = catalog::binlog_files(&mut connection).unwrap()[0].name.clone();
        assert!(reason.contains(&oldest), "{reason}");
        let beyond = Offset { position: BinlogPosition::new(&*now.position.file, 1 << 40), gtids: None, rows: 0 };
        gone(&mut connection, &beyond);
        if let Some(GtidSet::Mysql(mut set)) = now.gtids {
            let stranger = Uuid(*uuid::Uuid::new_v4().as_bytes());
            set.add(stranger, "", 7);
            let offset = Offset { gtids: Some(GtidSet::Mysql(set)), ..now };
            let (_, reason) = gone(&mut connection, &offset);
            assert!(reason.contains(&format!("{stranger}:7")), "{reason}");
        }
    }
}

#[test]
fn a_moment_is_found_in_the_files() {
    for (server, options) in servers::all() {
        let mut connection = Connection::connect(&options).unwrap();
        let first = catalog::first_position(&mut connection).unwrap();
        let last = catalog::binlog_position(&mut connection).unwrap();
        let id = 1_500_000 + unique();
        // Before every file there is only the first; after all of them the last.
        assert_eq!(catalog::position_for_timestamp(&options, id, 0).unwrap().position, first.position, "{server:?}");
        let late = catalog::position_for_timestamp(&options, id, 4_000_000_000_000).unwrap();
        assert!(late.position.file >= last.position.file, "{server:?}");
        assert_eq!(late.position.pos, 4);
    }
}
