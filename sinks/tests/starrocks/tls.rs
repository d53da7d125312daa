//! TLS on the frontends' MySQL port.

use crate::olap::tap::{Request, Tap};
use crate::stand_in::Settings;
use crate::support::{StandIn, context, create, options, table};
use rowferry_sinks::{Retry, Sink, SinkError};
use rowferry_stand_ins::tls::Authority;
use std::io::Write;
use std::time::{Duration, Instant};

/// A server that offers TLS, with a certificate for these names.
fn encrypting(authority: &Authority, names: &[&str]) -> StandIn {
    let server = StandIn::start(Settings::default());
    server.world().encryption.certificate = Some(authority.server(names));
    server
}

fn address(server: &StandIn) -> String {
    server.jdbc_url().trim_start_matches("jdbc:mysql://").to_owned()
}

fn build(server: &StandIn, url: &str, more: &[(&str, &str)]) -> Result<Sink, SinkError> {
    let url = format!("jdbc:mysql://{url}");
    let more = [&[("jdbc-url", url.as_str()), ("sink.connect.timeout-ms", "240000")], more].concat();
    rowferry_sinks::build("starrocks", &options(server, &more), &context())
}

/// Builds the sink and asks the server.
async fn probe(server: &StandIn, url: &str, more: &[(&str, &str)]) -> Result<(), SinkError> {
    build(server, url, more)?.metadata.probe().await
}

/// The error is for good, and has these words.
fn assert_refused(result: Result<(), SinkError>, words: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.retry(), Retry::Permanent, "{error}");
    let text = format!("{error} {}", error.hint_text().unwrap_or_default());
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

fn pem(authority: &Authority) -> (tempfile::NamedTempFile, String) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(authority.pem.as_bytes()).unwrap();
    let parameters =
        format!("trustCertificateKeyStoreUrl=file://{}&trustCertificateKeyStoreType=PEM", file.path().display());
    (file, parameters)
}

#[tokio::test]
async fn what_is_encrypted_nobody_reads_on_the_wire() {
    let server = encrypting(&Authority::new(), &["localhost"]);
    // Without a parameter: as MySQL's driver, TLS where the server has it.
    for (parameters, readable) in [
        ("?sslMode=DISABLED", true),
        ("?useSSL=false", true),
        ("", false),
        ("?sslMode=required", false),
        ("?useSSL=true&requireSSL=true&verifyServerCertificate=false", false),
    ] {
        let tap = Tap::new(address(&server));
        let mut sink = build(&server, &format!("{}/{parameters}", tap.address), &[]).unwrap();
        create(&mut sink, &table()).await;
        assert!(!tap.is_untouched());
        for words in ["CREATE TABLE", "orders", "root"] {
            assert_eq!(tap.saw(words), readable, "{parameters}: {words}");
        }
    }
}

#[tokio::test]
async fn a_server_that_takes_nothing_else() {
    let server = encrypting(&Authority::new(), &["localhost"]);
    server.world().encryption.required = true;
    let at = address(&server);
    for parameters in ["", "?sslMode=REQUIRED", "?requireSSL=true"] {
        probe(&server, &format!("{at}{parameters}"), &[]).await.unwrap();
    }
    let plain = probe(&server, &format!("{at}?useSSL=false"), &[]).await;
    assert_refused(plain, &[&at, "insecure transport", "jdbc-url", "sslMode=DISABLED", "sslMode=REQUIRED"]);
}

#[tokio::test]
async fn a_server_without_tls() {
    let server = StandIn::start(Settings::default());
    let at = address(&server);
    for parameters in ["", "?sslMode=PREFERRED", "?useSSL=true", "?sslMode=DISABLED"] {
        probe(&server, &format!("{at}{parameters}"), &[]).await.unwrap();
    }
    for (parameters, mode) in [
        ("?sslMode=REQUIRED", "sslMode=REQUIRED"),
        ("?useSSL=true&requireSSL=true", "sslMode=REQUIRED"),
        ("?sslMode=VERIFY_CA", "sslMode=VERIFY_CA"),
        ("?verifyServerCertificate=true", "sslMode=VERIFY_CA"),
    ] {
        let tap = Tap::new(at.clone());
        let refused = probe(&server, &format!("{}{parameters}", tap.address), &[]).await;
        assert_refused(refused, &[&tap.address, "offers none", "jdbc-url", mode, "sslMode=PREFERRED"]);
        assert!(!tap.saw("root"), "nothing is told to such a server");
    }
}

#[tokio::test]
async fn the_authority_is_asked_for() {
    let authority = Authority::new();
    let (_file, right) = pem(&authority);
    let (_other, wrong) = pem(&Authority::new());
    // A certificate for another name: only VERIFY_IDENTITY cares.
    let server = encrypting(&authority, &["fe.example"]);
    let at = address(&server);
    for mode in ["useSSL=true&verifyServerCertificate=true", "sslMode=VERIFY_CA"] {
        probe(&server, &format!("{at}?{mode}&{right}"), &[]).await.unwrap();
        let way_out = ["jdbc-url", "not from a known authority", "trustCertificateKeyStoreUrl"];
        assert_refused(probe(&server, &format!("{at}?{mode}&{wrong}"), &[]).await, &way_out);
        // The public authorities have not signed it either.
        assert_refused(probe(&server, &format!("{at}?{mode}"), &[]).await, &way_out);
    }
    let stranger = probe(&server, &format!("{at}?sslMode=VERIFY_IDENTITY&{right}"), &[]).await;
    assert_refused(stranger, &[&at, "not valid for name", "fe.example", "sslMode=VERIFY_CA"]);
    let both = encrypting(&authority, &["127.0.0.1", "localhost"]);
    let port = address(&both).rsplit_once(':').unwrap().1.to_owned();
    for host in ["127.0.0.1", "localhost"] {
        probe(&both, &format!("{host}:{port}?sslMode=VERIFY_IDENTITY&{right}"), &[]).await.unwrap();
        let refused = probe(&both, &format!("{host}:{port}?sslMode=VERIFY_IDENTITY&{wrong}"), &[]).await;
        assert_refused(refused, &["not from a known authority"]);
    }
}

#[tokio::test]
async fn tls_that_breaks_off_is_done_without_only_where_it_is_not_asked_for() {
    let server = encrypting(&Authority::new(), &["localhost"]);
    let tap = Tap::with(address(&server), Request::Cut);
    probe(&server, &tap.address, &[]).await.unwrap();
    assert!(tap.saw("SHOW DATABASES"));
    let tap = Tap::with(address(&server), Request::Cut);
    let error = probe(&server, &format!("{}?sslMode=REQUIRED", tap.address), &[]).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Transient, "{error}");
    assert!(error.to_string().contains("TLS") && error.to_string().contains(&tap.address), "{error}");
    assert!(!tap.saw("root"));
    // A server that takes nothing else: what is wrong is told, not that TLS is wanted.
    server.world().encryption.required = true;
    let error = probe(&server, &tap.address, &[]).await.unwrap_err();
    assert!(error.retry() == Retry::Transient && error.to_string().contains("broke off"), "{error}");
}

#[tokio::test]
async fn a_slow_network_changes_nothing() {
    let authority = Authority::new();
    let (_file, trusted) = pem(&authority);
    let server = encrypting(&authority, &["127.0.0.1"]);
    for mode in ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"] {
        let tap = Tap::with(address(&server), Request::Trickle);
        let mut sink = build(&server, &format!("{}?sslMode={mode}&{trusted}", tap.address), &[]).unwrap();
        create(&mut sink, &table()).await;
        sink.metadata.probe().await.unwrap();
        assert_eq!(tap.saw("CREATE TABLE"), mode == "DISABLED", "{mode}");
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_in_the_handshake_is_given_up() {
    let server = encrypting(&Authority::new(), &["localhost"]);
    let tap = Tap::with(address(&server), Request::Hold);
    let start = Instant::now();
    let more = [("sink.connect.timeout-ms", "300")];
    let error = probe(&server, &format!("{}?sslMode=REQUIRED", tap.address), &more).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Transient, "{error}");
    let words = error.to_string();
    assert!(words.contains("handshake broke off") && words.contains("no answer within 300ms"), "{words}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn another_frontend_may_have_what_one_lacks() {
    let (with, without) = (encrypting(&Authority::new(), &["localhost"]), StandIn::start(Settings::default()));
    let urls = format!("{},{}?sslMode=REQUIRED", address(&without), address(&with));
    probe(&with, &urls, &[]).await.unwrap();
    // One that is down may come back with it.
    with.stop_frontend(0);
    let mut sink = build(&without, &urls, &[]).unwrap();
    assert_eq!(sink.metadata.probe().await.unwrap_err().retry(), Retry::Transient);
}

#[tokio::test]
async fn a_password_in_clear_text_goes_to_a_server_that_is_known_by_its_certificate_only() {
    let authority = Authority::new();
    let (_file, trusted) = pem(&authority);
    let server = encrypting(&authority, &["localhost"]);
    {
        let mut world = server.world();
        world.users.insert("carol".to_owned(), "s3cret-pw".to_owned());
        world.directory_users.push("carol".to_owned());
    }
    let login = [("username", "carol"), ("password", "s3cret-pw")];
    for (mode, works) in [("DISABLED", false), ("PREFERRED", false), ("REQUIRED", false), ("VERIFY_CA", true)] {
        let tap = Tap::new(address(&server));
        let result = probe(&server, &format!("{}?sslMode={mode}&{trusted}", tap.address), &login).await;
        if works {
            result.unwrap();
        } else {
            assert_refused(
                result,
                &["mysql_clear_password", "only over TLS", "sslMode=VERIFY_IDENTITY", "trustCertificateKeyStoreUrl"],
            );
        }
        assert!(!tap.saw("s3cret-pw"), "{mode}");
    }
}
