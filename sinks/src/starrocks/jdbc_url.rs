//! `jdbc-url`: the frontends' MySQL ports, and TLS in the words of MySQL's JDBC driver.

use crate::SinkError;
use crate::olap::authorities;
use crate::olap::mysql::{Tls, TlsMode};
use crate::options::parse_bool;
use crate::settings::{Settings, without_secrets};
use std::path::PathBuf;
use url::Url;

const OPTION: &str = "jdbc-url";
const WANTED: &str = "jdbc:mysql://host:port,…";
const STORE: &str = "trustCertificateKeyStoreUrl";
const STORE_TYPE: &str = "trustCertificateKeyStoreType";

/// What the option says.
#[derive(Debug)]
pub(super) struct JdbcUrl {
    /// `host:port` of each frontend.
    pub(super) addresses: Vec<String>,
    /// How connections are encrypted.
    pub(super) tls: Tls,
}

/// `jdbc:mysql://fe1:9030,fe2:9030/…?…`
///
/// # Errors
/// It can't be understood, or asks for what this version does not do, or the authority's certificates can't be read.
pub(super) fn parse(settings: &Settings<'_>, url: &str) -> Result<JdbcUrl, SinkError> {
    let rest = url.strip_prefix("jdbc:mysql://").ok_or_else(|| settings.bad(OPTION, &without_secrets(url), WANTED))?;
    let (hosts, query) = rest.split_once('?').unwrap_or((rest, ""));
    let hosts = hosts.split('/').next().unwrap_or_default();
    let addresses: Vec<String> = hosts
        .split(',')
        .map(str::trim)
        .filter(|h| !h.is_empty())
        .map(|h| {
            if h.rsplit_once(':').is_some_and(|(_, p)| p.parse::<u16>().is_ok()) {
                h.to_owned()
            } else {
                format!("{h}:9030")
            }
        })
        .collect();
    if addresses.is_empty() || addresses.iter().any(|a| a.contains('@')) {
        return Err(settings.bad(OPTION, &without_secrets(url), WANTED));
    }
    let parameters = Parameters(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect());
    let mode = parameters.mode()?;
    let named = parameters.authority(mode)?;
    let from_environment = authorities::file().filter(|_| named.is_none() && mode.verifies());
    let tls = match &from_environment {
        None => Tls::new(mode, named.as_deref()).map_err(|reason| bad(&reason))?,
        Some(file) => Tls::new(mode, Some(file)).map_err(|reason| {
            bad(&reason).hint(format!("set {} to a file with authorities as PEM, or unset it", authorities::VARIABLE))
        })?,
    };
    Ok(JdbcUrl { addresses, tls })
}

fn bad(what: &str) -> SinkError {
    SinkError::permanent(format!("starrocks sink: option `{OPTION}`: {what}"))
}

/// The driver's properties. It does not care for the case of their names.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn get(&self, name: &str) -> Option<&str> {
        // The driver lets the last one count.
        let found = self.0.iter().rfind(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    fn switch(&self, name: &str) -> Result<Option<bool>, SinkError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        parse_bool(text).map(Some).map_err(|e| bad(&format!("`{name}={text}` {}", e.message)))
    }

    /// `sslMode` goes before the older switches, as in the driver; of those, `useSSL` is on where it is not given.
    fn mode(&self) -> Result<TlsMode, SinkError> {
        let on = self.switch("useSSL")?.unwrap_or(true);
        let require = self.switch("requireSSL")?.unwrap_or(false);
        let verify = self.switch("verifyServerCertificate")?.unwrap_or(false);
        let older = match (on, verify, require) {
            (false, ..) => TlsMode::Disabled,
            (true, true, _) => TlsMode::VerifyCa,
            (true, false, true) => TlsMode::Required,
            (true, false, false) => TlsMode::Preferred,
        };
        let Some(text) = self.get("sslMode") else { return Ok(older) };
        let word = text.replace('-', "_").to_ascii_uppercase();
        TlsMode::ALL.into_iter().find(|mode| mode.to_string() == word).ok_or_else(|| {
            let words = TlsMode::ALL.map(|mode| mode.to_string()).join(", ");
            bad(&format!("`sslMode={text}` is not one of {words}"))
        })
    }

    /// The file with the authority's certificates, if one is named.
    fn authority(&self, mode: TlsMode) -> Result<Option<PathBuf>, SinkError> {
        let Some(store) = self.get(STORE) else { return Ok(None) };
        if !mode.verifies() {
            tracing::warn!("starrocks sink: `{STORE}` in `{OPTION}` has no effect with sslMode={mode}");
            return Ok(None);
        }
        let kind = self.get(STORE_TYPE).unwrap_or("JKS");
        if !kind.eq_ignore_ascii_case("PEM") {
            return Err(bad(&format!("`{STORE}` names a key store of Java ({kind}), which rowferry can't read")).hint(
                format!(
                    "export the authority's certificates as PEM (`keytool -exportcert -rfc`) and add `{STORE_TYPE}=PEM`"
                ),
            ));
        }
        // The driver takes what is no URL for a file.
        let path = match Url::parse(store) {
            Ok(url) if url.scheme() == "file" => url.to_file_path().ok(),
            Ok(_) => None,
            Err(_) => Some(PathBuf::from(store)),
        };
        path.map(Some).ok_or_else(|| bad(&format!("`{STORE}={store}` is not the `file:` URL of a file")))
    }
}
