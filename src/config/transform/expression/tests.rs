#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::*;
use proptest::prelude::*;

fn declared() -> Declared {
    Declared { functions: vec!["plusone".into()], models: vec!["chat1".into()] }
}

fn projection(text: &str) -> Result<Outputs, Vec<Problem>> {
    let declared = declared();
    Checker { declared: &declared, metadata: None }.projection(text).map(|(outputs, _)| outputs)
}

fn filter(text: &str) -> Result<Warnings, Vec<Problem>> {
    let declared = declared();
    Checker { declared: &declared, metadata: Some(&[]) }.filter(text)
}

#[test]
fn projections_of_the_documents_are_read() {
    let outputs = projection(r"\*, UPPER(status) AS status, __schema_name__ || '.' || __table_name__ AS src").unwrap();
    assert!(outputs.has_star);
    assert_eq!(outputs.names, ["status", "src"]);
    for text in [
        "*",
        "sku AS sku_code, *",
        "t.col, `order` AS order_col",
        "a b",
        "CAST(total AS DECIMAL(12, 2)) AS total, CAST(x AS VARCHAR(3)) v, CAST(x AS TIMESTAMP) t",
        r"a \* b AS product",
        "CASE WHEN a IS NULL THEN 'x' WHEN (a < 18) THEN 'y' ELSE ('z') END AS c",
        "SUBSTRING(s FROM 2 FOR 3) AS f, TRIM(BOTH 'a' FROM s) AS g, POSITION('b' IN s) AS h",
        "OVERLAY(s PLACING 'ZZ' FROM 2 FOR 1) AS o, EXTRACT(QUARTER FROM t) AS q",
        "IF(a IN (1, 2), 1, 0) AS i, LEFT(s, 2) AS l, RIGHT(s, 2) AS r, REPLACE(s, 'a', 'b') AS p",
        "TIMESTAMPADD(HOUR, 2, a) AS ta, created + INTERVAL '1' DAY AS tomorrow",
        "CURRENT_DATE AS d, LOCALTIMESTAMP AS l, NOW() AS n, n % 7 AS m, n BETWEEN 1 AND 9 AS b",
        r"REGEXP_REPLACE(s, '\d\', 'x') AS backslashes_are_plain",
        "plusone(n) AS n1, PLUSONE(n) AS n2, AI_COMPLETE('chat1', s) AS answer",
        "ARRAY[1, 2] AS a, tags[1] AS t, TRY_CAST(x AS INT) AS i",
        "naïve AS größe",
    ] {
        if let Err(problems) = projection(text) {
            panic!("{text}: {problems:?}");
        }
    }
}

#[test]
fn wrong_projections_say_what_is_wrong() {
    for (text, part) in [
        ("id, UPPER(x)", "`UPPER(x)` needs AS"),
        ("id, 1", "`1` needs AS"),
        ("id, CURRENT_DATE", "needs AS"),
        ("id, x AS __table_name__", "`__table_name__` is reserved"),
        ("id, TO_UPPER(x) AS y", "TO_UPPER is unknown"),
        ("id, COUNT(x) AS y", "works on many rows"),
        ("id, MD5(x) AS y", "MD5 is unknown"),
        ("AI_COMPLETE('m2', x) AS y", "undeclared model `m2`"),
        ("AI_COMPLETE(chat1, x) AS y", "single quotes"),
        ("(SELECT 1) AS y", "queries and windows"),
        ("UPPER(a, b) AS y", "takes 1 argument, not 2"),
        ("UUID(1) AS y", "takes 0 arguments, not 1"),
        ("id,, name", "SQL syntax"),
        ("id,", "SQL syntax"),
        ("id name x", "SQL syntax"),
        ("UPPER(x AS y", "SQL syntax"),
        ("'open", "SQL syntax"),
        ("id FROM other", "SQL syntax"),
        ("id; DROP TABLE x", "SQL syntax"),
    ] {
        let problems = projection(text).expect_err(text);
        assert!(problems.iter().any(|problem| problem.message.contains(part)), "{text}: {problems:?}");
    }
    let all = projection("UPPER(x), TO_UPPER(x) AS y").unwrap_err();
    assert_eq!(all.len(), 2, "all problems at once");
}

#[test]
fn filters() {
    for text in
        ["amount > 10 AND status <> 'void'", "id NOT IN (1, 2, 3) AND email LIKE '^[a-z]+@'", "flag", "a IS TRUE"]
    {
        assert!(filter(text).is_ok(), "{text}");
    }
    for (text, part) in [
        ("id > AND 3", "`AND`"),
        ("id >", "near the end"),
        ("id = 1 GROUP BY id", "one condition"),
        ("id = 1 LIMIT 3", "one condition"),
        ("TO_UPPER(x) = 'A'", "TO_UPPER"),
        ("id IN (SELECT 1)", "queries"),
    ] {
        let problems = filter(text).expect_err(text);
        assert!(problems.iter().any(|problem| problem.message.contains(part)), "{text}: {problems:?}");
    }
    assert_eq!(filter("op_ts > 3").unwrap().len(), 1);
}

proptest! {
    #[test]
    fn no_text_can_panic(text in "\\PC{0,40}") {
        let _ = projection(&text);
        let _ = filter(&text);
    }

    #[test]
    fn no_tokens_can_panic(words in proptest::collection::vec("(SELECT|AS|\\(|\\)|,|a|1|'x'|CASE|WHEN|END|\\*|`b`|IN|NOT|UPPER|;|\\[|\\])", 0..14)) {
        let text = words.join(" ");
        let _ = projection(&text);
        let _ = filter(&text);
    }
}
