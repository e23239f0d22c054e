//! `Cookie` headers.

use weir_plan::CookiePolicy;

use super::Cookie;

/// The value of the header for these cookies, of which there is at least one.
pub(super) fn header(policy: CookiePolicy, cookies: &[&Cookie]) -> String {
    let version = cookies.iter().map(|cookie| cookie.version).min();
    let version = version.unwrap_or_default();
    match policy {
        CookiePolicy::Standard | CookiePolicy::StandardStrict => standard(cookies),
        CookiePolicy::Rfc2109 => {
            let all = by_path(cookies);
            let pairs = all.iter().map(|cookie| versioned(cookie, version));
            let pairs: Vec<String> = pairs.collect();
            format!("$Version={version}; {}", pairs.join("; "))
        }
        // The library makes one header for each cookie; JMeter joins their values with nothing
        // between.
        CookiePolicy::AsItComes if version > 0 => {
            let headers = by_path(cookies).into_iter().map(|cookie| {
                let text = versioned(cookie, cookie.version);
                format!("$Version={}; {text}", cookie.version)
            });
            headers.collect::<Vec<_>>().concat()
        }
        CookiePolicy::AsItComes | CookiePolicy::Netscape => joined(
            cookies
                .iter()
                .map(|cookie| format!("{}={}", cookie.name, cookie.value)),
        ),
        CookiePolicy::Ignore => String::new(),
    }
}

fn joined(pairs: impl Iterator<Item = String>) -> String {
    pairs.collect::<Vec<_>>().join("; ")
}

/// Longest path first; those of one length in the order in which they came.
fn standard(cookies: &[&Cookie]) -> String {
    let mut sorted = cookies.to_vec();
    sorted.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.encode_utf16().count()));
    joined(sorted.iter().map(|cookie| {
        let value = &cookie.value;
        if value.contains([' ', '"', ',', ';', '\\']) {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{}=\"{escaped}\"", cookie.name)
        } else {
            format!("{}={value}", cookie.name)
        }
    }))
}

/// Paths before those that they begin with. This is no order of all paths, so that nothing but
/// inserting one after the other gives an answer.
fn by_path<'a>(cookies: &[&'a Cookie]) -> Vec<&'a Cookie> {
    let folder = |cookie: &Cookie| {
        let slash = if cookie.path.ends_with('/') { "" } else { "/" };
        format!("{}{slash}", cookie.path)
    };
    let mut sorted: Vec<&Cookie> = Vec::with_capacity(cookies.len());
    for &cookie in cookies {
        let own = folder(cookie);
        let goes_before = |other: &&Cookie| {
            let other = folder(other);
            own != other && own.starts_with(&other)
        };
        let place = sorted.iter().position(goes_before).unwrap_or(sorted.len());
        sorted.insert(place, cookie);
    }
    sorted
}

/// RFC 2109's way to write a cookie.
fn versioned(cookie: &Cookie, version: i32) -> String {
    let parameter = |name: &str, value: &str| {
        if version > 0 {
            format!("{name}=\"{value}\"")
        } else {
            format!("{name}={value}")
        }
    };
    let mut text = parameter(&cookie.name, &cookie.value);
    if cookie.gives_path {
        text = format!("{text}; {}", parameter("$Path", &cookie.path));
    }
    if cookie.gives_domain {
        text = format!(
            "{text}; {}",
            parameter("$Domain", &cookie.domain.to_lowercase())
        );
    }
    text
}
