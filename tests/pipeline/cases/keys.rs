//! Keys: their order, their spelling, their gaps.

use super::{Case, EVERY, PLAIN};
use crate::support::servers::Server;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "a text key in the order of a collation that ignores case",
        servers: EVERY,
        setup: &[
            "CREATE TABLE visit (vid VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, n INT)",
            "INSERT INTO visit VALUES ('0000',1),('1111',2),('23d1',3),('aaaa',4),('b4c7',5),('cccc',6),('VISIT0001',7),('VISIT0002',8),('ZZZZ',9)",
        ],
        changes: &[
            "UPDATE visit SET n=50 WHERE vid='b4c7'",
            "DELETE FROM visit WHERE vid='ZZZZ'",
            "UPDATE visit SET vid='AAAA' WHERE vid='aaaa'",
        ],
        table: "visit",
        columns: &["vid", "n"],
        ..PLAIN
    },
    Case {
        name: "keys that differ only by the blanks at their end",
        servers: &[Server::Mysql97],
        setup: &[
            "CREATE TABLE np (id VARCHAR(20) COLLATE utf8mb4_0900_ai_ci PRIMARY KEY, v INT)",
            "INSERT INTO np VALUES ('bar',1),('bar ',2),('bar  ',3)",
        ],
        changes: &["DELETE FROM np WHERE id='bar '"],
        table: "np",
        columns: &["id", "v"],
        ..PLAIN
    },
    Case {
        name: "an update that changes only the padding of a key",
        servers: EVERY,
        setup: &[
            "CREATE TABLE ps (id VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY, v INT)",
            "INSERT INTO ps VALUES ('bar ',1)",
        ],
        changes: &["UPDATE ps SET id='bar', v=2 WHERE id='bar'"],
        table: "ps",
        columns: &["id", "v"],
        ..PLAIN
    },
    Case {
        name: "a set with more than eight members",
        servers: EVERY,
        setup: &[
            "CREATE TABLE s (id INT PRIMARY KEY, w SET('a','b','c','d','e','f','g','h','i','j','k','l'))",
            "INSERT INTO s VALUES (1,'a,i,l'),(2,''),(3,NULL),(4,'l')",
        ],
        changes: &["INSERT INTO s SELECT id+10, w FROM s"],
        table: "s",
        columns: &["id", "w"],
        ..PLAIN
    },
    Case {
        name: "enum members with commas, quotes and backslashes",
        servers: EVERY,
        setup: &[
            r"CREATE TABLE e (id INT PRIMARY KEY, w ENUM('a,b','it''s','back\\slash','é','') CHARACTER SET utf8mb4)",
            r"INSERT INTO e VALUES (1,'a,b'),(2,'it''s'),(3,'back\\slash'),(4,'é'),(5,''),(6,NULL)",
        ],
        changes: &["INSERT INTO e SELECT id+10, w FROM e"],
        table: "e",
        columns: &["id", "w"],
        ..PLAIN
    },
    Case {
        name: "a table in gbk, keyed by its text",
        servers: EVERY,
        setup: &[
            "CREATE TABLE g (k VARCHAR(20) PRIMARY KEY, v TEXT) CHARACTER SET gbk",
            "INSERT INTO g VALUES ('中文','你好'),('abc','世界'),('乙','甲'),('丁','')",
        ],
        changes: &[
            "UPDATE g SET v='再见' WHERE k='中文'",
            "DELETE FROM g WHERE k='乙'",
            "INSERT INTO g VALUES ('新','é')",
        ],
        table: "g",
        columns: &["k", "v"],
        ..PLAIN
    },
    Case {
        name: "names with dots, blanks, quotes and letters of other scripts",
        servers: EVERY,
        setup: &[
            "CREATE TABLE `my.odd ``table` (`id no` INT PRIMARY KEY, `a.b` INT, `naïve ``x` VARCHAR(10))",
            "INSERT INTO `my.odd ``table` VALUES (1,2,'x')",
        ],
        changes: &["INSERT INTO `my.odd ``table` VALUES (2,3,'y')", "UPDATE `my.odd ``table` SET `a.b`=9"],
        table: "my.odd `table",
        columns: &["id no", "a.b", "naïve `x"],
        ..PLAIN
    },
    Case {
        name: "generated columns, in the key as well",
        servers: &[Server::Mysql97],
        setup: &[
            "CREATE TABLE gen (a INT, b INT AS (a*2) VIRTUAL, c INT AS (a+1) STORED NOT NULL, PRIMARY KEY (c, a))",
            "INSERT INTO gen (a) VALUES (1),(2),(3)",
        ],
        changes: &["UPDATE gen SET a=10 WHERE a=1", "DELETE FROM gen WHERE a=2"],
        table: "gen",
        columns: &["a", "b", "c"],
        ..PLAIN
    },
    Case {
        name: "an invisible column and a key that the server made",
        servers: &[Server::Mysql97],
        setup: &[
            "SET SESSION sql_generate_invisible_primary_key = ON",
            "CREATE TABLE inv (a INT, b INT INVISIBLE DEFAULT 7)",
            "INSERT INTO inv (a) VALUES (1),(2)",
        ],
        changes: &["INSERT INTO inv (a, b) VALUES (3, 30)", "DELETE FROM inv WHERE a=1"],
        table: "inv",
        columns: &["my_row_id", "a", "b"],
        ..PLAIN
    },
    Case {
        name: "keys far apart, and next to one another",
        servers: EVERY,
        setup: &[
            "CREATE TABLE sparse (id BIGINT UNSIGNED PRIMARY KEY, v INT)",
            "INSERT INTO sparse VALUES (0,1),(1,2),(2,3),(3,4),(4,5),(20220101000000,6),(20220101000007,7),(18446744073709551615,8)",
        ],
        changes: &[
            "DELETE FROM sparse WHERE id=18446744073709551615",
            "INSERT INTO sparse VALUES (18446744073709551614,9)",
        ],
        table: "sparse",
        columns: &["id", "v"],
        ..PLAIN
    },
    Case {
        name: "decimals at their limits",
        servers: EVERY,
        setup: &[
            "CREATE TABLE d (id DECIMAL(12,3) PRIMARY KEY, v DECIMAL(65,30), w DECIMAL(38,10))",
            "INSERT INTO d VALUES (-1.5, 12345678901234567890123456789012345.123456789012345678901234567890, -1234567890123456789012345678.0123456789),(0,NULL,0.0000000001),(999999999.999,-0.000000000000000000000000000001,NULL)",
        ],
        changes: &["INSERT INTO d SELECT id+10, v, w FROM d WHERE id < 100", "DELETE FROM d WHERE id=0"],
        table: "d",
        columns: &["id", "v", "w"],
        ..PLAIN
    },
];
