//! TLS towards backends: whose certificates are good, and what the gateway shows them.

use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::ResolvesClientCert;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::crypto::{
    CryptoProvider, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use crate::error::GatewayError;
use crate::settings::BackendTls;
use crate::socket::Socket;
use crate::tls::{certificate, roots};

/// TLS towards backends, with its files read.
#[derive(Debug)]
pub(crate) struct BackendTlsInForce {
    /// For HTTP/1.1 alone, and for HTTP/2 if the backend agrees to it.
    http1: Arc<ClientConfig>,
    http2: Arc<ClientConfig>,
    server_name: Option<String>,
}

impl BackendTlsInForce {
    /// Reads the files.
    pub(crate) fn read(settings: &BackendTls) -> Result<Self, GatewayError> {
        let provider = Arc::new(default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites for both versions");
        let builder = if settings.takes_any {
            let any = Arc::new(AnyCertificate(Arc::clone(&provider)));
            builder.dangerous().with_custom_certificate_verifier(any)
        } else {
            builder.with_root_certificates(signers(settings)?)
        };
        let mut config = match &settings.certificate {
            None => builder.with_no_client_auth(),
            Some(files) => {
                let own = Arc::new(certificate(files, &provider)?);
                builder.with_client_cert_resolver(Arc::new(Own(own)))
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let mut http2 = config.clone();
        http2.alpn_protocols.insert(0, b"h2".to_vec());
        Ok(Self {
            http1: Arc::new(config),
            http2: Arc::new(http2),
            server_name: settings.server_name.clone(),
        })
    }

    /// Makes a connection to a host a secure one.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        socket: Socket,
        offers_http2: bool,
    ) -> io::Result<TlsStream<Socket>> {
        let name = self.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        let config = if offers_http2 {
            &self.http2
        } else {
            &self.http1
        };
        TlsConnector::from(Arc::clone(config))
            .connect(name, socket)
            .await
    }
}

/// Those whose word about backends counts.
fn signers(settings: &BackendTls) -> Result<RootCertStore, GatewayError> {
    if let Some(ca) = &settings.ca {
        return roots(ca);
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (good, _) = roots.add_parsable_certificates(found.certs);
    if good == 0 {
        return Err(GatewayError::NobodySigns);
    }
    Ok(roots)
}

/// What the gateway shows of itself.
#[derive(Debug)]
struct Own(Arc<CertifiedKey>);

impl ResolvesClientCert for Own {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Takes every certificate whose key the backend has.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
