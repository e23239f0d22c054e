//! Digest, RFC 7616 as far as JMeter's HTTP library knows it: MD5 and its session variant, SHA-256,
//! SHA-512; `auth`, `auth-int` and servers without either.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};
use sha2::{Sha256, Sha512};

use super::challenge::Challenge;
use super::{Charset, Login};

/// What is signed.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// The method.
    pub method: &'a str,
    /// Path and query as they stand in the request line.
    pub uri: &'a str,
    /// The body of a request of a kind that has one, even if it is empty.
    pub body: Option<&'a [u8]>,
}

/// What is known of a server's demand.
#[derive(Debug, Clone)]
pub(super) struct Digest {
    realm: Option<String>,
    nonce: Option<String>,
    opaque: Option<String>,
    quality: Option<String>,
    algorithm: String,
    charset: Charset,
    /// Requests with this nonce.
    count: u32,
    client_nonce: String,
}

/// How much of the request is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quality {
    /// RFC 2069, in which there was no choice.
    Old,
    Auth,
    AuthInt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha256,
    Sha512,
}

impl Hash {
    fn named(name: &str) -> Option<Self> {
        const NAMES: [(&str, Hash); 4] = [
            ("MD5", Hash::Md5),
            ("MD5-sess", Hash::Md5),
            ("SHA-256", Hash::Sha256),
            ("SHA-512", Hash::Sha512),
        ];
        let found = NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, hash)| *hash)
    }

    fn hex(self, bytes: &[u8]) -> String {
        match self {
            Self::Md5 => hex(&Md5::digest(bytes)[..]),
            Self::Sha256 => hex(&Sha256::digest(bytes)[..]),
            Self::Sha512 => hex(&Sha512::digest(bytes)[..]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a String takes all text");
    }
    text
}

impl Digest {
    pub(super) fn of(challenge: &Challenge) -> Self {
        let parameter = |name: &str| challenge.get(name).map(str::to_owned);
        Self {
            realm: parameter("realm"),
            nonce: parameter("nonce"),
            opaque: parameter("opaque"),
            quality: parameter("qop"),
            algorithm: parameter("algorithm").unwrap_or_else(|| "MD5".to_owned()),
            charset: challenge
                .get("charset")
                .map_or(Charset::Ascii, Charset::named),
            count: 0,
            client_nonce: String::new(),
        }
    }

    /// The server asks once more.
    pub(super) fn challenged(&mut self, challenge: &Challenge) {
        let renewed = Self::of(challenge);
        if renewed.nonce == self.nonce {
            let count = self.count;
            let client_nonce = std::mem::take(&mut self.client_nonce);
            *self = Self {
                count,
                client_nonce,
                ..renewed
            };
        } else {
            *self = renewed;
        }
    }

    /// The field for the next request; `None` if the demand cannot be met.
    pub(super) fn field(
        &mut self,
        login: &Login,
        signed: &Signed<'_>,
        random: u64,
    ) -> Option<String> {
        let quality = self.quality_for(signed)?;
        self.count += 1;
        if self.count == 1 {
            self.client_nonce = format!("{random:016x}");
        }
        let response = self.response(login, signed, quality)?;
        let mut field = String::from("Digest ");
        push(&mut field, "username", &login.name());
        field.push_str(", ");
        push(&mut field, "realm", self.realm.as_deref()?);
        field.push_str(", ");
        push(&mut field, "nonce", self.nonce.as_deref()?);
        field.push_str(", ");
        push(&mut field, "uri", signed.uri);
        field.push_str(", ");
        push(&mut field, "response", &response);
        if let Some(quality) = quality.name() {
            field.extend([", qop=", quality, ", nc=", &self.count(), ", "]);
            push(&mut field, "cnonce", &self.client_nonce);
        }
        field.extend([", algorithm=", &self.algorithm]);
        if let Some(opaque) = &self.opaque {
            field.push_str(", ");
            push(&mut field, "opaque", opaque);
        }
        Some(field)
    }

    fn count(&self) -> String {
        format!("{:08x}", self.count)
    }

    /// RFC 7616, 3.4.1.
    fn response(&self, login: &Login, signed: &Signed<'_>, quality: Quality) -> Option<String> {
        let hash = Hash::named(&self.algorithm)?;
        let (realm, nonce) = (self.realm.as_deref()?, self.nonce.as_deref()?);
        let client_nonce = &self.client_nonce;
        let digest = |text: &str| hash.hex(&self.charset.bytes(text));
        let mut secret = digest(&format!("{}:{realm}:{}", login.name(), login.password));
        if self.algorithm.eq_ignore_ascii_case("MD5-sess") {
            secret = digest(&format!("{secret}:{nonce}:{client_nonce}"));
        }
        let Signed { method, uri, body } = signed;
        let request = match quality {
            Quality::AuthInt => {
                let body = hash.hex(body.unwrap_or_default());
                digest(&format!("{method}:{uri}:{body}"))
            }
            Quality::Old | Quality::Auth => digest(&format!("{method}:{uri}")),
        };
        let all = match quality.name() {
            None => format!("{secret}:{nonce}:{request}"),
            Some(quality) => {
                let count = self.count();
                format!("{secret}:{nonce}:{count}:{client_nonce}:{quality}:{request}")
            }
        };
        Some(hash.hex(&Charset::Ascii.bytes(&all)))
    }

    fn quality_for(&self, signed: &Signed<'_>) -> Option<Quality> {
        let Some(offered) = &self.quality else {
            return Some(Quality::Old);
        };
        let offers = |name: &str| {
            let mut names = offered.split(',');
            names.any(|offer| offer.trim().eq_ignore_ascii_case(name))
        };
        if signed.body.is_some() && offers("auth-int") {
            Some(Quality::AuthInt)
        } else if offers("auth") {
            Some(Quality::Auth)
        } else {
            None
        }
    }
}

/// Appends a parameter in quotes.
fn push(field: &mut String, name: &str, value: &str) {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    field.extend([name, "=\"", &escaped, "\""]);
}

impl Quality {
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Old => None,
            Self::Auth => Some("auth"),
            Self::AuthInt => Some("auth-int"),
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_plan::AuthMechanism;

    use super::*;
    use crate::login::challenge::challenges;

    fn digest(challenge: &str) -> Digest {
        let fields = [("WWW-Authenticate", challenge)];
        Digest::of(&challenges(&fields)[0])
    }

    fn login(user: &str, password: &str) -> Login {
        Login {
            base_url: String::new(),
            user: user.to_owned(),
            password: password.to_owned(),
            domain: String::new(),
            realm: String::new(),
            mechanism: AuthMechanism::Digest,
        }
    }

    const INDEX: Signed<'_> = Signed {
        method: "GET",
        uri: "/dir/index.html",
        body: None,
    };

    fn response(mut digest: Digest, password: &str, client_nonce: &str) -> Option<String> {
        digest.count = 1;
        digest.client_nonce = client_nonce.to_owned();
        let quality = digest.quality_for(&INDEX)?;
        digest.response(&login("Mufasa", password), &INDEX, quality)
    }

    /// RFC 2617, 3.5, and, without `qop`, the corrected example of RFC 2069.
    #[test]
    fn examples_of_rfc_2617_and_2069() {
        let old =
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"";
        let new =
            format!("{old}, qop=\"auth,auth-int\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"");
        let answer = response(digest(&new), "Circle Of Life", "0a4f113b");
        assert_eq!(answer.as_deref(), Some("6629fae49393a05397450978507c4ef1"));
        let answer = response(digest(old), "CircleOfLife", "");
        assert_eq!(answer.as_deref(), Some("1949323746fe6a43ef61f9606e7febea"));
    }

    /// RFC 7616, 3.9.1.
    #[test]
    fn examples_of_rfc_7616() {
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
        let client_nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let answer = |algorithm: &str| {
            let asks = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
                 algorithm={algorithm}, nonce=\"{nonce}\""
            );
            response(digest(&asks), "Circle of Life", client_nonce)
        };
        assert_eq!(
            answer("MD5").as_deref(),
            Some("8ca523f5e9506fed4657c9700eebdbec")
        );
        assert_eq!(
            answer("SHA-256").as_deref(),
            Some("753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1")
        );
        assert_eq!(answer("SHA-512-256"), None);
    }

    /// The responses were computed with Python's hashlib from the formulas of RFC 2617.
    #[test]
    fn fields_have_their_parameters_in_order() {
        let post = Signed {
            method: "POST",
            uri: "/a",
            body: Some(b"body"),
        };
        let mut both = digest("Digest realm=r, nonce=n, qop=\"auth, auth-int\", opaque=\"o\"");
        let user = login("u", "p");
        assert_eq!(
            both.field(&user, &post, 0x0a4f_113b).as_deref(),
            Some(
                "Digest username=\"u\", realm=\"r\", nonce=\"n\", uri=\"/a\", \
                 response=\"85a86774488635a12f57b2262d67ef41\", qop=auth-int, nc=00000001, \
                 cnonce=\"000000000a4f113b\", algorithm=MD5, opaque=\"o\""
            )
        );
        let get = Signed {
            method: "GET",
            body: None,
            ..post
        };
        let mut session = digest("digest Realm=r, NONCE=n, qop=auth, algorithm=md5-SESS");
        let field = session.field(&user, &get, 0x0a4f_113b).unwrap_or_default();
        assert!(
            field.contains("response=\"b4a187b4a70fea614502ca95701a19b2\""),
            "{field}"
        );
        let again = session.field(&user, &get, 7).unwrap_or_default();
        assert!(
            again.contains("nc=00000002, cnonce=\"000000000a4f113b\""),
            "{again}"
        );
        let mut integrity = digest("Digest realm=r, nonce=n, qop=auth-int");
        assert_eq!(integrity.field(&user, &get, 0), None);
        assert_eq!(digest("Digest nonce=n").field(&user, &get, 0), None);
    }
}
