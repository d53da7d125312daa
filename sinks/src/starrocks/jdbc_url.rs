//! `jdbc-url`: the frontends' MySQL ports, and TLS in the words of MySQL's JDBC driver.

use crate::SinkError;
use crate::settings::{Settings, without_secrets};
use rowferry_tls::{AUTHORITIES, Authorities, Client, TRUST_STORE, TRUST_STORE_TYPE, TlsMode, Wish, trust_store};
use std::fmt::Display;
use std::path::PathBuf;

const OPTION: &str = "jdbc-url";
const WANTED: &str = "jdbc:mysql://host:port,…";

/// What the option says.
#[derive(Debug)]
pub(super) struct JdbcUrl {
    /// `host:port` of each frontend.
    pub(super) addresses: Vec<String>,
    /// How connections are encrypted.
    pub(super) tls: Client,
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
    let authorities = named.map_or_else(Authorities::of_environment, Authorities::Named);
    let tls = Client::new(mode, &authorities, None).map_err(|reason| match authorities {
        Authorities::Environment(_) => {
            bad(reason).hint(format!("set {AUTHORITIES} to a file with authorities as PEM, or unset it"))
        }
        Authorities::Named(_) | Authorities::Public => bad(reason),
    })?;
    Ok(JdbcUrl { addresses, tls })
}

fn bad(what: impl Display) -> SinkError {
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

    fn mode(&self) -> Result<TlsMode, SinkError> {
        let (wish, errors) = Wish::read(|name| self.get(name));
        errors.into_iter().next().map_or_else(|| Ok(wish.mode()), |error| Err(bad(error)))
    }

    /// The file with the authority's certificates, if one is named.
    fn authority(&self, mode: TlsMode) -> Result<Option<PathBuf>, SinkError> {
        let Some(store) = self.get(TRUST_STORE) else { return Ok(None) };
        if !mode.verifies() {
            tracing::warn!("starrocks sink: `{TRUST_STORE}` in `{OPTION}` has no effect with sslMode={mode}");
            return Ok(None);
        }
        trust_store(store, self.get(TRUST_STORE_TYPE)).map(Some).map_err(|error| match error.hint() {
            Some(hint) => bad(error).hint(hint),
            None => bad(error),
        })
    }
}
