#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use super::*;
use rowferry_sql::CharSet;

fn column(name: &str, column_type: ColumnType) -> ColumnDef {
    ColumnDef {
        name: name.into(),
        column_type,
        nullable: false,
        default: None,
        on_update: false,
        auto_increment: false,
        comment: String::new(),
        generated: None,
        invisible: false,
    }
}

fn table(columns: Vec<ColumnDef>, key: &[&str]) -> TableDef {
    TableDef {
        columns,
        primary_key: key.iter().map(|k| (*k).to_owned()).collect(),
        keys: vec![],
        charset: "utf8mb4".into(),
        collation: "utf8mb4_general_ci".into(),
        comment: String::new(),
    }
}

fn bigint() -> ColumnType {
    ColumnType::BigInt { unsigned: false, zerofill: false, width: None }
}

fn varchar(name: &str, collation: &str) -> ColumnType {
    ColumnType::Varchar { length: 20, charset: CharSet { name: name.into(), collation: collation.into() } }
}

#[test]
fn a_composite_range_is_written_so_that_the_range_optimizer_understands_it() {
    let def = table(vec![column("a", bigint()), column("b", varchar("gbk", "gbk_chinese_ci"))], &["a", "b"]);
    let key = ChunkKey::of(&def, None).unwrap();
    let low = KeyBound(vec![KeyPart::Int(7), KeyPart::Text(b"x".to_vec())]);
    assert_eq!(
        key.range_condition(Some(&low), None),
        "(`a` > 7 OR (`a` = 7 AND `b` >= _gbk x'78' COLLATE gbk_chinese_ci))"
    );
    assert_eq!(
        key.range_condition(None, Some(&low)),
        "(`a` < 7 OR (`a` = 7 AND `b` < _gbk x'78' COLLATE gbk_chinese_ci))"
    );
}

#[test]
fn an_enum_is_no_chunk_key_but_what_stands_before_it_is() {
    let labels: std::sync::Arc<[std::sync::Arc<str>]> = vec!["z".into(), "a".into()].into();
    let charset = CharSet { name: "utf8mb4".into(), collation: "utf8mb4_bin".into() };
    let enumeration = ColumnType::Enum { labels, charset };
    let def = table(vec![column("e", enumeration.clone()), column("id", bigint())], &["e", "id"]);
    assert!(ChunkKey::of(&def, None).is_none());
    let def = table(vec![column("id", bigint()), column("e", enumeration)], &["id", "e"]);
    let key = ChunkKey::of(&def, None).unwrap();
    assert_eq!(key.order_by(), "`id`");
    assert!(!key.is_unique());
}

#[test]
fn bounds_survive_their_text_and_json() {
    let def = table(
        vec![
            column("d", ColumnType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false }),
            column("v", ColumnType::Binary(3)),
        ],
        &["d", "v"],
    );
    let key = ChunkKey::of(&def, None).unwrap();
    let bound = key.parse_bound(&[Some(b"-0.05"), Some(b"00FF")]).unwrap();
    assert_eq!(bound, KeyBound(vec![KeyPart::Decimal(-5), KeyPart::Bytes(vec![0, 255, 0])]));
    assert_eq!(key.range_condition(Some(&bound), None), "(`d` > -0.05 OR (`d` = -0.05 AND `v` >= x'00FF00'))");
    let json = serde_json::to_string(&bound).unwrap();
    assert_eq!(serde_json::from_str::<KeyBound>(&json).unwrap(), bound);
}
