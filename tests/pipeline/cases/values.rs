//! Values: booleans and bits, bytes, documents, wall times, rows without a key.

use super::{Case, EVERY, PLAIN};
use crate::support::servers::Server;

const BITS: Case = Case {
    name: "TINYINT(1) and BIT as numbers",
    servers: EVERY,
    source: &["treat-tinyint1-as-boolean.enabled: false"],
    setup: &[
        "CREATE TABLE b (id INT PRIMARY KEY, t TINYINT(1), tu TINYINT(1) UNSIGNED, o BOOL, b1 BIT(1), b10 BIT(10), b64 BIT(64))",
        "INSERT INTO b VALUES (1,21,255,1,b'1',b'1000000001',b'1'),(2,-1,0,0,b'0',b'11',18446744073709551615)",
    ],
    changes: &[
        "INSERT INTO b SELECT id + 10, t, tu, o, b1, b10, b64 FROM b",
        "UPDATE b SET b10 = b'10', t = 9 WHERE id = 1",
    ],
    table: "b",
    columns: &["id", "t", "tu", "o", "b1", "b10", "b64"],
    // Bytes of a BIT come lowest first, as Flink CDC gives them.
    shown: &[
        "id",
        "t",
        "tu",
        "o",
        "IF(b1, 'true', 'false')",
        "TO_BASE64(REVERSE(UNHEX(LPAD(HEX(b10), 4, '0'))))",
        "TO_BASE64(REVERSE(UNHEX(LPAD(HEX(b64), 16, '0'))))",
    ],
    added: &[],
};

pub(super) const CASES: &[Case] = &[
    BITS,
    Case {
        name: "TINYINT(1) as booleans",
        source: &["treat-tinyint1-as-boolean.enabled: true"],
        columns: &["id", "t", "tu", "o", "b1"],
        shown: &["id", "IF(t, 'true', 'false')", "tu", "IF(o, 'true', 'false')", "IF(b1, 'true', 'false')"],
        ..BITS
    },
    Case {
        name: "bytes that end in zeros",
        servers: EVERY,
        setup: &[
            "CREATE TABLE u (id BINARY(16) PRIMARY KEY, s CHAR(4), vb VARBINARY(16))",
            "INSERT INTO u VALUES (UNHEX('1F0727B72CC96910920CB12F2D100600'),'ab  ',UNHEX('0100')),(UNHEX('00000000000000000000000000000000'),'',UNHEX('00'))",
        ],
        changes: &[
            "UPDATE u SET s='zz' WHERE id=UNHEX('1F0727B72CC96910920CB12F2D100600')",
            "DELETE FROM u WHERE id=UNHEX('00000000000000000000000000000000')",
            "INSERT INTO u VALUES (UNHEX('AA000000000000000000000000000000'),' x ',UNHEX('0000')),(UNHEX('BB'),'','')",
        ],
        table: "u",
        columns: &["id", "s", "vb"],
        shown: &["TO_BASE64(id)", "s", "TO_BASE64(vb)"],
        ..PLAIN
    },
    Case {
        name: "documents have one text whichever way they come",
        servers: &[Server::Mysql97],
        source: &["use.legacy.json.format: false"],
        setup: &[
            "CREATE TABLE js (id INT PRIMARY KEY, d JSON)",
            r#"INSERT INTO js VALUES (1,'{"key":"value","k1":1,"a":[true,null,1.50]}'),(2, JSON_OBJECT('dec',CAST(1.10 AS DECIMAL(5,2)),'dt',TIMESTAMP'2024-01-02 03:04:05.678','bin',CAST(0x0001 AS BINARY))),(3,'null'),(4,NULL),(5,'"\\u00e9\\n"')"#,
        ],
        changes: &[
            "INSERT INTO js SELECT id + 10, d FROM js",
            "UPDATE js SET d = JSON_SET(d, '$.z', 0) WHERE id IN (1, 2)",
        ],
        table: "js",
        columns: &["id", "d"],
        // A document that is null, and no document, are different things; the target's text shows both as null.
        shown: &["id", "CAST(d AS CHAR)"],
        ..PLAIN
    },
    Case {
        name: "PARTIAL_JSON that a session switches on",
        servers: &[Server::Mysql97],
        source: &["use.legacy.json.format: false"],
        setup: &[
            "CREATE TABLE j (id INT PRIMARY KEY, d JSON, n INT)",
            r#"INSERT INTO j VALUES (1,'{"a":"xxxxxxxxxxxxxxxx","b":[1,2,3],"c":{"k":1}}',0),(2,'[]',0)"#,
        ],
        changes: &[
            "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
            "UPDATE j SET d = JSON_SET(d, '$.a', 'yyyyyyyyyyyyyyyy'), n = 1 WHERE id = 1",
            "UPDATE j SET d = JSON_REMOVE(d, '$.b[1]') WHERE id = 1",
            "UPDATE j SET d = JSON_ARRAY_INSERT(d, '$.b[0]', NULL) WHERE id = 1",
            "UPDATE j SET d = JSON_ARRAY_APPEND(d, '$', 5), n = n + 1",
        ],
        table: "j",
        columns: &["id", "d", "n"],
        ..PLAIN
    },
    Case {
        name: "wall times that a zone does not have, and instants that it has twice",
        servers: EVERY,
        setup: &[
            "SET time_zone = '+00:00'",
            "CREATE TABLE dst (id INT PRIMARY KEY, d DATETIME, t TIMESTAMP NULL)",
            "INSERT INTO dst (id, d) VALUES (1,'2024-03-31 02:30:00'),(2,'1986-05-04 00:30:00'),(3,'2024-10-27 02:30:00')",
        ],
        changes: &[
            "INSERT INTO dst VALUES (4,'2024-10-27 00:30:00','2024-10-27 00:30:00'),(5,'2024-10-27 01:30:00','2024-10-27 01:30:00')",
            "INSERT INTO dst SELECT id + 10, d, t FROM dst",
        ],
        table: "dst",
        columns: &["id", "d", "t"],
        shown: &[
            "id",
            "DATE_FORMAT(d, '%Y-%m-%dT%H:%i:%s')",
            "DATE_FORMAT(CONVERT_TZ(t, @@session.time_zone, '+00:00'), '%Y-%m-%dT%H:%i:%sZ')",
        ],
        ..PLAIN
    },
    Case {
        name: "equal rows of a table without a key",
        servers: EVERY,
        setup: &[
            "CREATE TABLE log (ts DATETIME(3), msg VARCHAR(50))",
            "INSERT INTO log VALUES ('2024-01-01 00:00:00.000','x'),('2024-01-01 00:00:00.000','x'),(NULL,'y')",
        ],
        changes: &["INSERT INTO log VALUES ('2024-01-02 00:00:00.000','z')", "DELETE FROM log WHERE msg='y'"],
        table: "log",
        columns: &["ts", "msg"],
        shown: &["LEFT(DATE_FORMAT(ts, '%Y-%m-%dT%H:%i:%s.%f'), 23)", "msg"],
        ..PLAIN
    },
    Case {
        name: "MariaDB's UUID, INET4 and INET6, in the key too",
        servers: &[Server::Mariadb],
        setup: &[
            "CREATE TABLE un (id UUID PRIMARY KEY, a INET4, b INET6)",
            "INSERT INTO un VALUES ('123e4567-e89b-12d3-a456-426655440000','192.0.2.128','2001:db8::ff00:42:8329'),('00000000-0000-0000-0000-000000000000','0.0.0.0','::'),('ffffffff-ffff-ffff-ffff-ffffffffff00',NULL,'::ffff:192.0.2.128')",
        ],
        changes: &[
            "INSERT INTO un VALUES ('f47ac10b-58cc-4372-a567-0e02b2c3d479','10.0.0.0','1::')",
            "UPDATE un SET a='255.255.255.255' WHERE id='00000000-0000-0000-0000-000000000000'",
            "DELETE FROM un WHERE a='192.0.2.128'",
        ],
        table: "un",
        columns: &["id", "a", "b"],
        ..PLAIN
    },
];
