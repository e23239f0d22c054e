//! Where a redirect or a page's resource leads: relative URLs as Java resolves them.
//!
//! JMeter resolves with `java.net.URL`, which is older than RFC 3986 and differs from it (a query
//! alone cuts the last segment of the path; a scheme equal to the base's is as good as none), then
//! repairs what `java.net.URI` would not take. Both decide what is sent, so they are kept. The
//! rules are Java's documentation and what was measured with JMeter 5.6.3.

use std::fmt::Write as _;

use crate::Unsendable;
use crate::url;

/// The URL that a `Location` field leads to.
///
/// # Errors
/// It leads nowhere: the outcome of the sample in JMeter.
pub fn redirect_url(base: &str, location: &str) -> Result<String, Unsendable> {
    let location = without_dot_dot(location).replace(' ', "%20");
    sanitized(resolved(base, &location)?)
}

/// The URL that a `Location` field leads to when redirects are followed out of sight: Apache
/// `HttpClient` resolves as RFC 3986 says, and takes no URL that would have to be repaired.
pub fn automatic_url(base: &str, location: &str) -> Option<String> {
    let base = base.split('#').next().unwrap_or_default();
    let url = if location.starts_with('?') {
        let path = base.split('?').next().unwrap_or_default();
        format!("{path}{location}")
    } else {
        resolved(base, location).ok()?
    };
    url::check(&url).ok()?;
    // The library asks for path and query alone.
    let url = url.split('#').next().unwrap_or_default();
    Some(normalized(url))
}

/// The URL of a resource that a page names, repaired; `None` when it names nothing that can be
/// fetched.
///
/// Patterns of the plan are matched with this; [`normalized`] is what is fetched.
pub fn resource_url(base: &str, link: &str) -> Option<String> {
    let resolved = resolved(base, &unescaped(link)).ok()?;
    // JMeter goes on with the URL as it is when it cannot be repaired.
    Some(sanitized(resolved.clone()).unwrap_or(resolved))
}

/// The base that a page sets for its resources; `None` when it is malformed.
pub fn base_url(base: &str, link: &str) -> Option<String> {
    resolved(base, link).ok()
}

/// A URL without `.`, `..` and empty segments in its path.
pub fn normalized(url: &str) -> String {
    let Some(parts) = url::Parts::of(url) else {
        return url.to_owned();
    };
    let end = parts.tail.find(['?', '#']).unwrap_or(parts.tail.len());
    let (path, rest) = parts.tail.split_at(end);
    if path.is_empty() {
        return url.to_owned();
    }
    let mut segments: Vec<&str> = Vec::new();
    let mut ends_open = false;
    for segment in path.split('/').skip(1) {
        ends_open = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            other => {
                ends_open = false;
                segments.push(other);
            }
        }
    }
    let before = &url[..url.len() - parts.tail.len()];
    let slash = if ends_open && !segments.is_empty() {
        "/"
    } else {
        ""
    };
    format!("{before}/{}{slash}{rest}", segments.join("/"))
}

/// `java.net.URL` with a context, with JMeter's care for `../` that leads above the root.
fn resolved(base: &str, spec: &str) -> Result<String, Unsendable> {
    let first = resolve(base, spec)?;
    if !spec.starts_with("../") {
        return Ok(first);
    }
    let path = url::Parts::of(&first).map_or("", |parts| parts.tail);
    let above = path.strip_prefix('/').map_or(0, leading_dot_dots);
    if above > 0 && leading_dot_dots(spec) >= above {
        return resolve(base, &spec[above..]);
    }
    Ok(first)
}

/// Bytes of `../` that a text starts with.
fn leading_dot_dots(text: &str) -> usize {
    let rest = text.trim_start_matches("../");
    text.len() - rest.len()
}

fn resolve(base: &str, spec: &str) -> Result<String, Unsendable> {
    let original = spec;
    let spec = spec.trim_matches(|c: char| c <= ' ');
    let spec = match spec.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("url:") => &spec[4..],
        _ => spec,
    };
    let context = Url::of(base);
    let (scheme, rest) = split_scheme(spec);
    let same = |scheme: &String| *scheme == context.scheme && context.path.starts_with('/');
    let mut made = match &scheme {
        Some(scheme) if !same(scheme) => Url {
            scheme: scheme.clone(),
            ..Url::default()
        },
        _ if context.scheme.is_empty() => {
            let says = format!("no protocol: {original}");
            return Err(Unsendable::malformed_url(says));
        }
        _ => Url {
            query: None,
            fragment: None,
            ..context.clone()
        },
    };
    if !matches!(made.scheme.as_str(), "http" | "https") {
        let says = format!("unknown protocol: {}", made.scheme);
        return Err(Unsendable::malformed_url(says));
    }
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
        None => (rest, None),
    };
    made.fragment = fragment;
    if rest.is_empty() {
        made.query.clone_from(&context.query);
        made.fragment = made.fragment.or(context.fragment);
        return Ok(made.text());
    }
    made.take(rest)?;
    Ok(made.text())
}

/// The scheme in lower case, and what follows it; no scheme if there is a slash before the colon.
fn split_scheme(spec: &str) -> (Option<String>, &str) {
    let end = spec.find([':', '/', '#']).unwrap_or(spec.len());
    if !spec[end..].starts_with(':') {
        return (None, spec);
    }
    let name = &spec[..end];
    let mut letters = name.chars();
    let legal = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if legal {
        (Some(name.to_ascii_lowercase()), &spec[end + 1..])
    } else {
        (None, spec)
    }
}

/// A URL as `java.net.URL` sees it.
#[derive(Debug, Clone, Default)]
struct Url {
    scheme: String,
    authority: String,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

impl Url {
    /// The parts of a whole URL.
    fn of(text: &str) -> Self {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Self::default();
        };
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment.to_owned())),
            None => (rest, None),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query.to_owned())),
            None => (rest, None),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Self {
            scheme: scheme.to_ascii_lowercase(),
            authority: authority.to_owned(),
            path: path.to_owned(),
            query,
            fragment,
        }
    }

    /// Takes authority, path and query, which are not all empty, from a text without fragment.
    fn take(&mut self, text: &str) -> Result<(), Unsendable> {
        let (mut text, query) = match text.split_once('?') {
            Some((text, query)) => (text, Some(query.to_owned())),
            None => (text, None),
        };
        let only_query = text.is_empty();
        self.query = query;
        if let Some(rest) = text
            .strip_prefix("//")
            .filter(|rest| !rest.starts_with("//"))
        {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            check_port(authority)?;
            authority.clone_into(&mut self.authority);
            self.path.clear();
            text = path;
        }
        let directory = self.path.rfind('/');
        if only_query {
            self.path.truncate(directory.unwrap_or(0));
            self.path.push('/');
        } else if text.starts_with('/') {
            text.clone_into(&mut self.path);
        } else if !text.is_empty() {
            self.path.truncate(directory.map_or(0, |at| at + 1));
            if self.path.is_empty() {
                self.path.push('/');
            }
            self.path.push_str(text);
            self.path = without_dots(std::mem::take(&mut self.path));
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = format!("{}://{}{}", self.scheme, self.authority, self.path);
        for (mark, part) in [('?', &self.query), ('#', &self.fragment)] {
            if let Some(part) = part {
                text.push(mark);
                text.push_str(part);
            }
        }
        text
    }
}

fn check_port(authority: &str) -> Result<(), Unsendable> {
    let host = authority.rsplit('@').next().unwrap_or_default();
    let port = match host.split_once(']') {
        Some((_, port)) => port.strip_prefix(':'),
        None => host.split_once(':').map(|(_, port)| port),
    };
    match port.filter(|port| !port.is_empty()) {
        Some(port) if port.parse::<i32>().is_err() => {
            let at = port.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            let says = format!("Error at index {at} in: \"{port}\"");
            Err(Unsendable::malformed_url(says))
        }
        _ => Ok(()),
    }
}

/// `java.net.URL`'s own cleaning of a path: `/./` and `/x/../` go, what leads above the root stays.
fn without_dots(mut path: String) -> String {
    while let Some(at) = path.find("/./") {
        path.replace_range(at..at + 2, "");
    }
    let mut from = 0;
    while let Some(at) = path[from..].find("/../").map(|at| from + at) {
        match path[..at].rfind('/') {
            Some(before) if before > 0 || !path.starts_with("/../") => {
                path.replace_range(before..at + 3, "");
                from = 0;
            }
            _ => from = at + 3,
        }
    }
    while path.ends_with("/..") {
        let at = path.find("/..").unwrap_or(0);
        let Some(before) = path[..at].rfind('/') else {
            break;
        };
        path.truncate(before + 1);
    }
    if path.ends_with("/.") {
        path.pop();
    }
    path
}

/// JMeter collapses `/x/..` in a `Location` before it resolves it.
fn without_dot_dot(location: &str) -> String {
    let location = location.trim_matches(|c: char| c <= ' ');
    if location.len() < 4 || !location.contains("/..") {
        return location.to_owned();
    }
    let start = match location.find("://") {
        Some(at) => match location[at + 3..].find('/') {
            Some(slash) => at + 3 + slash,
            None => return location.to_owned(),
        },
        None => 0,
    };
    let mark = |mark: char| location.find(mark).filter(|at| *at > 0);
    let end = mark('?').or_else(|| mark('#')).unwrap_or(location.len());
    let Some(path) = location.get(start..end) else {
        return location.to_owned();
    };
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        match kept.last() {
            Some(last) if segment == ".." && *last != ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut made = location[..start].to_owned();
    if path.starts_with('/') {
        made.push('/');
    }
    made.push_str(&kept.join("/"));
    if path.ends_with('/') && !kept.is_empty() {
        made.push('/');
    }
    made.push_str(&location[end..]);
    made
}

/// The URL, with characters that `java.net.URI` does not take quoted; then every `%` is quoted too.
fn sanitized(text: String) -> Result<String, Unsendable> {
    if url::check(&text).is_ok() {
        return Ok(text);
    }
    let parts = Url::of(&text);
    let mut made = format!("{}://{}", parts.scheme, parts.authority);
    push_quoted(&mut made, &parts.path, ":@&=+$,;/");
    for (mark, part) in [('?', &parts.query), ('#', &parts.fragment)] {
        if let Some(part) = part {
            made.push(mark);
            push_quoted(&mut made, part, ":@&=+$,;/?[]");
        }
    }
    url::check(&made).map(|()| made)
}

fn push_quoted(out: &mut String, text: &str, legal: &str) {
    for c in text.chars() {
        let stays = if c.is_ascii() {
            c.is_ascii_alphanumeric() || "_-!.~'()*".contains(c) || legal.contains(c)
        } else {
            !c.is_control() && !c.is_whitespace()
        };
        if stays {
            out.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            write!(out, "%{byte:02X}").expect("writing to a String never fails");
        }
    }
}

/// The five entities of XML and character numbers, once.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let entity = after.split_once(';').and_then(|(name, left)| {
            let c = match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "apos" => '\'',
                _ => numbered(name.strip_prefix('#')?)?,
            };
            Some((c, left))
        });
        if let Some((c, left)) = entity {
            out.push(c);
            rest = left;
        } else {
            out.push('&');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn numbered(digits: &str) -> Option<char> {
    let number = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    char::from_u32(number.ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: &str = "http://h:81/a/b?q=1#f";

    fn leads(location: &str, to: &str) {
        let made = redirect_url(BASE, location).map_err(|error| error.message().to_owned());
        assert_eq!(made.as_deref(), Ok(to), "{location:?}");
    }

    /// What `java.net.URL` of Java 17 answers, with what JMeter 5.6.3 does before and after it.
    #[test]
    fn locations() {
        for (location, to) in [
            ("/c", "http://h:81/c"),
            ("c", "http://h:81/a/c"),
            ("./c", "http://h:81/a/c"),
            ("../c", "http://h:81/c"),
            ("../../c", "http://h:81/c"),
            ("/x/../c", "http://h:81/c"),
            ("/x/./c", "http://h:81/x/./c"),
            ("..", "http://h:81/"),
            ("1:y", "http://h:81/a/1:y"),
            ("c?x=1#y", "http://h:81/a/c?x=1#y"),
            ("?x=1", "http://h:81/a/?x=1"),
            ("#z", "http://h:81/a/b?q=1#z"),
            ("", "http://h:81/a/b?q=1#f"),
            ("//o/c", "http://o/c"),
            ("//o", "http://o"),
            ("http://o:82", "http://o:82"),
            ("HTTP://o:82/C", "http://o:82/C"),
            ("https://o/c", "https://o/c"),
            ("http:c", "http://h:81/a/c"),
            ("  /c  ", "http://h:81/c"),
            ("/c d", "http://h:81/c%20d"),
            ("/c|d%20e", "http://h:81/c%7Cd%2520e"),
            ("/ü?ö", "http://h:81/ü?ö"),
            ("/c?u=http://x/..", "http://h:81/c?u=http://x/.."),
        ] {
            leads(location, to);
        }
    }

    #[test]
    fn locations_that_lead_nowhere() {
        for (location, says) in [
            ("foo://x/", "unknown protocol: foo"),
            ("javascript:void(0)", "unknown protocol: javascript"),
            ("//o:p/c", "Error at index 0 in: \"p\""),
        ] {
            let error = redirect_url(BASE, location).map_err(|error| error.message().to_owned());
            assert_eq!(error, Err(says.to_owned()), "{location}");
        }
    }

    /// What Apache `HttpClient` 4.5.14 asked for.
    #[test]
    fn automatic_redirects() {
        for (location, url) in [
            ("/x/../c/./d", Some("http://h:81/c/d")),
            ("?q=2", Some("http://h:81/a/b?q=2")),
            ("/c#x", Some("http://h:81/c")),
            ("/c d", None),
            ("/c|d", None),
            ("foo://x", None),
        ] {
            assert_eq!(automatic_url(BASE, location).as_deref(), url, "{location}");
        }
    }

    #[test]
    fn resources() {
        for (link, url) in [
            ("i.png", Some("http://h:81/a/i.png")),
            ("/i?a=1&amp;b=2", Some("http://h:81/i?a=1&b=2")),
            ("/i?a=1&b=2&#65;", Some("http://h:81/i?a=1&b=2A")),
            ("/i 1.png", Some("http://h:81/i%201.png")),
            ("data:image/png;base64,AA==", None),
            ("javascript:x()", None),
        ] {
            assert_eq!(resource_url(BASE, link).as_deref(), url, "{link}");
        }
    }

    /// `java.net.URI.normalize` of Java 17.
    #[test]
    fn paths_without_dots() {
        for (path, normal) in [
            ("/a/./b", "/a/b"),
            ("/a//b", "/a/b"),
            ("/a/../b", "/b"),
            ("/../b", "/../b"),
            ("/a/b/..", "/a/"),
            ("/a/.", "/a/"),
            ("/a/../..", "/.."),
            ("/a/", "/a/"),
            ("/", "/"),
            ("", ""),
            ("/a?x=//..", "/a?x=//.."),
        ] {
            let url = format!("http://h{path}");
            assert_eq!(normalized(&url), format!("http://h{normal}"), "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_an_answer(text in "([:/.?#@&;|% ]|\\PC){0,30}") {
            let _ = redirect_url(BASE, &text);
            if let Some(url) = resource_url(BASE, &text) {
                let _ = normalized(&url);
            }
            if let Some(base) = base_url(BASE, &text) {
                let _ = resource_url(&base, "x");
            }
        }
    }
}
