//! What an attribute of a cookie means, which cookies are believed, and where they are sent.

use weir_plan::CookiePolicy;

use crate::date::{Pattern, any_ms, of_cookie_ms, of_patterns_ms};

use super::domain;
use super::read::{Malformed, Received};
use super::{Cookie, Host};

/// A specification that a cookie is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Lax,
    Strict,
    Netscape,
    /// [`Self::Netscape`] with the domains of RFC 6265.
    Draft,
    Rfc2109,
}

impl Dialect {
    /// The dialect in which a policy sees cookies of a version; none if it sees none.
    pub(super) fn of(policy: CookiePolicy, version: i32) -> Option<Self> {
        Some(match policy {
            CookiePolicy::Standard => Self::Lax,
            CookiePolicy::StandardStrict => Self::Strict,
            CookiePolicy::Netscape => Self::Netscape,
            CookiePolicy::AsItComes if version > 0 => Self::Rfc2109,
            CookiePolicy::AsItComes => Self::Draft,
            CookiePolicy::Rfc2109 => Self::Rfc2109,
            CookiePolicy::Ignore => return None,
        })
    }

    /// Gives a cookie an attribute; the name is in lower case.
    pub(super) fn apply(
        self,
        received: &mut Received,
        name: &str,
        value: Option<&str>,
        now_ms: i64,
    ) -> Result<(), Malformed> {
        let value = value.unwrap_or_default().trim();
        let cookie = &mut received.cookie;
        match name {
            "path" => {
                cookie.gives_path = true;
                let path = if value.is_empty() { "/" } else { value };
                path.clone_into(&mut cookie.path);
            }
            "domain" => {
                cookie.gives_domain = true;
                self.set_domain(cookie, value)?;
            }
            "secure" => cookie.is_secure = true,
            "max-age" => received.set_end(self.end_by_age(value, now_ms)?),
            "expires" => received.set_end(self.end_by_date(value)?),
            "version" if self == Self::Rfc2109 => {
                cookie.version = value.parse().map_err(|_| Malformed)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn set_domain(self, cookie: &mut Cookie, value: &str) -> Result<(), Malformed> {
        if value.is_empty() {
            return Err(Malformed);
        }
        if matches!(self, Self::Netscape | Self::Rfc2109) {
            cookie.domain = value.to_lowercase();
        } else if !value.ends_with('.') {
            cookie.domain = value.strip_prefix('.').unwrap_or(value).to_lowercase();
        }
        Ok(())
    }

    fn end_by_age(self, value: &str, now_ms: i64) -> Result<Option<i64>, Malformed> {
        let age = value.parse::<i32>().ok();
        let end = |age_s: i32| now_ms + i64::from(age_s) * 1000;
        match (self, age) {
            (Self::Netscape | Self::Draft, _) | (Self::Lax, None) => Ok(None),
            (Self::Lax, Some(age)) if age < 0 => Ok(Some(i64::MIN)),
            (_, Some(age)) if age >= 0 => Ok(Some(end(age))),
            _ => Err(Malformed),
        }
    }

    fn end_by_date(self, value: &str) -> Result<Option<i64>, Malformed> {
        let end = match self {
            Self::Rfc2109 => return Ok(None),
            Self::Lax if value.is_empty() => return Ok(None),
            Self::Lax => of_cookie_ms(value),
            Self::Strict => any_ms(value),
            Self::Netscape | Self::Draft => of_patterns_ms(value, &[Pattern::Rfc1036]),
        };
        end.map(Some).ok_or(Malformed)
    }

    /// Whether a server may set such a cookie.
    pub(super) fn is_allowed(self, cookie: &Cookie, from: &Host<'_>) -> bool {
        let (domain, host) = (cookie.domain.as_str(), from.name.as_str());
        match self {
            Self::Lax | Self::Strict | Self::Draft => domain == host || domain::is_in(host, domain),
            Self::Netscape => domain::is_allowed_by_draft(domain, host),
            Self::Rfc2109 => {
                let is_name = !cookie.name.contains(' ') && !cookie.name.starts_with('$');
                is_name && cookie.version >= 0 && domain::is_allowed_by_rfc2109(domain, host)
            }
        }
    }

    /// Whether a cookie goes along with a request.
    pub(super) fn is_for(self, cookie: &Cookie, to: &Host<'_>) -> bool {
        let host = to.name.as_str();
        let domain = cookie.domain.to_lowercase();
        let is_domain = match self {
            Self::Lax | Self::Strict | Self::Draft => {
                domain::matches(&domain, cookie.gives_domain, host)
            }
            Self::Netscape => host.ends_with(&domain),
            Self::Rfc2109 => domain::matches_rfc2109(&domain, host),
        };
        is_domain && is_below(to.path, &cookie.path) && (!cookie.is_secure || to.is_secure)
    }
}

/// Whether a path is a cookie's path or below it.
fn is_below(path: &str, of_cookie: &str) -> bool {
    let of_cookie = match of_cookie.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter,
        _ => of_cookie,
    };
    match path.strip_prefix(of_cookie) {
        Some(rest) => of_cookie == "/" || rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_end_at_slashes() {
        for (path, of_cookie) in [
            ("/a/b", "/a"),
            ("/a", "/a/"),
            ("/a", "/a"),
            ("/x", "/"),
            ("/x", ""),
        ] {
            assert!(is_below(path, of_cookie), "{path} {of_cookie}");
        }
        for (path, of_cookie) in [("/ab", "/a"), ("/", "/a"), ("/a", "/a/b"), ("/a", "a")] {
            assert!(!is_below(path, of_cookie), "{path} {of_cookie}");
        }
    }
}
