#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::report::Severity;
use super::settings::{Settings, judge};
use super::*;
use rowferry_sql::ServerVersion;

fn judged(version: &str, settings: &[(&str, &str)], wants: &PreflightWants) -> Vec<(Severity, String)> {
    let settings = Settings(settings.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect());
    let mut findings = Vec::new();
    judge(ServerVersion::parse(version).unwrap(), &settings, wants, &mut findings);
    assert!(findings.iter().all(|f| !f.message.is_empty()));
    findings.into_iter().map(|f| (f.severity, f.subject)).collect()
}

/// The variables of a server as they should be.
const GOOD: &[(&str, &str)] = &[
    ("log_bin", "ON"),
    ("server_id", "1"),
    ("binlog_format", "ROW"),
    ("binlog_row_image", "FULL"),
    ("binlog_row_value_options", ""),
    ("binlog_row_metadata", "FULL"),
    ("binlog_expire_logs_seconds", "2592000"),
    ("gtid_mode", "ON"),
];

#[test]
fn a_good_server_has_no_findings() {
    let wants = PreflightWants::new(Vec::new());
    assert_eq!(judged("9.7.4", GOOD, &wants), []);
    // It never expires.
    let mut kept = GOOD.to_vec();
    kept.retain(|(n, _)| *n != "binlog_expire_logs_seconds");
    kept.push(("expire_logs_days", "0"));
    assert_eq!(judged("5.7.40", &kept, &wants), []);
}

#[test]
fn everything_wrong_is_told_at_once() {
    let wants = PreflightWants::new(Vec::new());
    let bad = [
        ("log_bin", "OFF"),
        ("server_id", "0"),
        ("binlog_format", "MIXED"),
        ("binlog_row_image", "MINIMAL"),
        ("binlog_row_value_options", "PARTIAL_JSON"),
        ("binlog_row_metadata", "MINIMAL"),
        ("binlog_expire_logs_seconds", "3600"),
        ("gtid_mode", "OFF"),
    ];
    use Severity::{Error, Note, Warning};
    let found = judged("5.5.62", &bad, &wants);
    let expected: Vec<_> = [
        (Error, "version"),
        (Error, "log_bin"),
        (Error, "server_id"),
        (Error, "binlog_format"),
        (Error, "binlog_row_image"),
        (Error, "binlog_row_value_options"),
        (Warning, "binlog_row_metadata"),
        (Warning, "binlog_expire_logs_seconds"),
        (Note, "gtid_mode"),
    ]
    .into_iter()
    .map(|(s, n)| (s, n.to_owned()))
    .collect();
    assert_eq!(found, expected);
    // A one-shot copy needs none of that.
    let copy = PreflightWants { reads_binlog: false, ..wants };
    assert_eq!(judged("8.0.36", &bad, &copy), []);
}

#[test]
fn what_is_only_worth_knowing_is_no_error() {
    let wants = PreflightWants { needs_full_rows: false, ..PreflightWants::new(Vec::new()) };
    let mut settings = GOOD.to_vec();
    settings.push(("binlog_row_value_options", "PARTIAL_JSON"));
    assert_eq!(judged("8.0.36", &settings, &wants), [(Severity::Note, "binlog_row_value_options".to_owned())]);
    let minimal = [("binlog_row_image", "NOBLOB")];
    assert_eq!(judged("8.0.36", &minimal, &wants), [(Severity::Warning, "binlog_row_image".to_owned())]);
}
