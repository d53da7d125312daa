//! Every way of authentication, over TCP and over TLS.

use crate::support::proxy::Proxy;
use crate::support::servers::{self, Server, unique};
use rowferry::mysql::wire::{Authorities, ConnectOptions, Connection, TlsMode, WireError};

/// A user of a test's own, dropped at its end.
struct User<'a> {
    admin: &'a mut Connection,
    name: String,
}

impl<'a> User<'a> {
    /// `identified` is what follows the user's name in CREATE USER; `None` if the server does not know that way.
    fn create(admin: &'a mut Connection, identified: &str) -> Option<Self> {
        let name = format!("rf{}", unique());
        // At localhost too: an anonymous user there would come before one from anywhere.
        match admin.execute(&format!("CREATE USER '{name}'@'%' {identified}, '{name}'@'localhost' {identified}")) {
            Ok(_) => Some(Self { admin, name }),
            Err(e) => {
                // ER_PLUGIN_IS_NOT_LOADED: a server without it.
                assert_eq!(e.code(), Some(1524), "{e}");
                eprintln!("left out: {e}");
                None
            }
        }
    }

    fn options(&self, server: &ConnectOptions, password: &str, tls: TlsMode) -> ConnectOptions {
        let mut options = server.clone();
        options.user.clone_from(&self.name);
        options.password = password.into();
        options.tls = tls;
        options
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let _ = self.admin.execute(&format!("DROP USER '{0}'@'%', '{0}'@'localhost'", self.name));
    }
}

fn offers_tls(options: &ConnectOptions) -> bool {
    let mut options = options.clone();
    options.tls = TlsMode::Preferred;
    Connection::connect(&options).unwrap().is_encrypted()
}

/// Connects with each password right and wrong, plain and encrypted.
fn matrix(server: Server, options: &ConnectOptions, identified: impl Fn(&str) -> String, plain_works: bool) {
    let mut admin = Connection::connect(options).unwrap();
    let tls = offers_tls(options);
    for password in ["", "s3cret", "pässwörd with blanks; 'quotes' and 🦀", &"long".repeat(45)] {
        let quoted = password.replace('\'', "''");
        for mode in [TlsMode::Disabled, TlsMode::Required] {
            if mode == TlsMode::Required && !tls {
                continue;
            }
            // A new user each time: nothing is in the server's password cache.
            let Some(user) = User::create(&mut admin, &identified(&quoted)) else { return };
            let good = user.options(options, password, mode);
            // The second time goes through the cache.
            for round in 0..2 {
                match Connection::connect(&good) {
                    Ok(mut connection) => {
                        let row = connection.query_first("SELECT CURRENT_USER() AS u").unwrap().unwrap();
                        assert!(row.require("u").unwrap().starts_with(&user.name), "{server:?}");
                        assert_eq!(connection.is_encrypted(), mode == TlsMode::Required);
                    }
                    Err(e) => assert!(
                        mode == TlsMode::Disabled && !plain_works && matches!(e, WireError::Auth(_)),
                        "{server:?} {mode:?} round {round}, password of {} bytes: {e}",
                        password.len()
                    ),
                }
            }
            let bad = user.options(options, "wrong", mode);
            let error = Connection::connect(&bad).unwrap_err();
            assert!(matches!(error, WireError::Auth(_)) && !error.is_transient(), "{server:?}: {error}");
            assert!(!error.to_string().contains("wrong"), "{error}");
        }
    }
}

#[test]
fn caching_sha2_password() {
    let _apart = servers::against_replicas();
    for (server, options) in servers::all().filter(|(s, _)| *s == Server::Mysql97) {
        matrix(server, &options, |p| format!("IDENTIFIED WITH caching_sha2_password BY '{p}'"), true);
    }
}

#[test]
fn sha256_password() {
    let _apart = servers::against_replicas();
    for (server, options) in servers::all().filter(|(s, _)| *s == Server::Mysql97) {
        matrix(server, &options, |p| format!("IDENTIFIED WITH sha256_password BY '{p}'"), true);
    }
}

#[test]
fn native_password() {
    for (server, options) in servers::all().filter(|(s, _)| *s != Server::Mysql97) {
        matrix(server, &options, |p| format!("IDENTIFIED BY '{p}'"), true);
    }
}

#[test]
fn ed25519() {
    for (server, options) in servers::all().filter(|(s, _)| *s == Server::Mariadb) {
        matrix(server, &options, |p| format!("IDENTIFIED VIA ed25519 USING PASSWORD('{p}')"), true);
    }
}

#[test]
fn tls_modes() {
    for (server, options) in servers::all() {
        let mut preferred = options.clone();
        preferred.tls = TlsMode::Preferred;
        let encrypted = Connection::connect(&preferred).unwrap().is_encrypted();
        let mut required = options.clone();
        required.tls = TlsMode::Required;
        match Connection::connect(&required) {
            Ok(mut connection) => {
                assert!(encrypted && connection.is_encrypted(), "{server:?}");
                let row = connection.query_first("SHOW STATUS LIKE 'Ssl_version'").unwrap().unwrap();
                assert!(row.require("Value").unwrap().starts_with("TLSv1."), "{server:?}");
                // Rows beyond the size of TLS records and of the read buffer.
                let row = connection.query_first("SELECT REPEAT('x', 3000000) AS r").unwrap().unwrap();
                assert_eq!(row.bytes("r").unwrap().len(), 3_000_000);
            }
            Err(e) => assert!(!encrypted && matches!(e, WireError::Tls(_)), "{server:?}: {e}"),
        }
    }
}

#[test]
fn a_slow_network_changes_nothing() {
    for (server, options) in servers::all() {
        let proxy = Proxy::before(&options.host, options.port);
        proxy.trickle();
        for mode in [TlsMode::Disabled, TlsMode::Preferred] {
            let mut through = proxy.through(&options);
            through.tls = mode;
            let mut connection = Connection::connect(&through).unwrap();
            let encrypted = mode != TlsMode::Disabled && offers_tls(&options);
            assert_eq!(connection.is_encrypted(), encrypted, "{server:?} {mode}");
            let row = connection.query_first("SELECT REPEAT('x', 50000) AS r").unwrap().unwrap();
            assert_eq!(row.bytes("r").unwrap().len(), 50_000, "{server:?} {mode}");
        }
    }
}

#[test]
fn certificates_are_verified_where_asked() {
    let Some(options) = Server::Mysql97.options() else { return };
    let mut connection = Connection::connect(&options).unwrap();
    let row = connection.query_first("SELECT @@datadir AS d, @@ssl_ca AS ca").unwrap().unwrap();
    let ca = std::path::Path::new(row.get("d").unwrap()).join(row.get("ca").unwrap());
    if !ca.is_file() {
        eprintln!("skipped: {} is not readable here", ca.display());
        return;
    }
    let mut with = options.clone();
    with.authorities = Authorities::Named(ca);
    with.tls = TlsMode::VerifyCa;
    assert!(Connection::connect(&with).unwrap().is_encrypted());
    // The server's own certificate names no host.
    with.tls = TlsMode::VerifyIdentity;
    assert!(matches!(Connection::connect(&with), Err(WireError::Tls(_))));
    // The public authorities did not sign it.
    with.authorities = Authorities::Public;
    with.tls = TlsMode::VerifyCa;
    assert!(matches!(Connection::connect(&with), Err(WireError::Tls(_))));
    with.authorities = Authorities::Named("/nonexistent/ca.pem".into());
    let error = Connection::connect(&with).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/ca.pem"), "{error}");
}

#[test]
fn a_password_is_never_shown() {
    let mut options = ConnectOptions::new("h", 1, "u");
    options.password = "s3cret".into();
    assert!(!format!("{options:?}").contains("s3cret"));
}
