//! Which URL a request has, and whether Java would take it.
//!
//! JMeter builds URLs with `java.net.URL` and hands them to its HTTP library as `java.net.URI`,
//! which refuses some characters: the sample then fails without a byte being sent. Both the
//! refusal and its text are part of what users see in their results, so they are kept.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use crate::Unsendable;

/// The protocols that a URL may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scheme {
    /// `http`
    #[default]
    Http,
    /// `https`
    Https,
}

impl Scheme {
    /// The scheme of a name, in any case.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::Http, Self::Https]
            .into_iter()
            .find(|scheme| scheme.name().eq_ignore_ascii_case(name))
    }

    /// `http` or `https`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that a URL need not name.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A server that gets all requests of a plan, whatever hosts the plan names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// How to speak to it.
    pub scheme: Scheme,
    /// Host name or address; an IPv6 address without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl From<SocketAddr> for Target {
    /// Plain HTTP to an address.
    fn from(address: SocketAddr) -> Self {
        Self {
            scheme: Scheme::Http,
            host: address.ip().to_string(),
            port: address.port(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = bracketed(&self.host);
        write!(f, "{}://{host}:{}", self.scheme.name(), self.port)
    }
}

/// A text does not name a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the target \"{text}\": {says}; write http://HOST:PORT")]
pub struct TargetError {
    text: String,
    says: String,
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let error = |says: &str| TargetError {
            text: text.to_owned(),
            says: says.to_owned(),
        };
        let url = text.strip_suffix('/').unwrap_or(text);
        let parts = Parts::of(url).ok_or_else(|| error("it does not start with http://"))?;
        if !parts.tail.is_empty() {
            return Err(error("a target has no path"));
        }
        check(url).map_err(|unsendable| error(unsendable.message()))?;
        let (host, port) = host_and_port(&parts).map_err(|e| error(e.message()))?;
        if host.is_empty() || parts.authority.contains('@') {
            return Err(error("it is not a host with a port"));
        }
        Ok(Self {
            scheme: parts.scheme,
            host: host.to_owned(),
            port: port.unwrap_or(parts.scheme.default_port()),
        })
    }
}

/// A URL in its parts.
pub(crate) struct Parts<'a> {
    pub(crate) scheme: Scheme,
    pub(crate) authority: &'a str,
    /// Path, query and fragment.
    pub(crate) tail: &'a str,
}

impl<'a> Parts<'a> {
    /// Splits a URL that starts with `http://` or `https://`.
    pub(crate) fn of(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = Scheme::parse(scheme)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        Some(Self {
            scheme,
            authority,
            tail,
        })
    }

    /// The path, and the query with its question mark.
    pub(crate) fn path_and_query(&self) -> (&'a str, &'a str) {
        let tail = self.tail.split('#').next().unwrap_or_default();
        tail.split_at(tail.find('?').unwrap_or(tail.len()))
    }
}

/// Whether JMeter takes a path for a whole URL.
pub(crate) fn is_whole(path: &str) -> bool {
    path.starts_with("http://") || path.starts_with("https://")
}

/// A host as it stands in a URL: an IPv6 address gets brackets, as in `java.net.URL`.
pub(crate) fn bracketed(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]")
    } else {
        host.to_owned()
    }
}

/// Starts a URL with protocol, host and port as a sampler gives them.
///
/// JMeter 5.6.3: a port that is not a number, 0 or -1 means the protocol's, which is not written.
pub(crate) fn push_origin(
    url: &mut String,
    protocol: &str,
    host: &str,
    port: &str,
) -> Result<(), Unsendable> {
    let protocol = if protocol.is_empty() {
        "http"
    } else {
        protocol
    };
    let scheme = Scheme::parse(protocol);
    let Some(name) = scheme.map(Scheme::name).or_else(|| of_java(protocol)) else {
        let protocol = protocol.to_lowercase();
        return Err(Unsendable::malformed_url(format!(
            "unknown protocol: {protocol}"
        )));
    };
    if host.contains('/') {
        let says = "Illegal character found in host: '/'";
        return Err(Unsendable::malformed_url(says.to_owned()));
    }
    let port: i32 = port.trim().parse().unwrap_or(0);
    if port < -1 {
        return Err(Unsendable::malformed_url(format!(
            "Invalid port number :{port}"
        )));
    }
    url.push_str(name);
    url.push_str("://");
    if host.contains(':') && !host.starts_with('[') {
        url.extend(["[", host, "]"]);
    } else {
        url.push_str(host);
    }
    let usual = scheme.map(|scheme| i32::from(scheme.default_port()));
    if port > 0 && Some(port) != usual {
        url.push(':');
        url.push_str(&port.to_string());
    }
    Ok(())
}

/// A protocol that Java has URLs for, and its HTTP client nothing else.
fn of_java(protocol: &str) -> Option<&'static str> {
    let known = ["ftp", "mailto", "jar"];
    known
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(protocol))
}

/// Whether the HTTP client speaks the protocol that a URL starts with.
pub(crate) fn check_scheme(url: &str) -> Result<(), Unsendable> {
    let scheme = url.split("://").next().unwrap_or_default();
    match of_java(scheme) {
        Some(scheme) => Err(Unsendable::unsupported_scheme(scheme)),
        None => Ok(()),
    }
}

/// Whether requests for a protocol fail before anything is sent, in JMeter too. It reads files
/// where a URL says `file`.
pub(crate) fn is_no_server(protocol: &str) -> bool {
    !protocol.is_empty()
        && Scheme::parse(protocol).is_none()
        && !protocol.eq_ignore_ascii_case("file")
}

/// Starts a URL with a target.
pub(crate) fn push_target(target: &Target, url: &mut String) {
    let port = target.port.to_string();
    push_origin(url, target.scheme.name(), &target.host, &port)
        .expect("a target has a known protocol and a checked host");
}

/// Whether a host given by itself can be one; the origin is the URL that it stands in so far.
pub(crate) fn check_host(host: &str, origin: &str) -> Result<(), Unsendable> {
    match host.chars().find(|c| matches!(c, '@' | '?' | '#')) {
        None => Ok(()),
        Some(c) => {
            let authority = origin
                .split_once("://")
                .map_or(origin, |(_, authority)| authority);
            let says = format!("Illegal character found in host: '{c}': {authority}");
            Err(Unsendable::uri_syntax(says))
        }
    }
}

/// Whether `java.net.URI` takes the URL.
pub(crate) fn check(url: &str) -> Result<(), Unsendable> {
    let Some(parts) = Parts::of(url) else {
        return Err(Unsendable::malformed_url(format!("no protocol: {url}")));
    };
    let after_scheme = url.len() - parts.authority.len() - parts.tail.len();
    check_authority(url, parts.authority, after_scheme)?;
    let path_start = after_scheme + parts.authority.len();
    let fragment_start = url[path_start..]
        .find('#')
        .map_or(url.len(), |i| path_start + i);
    let query_start = url[path_start..fragment_start]
        .find('?')
        .map_or(fragment_start, |i| path_start + i);
    check_characters(url, path_start..query_start, "path", is_path)?;
    if query_start < fragment_start {
        check_characters(url, query_start + 1..fragment_start, "query", is_query)?;
    }
    if fragment_start < url.len() {
        check_characters(url, fragment_start + 1..url.len(), "fragment", is_query)?;
    }
    Ok(())
}

fn check_authority(url: &str, authority: &str, start: usize) -> Result<(), Unsendable> {
    if authority.is_empty() || authority.starts_with(':') {
        return Err(no_host(url, authority, start));
    }
    if let Some(address) = authority.strip_prefix('[') {
        let address = address.split(']').next().unwrap_or_default();
        // A zone after `%` is not part of the address.
        let bare = address.split('%').next().unwrap_or_default();
        if bare.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(syntax(url, "Malformed IPv6 address", start + 1));
        }
        return Ok(());
    }
    if authority
        .match_indices('%')
        .any(|(index, _)| !is_escape(&authority[index..]))
    {
        return Err(syntax(url, "Malformed escape pair", start));
    }
    let legal = |c: char| is_unreserved(c) || "$,;:@&=+[]%".contains(c) || is_other(c);
    if authority.chars().all(legal) {
        Ok(())
    } else {
        Err(syntax(url, "Illegal character in authority", start))
    }
}

/// Java writes no `//` where no authority follows it.
fn no_host(url: &str, authority: &str, start: usize) -> Unsendable {
    let shown = match authority {
        "" => format!("{}{}", &url[..start - 2], &url[start..]),
        _ => url.to_owned(),
    };
    if shown.ends_with(':') {
        let says = "Expected scheme-specific part at index";
        return Unsendable::uri_syntax(format!("{says} {}: {shown}", shown.len()));
    }
    Unsendable::client_protocol(format!("URI does not specify a valid host name: {shown}"))
}

fn check_characters(
    url: &str,
    range: std::ops::Range<usize>,
    part: &str,
    legal: impl Fn(char) -> bool,
) -> Result<(), Unsendable> {
    for (offset, c) in url[range.clone()].char_indices() {
        let index = range.start + offset;
        if c == '%' {
            if !is_escape(&url[index..range.end]) {
                return Err(syntax(url, "Malformed escape pair", index));
            }
        } else if !legal(c) && !is_other(c) {
            let says = format!("Illegal character in {part}");
            return Err(syntax(url, &says, index));
        }
    }
    Ok(())
}

/// Whether a text starts with `%` and two hexadecimal digits.
fn is_escape(text: &str) -> bool {
    let digits = text.as_bytes().get(1..3);
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Java counts in UTF-16 units.
fn syntax(url: &str, says: &str, index: usize) -> Unsendable {
    let units = url[..index].encode_utf16().count();
    Unsendable::uri_syntax(format!("{says} at index {units}: {url}"))
}

fn is_unreserved(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-!.~'()*".contains(c)
}

fn is_path(c: char) -> bool {
    is_unreserved(c) || ":@&=+$,;/".contains(c)
}

fn is_query(c: char) -> bool {
    is_path(c) || "?[]".contains(c)
}

/// Java's category "other": beyond ASCII, no control and no space.
fn is_other(c: char) -> bool {
    !c.is_ascii() && !c.is_control() && !c.is_whitespace()
}

/// Host without brackets and port of a URL that has been checked.
pub(crate) fn host_and_port<'a>(parts: &Parts<'a>) -> Result<(&'a str, Option<u16>), Unsendable> {
    let host = parts.authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address, port.strip_prefix(':')),
        None => match host.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host, None),
        },
    };
    let Some(port) = port.filter(|port| !port.is_empty()) else {
        return Ok((host, None));
    };
    let Ok(number) = port.parse::<u32>() else {
        let at = port.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let says = format!("Error at index {at} in: \"{port}\"");
        return Err(Unsendable::malformed_url(says));
    };
    u16::try_from(number)
        .map(|port| (host, Some(port)))
        .map_err(|_| Unsendable::illegal_argument(format!("port out of range:{number}")))
}
