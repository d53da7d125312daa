//! One line per rule of the specification: what is wrong, and what must be said.

use super::findings;

/// Changes of the sound file below, and the key and a part of the message of the error that they must bring.
struct Case(&'static str, &'static str, &'static str);

fn file(change: &str) -> String {
    let mut blocks = [
        ("source", "{type: mysql, hostname: h, username: u, password: p, tables: 'a.b'"),
        ("sink", "{type: values"),
        ("pipeline", "{name: n"),
    ]
    .map(|(name, text)| (name, text.to_owned()));
    let mut rest = String::new();
    for line in change.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()) {
        // `block+ a: b` adds to a block, `block= {…` replaces it, anything else is put below.
        let added = blocks.iter_mut().any(|(name, text)| {
            if let Some(more) = line.strip_prefix(&format!("{name}+ ")) {
                text.push_str(", ");
                text.push_str(more);
                true
            } else if let Some(other) = line.strip_prefix(&format!("{name}= ")) {
                *text = other.to_owned();
                true
            } else {
                false
            }
        });
        if !added {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    let [source, sink, pipeline] =
        blocks.map(
            |(name, text)| {
                if text.starts_with('{') { format!("{name}: {text}}}\n") } else { format!("{name}: {text}\n") }
            },
        );
    format!("{source}{sink}{pipeline}{rest}")
}

const PAIMON: &str = "sink= {type: paimon, catalog.properties.metastore: filesystem, catalog.properties.warehouse: /w";

#[test]
fn the_sound_file_is_sound() {
    assert_eq!(findings(&file(""), &[]), [""; 0]);
    assert_eq!(findings(&file(PAIMON), &[]), [""; 0]);
}

#[test]
fn each_rule_is_enforced() {
    let cases: &[Case] = &[
        // Document.
        Case("source= null", "source", "has no value"),
        Case("source= [a]", "source", "must be a map"),
        Case("sink= text", "sink", "must be a map"),
        Case("pipeline= [a]", "pipeline", "must be a map"),
        Case("routes: []", "routes", "did you mean `route`"),
        Case("execution.checkpointing.interval: 1", "execution.checkpointing.interval", "unexpected top-level key"),
        Case("route: {source-table: a.b, sink-table: c.d}", "route", "must be a list"),
        Case("transform: text", "transform", "must be a list"),
        Case("route: [a]", "route[0]", "must be a map"),
        // Source.
        Case("source= {type: postgres", "source.type", "does not read from `postgres`"),
        Case("source= {type: MySQL", "source.type", "did you mean `mysql`"),
        Case("source+ type: [mysql]", "source.type", "must be a single value"),
        Case("source+ password: ~", "source.password", "it has no value"),
        Case("source+ hostname: ''", "source.hostname", "is empty"),
        Case("source+ table-name: a", "source.table-name", "in `tables`"),
        Case("source+ connector: mysql", "source.connector", "Flink SQL"),
        Case("source+ scan.incremental.snapshot.enabled: true", "source.scan.incremental.snapshot.enabled", "always"),
        Case("source+ tables: [a.b]", "source.tables", "a list is not allowed"),
        Case("source+ jdbc: {properties: x}", "source.jdbc", "nested map"),
        Case("source+ port: 0", "source.port", "between 1 and 65535"),
        Case("source+ port: 3306.0", "source.port", "not a whole number"),
        Case("source+ server-id: 9-5", "source.server-id", "end is before its start"),
        Case("source+ server-id: 99999999999", "source.server-id", "out of range"),
        Case("source+ server-time-zone: CST", "source.server-time-zone", "America/Chicago"),
        Case("source+ server-time-zone: Europe/Pari", "source.server-time-zone", "did you mean `Europe/Paris`"),
        Case("source+ connect.timeout: 10 fortnights", "source.connect.timeout", "unit of time"),
        Case("source+ connect.timeout: 1 ms", "source.connect.timeout", "at least"),
        Case("source+ connect.max-retries: 0", "source.connect.max-retries", "must be >= 1"),
        Case("source+ connection.pool.size: 1", "source.connection.pool.size", "larger than 1"),
        Case("source+ heartbeat.interval: 0", "source.heartbeat.interval", "longer than zero"),
        Case("source+ scan.snapshot.fetch.size: 1", "source.scan.snapshot.fetch.size", "larger than 1"),
        Case("source+ chunk-meta.group.size: 1", "source.chunk-meta.group.size", "larger than 1"),
        Case(
            "source+ chunk-key.even-distribution.factor.upper-bound: 0.5",
            "source.chunk-key.even-distribution.factor.upper-bound",
            ">= 1",
        ),
        Case(
            "source+ split-key.even-distribution.factor.lower-bound: 2",
            "source.split-key.even-distribution.factor.lower-bound",
            "between 0 and 1",
        ),
        Case("source+ tables.exclude: 'b.*'", "source.tables.exclude", r"write `b.\.*`"),
        Case(
            "source+ scan.incremental.snapshot.chunk.key-column: 'a.*:id'",
            "source.scan.incremental.snapshot.chunk.key-column",
            "valid regex",
        ),
        Case("source+ scan.startup.mode: earliest", "source.scan.startup.mode", "earliest-offset"),
        Case("source+ scan.startup.mode: specific-offset", "source.scan.startup.mode", "gtid-set"),
        Case(
            "source+ scan.startup.mode: specific-offset, scan.startup.specific-offset.pos: 4",
            "source.scan.startup.specific-offset.file",
            "missing",
        ),
        Case(
            "source+ scan.startup.mode: specific-offset, scan.startup.specific-offset.gtid-set: abc",
            "source.scan.startup.specific-offset.gtid-set",
            "not a GTID set",
        ),
        Case("source+ scan.startup.timestamp-millis: x", "source.scan.startup.timestamp-millis", "whole number"),
        Case("source+ metadata.list: row_kind", "source.metadata.list", "__data_event_type__"),
        Case("source+ jdbc.properties.useSSL: maybe", "source.jdbc.properties.useSSL", "boolean"),
        Case("source+ jdbc.properties.sslMode: STRICT", "source.jdbc.properties.sslMode", "VERIFY_CA"),
        Case(
            "source+ jdbc.properties.sslMode: VERIFY_CA, jdbc.properties.trustCertificateKeyStoreUrl: 'file:/ca.jks'",
            "source.jdbc.properties.trustCertificateKeyStoreUrl",
            "key store of Java",
        ),
        Case("source+ debezium.skipped.operations: d", "source.debezium.skipped.operations", "does not skip"),
        // Sink.
        Case("sink= {name: x", "sink.type", "missing"),
        Case("sink= {type: Paimon", "sink.type", "did you mean `paimon`"),
        Case("sink= {type: oceanbase, url: u, username: u, password: p", "sink.type", "does not write to `oceanbase`"),
        Case("sink+ exclude.schema.changes: drop.table", "sink.exclude.schema.changes", "must be a list"),
        Case("sink+ include.schema.changes: [Add.Column]", "sink.include.schema.changes", "did you mean `add.column`"),
        Case("sink+ print: true", "sink.print", "unknown option"),
        Case("sink+ rowferry.format: xml", "sink.rowferry.format", "lines, json"),
        Case("sink= {type: paimon, catalog.properties.metastore: filesystem", "sink.catalog.properties.warehouse", ""),
        Case("sink= {type: paimon, catalog.properties.metastore: file", "sink.catalog.properties.metastore", "file"),
        Case(
            "sink= {type: doris, fenodes: f, username: u, sink.buffer-flush.max-rows: 10",
            "sink.sink.buffer-flush.max-rows",
            ">= 10000",
        ),
        Case(
            "sink= {type: starrocks, jdbc-url: j, load-url: l, username: u, password: p, sink.label-prefix: 'a b'",
            "sink.sink.label-prefix",
            "may only hold",
        ),
        Case(
            "sink= {type: starrocks, jdbc-url: j, load-url: l, username: u, password: p, table.schema-change.timeout: 5",
            "sink.table.schema-change.timeout",
            "too short",
        ),
        Case(
            "sink= {type: maxcompute, access-id: a, access-key: k, endpoint: e, project: p, total.buffer-size: 4 pb",
            "sink.total.buffer-size",
            "unit of memory",
        ),
        Case(
            "sink= {type: iceberg, partition.key: 'a.b:week(x)'",
            "sink.partition.key",
            "unknown partition transform `week(x)`",
        ),
        Case("sink= {type: fluss, bootstrap.servers: b, bucket.key: a.b", "sink.bucket.key", "has no column"),
        Case("sink= {type: kafka", "sink.properties.bootstrap.servers", "missing"),
        Case("sink= {type: kafka, properties.bootstrap.servers: k, canal-json.x: 1", "sink.canal-json.x", "not used"),
        Case("sink= {type: elasticsearch, hosts: h, version: 5", "sink.version", "between 6 and 8"),
        Case("sink= {type: hudi, path: p, index.type: BLOOM", "sink.index.type", "BUCKET"),
        Case(
            "sink= {type: paimon, catalog.properties.metastor: filesystem, catalog.properties.warehouse: /w",
            "sink.catalog.properties.metastore",
            "is it meant by `catalog.properties.metastor`?",
        ),
        // Route.
        Case("route: [{sink-table: c.d}]", "route[0].source-table", "missing"),
        Case("route: [{source-table: 'a.*', sink-table: c.d}]", "route[0].source-table", "never matches"),
        Case("route: [{source-table: a.b, sink-table: c.$1}]", "route[0].sink-table", "group 1"),
        Case("route: [{source-table: a.b, sink-table: a.b.c.d}]", "route[0].sink-table", "too many parts"),
        Case("route: [{source-table: a.b, sink-table: c.d, replace-symbol: ''}]", "route[0].replace-symbol", "empty"),
        Case(PAIMON_ROUTE, "route[0].sink-table", "needs database.table"),
        // Transform.
        Case("transform: [{projection: a}]", "transform[0].source-table", "missing"),
        Case("transform: [{source-table: 'a.*'}]", "transform[0].source-table", r"write `a.\.*`"),
        Case("transform: [{source-table: orders}]", "transform[0].source-table", "two parts"),
        Case("transform: [{source-table: a.b, filter: 'x ='}]", "transform[0].filter", "SQL syntax"),
        Case("transform: [{source-table: a.b, projection: [a]}]", "transform[0].projection", "single value"),
        Case(
            "transform: [{source-table: a.b, projection: 'id', primary-keys: 'idx'}]",
            "transform[0].primary-keys",
            "idx",
        ),
        Case("transform: [{source-table: a.b, primary-keys: 'a,,b'}]", "transform[0].primary-keys", "empty"),
        Case("transform: [{source-table: a.b, table-options: '=1'}]", "transform[0].table-options", "no name"),
        Case(
            "transform: [{source-table: a.b, converter-after-transform: soft_delete}]",
            "transform[0].converter-after-transform",
            "SOFT_DELETE",
        ),
        // Pipeline.
        Case("pipeline+ parallelism: two", "pipeline.parallelism", "whole number"),
        Case("pipeline+ execution.runtime-mode: bounded", "pipeline.execution.runtime-mode", "STREAMING"),
        Case("pipeline+ execution.runtime-mode: BATCH", "source.scan.startup.mode", "must be `snapshot`"),
        Case("pipeline+ local-time-zone: '+08:00'", "pipeline.local-time-zone", "write GMT+08:00"),
        Case("pipeline+ schema-operator.rpc-timeout: soon", "pipeline.schema-operator.rpc-timeout", "duration"),
        Case("pipeline+ rowferry.memori: 1", "pipeline.rowferry.memori", "did you mean `rowferry.memory`"),
        Case("pipeline+ rowferry.memory: 1 kb", "pipeline.rowferry.memory", "too little"),
        Case("pipeline+ rowferry.checkpoint.interval: 0 s", "pipeline.rowferry.checkpoint.interval", "zero"),
        Case("pipeline+ rowferry.http.address: ':x'", "pipeline.rowferry.http.address", "host:port"),
        Case(
            "pipeline+ transform.decimal.precision.mode: UP_TO_20",
            "pipeline.transform.decimal.precision.mode",
            "UP_TO",
        ),
        Case("pipeline+ name: {a: b}", "pipeline.name", "nested map"),
        // Functions and models.
        Case(
            "pipeline+ user-defined-function: [{classpath: a.B}]",
            "pipeline.user-defined-function[0].name",
            "missing",
        ),
        Case("pipeline+ user-defined-function: [{name: f}]", "pipeline.user-defined-function[0]", "needs `classpath`"),
        Case(
            "pipeline+ user-defined-function: [{name: f, classpath: a.B, class: x}]",
            "pipeline.user-defined-function[0].class",
            "unexpected key",
        ),
        Case(
            "pipeline+ user-defined-function: [{name: f, python-code: x, python-files: y}]",
            "pipeline.user-defined-function[0].python-files",
            "should be a list",
        ),
        Case(
            "pipeline+ user-defined-function: [{name: f, python-code: x, options: {a: b}}]",
            "pipeline.user-defined-function[0].options",
            "classpath",
        ),
        Case(
            "pipeline+ user-defined-function: [{name: f, classpath: a.B, python-executable: x}]",
            "pipeline.user-defined-function[0].python-executable",
            "python-code",
        ),
        Case(
            "pipeline+ user-defined-function: [{name: f, classpath: a.B}]\n\
             transform: [{source-table: a.b, projection: 'id, F(x) AS y'}]",
            "transform[0].projection",
            "the function F can't run here: it is the Java class a.B (character 5 of the text)",
        ),
        Case(
            "pipeline+ user-defined-function: [{name: f, sql: '$1 +'}]",
            "pipeline.user-defined-function[0].sql",
            "SQL syntax",
        ),
        Case(
            "transform: [{source-table: a.b, projection: 'id, UPPER(x, y) AS z'}]",
            "transform[0].projection",
            "takes 1 argument, not 2 (character 5 of the text)",
        ),
        Case(
            "pipeline+ model: {name: a, type: openai-compatible, endpoint: 'ftp://e', api-key: k, model: m}",
            "pipeline.model",
            "must begin with http",
        ),
        Case(
            "pipeline+ model: {name: a, type: openai-compatible, endpoint: 'http://e', api-key: k, model: m, seed: x}",
            "pipeline.model.options.seed",
            "must be a number",
        ),
        Case("pipeline+ model: text", "pipeline.model", "must be a map"),
        Case("pipeline+ model: {type: dummy}", "pipeline.model.name", "missing"),
        Case("pipeline+ model: {name: __a, type: dummy}", "pipeline.model.name", "two underscores"),
        Case("pipeline+ model: {name: a, type: openai}", "pipeline.model.type", "openai-compatible"),
        Case("pipeline+ model: {name: a, class-name: OpenAIChatModel}", "pipeline.model", "mixes two forms"),
        Case("pipeline+ model: [{name: a, type: dummy}, {name: a, type: dummy}]", "pipeline.model[1].name", "twice"),
        Case(
            "pipeline+ model: {name: a, type: openai-compatible, endpoint: e, api-key: k}",
            "pipeline.model.options.model",
            "missing",
        ),
        Case(
            "pipeline+ model: {name: a, type: openai-compatible, options: {endpoint: e, api-key: k, model: m}, model: n}",
            "pipeline.model.model",
            "under `options`",
        ),
        Case(
            "pipeline+ model: {name: a, type: openai-compatible, endpoint: e, api-key: k, model: m, modle: n}",
            "pipeline.model.modle",
            "did you mean `model`",
        ),
        Case("pipeline+ model: {model-name: a, class-name: Gpt}", "pipeline.model.class-name", "OpenAIChatModel"),
    ];
    let mut wrong = Vec::new();
    for Case(change, key, part) in cases {
        let found = findings(&file(change), &[]);
        let right = found
            .iter()
            .any(|line| !line.contains(": warning: ") && line.contains(&format!(": {key}: ")) && line.contains(part));
        if !right {
            wrong.push(format!("{change}\n  wanted {key}: …{part}…\n  got {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const PAIMON_ROUTE: &str =
    "sink= {type: paimon, catalog.properties.metastore: filesystem, catalog.properties.warehouse: /w
route: [{source-table: a.b, sink-table: topic}]";

#[test]
fn generous_readings_are_warned_about() {
    let cases: &[Case] = &[
        Case("source+ tables: 'holo_test\\.*'", "source.tables", "names no table"),
        Case("source+ tables: 'adb.\\\\.*'", "source.tables", "two backslashes"),
        Case("source+ tables: '[app|web].t'", "source.tables", "one character"),
        Case("source+ debezium.max.queue.size: 10", "source.debezium.max.queue.size", "no effect"),
        Case("source+ jdbc.properties.tinyInt1isBit: true", "source.jdbc.properties.tinyInt1isBit", "no effect"),
        Case(
            "source+ jdbc.properties.trustCertificateKeyStoreType: PEM",
            "source.jdbc.properties.trustCertificateKeyStoreType",
            "no effect without",
        ),
        Case("source+ scan.startup.timestamp-millis: 1", "source.scan.startup.timestamp-millis", "no effect without"),
        Case("sink+ sink.api: SINK_FUNCTION", "sink.sink.api", "no effect"),
        Case("pipeline+ execution.checkpointing.interval: 1", "pipeline.execution.checkpointing.interval", "unknown"),
        Case("pipeline+ local-time-zone: PST", "pipeline.local-time-zone", "America/Los_Angeles"),
        Case("pipeline+ schema.operator.uid: x", "pipeline.schema.operator.uid", "no effect"),
        Case("source+ server-id: 1-4\npipeline+ parallelism: 8", "source.server-id", "4 ids"),
        Case("route: [{source-table: 'x.y.z', sink-table: a.b}]", "route[0].source-table", "three parts"),
        Case(
            "source+ metadata-column.include-list: op_ts, metadata.list: op_ts",
            "source.metadata.list",
            "same option",
        ),
    ];
    for Case(change, key, part) in cases {
        let found = findings(&file(change), &[]);
        assert!(found.iter().all(|line| line.contains(": warning: ")), "{change}: {found:#?}");
        assert!(
            found.iter().any(|line| line.contains(&format!(": {key}: ")) && line.contains(part)),
            "{change}: {found:#?}"
        );
    }
}

#[test]
fn functions_that_no_rule_uses_and_models_are_no_error() {
    let change = "pipeline+ user-defined-function: [{name: f, classpath: a.B}, {name: g, classpath: a.C, sql: $1 + 1}]";
    assert_eq!(findings(&file(change), &[]), [""; 0]);
    let change = "pipeline+ model: {name: a, type: openai-compatible, endpoint: 'http://e', api-key: k, model: m}";
    assert_eq!(findings(&file(change), &[]), [""; 0]);
}

#[test]
fn null_blocks_are_absent() {
    for change in ["route: null", "transform: ~", "pipeline= null", "pipeline= {", "route: []", "transform: []"] {
        assert_eq!(findings(&file(change), &[]), [""; 0], "{change}");
    }
}

#[test]
fn schema_changes_resolve_as_documented() {
    use rowferry_model::SchemaChangeKind as Kind;
    let kinds = |change: &str| {
        let loaded = super::load_text(&file(change), &super::Variables::from_pairs([]));
        let tags: Vec<&str> = loaded.config.unwrap().sink.schema_changes.into_iter().map(Kind::tag).collect();
        tags.join(" ")
    };
    let all = "create.table add.column alter.column.type rename.column drop.column drop.table truncate.table \
               alter.table.comment";
    let lenient = "create.table add.column alter.column.type rename.column drop.column alter.table.comment";
    assert_eq!(kinds(""), lenient);
    assert_eq!(kinds("pipeline+ schema.change.behavior: evolve"), all);
    assert_eq!(kinds("sink+ exclude.schema.changes: []"), all);
    assert_eq!(kinds("sink+ include.schema.changes: []"), lenient);
    // As Flink CDC's documentation has it, not its program: recording 13a-lenient-include-truncate-drop.
    assert_eq!(kinds("sink+ include.schema.changes: [truncate.table]"), "create.table truncate.table");
    assert_eq!(kinds("sink+ include.schema.changes: [drop, add]"), "create.table add.column drop.column drop.table");
    assert_eq!(
        kinds(
            "pipeline+ schema.change.behavior: EVOLVE\nsink+ include.schema.changes: [column], exclude.schema.changes: [drop]"
        ),
        "create.table add.column alter.column.type rename.column"
    );
    assert_eq!(kinds("sink+ exclude.schema.changes: [create.table, column, table]"), "");
}
