//! Tables and their definitions.

use crate::support::servers::{self, Database, Server};
use rowferry::mysql::catalog::{self, CatalogError, LowerCaseTableNames};
use rowferry_model::TableId;
use rowferry_sql::{ColumnType, DefaultValue, Generated};

#[test]
fn base_tables_are_listed() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "list");
        let mut connection = database.connect();
        connection.execute("CREATE TABLE `a.b ``c`` żółć` (id INT)").unwrap();
        connection.execute("CREATE TABLE plain (id INT) ENGINE=InnoDB").unwrap();
        connection.execute("INSERT INTO plain VALUES (1),(2),(3)").unwrap();
        connection.execute("CREATE VIEW v AS SELECT * FROM plain").unwrap();
        let tables = catalog::list_tables(&mut connection).unwrap();
        let own: Vec<_> = tables.iter().filter(|t| t.id.database() == database.name).collect();
        let names: Vec<_> = own.iter().map(|t| t.id.table()).collect();
        assert_eq!(names, ["a.b `c` żółć", "plain"], "{server:?}");
        assert_eq!(own[1].engine.as_deref(), Some("InnoDB"));
        assert!(own[1].approximate_rows.is_some());
        assert!(tables.iter().all(|t| t.id.database() != "mysql"));
        assert_eq!(catalog::lower_case_table_names(&mut connection).unwrap(), LowerCaseTableNames::Sensitive);
    }
}

#[test]
fn definitions_are_read() {
    for (server, options) in servers::all() {
        let database = Database::create(&options, "defs");
        let mut connection = database.connect();
        connection
            .execute(
                "CREATE TABLE `o'dd ``name\\` (
                   id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'the key',
                   n INT DEFAULT 5,
                   s VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'it''s',
                   e VARCHAR(10) NOT NULL,
                   nul CHAR(4) DEFAULT 'NULL',
                   t TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
                   d DECIMAL(20,5) UNSIGNED DEFAULT '1.50000',
                   en ENUM('a,b','c''d','') DEFAULT 'a,b',
                   b VARBINARY(16),
                   PRIMARY KEY (id), UNIQUE KEY u (n, e), KEY p (e(3))
                 ) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'a ''table'''",
            )
            .unwrap();
        connection.execute("CREATE TABLE other (x INT)").unwrap();
        let odd = TableId::new(&*database.name, "o'dd `name\\");
        let other = TableId::new(&*database.name, "other");
        let defs = catalog::table_defs(&mut connection, &[other.clone(), odd.clone()]).unwrap();
        assert_eq!(defs.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&other, &odd]);
        let table = &defs[1].1;
        let names: Vec<_> = table.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["id", "n", "s", "e", "nul", "t", "d", "en", "b"]);
        let column = |name: &str| &table.columns[table.index_of(name).unwrap()];
        assert!(matches!(column("id").column_type, ColumnType::BigInt { unsigned: true, .. }));
        assert!(column("id").auto_increment && !column("id").nullable);
        assert_eq!(column("id").comment, "the key");
        let literal = |text: &str| Some(DefaultValue::Literal(text.to_owned()));
        assert_eq!(column("n").default, literal("5"), "{server:?}");
        assert_eq!(column("s").default, literal("it's"), "{server:?}");
        assert_eq!(column("nul").default, literal("NULL"), "{server:?}");
        assert_eq!(column("e").default, None);
        let ColumnType::Varchar { length: 10, charset } = &column("s").column_type else { panic!() };
        assert_eq!((&*charset.name, &*charset.collation), ("latin1", "latin1_bin"));
        assert_eq!(column("t").column_type, ColumnType::Timestamp(3));
        assert!(column("t").on_update && !column("n").on_update);
        assert_eq!(column("t").default, Some(DefaultValue::Expression("CURRENT_TIMESTAMP(3)".to_owned())));
        assert!(matches!(column("d").column_type, ColumnType::Decimal { precision: 20, scale: 5, unsigned: true, .. }));
        let ColumnType::Enum { labels, .. } = &column("en").column_type else { panic!() };
        assert_eq!(labels.iter().map(|l| &**l).collect::<Vec<_>>(), ["a,b", "c'd", ""], "{server:?}");
        assert_eq!(column("b").column_type, ColumnType::Varbinary(16));
        assert_eq!(table.primary_key, ["id"]);
        assert_eq!(table.keys.len(), 2);
        assert!(table.keys[0].unique && table.keys[0].name == "u");
        assert_eq!(table.keys[0].parts, [(Some("n".to_owned()), None), (Some("e".to_owned()), None)]);
        assert_eq!(table.keys[1].parts, [(Some("e".to_owned()), Some(3))]);
        assert_eq!((table.charset.as_str(), table.collation.as_str()), ("utf8mb4", "utf8mb4_bin"));
        assert_eq!(table.comment, "a 'table'");
        let missing = TableId::new(&*database.name, "OTHER");
        let error = catalog::table_defs(&mut connection, &[missing]).unwrap_err();
        assert!(matches!(error, CatalogError::NoTable(_)), "{server:?}: {error}");
    }
}

#[test]
fn what_later_servers_know() {
    for (server, options) in servers::all().filter(|(s, _)| *s != Server::Mysql56) {
        let database = Database::create(&options, "later");
        let mut connection = database.connect();
        connection
            .execute(
                "CREATE TABLE t (id INT PRIMARY KEY, v INT GENERATED ALWAYS AS (id + 1) VIRTUAL, \
                 s INT GENERATED ALWAYS AS (id + 2) STORED, h INT DEFAULT 3 INVISIBLE, u VARCHAR(40) DEFAULT (uuid()))",
            )
            .unwrap();
        let id = TableId::new(&*database.name, "t");
        let table = catalog::table_defs(&mut connection, &[id]).unwrap().remove(0).1;
        let column = |name: &str| &table.columns[table.index_of(name).unwrap()];
        assert_eq!(column("v").generated, Some(Generated::Virtual), "{server:?}");
        assert_eq!(column("s").generated, Some(Generated::Stored), "{server:?}");
        assert_eq!(column("id").generated, None);
        assert!(column("h").invisible && !column("u").invisible, "{server:?}");
        assert_eq!(column("u").default, Some(DefaultValue::Expression("uuid()".to_owned())), "{server:?}");
        if server == Server::Mysql97 {
            connection.execute("SET SESSION sql_generate_invisible_primary_key = ON").unwrap();
            connection.execute("CREATE TABLE keyless (a INT)").unwrap();
            connection.execute("CREATE TABLE functional (a INT, UNIQUE KEY f ((a + 1)))").unwrap();
            let ids = ["keyless", "functional"].map(|t| TableId::new(&*database.name, t));
            let tables = catalog::table_defs(&mut connection, &ids).unwrap();
            // The generated key is in the binlog's rows: it must be in the definition.
            assert_eq!(tables[0].1.primary_key, ["my_row_id"]);
            assert_eq!(tables[1].1.keys[0].parts, [(None, None)]);
        }
    }
}
