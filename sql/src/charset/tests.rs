#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use super::*;

/// Expected: `information_schema.character_sets` of MySQL 9.7, MySQL 5.6 and MariaDB 10.11.
#[test]
fn defaults_depend_on_the_server() {
    let default = |name, server| CharSet::with_default_collation(name, server).unwrap().to_string();
    assert_eq!(default("utf8mb4", ServerVersion::mysql(90_704)), "utf8mb4 COLLATE utf8mb4_0900_ai_ci");
    assert_eq!(default("utf8mb4", ServerVersion::mysql(50_624)), "utf8mb4 COLLATE utf8mb4_general_ci");
    assert_eq!(default("UTF8MB4", ServerVersion::mariadb(101_118)), "utf8mb4 COLLATE utf8mb4_general_ci");
    assert_eq!(default("utf8", ServerVersion::mysql(90_704)), "utf8mb3 COLLATE utf8mb3_general_ci");
    assert_eq!(default("utf8mb3", ServerVersion::mysql(50_624)), "utf8 COLLATE utf8_general_ci");
    assert_eq!(default("latin1", ServerVersion::mysql(50_624)), "latin1 COLLATE latin1_swedish_ci");
    assert_eq!(default("gb18030", ServerVersion::mysql(90_704)), "gb18030 COLLATE gb18030_chinese_ci");
    assert!(CharSet::with_default_collation("klingon", ServerVersion::mysql(90_704)).is_none());
}

#[test]
fn collations_by_name_and_id() {
    let server = ServerVersion::mysql(90_704);
    assert_eq!(&*CharSet::of_collation("utf8_unicode_ci", server).unwrap().name, "utf8mb3");
    assert_eq!(&*CharSet::of_id(8, server).unwrap().collation, "latin1_swedish_ci");
    assert_eq!(&*CharSet::of_id(45, server).unwrap().collation, "utf8mb4_general_ci");
    assert_eq!(&*CharSet::of_id(255, server).unwrap().collation, "utf8mb4_0900_ai_ci");
    assert_eq!(&*CharSet::of_id(63, server).unwrap().name, "binary");
    assert_eq!(charset_max_bytes("utf8"), Some(3));
    assert_eq!(charset_max_bytes("gbk"), Some(2));
}
