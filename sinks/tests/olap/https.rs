//! Loads and requests over https.

use super::log::Log;
use super::tap::Tap;
use crate::stand_in::Settings;
use crate::support::{
    BACKENDS, EXACTLY_ONCE, HTTP_ADDRESSES, StandIn, WAYS, checkpoint, context, create, http_addresses, options, rows,
    shown, table,
};
use rowferry_model::RowOp::{Delete, Insert};
use rowferry_sinks::{Retry, Sink, SinkError};
use rowferry_stand_ins::tls::Authority;
use std::path::PathBuf;
use std::process::Command;

/// Where a process of its own finds the authority: the environment can't be changed from within.
const VARIABLE: &str = "SSL_CERT_FILE";
/// Tells that the file is this test's own: what a machine's variable names must never be written.
const OWN: &str = "ROWFERRY_TEST_OWN_AUTHORITY";

fn encrypting(authority: &Authority) -> StandIn {
    let server = StandIn::start(Settings::default());
    let mut world = server.world();
    world.encryption.certificate = Some(authority.server(&["127.0.0.1"]));
    world.encryption.https = true;
    world.users.insert("root".to_owned(), "s3cret-pw".to_owned());
    drop(world);
    server
}

fn sink(server: &StandIn, at: &str, more: &[(&str, &str)]) -> Sink {
    // Connecting includes the handshake, which a busy machine takes its time for.
    let own = [("password", "s3cret-pw"), (HTTP_ADDRESSES, at), ("sink.connect.timeout-ms", "60000")];
    let options = options(server, &[&EXACTLY_ONCE, more, &own].concat());
    rowferry_sinks::build(crate::support::SINK, &options, &context()).unwrap()
}

async fn deliver(server: &StandIn, sink: &mut Sink) {
    sink.events.recover(None).await.unwrap();
    create(sink, &table()).await;
    sink.events.write(rows(&table(), &[(Insert, 1, Some("a")), (Insert, 2, None)])).await.unwrap();
    checkpoint(sink, 1).await.unwrap();
    sink.events.write(rows(&table(), &[(Delete, 1, Some("a"))])).await.unwrap();
    checkpoint(sink, 2).await.unwrap();
    assert_eq!(shown(server, &table()), ["2|NULL"]);
}

#[test]
fn rows_are_loaded_over_https() {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "olap::https::with_an_authority_of_its_own", "--ignored", "--nocapture"])
        .env(VARIABLE, directory.path().join("authority.pem"))
        .env(OWN, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
#[ignore = "run by `rows_are_loaded_over_https` with an environment of its own"]
async fn with_an_authority_of_its_own() {
    if std::env::var_os(OWN).is_none() {
        return;
    }
    let log = Log::of_this_process();
    let told = || log.take().into_iter().filter(|line| line.contains("without encryption")).collect::<Vec<_>>();
    let authority = Authority::new();
    std::fs::write(PathBuf::from(std::env::var_os(VARIABLE).unwrap()), &authority.pem).unwrap();
    for way in WAYS {
        let server = encrypting(&authority);
        let tap = Tap::new(http_addresses(&server));
        deliver(&server, &mut sink(&server, &format!("https://{}", tap.address), way)).await;
        assert!(!tap.is_untouched());
        for words in ["HTTP/1.1", "Basic", "shop", "orders"] {
            assert!(!tap.saw(words), "{way:?}: {words}");
        }
        assert_eq!(told(), [""; 0], "{way:?}: all of it is encrypted");
        // Where frontends send on to backends that have no TLS, that way is taken, and told.
        let server = encrypting(&authority);
        server.world().encryption.plain_backends = true;
        let backends = format!("http://{}", server.backend_addresses(",").replace(',', ",http://"));
        let way: Vec<(&str, &str)> =
            way.iter().copied().chain(BACKENDS.map(|option| (option, backends.as_str()))).collect();
        deliver(&server, &mut sink(&server, &format!("https://{}", http_addresses(&server)), &way)).await;
        // Whoever names backends and is not sent on to them has named them by `http://`.
        let sent_on = !way.contains(&("auto-redirect", "false"));
        let told = told();
        assert_eq!(told.len(), usize::from(sent_on), "{way:?}, once for all loads: {told:?}");
        if let Some(line) = told.first() {
            let frontend = format!("https://{} redirects to http://127.0.0.1:", http_addresses(&server));
            for words in ["WARN", frontend.as_str(), "password and rows go without encryption"] {
                assert!(line.contains(words), "`{words}` is not in: {line}");
            }
            assert!(!line.contains("s3cret-pw") && !line.contains("Basic"), "{line}");
        }
    }
    // A certificate of somebody else.
    let server = encrypting(&Authority::new());
    assert_refused(probe(&server, "https").await, &["not from a known authority", VARIABLE]);
}

async fn probe(server: &StandIn, scheme: &str) -> Result<(), SinkError> {
    sink(server, &format!("{scheme}://{}", http_addresses(server)), &[]).metadata.probe().await
}

fn assert_refused(result: Result<(), SinkError>, words: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "`{word}` is not in: {error}");
    }
}

#[tokio::test]
async fn what_does_not_fit_together_is_told() {
    let server = encrypting(&Authority::new());
    assert_refused(
        probe(&server, "https").await,
        &["TLS with https://127.0.0.1:", "not from a known authority", VARIABLE],
    );
    server.world().encryption.https = false;
    assert_refused(probe(&server, "https").await, &["TLS with https://127.0.0.1:", "does that port speak https?"]);
    probe(&server, "http").await.unwrap();
    server.world().encryption.https = true;
    probe(&server, "http").await.unwrap_err();
}

/// A node whose certificate has expired at night is one node less, not the end.
#[tokio::test]
async fn a_node_that_does_not_agree_on_tls_is_passed_by() {
    let strange = encrypting(&Authority::new());
    let plain = StandIn::start(Settings::default());
    plain.world().users.insert("root".to_owned(), "s3cret-pw".to_owned());
    let both = format!("https://{},http://{}", http_addresses(&strange), http_addresses(&plain));
    sink(&plain, &both, &[]).metadata.probe().await.unwrap();
    // Where no node agrees, it is for good; where one is only away, it may be back.
    let strange_only = format!("https://{}", http_addresses(&strange));
    assert_refused(sink(&plain, &strange_only, &[]).metadata.probe().await, &["not from a known authority"]);
    plain.stop_frontend(0);
    let error = sink(&plain, &both, &[]).metadata.probe().await.unwrap_err();
    assert_eq!(error.retry(), Retry::Transient, "{error}");
}

#[test]
fn an_authority_that_cannot_be_read_concerns_https_only() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "olap::https::without_a_readable_authority", "--ignored", "--nocapture"])
        .env(VARIABLE, "/nonexistent/authority.pem")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
#[ignore = "run by `an_authority_that_cannot_be_read_concerns_https_only` with an environment of its own"]
async fn without_a_readable_authority() {
    let server = encrypting(&Authority::new());
    assert_refused(probe(&server, "https").await, &["/nonexistent/authority.pem", VARIABLE]);
    server.world().encryption.https = false;
    probe(&server, "http").await.unwrap();
}
