//! Definitions that change: what the log says is read by the definition of its place.

use super::{Case, EVERY, PLAIN};
use crate::support::servers::Server;

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
    Case {
        name: "comments before, in and around a statement, and code in comments for other versions",
        servers: EVERY,
        setup: &["CREATE TABLE c1 (id INT PRIMARY KEY, b INT)", "INSERT INTO c1 VALUES (1,1)"],
        changes: &[
            "-- ticket 42\nALTER TABLE c1 ADD a INT DEFAULT 1, MODIFY COLUMN b SMALLINT NOT NULL COMMENT 'x'",
            "INSERT INTO c1 VALUES (2,2,2)",
            "#ops\n/* ApplicationName=Tool 2021.2 */ alter table c1 add c int",
            "/*!50003 ALTER TABLE c1 ADD d INT */",
            "INSERT INTO c1 VALUES (3,3,3,3,3)",
            "/*!99999 ALTER TABLE c1 ADD never INT */",
            "ALTER /* in the middle */ TABLE c1 -- eol\n  DROP /**/ COLUMN a",
            "INSERT INTO c1 VALUES (4,4,4,4)",
            "UPDATE c1 SET id = id + 100",
        ],
        table: "c1",
        columns: &["id", "b"],
        added: &["c", "d"],
        ..PLAIN
    },
    Case {
        name: "statements of sessions in which a backslash is a letter, and of others",
        servers: EVERY,
        setup: &[
            "SET SESSION sql_mode='NO_BACKSLASH_ESCAPES'",
            r"CREATE TABLE nb (id INT PRIMARY KEY, p VARCHAR(20) DEFAULT 'C:\' COMMENT 'path \d{2}', e ENUM('\','\n'))",
            r"INSERT INTO nb (id,e) VALUES (1,'\')",
        ],
        changes: &[
            "SET SESSION sql_mode=''",
            r"ALTER TABLE nb ADD q VARCHAR(20) DEFAULT 'C:\\' COMMENT 'it\'s', MODIFY e ENUM('\\','\\n','\'')",
            r"INSERT INTO nb (id,e) VALUES (2,'\\n'),(3,'\'')",
            "SET SESSION sql_mode='NO_BACKSLASH_ESCAPES'",
            r"ALTER TABLE nb ADD r ENUM('\','''','\\') DEFAULT '\' COMMENT '\', ADD s INT",
            r"INSERT INTO nb (id,e,r,s) VALUES (4,'\','''',4),(5,'\n','\\',5)",
            "UPDATE nb SET id = id + 100",
        ],
        table: "nb",
        columns: &["id", "p", "e"],
        added: &["q", "r", "s"],
        ..PLAIN
    },
    Case {
        name: "defaults that are expressions, or written loosely",
        servers: &[Server::Mysql97, Server::Mariadb],
        setup: &[
            "CREATE TABLE df (id INT AUTO_INCREMENT PRIMARY KEY, d INT DEFAULT (1+2), g INT DEFAULT ' 123 ', h VARCHAR(9) DEFAULT NULL, m DECIMAL(5,2) DEFAULT '1.5', n CHAR(3) DEFAULT _latin1 X'E9', v VARCHAR(40) DEFAULT (REPEAT('x',3)))",
            "INSERT INTO df (d) VALUES (7)",
        ],
        changes: &[
            "ALTER TABLE df ADD COLUMN o VARCHAR(36) DEFAULT (CONCAT('a',1+1)), ADD COLUMN (t TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, w INT DEFAULT '08')",
            "INSERT INTO df (g) VALUES (8)",
            "UPDATE df SET id = id + 100, m = DEFAULT(m)",
        ],
        table: "df",
        columns: &["id", "d", "g", "h", "m", "n", "v"],
        added: &["o", "w"],
        ..PLAIN
    },
];
