//! What is wrong with certificates, where the library's words don't say it.

/// How the library tells that a certificate is its own authority's.
pub(crate) const OWN_AUTHORITY: &str = "CaUsedAsEndEntity";
/// What that means.
pub(crate) const OWN_AUTHORITY_MEANS: &str = "the server's certificate is itself an authority's, as a self-signed one is: make one for \
                                              the server and have the authority sign it";
