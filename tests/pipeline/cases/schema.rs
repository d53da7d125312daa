//! Definitions that change: what the log says is read by the definition of its place.

use super::{Case, EVERY, PLAIN};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "ENUM members that move, and new ones with brackets and comment signs",
        servers: EVERY,
        setup: &[
            r#"CREATE TABLE e (id INT PRIMARY KEY, e ENUM('a,b','it''s','back\\slash','','"q"'))"#,
            r#"INSERT INTO e VALUES (1,'a,b'),(2,'it''s'),(3,'back\\slash'),(4,''),(5,'"q"')"#,
        ],
        changes: &[
            r#"ALTER TABLE e MODIFY e ENUM('new first','a,b','it''s','back\\slash','','"q"'), ADD COLUMN f ENUM('x)','(y','#z','-- w') DEFAULT '#z'"#,
            "INSERT INTO e VALUES (6,'new first','(y'),(7,'it''s','-- w')",
            "SET sql_mode = ''",
            "INSERT INTO e VALUES (8,'not a member',DEFAULT)",
            "UPDATE e SET id = id + 100, f = 'x)' WHERE id < 6",
        ],
        table: "e",
        columns: &["id", "e"],
        added: &["f"],
        ..PLAIN
    },
    Case {
        name: "a table in gbk, and a column whose name, default and comment are in it",
        servers: EVERY,
        setup: &[
            "CREATE TABLE gbk (i INT PRIMARY KEY, name VARCHAR(255)) CHARACTER SET gbk",
            "INSERT INTO gbk VALUES (1,'测试test1')",
        ],
        changes: &[
            // The second byte of a gbk character may be that of a backslash.
            r"INSERT INTO gbk VALUES (2,'测试'),(4,'誠\\')",
            "ALTER TABLE gbk ADD COLUMN `备注` VARCHAR(20) DEFAULT '无' COMMENT '说明'",
            "INSERT INTO gbk VALUES (5,'é','é'),(6,'誠',DEFAULT)",
            "UPDATE gbk SET `备注` = '改' WHERE i < 5",
        ],
        table: "gbk",
        columns: &["i", "name"],
        added: &["备注"],
        ..PLAIN
    },
    Case {
        name: "CONVERT TO CHARACTER SET, and another default one",
        servers: EVERY,
        setup: &[
            "CREATE TABLE cv (id VARCHAR(10) PRIMARY KEY, a TEXT, b VARCHAR(100), c MEDIUMTEXT, d VARCHAR(20) CHARACTER SET ascii) DEFAULT CHARSET=latin1",
            "INSERT INTO cv VALUES ('k','é','é','é','d')",
        ],
        changes: &[
            "ALTER TABLE cv CONVERT TO CHARACTER SET utf8mb4",
            "INSERT INTO cv VALUES ('k2','😀','😀','😀','😀')",
            "ALTER TABLE cv DEFAULT CHARACTER SET latin1",
            "ALTER TABLE cv ADD COLUMN z VARCHAR(5)",
            "INSERT INTO cv VALUES ('k3','é','é','é','é','é')",
        ],
        table: "cv",
        columns: &["id", "a", "b", "c", "d"],
        added: &["z"],
        ..PLAIN
    },
];
