//! Nothing that is said of a file, and no `Debug` form of what came of it, holds a secret.

use super::super::*;

const SECRET: &str = "hunter2hunter2";

/// Every option of every table that hides its value, in files that are wrong in many ways.
fn files() -> Vec<String> {
    let source = format!(
        "source:\n  type: mysql\n  hostname: h\n  port: x\n  username: u\n  password: {SECRET}\n  tables: a.b\n  \
         jdbc.properties.trustCertificateKeyStorePassword: {SECRET}\n  debezium.database.ssl.keystore.password: {SECRET}\n  \
         rds.access-key: {SECRET}\n  passwort: {SECRET}\n"
    );
    let sound = source.replace("port: x", "port: 1").replace(&format!("  passwort: {SECRET}\n"), "");
    let mut files = vec![format!("{sound}sink: {{type: values}}\n")];
    for sink in rowferry_sinks::catalog::SINKS {
        let mut text = format!("{source}sink:\n  type: {}\n  pasword: {SECRET}\n", sink.name);
        for spec in sink.options {
            if spec.secret {
                text.push_str(&format!("  {}: {SECRET}\n", spec.name));
            } else if spec.prefix {
                text.push_str(&format!("  {}secret-key: {SECRET}\n", spec.name));
            }
        }
        files.push(text);
    }
    files.push(format!(
        "{sound}sink: {{type: values}}\npipeline:\n  model:\n    - {{name: 9m, type: openai-compatible, api-key: {SECRET}}}\n    \
         - {{name: a, type: openai-compatible, options: {{api-key: {SECRET}, apikey: {SECRET}}}}}\n    \
         - {{model-name: b, class-name: X, openai.apikey: {SECRET}}}\n"
    ));
    // Broken YAML around a password, and a password of the wrong kind.
    files.push(format!("source:\n  password: \"{SECRET}\\.\"\n"));
    files.push(format!("source:\n  password: {SECRET}: x\n"));
    files.push(format!("source:\n  type: mysql\n  password: [{SECRET}]\nsink: {{type: values}}\n"));
    files.push(format!("source: '{SECRET}'\nsink: {SECRET}\n"));
    files
}

fn assert_hidden(text: &str, variables: &[(&str, &str)]) {
    let loaded = load_text(text, &Variables::from_pairs(variables.iter().copied()));
    let report = check::CheckReport { file: "f".into(), loaded };
    for shown in [report.render(), report.to_json().to_string(), format!("{report:?}"), format!("{report:#?}")] {
        assert!(!shown.contains(SECRET), "{text}\n{shown}");
    }
}

#[test]
fn secrets_are_never_shown() {
    for text in files() {
        assert_hidden(&text, &[]);
    }
}

#[test]
fn values_of_variables_are_not_shown_where_they_are_wrong() {
    let text = "source:\n  type: mysql\n  hostname: h\n  port: ${v}\n  username: u\n  password: ${v}\n  tables: a.b\n  \
                server-id: ${v}\n  server-time-zone: ${v}\n  schema-change.enabled: ${v}\nsink:\n  type: ${v}\npipeline:\n  \
                parallelism: ${v}\n  local-time-zone: ${v}\n";
    assert_hidden(text, &[("v", SECRET)]);
    let loaded = load_text(text, &Variables::from_pairs([("v", SECRET)]));
    assert!(loaded.diagnostics.iter().any(|d| d.message.contains("`${v}`")), "{:#?}", loaded.diagnostics);
}

#[test]
fn the_secret_itself_arrives() {
    let loaded = load_text(&files()[0], &Variables::from_pairs([]));
    let config = loaded.config.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    assert_eq!(config.source.password.expose(), SECRET);
    assert_eq!(config.source.debezium["database.ssl.keystore.password"].expose(), SECRET);
}
