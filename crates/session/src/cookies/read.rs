//! `Set-Cookie` headers as cookies.

use weir_plan::CookiePolicy;

use crate::token::{Element, Pair, Tokens, elements};

use super::dialect::Dialect;
use super::{Cookie, Host};

/// A cookie as it came.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) cookie: Cookie,
    /// When its life ends, in milliseconds since 1970.
    pub(super) end_ms: Option<i64>,
}

/// The header means nothing in its dialect, and nothing of it is kept.
#[derive(Debug)]
pub(super) struct Malformed;

impl Received {
    fn new(name: String, value: String, from: &Host<'_>) -> Self {
        Self {
            cookie: Cookie {
                name,
                value,
                domain: from.name.clone(),
                path: from.folder().to_owned(),
                is_secure: false,
                gives_domain: false,
                gives_path: false,
                version: 0,
            },
            end_ms: None,
        }
    }

    pub(super) fn set_end(&mut self, end_ms: Option<i64>) {
        self.end_ms = end_ms.or(self.end_ms);
    }
}

/// The cookies of a header, each with the dialect that judges it.
pub(super) fn cookies(
    policy: CookiePolicy,
    header: &str,
    from: &Host<'_>,
    now_ms: i64,
) -> Vec<(Received, Dialect)> {
    let read = match policy {
        CookiePolicy::Ignore => return Vec::new(),
        CookiePolicy::Standard => standard(Dialect::Lax, header, from, now_ms),
        CookiePolicy::StandardStrict => standard(Dialect::Strict, header, from, now_ms),
        CookiePolicy::Netscape => draft(Dialect::Netscape, header, from, now_ms),
        CookiePolicy::Rfc2109 => listed(&elements(header), from, now_ms),
        CookiePolicy::AsItComes => {
            let elements = elements(header);
            let any_has = |name: &str| elements.iter().any(|element| element.has(name));
            if any_has("version") && !any_has("expires") {
                listed(&elements, from, now_ms)
            } else {
                draft(Dialect::Draft, header, from, now_ms)
            }
        }
    };
    let with_dialect = |received: Received| {
        let dialect = Dialect::of(policy, received.cookie.version)?;
        Some((received, dialect))
    };
    let read = read.unwrap_or_default();
    read.into_iter().filter_map(with_dialect).collect()
}

/// RFC 6265: one cookie a header, whose value may be quoted.
fn standard(
    dialect: Dialect,
    header: &str,
    from: &Host<'_>,
    now_ms: i64,
) -> Result<Vec<Received>, Malformed> {
    let mut tokens = Tokens::new(header);
    let name = tokens.token(&['=', ';']);
    if name.is_empty() || tokens.delimiter() != Some('=') {
        return Err(Malformed);
    }
    let value = tokens.value(&[';']);
    tokens.delimiter();
    let mut received = Received::new(name, value, from);
    let mut attributes: Vec<Pair> = Vec::new();
    while !tokens.is_at_end() {
        let (name, value) = plain_pair(&mut tokens);
        let name = name.to_lowercase();
        // The last of a name counts.
        attributes.retain(|(known, _)| *known != name);
        attributes.push((name, value));
    }
    if attributes.iter().any(|(name, _)| name == "max-age") {
        attributes.retain(|(name, _)| name != "expires");
    }
    for (name, value) in attributes {
        dialect.apply(&mut received, &name, value.as_deref(), now_ms)?;
    }
    Ok(vec![received])
}

/// The draft of 1994: one cookie a header, no quotes.
fn draft(
    dialect: Dialect,
    header: &str,
    from: &Host<'_>,
    now_ms: i64,
) -> Result<Vec<Received>, Malformed> {
    let mut tokens = Tokens::new(header);
    let (name, value) = plain_pair(&mut tokens);
    if name.is_empty() {
        return Err(Malformed);
    }
    let mut received = Received::new(name, value.unwrap_or_default(), from);
    let mut attributes = Vec::new();
    while !tokens.is_at_end() {
        attributes.push(plain_pair(&mut tokens));
    }
    // Of several of a name the first counts, because the last is read first.
    for (name, value) in attributes.into_iter().rev() {
        let name = name.to_lowercase();
        dialect.apply(&mut received, &name, value.as_deref(), now_ms)?;
    }
    Ok(vec![received])
}

/// RFC 2109: several cookies in a list.
fn listed(elements: &[Element], from: &Host<'_>, now_ms: i64) -> Result<Vec<Received>, Malformed> {
    let mut cookies = Vec::new();
    for element in elements.iter().filter(|element| !element.name.is_empty()) {
        let value = element.value.clone().unwrap_or_default();
        let mut received = Received::new(element.name.clone(), value, from);
        for (name, value) in element.parameters.iter().rev() {
            let name = name.to_lowercase();
            Dialect::Rfc2109.apply(&mut received, &name, value.as_deref(), now_ms)?;
        }
        cookies.push(received);
    }
    Ok(cookies)
}

/// `name` or `name=value` up to the next semicolon, which is taken too.
fn plain_pair(tokens: &mut Tokens<'_>) -> Pair {
    let name = tokens.token(&['=', ';']);
    if tokens.delimiter() != Some('=') {
        return (name, None);
    }
    let value = tokens.token(&[';']);
    tokens.delimiter();
    (name, Some(value))
}
