//! PEM files.

use super::error::SetUpError;
use rustls::RootCertStore;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;

fn unreadable(what: &'static str, path: &Path, reason: impl ToString) -> SetUpError {
    SetUpError::Unreadable { what, path: path.to_owned(), reason: reason.to_string() }
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, SetUpError> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let all = all.map_err(|e| unreadable(what, path, e))?;
    if all.is_empty() { Err(unreadable(what, path, "there is none, as PEM")) } else { Ok(all) }
}

/// The authorities in a file; `None`: the public ones.
///
/// # Errors
/// The file can't be read, or has none in it.
pub(super) fn authorities(file: Option<&Path>) -> Result<Arc<RootCertStore>, SetUpError> {
    let mut roots = RootCertStore::empty();
    match file {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            // One that can't be used doesn't make those beside it useless: bundles of systems have all kinds.
            let mut last = None;
            for certificate in certificates("the authority's certificates", path)? {
                if let Err(reason) = roots.add(certificate) {
                    last = Some(reason);
                }
            }
            if let (true, Some(reason)) = (roots.is_empty(), last) {
                return Err(SetUpError::NoAuthority { path: path.to_owned(), reason });
            }
        }
    }
    Ok(Arc::new(roots))
}

/// A client's certificate with those that lead from it to an authority.
///
/// # Errors
/// The file can't be read, or has none in it.
pub(super) fn chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, SetUpError> {
    certificates("the client's certificates", file)
}

/// A client's private key.
///
/// # Errors
/// The file can't be read, or has none in it.
pub(super) fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, SetUpError> {
    PrivateKeyDer::from_pem_file(file).map_err(|e| unreadable("the client's key", file, e))
}
