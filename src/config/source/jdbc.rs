//! `jdbc.properties.*` and `debezium.*`: settings of programs that are not there, some of which mean something here.

use super::super::diagnostic::Diagnostics;
use rowferry_sinks::options::{Options, Position, parse_bool};
use std::time::Duration;

/// How connections are encrypted, in the words of MySQL's `sslMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// Never.
    Disabled,
    /// If the server can.
    #[default]
    Preferred,
    /// Always; the server's certificate is not looked at.
    Required,
    /// Always; the certificate must be signed by a known authority.
    VerifyCa,
    /// Always; and it must be for the host name.
    VerifyIdentity,
}

const TLS_MODES: [(&str, TlsMode); 5] = [
    ("DISABLED", TlsMode::Disabled),
    ("PREFERRED", TlsMode::Preferred),
    ("REQUIRED", TlsMode::Required),
    ("VERIFY_CA", TlsMode::VerifyCa),
    ("VERIFY_IDENTITY", TlsMode::VerifyIdentity),
];

const JDBC: &str = "jdbc.properties.";
const DEBEZIUM: &str = "debezium.";

/// Reads all of both prefixes: what has an effect, and a warning for what has none.
pub(super) fn read(options: &Options, diagnostics: &mut Diagnostics) -> (TlsMode, Option<Duration>) {
    let mut reader = Reader { options, diagnostics };
    let tls = reader.tls();
    let socket_timeout = reader.millis("socketTimeout");
    reader.warn_jdbc();
    reader.warn_debezium();
    (tls, socket_timeout.filter(|timeout| !timeout.is_zero()))
}

struct Reader<'a> {
    options: &'a Options,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn at(&self, name: &str) -> Position {
        self.options.position(name).unwrap_or_default()
    }

    fn invalid(&mut self, name: &str, message: String, hint: Option<String>) {
        let at = self.at(name);
        self.diagnostics.invalid(at, format!("source.{name}"), message).maybe(hint);
    }

    /// `sslMode` goes before the older switches, as in the driver; of those, `useSSL` is on where it is not given.
    fn tls(&mut self) -> TlsMode {
        let switch = |reader: &mut Self, key: &str| {
            let name = format!("{JDBC}{key}");
            let text = reader.options.text(&name)?.to_owned();
            match parse_bool(&text) {
                Ok(on) => Some(on),
                Err(error) => {
                    reader.invalid(&name, format!("`{text}` {}", error.message), error.hint);
                    None
                }
            }
        };
        let use_ssl = switch(self, "useSSL");
        let require = switch(self, "requireSSL").unwrap_or(false);
        let verify = switch(self, "verifyServerCertificate").unwrap_or(false);
        let older = match use_ssl {
            Some(false) => TlsMode::Disabled,
            _ if verify => TlsMode::VerifyCa,
            _ if require => TlsMode::Required,
            _ => TlsMode::Preferred,
        };
        let mode = |reader: &mut Self, name: &str| {
            let text = reader.options.text(name)?.to_owned();
            let word = text.replace('-', "_").to_ascii_uppercase();
            let found = TLS_MODES.iter().find(|(known, _)| *known == word).map(|(_, mode)| *mode);
            if found.is_none() {
                let words: Vec<&str> = TLS_MODES.iter().map(|(word, _)| *word).collect();
                reader.invalid(name, format!("`{text}` is not one of {}", words.join(", ")), None);
            }
            found
        };
        let debezium = mode(self, "debezium.database.ssl.mode");
        mode(self, "jdbc.properties.sslMode").or(debezium).unwrap_or(older)
    }

    fn millis(&mut self, key: &str) -> Option<Duration> {
        let name = format!("{JDBC}{key}");
        let text = self.options.text(&name)?.to_owned();
        match text.parse::<u32>() {
            Ok(millis) => Some(Duration::from_millis(u64::from(millis))),
            Err(_) => {
                self.invalid(&name, format!("`{text}` is not a number of milliseconds"), None);
                None
            }
        }
    }

    fn warn_jdbc(&mut self) {
        const EFFECTIVE: &[&str] = &["useSSL", "requireSSL", "verifyServerCertificate", "sslMode", "socketTimeout"];
        let keys: Vec<String> = self.options.with_prefix(JDBC).map(|(key, _)| key.to_owned()).collect();
        for key in keys.iter().filter(|key| !EFFECTIVE.contains(&key.as_str())) {
            let hint = match key.as_str() {
                "tinyInt1isBit" => Some("treat-tinyint1-as-boolean.enabled decides"),
                "connectionTimeZone" | "serverTimezone" => Some("server-time-zone decides"),
                "connectTimeout" => Some("connect.timeout decides"),
                "characterEncoding" | "useUnicode" | "connectionCollation" => {
                    Some("text is always read in the character set of its column")
                }
                "zeroDateTimeBehavior" => Some("zero dates are always NULL"),
                _ => None,
            };
            let name = format!("{JDBC}{key}");
            let at = self.at(&name);
            let message = "has no effect: rowferry does not use MySQL's JDBC driver";
            self.diagnostics.warning(at, format!("source.{name}"), message).maybe(hint.map(str::to_owned));
        }
    }

    fn warn_debezium(&mut self) {
        let given: Vec<(String, String)> =
            self.options.with_prefix(DEBEZIUM).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        for (key, value) in given {
            let name = format!("{DEBEZIUM}{key}");
            let at = self.at(&name);
            let path = format!("source.{name}");
            match key.as_str() {
                "database.ssl.mode" => {}
                // Without these the rows would be other rows: to pass over them in silence would be wrong.
                "skipped.operations" if !matches!(value.trim(), "" | "none") => {
                    let message = "this version of rowferry does not skip kinds of changes";
                    self.diagnostics.unsupported(at, path, message).hint("remove it");
                }
                "converters" => {
                    let message = "this version of rowferry can't run converters of Debezium";
                    self.diagnostics.unsupported(at, path, message).hint("remove it");
                }
                _ => {
                    let message = "has no effect: rowferry reads the binlog without Debezium";
                    self.diagnostics.warning(at, path, message).maybe(None);
                }
            }
        }
    }
}
