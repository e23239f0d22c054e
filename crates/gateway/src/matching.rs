//! Which requests belong to a class: by path, method, header field, cookie and what their route has
//! cost.

mod cookie;
mod path;

use std::time::Duration;

use http::header::{COOKIE, HeaderName};
use http::{Method, request::Parts};
use wildmatch::WildMatch;

pub(crate) use cookie::cookie;
pub(crate) use path::plain_path;

/// What a request must have to belong to a class; all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matcher {
    /// A pattern of its path, without the query.
    pub path: Option<WildMatch>,
    /// One of these methods; empty: any.
    pub methods: Vec<Method>,
    /// A header field.
    pub header: Option<Named<HeaderName>>,
    /// A cookie.
    pub cookie: Option<Named<String>>,
    /// The least that its route costs: how long requests of it hold a slot, at the median.
    pub cost: Option<Duration>,
}

/// Something with a name, and a pattern of its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<N> {
    /// The name.
    pub name: N,
    /// The pattern; `None`: that it is there is enough.
    pub value: Option<WildMatch>,
}

impl Matcher {
    /// Whether every request belongs to the class.
    pub fn takes_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this request belongs to the class, as far as it can be seen by the request alone:
    /// without its cost.
    pub fn matches(&self, request: &Parts) -> bool {
        let method = self.methods.is_empty() || self.methods.contains(&request.method);
        method
            && self
                .path
                .as_ref()
                .is_none_or(|pattern| pattern.matches(&plain_path(request.uri.path())))
            && self
                .header
                .as_ref()
                .is_none_or(|named| header(named, request))
            && self
                .cookie
                .as_ref()
                .is_none_or(|named| has_cookie(named, request))
    }
}

fn header(named: &Named<HeaderName>, request: &Parts) -> bool {
    let mut values = request.headers.get_all(&named.name).iter();
    match &named.value {
        None => values.next().is_some(),
        Some(pattern) => values.any(|value| {
            let value = String::from_utf8_lossy(value.as_bytes());
            pattern.matches(&value)
        }),
    }
}

fn has_cookie(named: &Named<String>, request: &Parts) -> bool {
    request.headers.get_all(COOKIE).iter().any(|field| {
        let value = cookie(field.as_bytes(), named.name.as_bytes());
        value.is_some_and(|value| {
            let value = String::from_utf8_lossy(value);
            named
                .value
                .as_ref()
                .is_none_or(|pattern| pattern.matches(&value))
        })
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn request(method: &str, path: &str, fields: &[(&str, &str)]) -> Parts {
        let mut builder = http::Request::builder().method(method).uri(path);
        for (name, value) in fields {
            builder = builder.header(*name, *value);
        }
        builder.body(()).unwrap().into_parts().0
    }

    #[test]
    fn everything_that_is_asked_for_has_to_be_there() {
        let gold = Matcher {
            path: Some(WildMatch::new("/light*")),
            methods: vec![Method::GET, Method::HEAD],
            header: Some(Named {
                name: HeaderName::from_static("x-plan"),
                value: Some(WildMatch::new("gold*")),
            }),
            cookie: Some(Named {
                name: "session".to_owned(),
                value: None,
            }),
            cost: None,
        };
        let all = [("x-plan", "golden"), ("cookie", "a=b; session=1")];
        for (request, expected) in [
            (request("GET", "/light?x=1", &all), true),
            (request("HEAD", "/lighter/x", &all), true),
            (request("POST", "/light", &all), false),
            (request("GET", "/heavy", &all), false),
            (request("GET", "/light", &all[..1]), false),
            (request("GET", "/light", &all[1..]), false),
            (
                request("GET", "/light", &[("x-plan", "tin"), all[1]]),
                false,
            ),
        ] {
            assert_eq!(gold.matches(&request), expected, "{request:?}");
        }
        assert!(!gold.takes_everything());
        assert!(Matcher::default().takes_everything());
        assert!(Matcher::default().matches(&request("PUT", "/x", &[])));
    }

    /// A path that is written in another way is still the same path for the server behind.
    #[test]
    fn a_path_cannot_be_disguised() {
        let heavy = Matcher {
            path: Some(WildMatch::new("/heavy*")),
            ..Matcher::default()
        };
        for path in [
            "/heavy",
            "/%68eavy",
            "/h%65av%79/x",
            "//heavy",
            "/./heavy",
            "/light/../heavy",
            "/light/%2e%2E/heavy",
            "/light/..//heavy",
            "http://elsewhere/heavy",
        ] {
            assert!(heavy.matches(&request("GET", path, &[])), "{path}");
        }
        for path in [
            "/light",
            "/heav",
            "/light/heavy",
            "/?/heavy",
            "/light/...heavy",
        ] {
            assert!(!heavy.matches(&request("GET", path, &[])), "{path}");
        }
    }
}
