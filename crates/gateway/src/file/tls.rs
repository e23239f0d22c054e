//! TLS towards clients: `[tls]`.

use weir_userfile::{Section, hint};

use super::sections;
use crate::settings::{CertificateFiles, ClientAuth, TlsFiles};

const CLIENT_AUTH: [(&str, ClientAuth); 2] = [
    ("required", ClientAuth::Required),
    ("optional", ClientAuth::Optional),
];

pub(super) fn read(root: &Section<'_>) -> Option<TlsFiles> {
    let section = root.section("tls", "[tls]")?;
    let certificate = certificate(&section);
    let others = sections(&section, "certificate", "[[tls.certificate]]");
    let others = others.map_or_else(Vec::new, |(_, others)| others);
    let others = others.iter().filter_map(|other| {
        let certificate = self::certificate(other);
        other.finish();
        certificate
    });
    let others = others.collect();
    let client_ca = section.text("client-ca");
    let client_auth = client_auth(&section, client_ca.is_some());
    section.finish();
    Some(TlsFiles {
        certificate: certificate?,
        others,
        client_ca: client_ca.map(|path| path.into_inner().into()),
        client_auth,
    })
}

fn client_auth(section: &Section<'_>, has_ca: bool) -> ClientAuth {
    let Some(text) = section.text("client-auth") else {
        return ClientAuth::default();
    };
    if !has_ca {
        section.problems().add_with_help(
            text.span(),
            "`client-auth` without `client-ca`: nobody says whose certificates are good",
            "name the certificates of those who sign them: `client-ca = \"clients.pem\"`",
        );
    }
    let known = CLIENT_AUTH.map(|(name, _)| name);
    let found = CLIENT_AUTH.iter().find(|(name, _)| name == text.get_ref());
    if found.is_none() {
        section.problems().add_with_help(
            text.span(),
            format!("`client-auth` is `{}`", text.get_ref()),
            hint(text.get_ref(), &known),
        );
    }
    found.map_or_else(ClientAuth::default, |(_, auth)| *auth)
}

/// `cert` and `key`, both of which there have to be.
pub(super) fn certificate(section: &Section<'_>) -> Option<CertificateFiles> {
    let [cert, key] = [("cert", "cert.pem"), ("key", "key.pem")].map(|(key, example)| {
        if section.value(key).is_none() {
            section.missing(key, &format!("{key} = \"{example}\""));
        }
        section.text(key).map(|path| path.into_inner().into())
    });
    Some(CertificateFiles {
        cert: cert?,
        key: key?,
    })
}
