//! TLS as the pipeline's file and the environment ask for it.

use crate::support::rowferry::Pipeline;
use crate::support::servers::{Database, Server};
use rowferry::mysql::wire::Connection;
use std::path::Path;

#[test]
fn a_certificate_may_come_from_the_authority_that_the_file_or_the_environment_names() {
    let Some(server) = Server::Mysql97.options() else { return };
    let mut connection = Connection::connect(&server).unwrap();
    let row = connection.query_first("SELECT @@datadir AS d, @@ssl_ca AS ca").unwrap().unwrap();
    let authority = Path::new(row.get("d").unwrap()).join(row.get("ca").unwrap());
    if !authority.is_file() {
        eprintln!("skipped: {} is not readable here", authority.display());
        return;
    }
    let authority = authority.to_str().unwrap();
    let database = Database::create(&server, "encryption");
    database.connect().execute("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let check = |properties: &[&str], environment: &[(&str, &str)]| {
        let source: Vec<String> = properties.iter().map(|p| format!("jdbc.properties.{p}")).collect();
        let source: Vec<&str> = source.iter().map(String::as_str).collect();
        let pipeline = Pipeline::new(&server, &format!("{}.t", database.name), &source, "  type: values\n", &[]);
        let output = pipeline.run(&["check", "--connect"], environment);
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    };
    let store = format!("trustCertificateKeyStoreUrl: 'file:{authority}'");
    let pem = "trustCertificateKeyStoreType: PEM";
    let (good, text) = check(&["sslMode: VERIFY_CA"], &[]);
    assert!(!good && text.contains("certificate"), "{text}");
    let (good, text) = check(&["sslMode: VERIFY_CA"], &[("SSL_CERT_FILE", authority)]);
    assert!(good, "{text}");
    let (good, text) = check(&["sslMode: VERIFY_CA", &store, pem], &[("SSL_CERT_FILE", "/nonexistent.pem")]);
    assert!(good && !text.contains("no effect"), "{text}");
    let (good, text) = check(&["sslMode: VERIFY_CA"], &[("SSL_CERT_FILE", "/nonexistent.pem")]);
    assert!(!good && text.contains("/nonexistent.pem"), "{text}");
    // Where nobody looks at certificates an authority is of no use, and a missing one no harm.
    let (good, text) = check(&["sslMode: REQUIRED", &store, pem], &[("SSL_CERT_FILE", "/nonexistent.pem")]);
    assert!(good && text.contains("no effect with sslMode=REQUIRED"), "{text}");
}
