//! Certificates, their keys, and who has to show one.

use std::path::PathBuf;

/// Certificate and key, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The chain of certificates, the owner's first.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// TLS towards clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// What is shown to clients that ask for no name or for another one.
    pub certificate: CertificateFiles,
    /// What is shown to clients that ask for the names in it.
    pub others: Vec<CertificateFiles>,
    /// Who signs the certificates of clients; `None`: they show none.
    pub client_ca: Option<PathBuf>,
    /// Whether clients have to show one, where somebody signs them.
    pub client_auth: ClientAuth,
}

/// Whether clients have to show a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuth {
    /// Who shows none is not served.
    #[default]
    Required,
    /// Who shows none is served, and who shows one that is not signed is not.
    Optional,
}
