//! `jdbc.properties.*` and `debezium.*`: settings of programs that are not there, some of which mean something here.

use super::super::diagnostic::Diagnostics;
use rowferry_sinks::options::{Options, Position};
use rowferry_tls::{Problem, TRUST_STORE, TRUST_STORE_TYPE, TlsMode, WORDS, Wish, trust_store};
use std::path::PathBuf;
use std::time::Duration;

const JDBC: &str = "jdbc.properties.";
const DEBEZIUM: &str = "debezium.";
/// Properties beside TLS' words that have an effect.
const OTHERS: [&str; 3] = [TRUST_STORE, TRUST_STORE_TYPE, "socketTimeout"];
const DEBEZIUM_MODE: &str = "debezium.database.ssl.mode";

/// What has an effect.
pub(super) struct Jdbc {
    /// How connections are encrypted.
    pub(super) tls: TlsMode,
    /// A PEM file with authorities; `None`: none is named.
    pub(super) authority: Option<PathBuf>,
    /// `None`: for ever.
    pub(super) socket_timeout: Option<Duration>,
}

/// Reads all of both prefixes: what has an effect, and a warning for what has none.
pub(super) fn read(options: &Options, diagnostics: &mut Diagnostics) -> Jdbc {
    let mut reader = Reader { options, diagnostics };
    let tls = reader.tls();
    let authority = reader.authority(tls);
    let socket_timeout = reader.millis("socketTimeout").filter(|timeout| !timeout.is_zero());
    reader.warn_jdbc();
    reader.warn_debezium();
    Jdbc { tls, authority, socket_timeout }
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

    /// Debezium's word goes before the driver's older switches, and the driver's `sslMode` before both.
    fn tls(&mut self) -> TlsMode {
        let (wish, errors) = Wish::read(|property| self.options.text(&format!("{JDBC}{property}")));
        for error in errors {
            let hint = matches!(error.problem, Problem::NotBoolean).then(|| "write true or false".to_owned());
            self.invalid(&format!("{JDBC}{}", error.property), format!("`{}` {}", error.text, error.problem), hint);
        }
        let debezium = self.options.text(DEBEZIUM_MODE).and_then(|text| {
            let mode: Result<TlsMode, _> = text.parse();
            mode.map_err(|error| self.invalid(DEBEZIUM_MODE, format!("`{text}` {error}"), None)).ok()
        });
        wish.ssl_mode.or(debezium).unwrap_or(wish.older)
    }

    /// The file with the authorities' certificates, where they are looked at.
    fn authority(&mut self, mode: TlsMode) -> Option<PathBuf> {
        let name = format!("{JDBC}{TRUST_STORE}");
        let Some(text) = self.options.text(&name).map(str::to_owned) else {
            let kind = format!("{JDBC}{TRUST_STORE_TYPE}");
            if self.options.text(&kind).is_some() {
                let at = self.at(&kind);
                let message = format!("has no effect without `{name}`");
                self.diagnostics.warning(at, format!("source.{kind}"), message).maybe(None);
            }
            return None;
        };
        if !mode.verifies() {
            let at = self.at(&name);
            let message = format!("has no effect with sslMode={mode}");
            self.diagnostics.warning(at, format!("source.{name}"), message).maybe(None);
            return None;
        }
        match trust_store(&text, self.options.text(&format!("{JDBC}{TRUST_STORE_TYPE}"))) {
            Ok(path) => Some(path),
            Err(error) => {
                self.invalid(&name, error.to_string(), error.hint());
                None
            }
        }
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
        let keys: Vec<String> = self.options.with_prefix(JDBC).map(|(key, _)| key.to_owned()).collect();
        for key in keys.iter().filter(|key| !WORDS.contains(&key.as_str()) && !OTHERS.contains(&key.as_str())) {
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
