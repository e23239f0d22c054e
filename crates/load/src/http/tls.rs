//! TLS as JMeter does it for its tests: every certificate is taken.
//!
//! JMeter 5.6.3 checks neither who signed a certificate nor for which name it was made, so that
//! test systems with certificates of their own can be loaded. So does this engine: what it sends
//! is meant for a server under test and is not kept from anybody who sits in between.
//!
//! Each user has its own memory of sessions, as each thread of JMeter has its own SSL context: a
//! user that opens another connection to a server resumes its session, two users never share one.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, InvalidMessage, SignatureScheme,
};

use weir_script::HttpVersion;

use crate::http::outcome::Failure;
use crate::http::tls_error::{says, tls_error};

/// What is offered to servers that may speak HTTP/2.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Servers whose sessions a user remembers.
const SERVERS_MAX: usize = 8;

/// How all users speak TLS; each takes its own with [`of_user`].
pub(crate) fn for_all(version: HttpVersion) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let mut config = builder
        .with_safe_default_protocol_versions()
        .expect("the provider has cipher suites for both versions")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    if version == HttpVersion::Two {
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    }
    config
}

/// One user's own: it has a memory for sessions.
pub(crate) fn of_user(for_all: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = for_all.clone();
    config.resumption = Resumption::in_memory_sessions(SERVERS_MAX);
    Arc::new(config)
}

/// Makes an open connection a secure one.
pub(crate) async fn handshake(
    config: Arc<ClientConfig>,
    host: &str,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, Failure> {
    let Ok(name) = ServerName::try_from(host.to_owned()) else {
        return Err(Failure::SslHandshake(format!(
            "\"{host}\" is no name that a certificate can have"
        )));
    };
    let shaken = TlsConnector::from(config).connect(name, stream).await;
    shaken.map_err(|error| handshake_failure(&error))
}

/// Whether both sides have agreed on HTTP/2.
pub(crate) fn is_http2(stream: &TlsStream<TcpStream>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(PROTOCOLS[0])
}

/// What ended a handshake, in the words of Java 17.
fn handshake_failure(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Failure::SslHandshake("Remote host terminated the handshake".to_owned());
    }
    match tls_error(error) {
        None => Failure::of_io(error),
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            Failure::Ssl("Unsupported or unrecognized SSL message".to_owned())
        }
        Some(error) => Failure::SslHandshake(says(error)),
    }
}

/// Takes every certificate, and with it every signature: where nobody asks whose key it is, that
/// the server has the key proves nothing.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    /// All that a server can have, the weak ones last.
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::ECDSA_NISTP521_SHA512,
            SignatureScheme::ED25519,
            SignatureScheme::ED448,
            SignatureScheme::RSA_PSS_SHA256,
            SignatureScheme::RSA_PSS_SHA384,
            SignatureScheme::RSA_PSS_SHA512,
            SignatureScheme::RSA_PKCS1_SHA256,
            SignatureScheme::RSA_PKCS1_SHA384,
            SignatureScheme::RSA_PKCS1_SHA512,
            SignatureScheme::ECDSA_SHA1_Legacy,
            SignatureScheme::RSA_PKCS1_SHA1,
        ]
    }
}
