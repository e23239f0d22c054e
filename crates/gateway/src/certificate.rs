//! The certificate that a client has shown, as backends are told of it (RFC 9440).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::hop::{reads_as, remove_named};

const CLIENT_CERT: HeaderName = HeaderName::from_static("client-cert");
/// What nobody but a gateway that asks for certificates may say.
const CLAIMS: [&str; 2] = ["client-cert", "client-cert-chain"];

/// What is known of a client's certificate.
#[derive(Debug, Clone, Default)]
pub(crate) enum Certificate {
    /// Nobody has asked for one: what requests say of one is no business of the gateway's.
    #[default]
    NotAsked,
    /// It had none.
    None,
    /// As the field has it.
    Shown(HeaderValue),
}

impl Certificate {
    /// What a client has shown that was asked for one, in DER.
    pub(crate) fn shown(der: Option<&[u8]>) -> Self {
        let field = der.map(|der| format!(":{}:", STANDARD.encode(der)));
        field
            .and_then(|field| HeaderValue::try_from(field).ok())
            .map_or(Self::None, Self::Shown)
    }

    /// Tells of it in the place of what the client says. A trusted proxy has met the client, and
    /// what it says stays.
    pub(crate) fn tell(&self, headers: &mut HeaderMap, is_trusted: impl FnOnce() -> bool) {
        if matches!(self, Self::NotAsked) || (headers.contains_key(CLIENT_CERT) && is_trusted()) {
            return;
        }
        remove_named(headers, |name| {
            CLAIMS.iter().any(|claim| reads_as(name, claim))
        });
        if let Self::Shown(field) = self {
            headers.insert(CLIENT_CERT, field.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(certificate: &Certificate, is_trusted: bool) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for name in ["client-cert", "client_cert", "client-cert-chain"] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(":claim:"),
            );
        }
        certificate.tell(&mut headers, || is_trusted);
        let told = headers
            .iter()
            .map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value.as_bytes())));
        told.collect()
    }

    #[test]
    fn what_a_client_claims_is_taken_out() {
        let shown = Certificate::shown(Some(b"der"));
        assert_eq!(told(&shown, false), ["client-cert=:ZGVy:"]);
        assert!(told(&Certificate::shown(None), false).is_empty());
        for untouched in [
            told(&Certificate::NotAsked, false),
            told(&Certificate::NotAsked, true),
            told(&shown, true),
            told(&Certificate::None, true),
        ] {
            assert_eq!(untouched.len(), 3, "{untouched:?}");
        }
    }
}
