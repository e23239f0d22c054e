//! How a client proves who it is, as JMeter's Authorization Manager has it done.
//!
//! A line of the manager whose mechanism is Basic is used without being asked; what a server then
//! asks for decides, whatever the line says: Digest goes before Basic. No nonce is remembered from
//! one sample to the next, so that under Digest every sample is two requests. That is how
//! JMeter 5.6.3 does it.

mod challenge;
mod digest;

use std::collections::VecDeque;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use weir_plan::AuthMechanism;

use crate::fields::Field;
use crate::origin::Origin;
use challenge::{Challenge, challenges};
use digest::Digest;
pub use digest::Signed;

/// How often a server may ask in one sample. Two are usual; one that always says that the nonce is
/// stale would go on for ever.
const CHALLENGES_MAX: u32 = 10;

/// A line of an Authorization Manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The beginning of the URLs that it is for.
    pub base_url: String,
    /// User name.
    pub user: String,
    /// Password.
    pub password: String,
    /// Windows domain, which goes in front of the name; may be empty.
    pub domain: String,
    /// The realm that it is for; empty: any.
    pub realm: String,
    /// How the client begins.
    pub mechanism: AuthMechanism,
}

/// The first line that is for a URL, in which the query does not count.
pub fn login_for<'a>(logins: &'a [Login], url: &Origin<'_>) -> Option<&'a Login> {
    let path = unescaped(url.path);
    let start = format!("{}://{}", url.scheme, url.host);
    let with_port = |port: u16| format!("{start}:{port}{path}");
    let default = url.default_port();
    // A default port may be written in the line and not in the URL, and the other way round.
    let spellings = match url.port {
        None => vec![format!("{start}{path}"), with_port(default)],
        Some(port) if port == default => vec![with_port(port), format!("{start}{path}")],
        Some(port) => vec![with_port(port)],
    };
    let is_for = |login: &&Login| spellings.iter().any(|url| url.starts_with(&login.base_url));
    logins.iter().find(is_for)
}

/// A path without its escapes.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let digits = rest.get(at + 1..at + 3);
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        rest = &rest[at + if byte.is_some() { 3 } else { 1 }..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Login {
    /// The name with its Windows domain.
    fn name(&self) -> String {
        if self.domain.is_empty() {
            self.user.clone()
        } else {
            format!("{}\\{}", self.domain.to_uppercase(), self.user)
        }
    }

    fn basic(&self) -> String {
        let text = format!("{}:{}", self.name(), self.password);
        format!("Basic {}", STANDARD.encode(Charset::Ascii.bytes(&text)))
    }
}

/// The lines that have been used for one server, one for each realm.
///
/// JMeter's HTTP library keeps them until a request comes for which there is none, and prefers one
/// that is for any realm, whatever line fits the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    known: Vec<Login>,
}

impl Credentials {
    /// Begins the proof of a request with the line that fits it.
    pub fn begin(&mut self, login: &Login) -> Proof {
        self.known.retain(|known| known.realm != login.realm);
        self.known.push(login.clone());
        let is_basic = matches!(
            login.mechanism,
            AuthMechanism::Basic | AuthMechanism::AsAsked
        );
        let preferred = self.for_realm("").filter(|_| is_basic).cloned();
        Proof {
            current: preferred.map(|login| (Scheme::Basic, login)),
            options: VecDeque::new(),
            state: State::Unchallenged,
            challenged: 0,
        }
    }

    /// A request has come for which there is no line.
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// The line for a realm, or for any; any line if the server names no realm.
    fn for_realm(&self, realm: &str) -> Option<&Login> {
        let of = |wanted: &str| self.known.iter().rev().find(|known| known.realm == wanted);
        let any = || self.known.last().filter(|_| realm.is_empty());
        of(realm).or_else(|| of("")).or_else(any)
    }
}

/// The character sets that names and passwords are sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charset {
    Ascii,
    Latin1,
    Utf8,
}

impl Charset {
    fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Self::Utf8,
            "iso-8859-1" | "latin1" => Self::Latin1,
            _ => Self::Ascii,
        }
    }

    /// As Java: what the charset does not have becomes a question mark.
    fn bytes(self, text: &str) -> Vec<u8> {
        let last = match self {
            Self::Utf8 => return text.as_bytes().to_vec(),
            Self::Latin1 => 0xff,
            Self::Ascii => 0x7f,
        };
        let byte = |c: char| u8::try_from(c).ok().filter(|byte| *byte <= last);
        text.chars().map(|c| byte(c).unwrap_or(b'?')).collect()
    }
}

/// How far the proof has come in a sample.
#[derive(Debug, Clone)]
pub struct Proof {
    current: Option<(Scheme, Login)>,
    /// What can be tried next, best first.
    options: VecDeque<(Scheme, Login)>,
    state: State,
    challenged: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unchallenged,
    Challenged,
    Handshake,
    Succeeded,
    Failed,
}

#[derive(Debug, Clone)]
enum Scheme {
    Basic,
    Digest(Box<Digest>),
    /// One that the library tries and that gives no proof here.
    Unable(&'static str),
}

/// The schemes that the library knows, best first.
const SCHEMES: [&str; 5] = ["negotiate", "kerberos", "ntlm", "digest", "basic"];

impl Scheme {
    fn of(name: &'static str, challenge: &Challenge) -> Self {
        match name {
            "basic" => Self::Basic,
            "digest" => Self::Digest(Box::new(Digest::of(challenge))),
            name => Self::Unable(name),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Digest(_) => "digest",
            Self::Unable(name) => name,
        }
    }

    fn field(&mut self, login: &Login, signed: &Signed<'_>, random: u64) -> Option<String> {
        match self {
            Self::Basic => Some(login.basic()),
            Self::Digest(digest) => digest.field(login, signed, random),
            Self::Unable(_) => None,
        }
    }
}

impl Proof {
    /// The value of the `Authorization` field for the next request, if it has one; the random
    /// number is used at most once.
    pub fn field(&mut self, signed: &Signed<'_>, random: u64) -> Option<String> {
        if self.state == State::Failed {
            return None;
        }
        if self.state == State::Challenged && !self.options.is_empty() {
            while let Some(option) = self.options.pop_front() {
                let (scheme, login) = self.current.insert(option);
                if let Some(field) = scheme.field(login, signed, random) {
                    self.options.clear();
                    return Some(field);
                }
            }
            return None;
        }
        let (scheme, login) = self.current.as_mut()?;
        scheme.field(login, signed, random)
    }

    /// Looks at a response; whether the request has to be sent once more.
    pub fn answered(
        &mut self,
        credentials: &Credentials,
        status: u16,
        response_fields: &[Field<'_>],
    ) -> bool {
        if status != 401 {
            self.state = match self.state {
                State::Challenged | State::Handshake | State::Succeeded => State::Succeeded,
                State::Unchallenged | State::Failed => State::Unchallenged,
            };
            return false;
        }
        self.challenged += 1;
        let challenges = challenges(response_fields);
        if challenges.is_empty() || self.state == State::Failed || self.challenged > CHALLENGES_MAX
        {
            return false;
        }
        match (self.state, &mut self.current) {
            (State::Challenged | State::Handshake, None) => return self.fail(),
            (State::Succeeded, _) => self.current = None,
            (_, Some((scheme, _))) => {
                let again = last_of(&challenges, scheme.name());
                match (again, scheme) {
                    (Some(challenge), Scheme::Digest(digest)) if challenge.is_stale() => {
                        digest.challenged(challenge);
                        self.state = State::Handshake;
                        return true;
                    }
                    (Some(_), _) => return self.fail(),
                    (None, _) => self.current = None,
                }
            }
            (State::Unchallenged | State::Failed, None) => {}
        }
        self.state = State::Unchallenged;
        self.select(credentials, &challenges)
    }

    fn fail(&mut self) -> bool {
        self.current = None;
        self.state = State::Failed;
        false
    }

    fn select(&mut self, credentials: &Credentials, challenges: &[Challenge]) -> bool {
        self.options.clear();
        for name in SCHEMES {
            let Some(challenge) = last_of(challenges, name) else {
                continue;
            };
            if name == "digest" && challenge.is_empty() {
                return false;
            }
            let realm = challenge.get("realm").unwrap_or_default();
            if let Some(login) = credentials.for_realm(realm) {
                let scheme = Scheme::of(name, challenge);
                self.options.push_back((scheme, login.clone()));
            }
        }
        if !self.options.is_empty() {
            self.state = State::Challenged;
        }
        !self.options.is_empty()
    }
}

/// Of several challenges of one scheme the last counts.
fn last_of<'a>(challenges: &'a [Challenge], scheme: &str) -> Option<&'a Challenge> {
    challenges.iter().rev().find(|c| c.scheme == scheme)
}

#[cfg(test)]
mod tests;
