#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::*;
use proptest::prelude::*;
use rowferry_model::TableId;

fn id(text: &str) -> TableId {
    let (database, table) = text.rsplit_once('.').unwrap();
    TableId::new(database, table)
}

#[track_caller]
fn tables(pattern: &str, matching: &[&str], others: &[&str]) {
    let parsed = TablePattern::parse(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"));
    for table in matching {
        assert!(parsed.matches(id(table).database(), id(table).table()), "{pattern} must match {table}");
    }
    for table in others {
        assert!(!parsed.matches(id(table).database(), id(table).table()), "{pattern} must not match {table}");
    }
}

#[test]
fn selectors_match_whole_names_in_any_case() {
    tables("shop.orders", &["shop.orders", "SHOP.Orders"], &["shop.orders_1", "shop.order", "a.shop.orders"]);
    tables(r"shop.\.*", &["shop.a", "shop.orders"], &["shop2.a"]);
    tables(r"\.*.\.*", &["a.b", "x.y"], &[]);
    tables(r"shop_[0-9]+.order_\.*", &["shop_1.order_2026"], &["shop_a.order_1", "shop_.order_1"]);
    tables("a.t1 ,\n b.t2,", &["a.t1", "b.t2"], &["a.t2"]);
    tables("(app|web).session", &["app.session", "web.session"], &["a.session"]);
    tables(r"db.\d+", &["db.42"], &["db.4a", "db.٤"]);
    tables(r"db.t\$x", &["db.t$x"], &["db.t"]);
    tables(r"adb.\\.*", &["adb.t"], &["b.t"]);
    tables(r"holo_test\.*", &["holo_test.t"], &["holo_test2.t"]);
    tables(r"a.t{2}", &["a.tt"], &["a.t"]);
    tables(r"crm._\.*_(gho|del)", &["crm._t_gho"], &["crm.t_gho"]);
    // A comma that is escaped once separates the parts of a part.
    tables(r"a.t1\,t2", &["a.t1", "a.t2"], &["a.t1,t2"]);
}

#[test]
fn selectors_explain_slips() {
    let cases: &[(&str, &str, &str)] = &[
        ("crm.*", "the part `*` is not a valid regex", r"write `crm.\.*`"),
        ("crm.order_.*", "too many parts|valid regex", r"write `crm.order_\.*`"),
        ("crm_lead", "needs two parts", r"crm_lead.\.*"),
        ("a.b.c.d", "too many parts", ""),
        ("a.b.c", "three parts", ""),
        (r"a\.b", "needs two parts", "write `a.b`"),
        ("db.t{1,3}", "valid regex", "a comma always separates"),
        (r"db.t\", "backslash", ""),
        ("db.(t", "valid regex", ""),
        ("db.[t", "`[` is not closed", ""),
        (r"db.t\.*+", "possessive", ""),
        ("db.(?!x)t", "look-ahead", ""),
        (r"db.(t)\1", "back reference", ""),
        ("", "names no table", ""),
        (" , ", "names no table", ""),
        ("db.", "empty part", ""),
    ];
    for (pattern, message, hint) in cases {
        let error = TablePattern::parse(pattern).expect_err(pattern);
        assert!(message.split('|').any(|m| error.message.contains(m)), "{pattern}: {error}");
        assert!(error.hint.unwrap_or_default().contains(hint), "{pattern}");
    }
}

#[test]
fn selectors_warn() {
    for pattern in [r"adb.\\.*", r"holo_test\.*", "[app|web].session"] {
        assert_eq!(TablePattern::parse(pattern).unwrap().warnings().len(), 1, "{pattern}");
    }
    assert!(TablePattern::parse("[a-z|_]x.t").unwrap().warnings().is_empty());
    assert_eq!(TablePattern::parse_lenient("x.y.z").unwrap().warnings().len(), 1);
}

#[test]
fn routes_match_the_whole_id_and_mind_case() {
    // The table of the specification.
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("shop.orders", &["shop.orders"], &["SHOP.orders", "shop.orders_1", "shopxorders.t"]),
        (r"shop.\.*", &["shop.anything"], &["shop2.x"]),
        (r"shop\.*", &["shop.x", "shop2.y", "shopping.z"], &["ashop.x"]),
        (r"shop_[0-9]+.order_\.*", &["shop_1.order_2026"], &["shop_a.order_1"]),
        ("a.t1, b.t2", &["a.t1", "b.t2"], &["a.t2"]),
        ("(a|b).t", &["a.t", "b.t"], &["ab.t"]),
        ("[a|b].t", &["a.t", "b.t", "|.t"], &["ab.t"]),
        (r"db.\d+", &["db.42"], &["db.x"]),
    ];
    for (pattern, matching, others) in cases {
        let parsed = RoutePattern::parse(pattern).unwrap();
        for table in *matching {
            assert!(parsed.matches(id(table).database(), id(table).table()), "{pattern} must match {table}");
        }
        for table in *others {
            assert!(!parsed.matches(id(table).database(), id(table).table()), "{pattern} must not match {table}");
        }
    }
}

#[test]
fn routes_that_can_never_match_are_refused() {
    for (pattern, hint) in [
        ("shop.*", r"write `shop.\.*`"),
        ("a.(b", ""),
        ("db.t{1,2}", "a comma always"),
        ("orders", r"orders.\.*"),
        ("", ""),
    ] {
        let error = RoutePattern::parse(pattern).expect_err(pattern);
        assert!(error.hint.unwrap_or_default().contains(hint), "{pattern}");
    }
    // Printed in a vendor's document: sound, though without effect.
    let three = RoutePattern::parse(r"mydb.default.app_\.*").unwrap();
    assert!(three.never_matches());
    assert!(!three.warnings().is_empty());
}

#[track_caller]
fn routed(pattern: &str, target: &str, symbol: Option<&str>, source: &str) -> String {
    let pattern = RoutePattern::parse(pattern).unwrap();
    let target = RouteTarget::parse(target, symbol, &pattern).unwrap();
    target.resolve(&pattern, &id(source)).unwrap().map_or_else(String::new, |id| id.to_string())
}

#[test]
fn targets_take_groups_and_symbols() {
    assert_eq!(routed("mall_[0-9]{2}.order_[0-9]{4}", "ods.order_all", None, "mall_01.order_2026"), "ods.order_all");
    assert_eq!(routed(r"crm.\.*", "ods.crm_<>", Some("<>"), "crm.lead"), "ods.crm_lead");
    assert_eq!(routed(r"src_(\.*).(\.*)_v2", "dst_$1.$2", None, "src_eu.user_v2"), "dst_eu.user");
    assert_eq!(routed(r"(a).(\.*)", r"b.\$$2", None, "a.t"), "b.$t");
    assert_eq!(routed(r"(?<db>a).(\.*)", "x_${db}.$2", None, "a.t"), "x_a.t");
    assert_eq!(routed(r"(a).(\.*)", "x.${2}", None, "a.t"), "x.t");
    // Java takes as many digits as make a group.
    assert_eq!(routed(r"(a).(\.*)", "x.$11", None, "a.t"), "x.a1");
    assert_eq!(routed(r"(a)|(b).t", "x.[$1]", None, "b.t"), "x.[]");
    // With a symbol, groups are plain text.
    assert_eq!(routed(r"(a).(\.*)", "x.$1_@", Some("@"), "a.t"), "x.$1_t");
    assert_eq!(routed("a.t", "topic", None, "a.t"), "topic");
    assert_eq!(routed("a.t", "n.s.t", None, "a.t"), "n.s.t");
    assert_eq!(routed("a.t", "b.t", None, "a.u"), "");
}

#[test]
fn targets_that_lead_nowhere_are_refused() {
    let pattern = RoutePattern::parse(r"(a).(\.*)").unwrap();
    for target in ["b.$3", "b.$x", "b.${name}", r"b.t\", "", "a.b.c.d", "b.", ".t", "b.$"] {
        assert!(RouteTarget::parse(target, None, &pattern).is_err(), "{target}");
    }
    assert!(RouteTarget::parse("b.t", Some(""), &pattern).is_err());
    assert_eq!(RouteTarget::parse("b.t", Some("<>"), &pattern).unwrap().warnings().len(), 1);
}

#[test]
fn java_and_rust_differ_and_java_wins() {
    use rowferry_transform::java_regex::{Case, compile};
    let matches = |pattern: &str, text: &str| compile(pattern, Case::Sensitive).unwrap().is_match(text);
    // A backslash before any other sign takes it as it is; the crate refuses it or means a word boundary.
    assert!(matches(r"a\_b\<", "a_b<"));
    // A dash between two dashes is a range there and a difference here.
    assert!(!matches("[a--b]", "z") && compile("[+--]", Case::Sensitive).is_ok());
    assert!(matches(r"\Qa.b\E+", "a.bb") && !matches(r"\Qa.b\E", "axb"));
    assert!(matches(r"\p{Alpha}+", "ab") && !matches(r"\p{Alpha}+", "é"));
    assert!(matches(r"[\w-]+", "a-b"));
    assert!(matches("[]a]", "]"));
    assert!(matches("[a-c&&[b-d]]", "b") && !matches("[a-c&&[b-d]]", "a"));
    assert!(matches(r"\x41\u0042", "AB"));
    assert!(matches("a|b", "b") && !matches("a|b", "ab"));
    for pattern in
        ["a**", "a++", "a?+", "*", "(*)", "a|*", r"\k<x>", r"\G", "(?P<x>a)", "(?<=a)b", "a{", "a{x}", "(?x)a"]
    {
        assert!(compile(pattern, Case::Sensitive).is_err(), "{pattern}");
    }
}

proptest! {
    #[test]
    fn no_text_can_panic(text in "\\PC{0,40}", target in "\\PC{0,20}") {
        let _ = TablePattern::parse(&text);
        let _ = TablePattern::parse_lenient(&text);
        if let Ok(pattern) = RoutePattern::parse(&text) {
            let _ = RouteTarget::parse(&target, None, &pattern).map(|t| t.resolve(&pattern, &TableId::new("a", "b")));
        }
    }

    #[test]
    fn signs_can_not_panic(text in r"[a-c.\\*+?|()\[\]{}^$,0-9<>:!=& -]{0,16}") {
        let _ = TablePattern::parse(&text);
        if let Ok(pattern) = RoutePattern::parse(&text) {
            let _ = RouteTarget::parse(&text, None, &pattern);
        }
    }

    #[test]
    fn plain_names_match_themselves(db in "[a-z][a-z0-9_]{0,8}", table in "[a-z][a-z0-9_]{0,8}") {
        let text = format!("{db}.{table}");
        prop_assert!(TablePattern::parse(&text).unwrap().matches(&db.to_uppercase(), &table));
        prop_assert!(RoutePattern::parse(&text).unwrap().matches(&db, &table));
        let longer = format!("{table}_");
        prop_assert!(!TablePattern::parse(&text).unwrap().matches(&db, &longer));
        let all = format!("{db}.\\.*");
        prop_assert!(TablePattern::parse(&all).unwrap().matches(&db, &longer));
        let routed = routed(&all, "x.<>", Some("<>"), &text);
        prop_assert_eq!(routed, format!("x.{}", table));
    }
}
