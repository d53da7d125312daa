#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod corpus;
mod rules;
mod secrets;

use super::*;
use proptest::prelude::*;

/// What is said of a file, a line each.
fn findings(text: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let loaded = load_text(text, &Variables::from_pairs(variables.iter().copied()));
    loaded.diagnostics.iter().map(|d| d.render("p.yaml")).collect()
}

const SOURCE: &str = "source: {type: mysql, hostname: h, username: u, password: p, tables: a.b}\n";
const SINK: &str = "sink: {type: values}\n";

#[test]
fn the_line_for_people() {
    let text =
        "source:\n  type: mysql\n  host: h\n  username: u\n  password: p\n  tables: a.b\nsink:\n  type: values\n";
    assert_eq!(
        findings(text, &[]),
        [
            "p.yaml:2:3: error: source.hostname: required option is missing",
            "p.yaml:3:3: error: source.host: unknown option: the source `mysql` does not have `host`; did you mean \
             `hostname`?",
        ]
    );
}

#[test]
fn everything_is_told_at_once_in_the_order_of_the_file() {
    let text = "
source:
  type: mysql
  hostname: h
  port: 33x06
  username: u
  tables: crm.*
  server-id: 7000-abc
sink: {type: values, print.enabled: maybe}
route:
  - {source-table: 'a.(b', sink-table: c.d}
pipeline: {parallelism: 0, route-mode: LAST}
flink: {a: b}
";
    let found = findings(text, &[]);
    let keys: Vec<&str> = found.iter().map(|line| line.split(": ").nth(2).unwrap()).collect();
    assert_eq!(
        keys,
        [
            "source.password",
            "source.port",
            "source.tables",
            "source.server-id",
            "sink.print.enabled",
            "route[0].source-table",
            "pipeline.parallelism",
            "pipeline.route-mode",
            "flink",
        ],
        "{found:#?}"
    );
}

#[test]
fn a_sound_file_gives_typed_values() {
    let text = format!(
        "{}{SINK}route:\n- {{source-table: 'a.(\\.*)', sink-table: b.$1}}\npipeline: {{name: n, parallelism: 2, \
         execution.runtime-mode: batch, local-time-zone: GMT+08:00, rowferry.checkpoint.interval: 3 s}}\n",
        "source: {type: mysql, hostname: h, port: 3307, username: u, password: '', tables: 'a.\\.*', server-id: 5-9, \
         server-time-zone: Europe/Paris, scan.startup.mode: SNAPSHOT, scan.incremental.snapshot.chunk.size: 1_000, \
         scan.incremental.snapshot.chunk.key-column: 'a.b:c', jdbc.properties.useSSL: true, \
         jdbc.properties.verifyServerCertificate: true, metadata.list: op_ts}\n"
    );
    let loaded = load_text(&text, &Variables::from_pairs([]));
    let config = loaded.config.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    assert_eq!(config.source.port, 3307);
    assert_eq!(config.source.password.expose(), "");
    assert_eq!(config.source.server_id, Some(ServerIds { first: 5, last: 9 }));
    assert_eq!(config.source.server_time_zone.unwrap().to_string(), "Europe/Paris");
    assert_eq!(config.source.startup, StartupMode::Snapshot);
    assert_eq!(config.source.chunk_size, 1000);
    assert_eq!(config.source.fetch_size, 1024);
    assert_eq!(config.source.chunk_keys[0].1, "c");
    assert_eq!(config.source.tls, TlsMode::VerifyCa);
    assert_eq!(config.source.metadata, [MetadataColumn::OpTs]);
    assert!(config.source.tinyint1_as_boolean);
    assert!(config.sink.options.flag("print.enabled"));
    assert_eq!(config.sink.options.text("rowferry.format"), Some("lines"));
    assert_eq!(config.pipeline.local_time_zone.to_string(), "+08:00");
    assert_eq!(config.pipeline.checkpoint_interval, std::time::Duration::from_secs(3));
    assert_eq!(config.pipeline.memory, 128 << 20);
    assert!(config.is_bounded());
    let to = targets(&config.routes, false, &rowferry_model::TableId::new("a", "x")).unwrap();
    assert_eq!(to, [rowferry_model::TableId::new("b", "x")]);
    let same = targets(&config.routes, true, &rowferry_model::TableId::new("z", "x")).unwrap();
    assert_eq!(same, [rowferry_model::TableId::new("z", "x")]);
}

/// What each word means is `rowferry-tls`' own; here, under which names they are found, and which goes before which.
#[test]
fn tls_is_asked_for_by_any_of_the_drivers_properties() {
    for (properties, wanted) in [
        ("", TlsMode::Preferred),
        ("jdbc.properties.requireSSL: true", TlsMode::Required),
        ("jdbc.properties.verifyServerCertificate: true", TlsMode::VerifyCa),
        ("jdbc.properties.useSSL: false, jdbc.properties.requireSSL: true", TlsMode::Disabled),
        ("jdbc.properties.requireSSL: true, jdbc.properties.sslMode: preferred", TlsMode::Preferred),
        ("debezium.database.ssl.mode: verify_identity", TlsMode::VerifyIdentity),
        ("debezium.database.ssl.mode: preferred, jdbc.properties.requireSSL: true", TlsMode::Preferred),
        ("debezium.database.ssl.mode: verify_ca, jdbc.properties.sslMode: required", TlsMode::Required),
    ] {
        let text = format!(
            "source: {{type: mysql, hostname: h, username: u, password: p, tables: a.b, {properties}}}\n{SINK}"
        );
        let loaded = load_text(&text, &Variables::from_pairs([]));
        let config = loaded.config.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
        assert_eq!(config.source.tls, wanted, "{properties}");
    }
}

#[test]
fn variables_are_text_and_never_structure() {
    let text = "source: {type: mysql, hostname: '${h}', username: u, password: p, tables: a.b}\nsink: {type: values}\n";
    let variables = Variables::from_pairs([("h", "x, port: 1, tables: z")]);
    let loaded = load_text(text, &variables);
    assert_eq!(loaded.config.unwrap().source.hostname, "x, port: 1, tables: z");
}

#[test]
fn a_variable_that_is_not_set_is_one_error() {
    let text = "source:\n  type: mysql\n  hostname: h\n  port: ${mysql.port}\n  username: u\n  password: p\n  tables: \
                ${t}\nsink: {type: values}\n";
    let found = findings(text, &[]);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].starts_with("p.yaml:4:9: error: source.port: variable ${mysql.port} is not set"), "{found:#?}");
    assert!(found[0].contains("MYSQL_PORT"));
}

#[test]
fn named_groups_are_no_variables_in_a_target() {
    let route = |source: &str, target: &str| {
        format!("{SOURCE}{SINK}route:\n  - source-table: '{source}'\n    sink-table: '{target}'\n")
    };
    let grouped = route(r"(?<db>a).(\.*)", "x_${db}.$2");
    assert_eq!(findings(&grouped, &[("db", "wrong")]), [""; 0]);
    let plain = load_text(&route("a.b", "x_${db}.t"), &Variables::from_pairs([("db", "right")]));
    let to = targets(&plain.config.unwrap().routes, false, &rowferry_model::TableId::new("a", "b")).unwrap();
    assert_eq!(to[0].to_string(), "x_right.t");
}

#[test]
fn duplicate_keys_and_further_documents_are_warned_about() {
    let text = format!("{SOURCE}sink: {{type: kafka}}\n{SINK}---\nmore: 1\n");
    let loaded = load_text(&text, &Variables::from_pairs([]));
    assert!(loaded.config.is_some(), "the last one counts: {:?}", loaded.diagnostics);
    assert_eq!(loaded.diagnostics.len(), 2, "{:?}", loaded.diagnostics);
}

#[test]
fn yaml_errors_have_a_place() {
    for (text, part) in [
        ("source:\n  tables: \"crm.\\.*\"\n", r"invalid escape `\.`"),
        ("source: {a: b\nsink: [", "not valid YAML"),
        ("", "the file is empty"),
        ("- a\n- b\n", "must be a map"),
        ("just text", "must be a map"),
        ("? [a, b]\n: c\n", "a key must be a text"),
    ] {
        let found = findings(text, &[]);
        assert!(found.iter().any(|line| line.contains(part)), "{text}: {found:?}");
    }
}

#[test]
fn aliases_are_followed_within_bounds() {
    let text = format!("{SOURCE}sink: &s {{type: values}}\npipeline: {{name: x}}\n");
    assert!(load_text(&text, &Variables::from_pairs([])).config.is_some());
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        let items = vec![format!("*{from}"); 10].join(", ");
        bomb.push_str(&format!("{to}: &{to} [{items}]\n"));
    }
    let found = findings(&bomb, &[]);
    assert!(found[0].contains("too big"), "{found:?}");
    let deep = "[".repeat(5000);
    assert!(!findings(&deep, &[]).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_text_can_panic(text in "\\PC{0,200}") {
        let _ = load_text(&text, &Variables::from_pairs([]));
    }

    #[test]
    fn no_yaml_can_panic(lines in proptest::collection::vec(
        "(source|sink|route|transform|pipeline|  type|  tables|  model|  - source-table|  x)(: |:\n|)(mysql|values|\\[a, b\\]|\\{a: b\\}|null|'q'|\"d\\\\n\"|\\$\\{v\\}|&a|\\*a|-|\\||>|)",
        0..12,
    )) {
        let _ = load_text(&lines.join("\n"), &Variables::from_pairs([("v", "1")]));
    }

    #[test]
    fn any_value_of_any_option_is_accepted_or_told(index in 0usize..60, value in "[a-z0-9.:;,$\\\\*-]{0,12}") {
        let spec = &MYSQL_OPTIONS[index % MYSQL_OPTIONS.len()];
        let name = if spec.prefix { format!("{}x", spec.name) } else { spec.name.to_owned() };
        let text = format!("{SOURCE}{SINK}").replace("}\nsink", &format!(", {name}: '{value}'}}\nsink"));
        let loaded = load_text(&text, &Variables::from_pairs([]));
        let errors = loaded.diagnostics.iter().any(|d| d.kind.is_error());
        prop_assert_eq!(loaded.config.is_none(), errors, "{:?}", loaded.diagnostics);
    }
}
