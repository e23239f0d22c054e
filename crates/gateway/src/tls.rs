//! The certificate that clients are shown; it changes while the gateway runs.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use crate::error::GatewayError;
use crate::settings::TlsFiles;

/// TLS towards clients.
#[derive(Debug)]
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    shown: Arc<Shown>,
    files: TlsFiles,
}

/// The certificate that new connections are shown.
#[derive(Debug)]
struct Shown(RwLock<Read>);

#[derive(Debug)]
struct Read {
    certificate: Arc<CertifiedKey>,
    /// When both files were last written, as far as the system tells.
    written: [Option<SystemTime>; 2],
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let read = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&read.certificate))
    }
}

impl Tls {
    /// Reads certificate and key.
    pub(crate) fn read(files: TlsFiles) -> Result<Self, GatewayError> {
        let provider = Arc::new(default_provider());
        let shown = Arc::new(Shown(RwLock::new(read(&files, &provider)?)));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites for both versions")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
            shown,
            files,
        })
    }

    /// What makes a connection a secure one.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// Reads the files again; on an error the old certificate stays.
    pub(crate) fn reload(&self) -> Result<(), GatewayError> {
        let read = read(&self.files, self.config.crypto_provider())?;
        *self.shown.0.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }

    /// Reads the files again if they have been written since.
    pub(crate) fn reload_if_written(&self) {
        let known = self
            .shown
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .written;
        if written(&self.files) != known {
            // One of the two may have been written and the other not yet: it is tried again.
            let _ = self.reload();
        }
    }
}

fn written(files: &TlsFiles) -> [Option<SystemTime>; 2] {
    [&files.cert, &files.key].map(|path| path.metadata().and_then(|file| file.modified()).ok())
}

fn read(files: &TlsFiles, provider: &CryptoProvider) -> Result<Read, GatewayError> {
    let written = written(files);
    let wrong = |path: &Path, why: String| GatewayError::Certificate {
        path: path.to_owned(),
        why,
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(&files.cert, error.to_string()));
    let chain = chain?;
    if chain.is_empty() {
        return Err(wrong(&files.cert, "it holds no certificate".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| wrong(&files.key, error.to_string()))?;
    let certificate = CertifiedKey::from_der(chain, key, provider)
        .map_err(|error| wrong(&files.key, error.to_string()))?;
    Ok(Read {
        certificate: Arc::new(certificate),
        written,
    })
}
