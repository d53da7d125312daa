//! What offline checks and plans refuse, and where in the text.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "tests")]

#[path = "support/golden.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with an example")]
mod golden;

use golden::{rule, schema};
use proptest::prelude::*;
use rowferry_model::TableId;
use rowferry_transform::{
    FunctionBody, ModelSpec, RuleError, RuleSpec, Severity, TransformOptions, Transforms, UserFunction,
};

fn check(rule: RuleSpec) -> Vec<RuleError> {
    let functions = vec![
        UserFunction { name: "plusone".to_owned(), body: FunctionBody::Class("com.acme.PlusOne".to_owned()) },
        UserFunction { name: "mask".to_owned(), body: FunctionBody::Sql("CONCAT(LEFT($1, 1), '***')".to_owned()) },
    ];
    let models = vec![ModelSpec::new("chat1", "http://localhost:1/v1", "k", "m")];
    Transforms::check(vec![rule], TransformOptions::default(), &functions, models).1
}

/// Checks without and with the table of the recordings.
fn refused(projection: &str, filter: Option<&str>) -> Vec<RuleError> {
    let offline = check(rule(projection, filter));
    if offline.iter().any(|finding| finding.severity != Severity::Warning) {
        return offline;
    }
    let options = TransformOptions::default();
    let transforms = Transforms::new(vec![rule(projection, filter)], options, &[], Vec::new());
    match transforms.unwrap().for_table(&TableId::new("gx", "p"), &schema()) {
        Err(errors) => errors.errors,
        Ok(_) => Vec::new(),
    }
}

#[test]
fn projections_of_the_documents_are_read() {
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
        r"REGEXP_REPLACE(s, '\d+', 'x') AS digits",
        "mask(n) AS n1, MASK(n) AS n2, AI_COMPLETE('chat1', s) AS answer",
        "ARRAY[1, 2] AS a, tags[1] AS t, TRY_CAST(x AS INT) AS i, MAP['a', 1] AS m, ROW(1, 'a') AS r",
        "naïve AS größe",
    ] {
        let findings = check(rule(text, None));
        assert!(findings.is_empty(), "{text}: {findings:?}");
    }
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    for (projection, part, place) in [
        ("id, UPPER(name)", "`UPPER(name)` needs AS", "UPPER(name)"),
        ("id, 1", "`1` needs AS", "1"),
        ("id, name AS __table_name__", "`__table_name__` is reserved", "__table_name__"),
        ("id, TO_UPPER(name) AS y", "TO_UPPER is unknown", "TO_UPPER(name)"),
        ("id, COUNT(name) AS y", "works on many rows", "COUNT(name)"),
        ("AI_COMPLETE('m2', name) AS y", "undeclared model `m2`", "AI_COMPLETE('m2', name)"),
        ("AI_COMPLETE(chat1, name) AS y", "single quotes", "AI_COMPLETE(chat1, name)"),
        ("(SELECT 1) AS y", "queries and windows", "SELECT"),
        ("UPPER(a, b) AS y", "takes 1 argument, not 2", "UPPER(a, b)"),
        ("UUID(1) AS y", "takes 0 arguments, not 1", "UUID(1)"),
        ("id,, name", "SQL syntax", ""),
        ("id name x", "SQL syntax", ""),
        ("UPPER(name AS y", "SQL syntax", ""),
        ("'open", "SQL syntax", ""),
        ("id; DROP TABLE x", "SQL syntax", ""),
        (
            r"\*, plusone(id) AS y",
            "the function plusone can't run here: it is the Java class com.acme.PlusOne",
            "plusone(id)",
        ),
        ("id, nme AS y", "no column `nme`", "nme"),
        ("id, UPPER(qty) AS y", "wants a text as argument 1, not INT", "UPPER(qty)"),
        ("id, name + 1 AS y", "can't be computed with", "name + 1"),
        ("id, qty = name AS y", "can't be compared", "qty = name"),
        ("id, CAST(d AS INT) AS y", "DATE can't be cast to INT", "d"),
        ("id, NULL AS y", "no column has", "NULL"),
        ("id, d = 'x' AS y", "no such value", "d = 'x'"),
        ("id, REGEXP_COUNT(name, '(') AS y", "not a valid regex", "REGEXP_COUNT(name, '(')"),
        ("id, DATE_FORMAT(d, 'QQ') AS y", "pattern letter `Q`", "DATE_FORMAT(d, 'QQ')"),
        ("name", "leaves out the primary key's column `id`", ""),
    ] {
        let errors = refused(projection, None);
        let Some(error) = errors.iter().find(|error| error.message.contains(part)) else {
            panic!("{projection}: {errors:?}");
        };
        if !place.is_empty() {
            let range = error.range.clone().unwrap_or_else(|| panic!("{projection}: no place"));
            assert_eq!(&projection[range], place, "{projection}");
        }
    }
    let all = check(rule("UPPER(x), TO_UPPER(x) AS y", None));
    assert_eq!(all.len(), 2, "all problems at once");
}

#[test]
fn wrong_filters() {
    for (filter, part) in [
        ("id > AND 3", "`AND`"),
        ("id >", "near the end"),
        ("id = 1 GROUP BY id", "one condition"),
        ("id = 1 LIMIT 3", "one condition"),
        ("TO_UPPER(x) = 'A'", "TO_UPPER"),
        ("id IN (SELECT 1)", "queries"),
        ("qty", "must be BOOLEAN, but this is INT"),
        ("name", "must be BOOLEAN"),
        ("op_ts > 3", "metadata.list"),
        ("flag AND qty", "must be BOOLEAN"),
    ] {
        let errors = refused("*", Some(filter));
        assert!(errors.iter().any(|error| format!("{error:?}").contains(part)), "{filter}: {errors:?}");
    }
}

#[test]
fn a_like_that_is_a_regex_is_warned_about() {
    let findings = check(rule("*", Some("name LIKE '^[a-z_]+@'")));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].severity, Severity::Warning);
    assert!(check(rule("*", Some("name LIKE 'a%' AND name LIKE 'a_b'"))).is_empty());
}

#[test]
fn functions_given_as_sql() {
    let function = |sql: &str| UserFunction { name: "f".to_owned(), body: FunctionBody::Sql(sql.to_owned()) };
    let errors = |sql: &str| {
        Transforms::check(vec![rule("f(id) AS x, id", None)], TransformOptions::default(), &[function(sql)], Vec::new())
            .1
    };
    assert!(errors("$1 + 1").is_empty());
    for (sql, part) in [
        ("$1 + $2", "takes 2 arguments, not 1"),
        ("id + $1", "`id` is no argument"),
        ("$1 +", "SQL syntax"),
        ("$0 + $1", "no argument"),
        ("f($1)", "calls itself"),
    ] {
        let errors = errors(sql);
        assert!(errors.iter().any(|error| error.message.contains(part)), "{sql}: {errors:?}");
    }
}

#[test]
fn every_function_on_the_page_exists() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/transform.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split("| | functions |").nth(1).unwrap().split("\n\n").next().unwrap();
    let names: Vec<&str> = table.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 90, "{names:?}");
    // EXTRACT is a form of the grammar.
    for name in names.into_iter().filter(|name| *name != "EXTRACT") {
        let findings = check(rule(&format!("id, {name}(a, b, c, d, e, f) AS x"), None));
        assert!(!findings.iter().any(|finding| finding.message.contains("unknown")), "{name}: {findings:?}");
    }
}

proptest! {
    #[test]
    fn no_text_can_panic(text in "\\PC{0,40}") {
        let _ = check(rule(&text, Some(&text)));
    }

    #[test]
    fn no_tokens_can_panic(words in proptest::collection::vec(
        "(SELECT|AS|\\(|\\)|,|a|id|name|1|'x'|CASE|WHEN|END|\\*|`b`|IN|NOT|UPPER|;|\\[|\\]|MAP|ARRAY|INTERVAL|DAY|-|/|CAST|\\$1|LIKE)", 0..14)) {
        let text = words.join(" ");
        let _ = refused(&text, Some(&text));
    }
}
