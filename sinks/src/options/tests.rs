#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use super::*;
use proptest::prelude::*;
use std::time::Duration;

#[test]
fn durations_follow_flink() {
    let cases: &[(&str, Duration)] = &[
        ("1234", Duration::from_millis(1234)),
        ("1234 ms", Duration::from_millis(1234)),
        ("10s", Duration::from_secs(10)),
        (" 45 SEC ", Duration::from_secs(45)),
        ("3 min", Duration::from_secs(180)),
        ("2m", Duration::from_secs(120)),
        ("1 Hour", Duration::from_secs(3600)),
        ("2 days", Duration::from_secs(172_800)),
        ("5 µs", Duration::from_micros(5)),
        ("7nanoseconds", Duration::from_nanos(7)),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_duration(text).unwrap(), *expected, "{text}");
    }
    for text in ["", "s", "-1 s", "1.5 s", "10 fortnights", "99999999999999999999", "9223372036854775807 d", "1 s 2 ms"]
    {
        assert!(parse_duration(text).is_err(), "{text}");
    }
}

#[test]
fn memory_sizes_follow_flink() {
    let cases: &[(&str, u64)] =
        &[("64MB", 64 << 20), ("8 mb", 8 << 20), ("1024", 1024), ("1 k", 1024), ("2g", 2 << 30)];
    for (text, expected) in cases {
        assert_eq!(parse_memory_size(text).unwrap(), *expected, "{text}");
    }
    for text in ["", "mb", "1.5 mb", "-1", "1 pb", "9223372036854775807 tb"] {
        assert!(parse_memory_size(text).is_err(), "{text}");
    }
}

#[test]
fn lists_split_at_semicolons_and_know_quotes() {
    assert_eq!(parse_list("fe:8030;http://b:1 ; ").unwrap(), ["fe:8030", "http://b:1"]);
    assert_eq!(parse_list("'a;b';\"c\"\"d\"").unwrap(), ["a;b", "c\"d"]);
    assert!(parse_list("'a;b").is_err());
    assert!(parse_list("'a'b").is_err());
}

#[test]
fn numbers_are_javas() {
    let int = OptionKind::INT;
    assert_eq!(parse_value(&int, "-1").unwrap(), OptionValue::Int(-1));
    for text in ["1_000", "1.0", "1k", "", " 1", "0x10", "2147483648", "-"] {
        assert!(parse_value(&int, text).is_err(), "{text}");
    }
    let big = OptionKind::at_least(2);
    assert_eq!(parse_value(&big, "1").unwrap_err().message, "must be larger than 1");
    let double = OptionKind::Double { min: 0.0, max: 1.0 };
    assert!(parse_value(&double, "NaN").is_err());
    assert!(parse_value(&double, "1.1").is_err());
}

#[test]
fn enums_ignore_case_and_nothing_else() {
    let kind = OptionKind::Enum(&["TRY_EVOLVE", "EVOLVE"]);
    assert_eq!(parse_value(&kind, "try_Evolve").unwrap(), OptionValue::Text("TRY_EVOLVE".into()));
    let error = parse_value(&kind, "try-evolve").unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("write TRY_EVOLVE"));
}

#[test]
fn per_table_entries() {
    let entries = parse_per_table(PerTable::Columns, "lake.event:dt,hh; lake.click:dt;").unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0].values, ["dt", "hh"]);
    for (form, text) in [
        (PerTable::Columns, "lake.event"),
        (PerTable::Columns, "event:dt"),
        (PerTable::Columns, "lake.event:dt,,hh"),
        (PerTable::Columns, "lake.event:a:b"),
        (PerTable::Number, "ops.task:many"),
        (PerTable::Number, "ops.task:0"),
        (PerTable::Topic, "a.b"),
        (PerTable::Topic, "a.b:"),
        (PerTable::PartitionFields, "a.b:week(x)"),
        (PerTable::PartitionFields, "a.b:bucket(x)"),
        (PerTable::PartitionFields, "a.b:bucket[0](x)"),
        (PerTable::Suffix, "crm.lead"),
        (PerTable::Header, "env"),
    ] {
        let error = parse_per_table(form, text).unwrap_err();
        assert!(error.message.contains("malformed"), "{text}: {}", error.message);
    }
    assert!(parse_per_table(PerTable::PartitionFields, "f.l:day(at),bucket[16](acct);f.a:truncate[4](code)").is_ok());
    assert!(parse_per_table(PerTable::Suffix, "crm.lead$region").is_ok());
}

#[test]
fn secrets_are_known_by_their_key_and_never_shown() {
    for key in ["password", "properties.client.security.sasl.password", "catalog.properties.s3.secret-key", "api-key"] {
        assert!(is_secret_key(key), "{key}");
    }
    assert!(!is_secret_key("catalog.properties.token.provider"));
    assert!(!is_secret_key("hostname"));
    let mut options = Options::default();
    options.set("password", OptionValue::Secret(Secret::new("hunter2")), Position::default());
    assert!(!format!("{options:?}").contains("hunter2"));
    assert_eq!(options.text("password"), Some("hunter2"));
}

#[test]
fn pairs_are_read_by_the_table() {
    static TABLE: &[OptionSpec] =
        &[OptionSpec::new("wait", OptionKind::DURATION, "wait").default("10 s"), OptionSpec::prefixed("p.", "more")];
    let options = Options::from_pairs(TABLE, &[("p.a", "1"), ("p.password", "x")]).unwrap();
    assert_eq!(options.duration("wait"), Some(Duration::from_secs(10)));
    assert!(!options.is_given("wait"));
    assert_eq!(options.with_prefix("p.").collect::<Vec<_>>(), [("a", "1"), ("password", "x")]);
    assert!(Options::from_pairs(TABLE, &[("nope", "1")]).is_err());
}

proptest! {
    #[test]
    fn no_text_can_panic(text in "\\PC*") {
        for kind in [
            OptionKind::Bool, OptionKind::INT, OptionKind::DURATION, OptionKind::MemorySize, OptionKind::List,
            OptionKind::Double { min: 0.0, max: 1.0 }, OptionKind::PerTable(PerTable::Columns),
            OptionKind::PerTable(PerTable::PartitionFields), OptionKind::PerTable(PerTable::Suffix),
        ] {
            let _ = parse_value(&kind, &text);
        }
    }

    #[test]
    fn durations_mean_their_unit(n in 0u64..1_000_000, space in " {0,2}") {
        prop_assert_eq!(parse_duration(&format!("{n}{space}s")).unwrap(), Duration::from_secs(n));
        prop_assert_eq!(parse_duration(&format!("{n}{space}MIN")).unwrap(), Duration::from_secs(n * 60));
        prop_assert_eq!(parse_duration(&format!("{n}")).unwrap(), Duration::from_millis(n));
    }

    #[test]
    fn quoted_items_come_back(items in proptest::collection::vec("[a-z;'\" ]{1,8}", 1..4)) {
        let text: Vec<String> = items.iter().map(|item| format!("'{}'", item.replace('\'', "''"))).collect();
        prop_assert_eq!(parse_list(&text.join(";")).unwrap(), items);
    }
}
