//! TLS towards clients: the certificates that they are shown, and those that they have to show.
//! Both change while the gateway runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{
    ClientHello, NoClientAuth, ResolvesServerCert, WebPkiClientVerifier,
};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use webpki::EndEntityCert;

use crate::error::GatewayError;
use crate::settings::{CertificateFiles, ClientAuth, TlsFiles};

/// TLS towards clients.
#[derive(Debug)]
pub(crate) struct Tls {
    read: RwLock<Read>,
    files: TlsFiles,
}

#[derive(Debug)]
struct Read {
    config: Arc<ServerConfig>,
    /// When the files were last written, as far as the system tells.
    written: Vec<Option<SystemTime>>,
}

impl Tls {
    /// Reads certificates and keys.
    pub(crate) fn read(files: TlsFiles) -> Result<Self, GatewayError> {
        Ok(Self {
            read: RwLock::new(read(&files)?),
            files,
        })
    }

    /// What makes a connection a secure one.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&read.config))
    }

    /// Reads the files again; on an error everything stays as it was.
    pub(crate) fn reload(&self) -> Result<(), GatewayError> {
        let read = read(&self.files)?;
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }

    /// Whether clients are asked who they are.
    pub(crate) fn asks_for_certificates(&self) -> bool {
        self.files.client_ca.is_some()
    }

    /// Reads the files again if they have been written since.
    pub(crate) fn reload_if_written(&self) {
        let is_as_known = {
            let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
            read.written == written(&self.files)
        };
        if !is_as_known {
            // One of them may have been written and another not yet: it is tried again.
            let _ = self.reload();
        }
    }
}

fn written(files: &TlsFiles) -> Vec<Option<SystemTime>> {
    let pairs = std::iter::once(&files.certificate).chain(&files.others);
    let paths = pairs.flat_map(|pair| [&pair.cert, &pair.key]);
    paths
        .chain(files.client_ca.as_ref())
        .map(|path| path.metadata().and_then(|file| file.modified()).ok())
        .collect()
}

fn read(files: &TlsFiles) -> Result<Read, GatewayError> {
    let written = written(files);
    let provider = Arc::new(default_provider());
    let certificates = ByName::read(files, &provider)?;
    let clients = clients(files, &provider)?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has cipher suites for both versions")
        .with_client_cert_verifier(clients)
        .with_cert_resolver(Arc::new(certificates));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Read {
        config: Arc::new(config),
        written,
    })
}

/// Certificates, of which the client chooses one by the name that it asks for (SNI, RFC 6066).
#[derive(Debug)]
struct ByName {
    /// For clients that ask for no name or for another one.
    default: Arc<CertifiedKey>,
    /// Names as certificates have them, in small letters, `*.` included.
    named: HashMap<String, Arc<CertifiedKey>>,
}

impl ByName {
    fn read(files: &TlsFiles, provider: &CryptoProvider) -> Result<Self, GatewayError> {
        let default = Arc::new(certificate(&files.certificate, provider)?);
        let mut named = HashMap::new();
        // The first certificate that has a name is shown for it.
        let mut add = |names: Vec<String>, certificate: &Arc<CertifiedKey>| {
            for name in names {
                let shown = named.entry(name);
                shown.or_insert_with(|| Arc::clone(certificate));
            }
        };
        add(names(&default), &default);
        for pair in &files.others {
            let certificate = Arc::new(certificate(pair, provider)?);
            let names = names(&certificate);
            if names.is_empty() {
                let why = "it names no host (subjectAltName), and would never be shown";
                return Err(wrong(&pair.cert, &why));
            }
            add(names, &certificate);
        }
        Ok(Self { default, named })
    }

    fn of(&self, name: &str) -> &Arc<CertifiedKey> {
        let name = name.to_ascii_lowercase();
        // A wildcard stands for one label (RFC 6125, 6.4.3).
        let wildcard = || {
            let (_, domain) = name.split_once('.')?;
            self.named.get(&format!("*.{domain}"))
        };
        let found = self.named.get(&name).or_else(wildcard);
        found.unwrap_or(&self.default)
    }
}

/// Names of a certificate, as clients ask for them.
fn names(certificate: &CertifiedKey) -> Vec<String> {
    let own = certificate.cert.first();
    // An old one without extensions has none.
    let own = own.and_then(|own| EndEntityCert::try_from(own).ok());
    let names = own.iter().flat_map(|own| own.valid_dns_names());
    names.map(str::to_ascii_lowercase).collect()
}

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let certificate = hello
            .server_name()
            .map_or(&self.default, |name| self.of(name));
        Some(Arc::clone(certificate))
    }
}

/// Whom clients have to prove to be.
fn clients(
    files: &TlsFiles,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, GatewayError> {
    let Some(path) = &files.client_ca else {
        return Ok(Arc::new(NoClientAuth));
    };
    let roots = Arc::new(roots(path)?);
    let mut builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
    if files.client_auth == ClientAuth::Optional {
        builder = builder.allow_unauthenticated();
    }
    builder.build().map_err(|why| wrong(path, &why))
}

/// The certificates of those who sign.
pub(crate) fn roots(path: &PathBuf) -> Result<RootCertStore, GatewayError> {
    let mut roots = RootCertStore::empty();
    for certificate in chain(path)? {
        roots.add(certificate).map_err(|why| wrong(path, &why))?;
    }
    Ok(roots)
}

/// A certificate with those that lead to its signer, and its key.
pub(crate) fn certificate(
    files: &CertificateFiles,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, GatewayError> {
    let chain = chain(&files.cert)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|why| wrong(&files.key, &why))?;
    CertifiedKey::from_der(chain, key, provider).map_err(|why| wrong(&files.key, &why))
}

fn chain(path: &PathBuf) -> Result<Vec<CertificateDer<'static>>, GatewayError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let chain = chain.map_err(|why| wrong(path, &why))?;
    if chain.is_empty() {
        return Err(wrong(path, &"it holds no certificate"));
    }
    Ok(chain)
}

fn wrong(path: &Path, why: &impl ToString) -> GatewayError {
    GatewayError::Certificate {
        path: path.to_owned(),
        why: why.to_string(),
    }
}
