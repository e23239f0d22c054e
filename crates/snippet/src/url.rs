//! URLs, cut into the parts that `java.net.URL` tells.

use std::ops::Range;

/// A URL: its text, and where its parts are.
#[derive(Debug)]
pub(crate) struct Url {
    text: String,
    /// Where the scheme ends.
    scheme: usize,
    host: Range<usize>,
    port: Option<u16>,
    /// Where the path begins.
    path: usize,
    /// Where the query begins, or the URL ends.
    query: usize,
    /// Where the fragment begins, or the URL ends.
    fragment: usize,
}

impl Url {
    /// Reads an absolute URL.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let scheme = text.find("://")?;
        let begin = scheme + 3;
        let end_of = |from: usize, stops: &[char]| {
            let found = text[from..].find(stops);
            found.map_or(text.len(), |at| from + at)
        };
        let path = end_of(begin, &['/', '?', '#']);
        let fragment = end_of(path, &['#']);
        let query = text[path..fragment]
            .find('?')
            .map_or(fragment, |at| path + at);
        let host = text[begin..path]
            .rfind('@')
            .map_or(begin, |at| begin + at + 1);
        // The colons of an address in brackets are its own.
        let after = text[host..path].rfind(']').map_or(host, |at| host + at);
        let colon = text[after..path].find(':').map(|at| after + at);
        let port = match colon {
            Some(at) if at + 1 < path => Some(text[at + 1..path].parse().ok()?),
            _ => None,
        };
        Some(Self {
            scheme,
            host: host..colon.unwrap_or(path),
            port,
            path,
            query,
            fragment,
            text: text.to_owned(),
        })
    }

    pub(crate) fn whole(&self) -> &str {
        &self.text
    }

    pub(crate) fn scheme(&self) -> &str {
        &self.text[..self.scheme]
    }

    pub(crate) fn host(&self) -> &str {
        &self.text[self.host.clone()]
    }

    pub(crate) fn port(&self) -> Option<u16> {
        self.port
    }

    pub(crate) fn path(&self) -> &str {
        &self.text[self.path..self.query]
    }

    /// Path and query.
    pub(crate) fn file(&self) -> &str {
        &self.text[self.path..self.fragment]
    }

    /// What follows the question mark, if there is one.
    pub(crate) fn query(&self) -> Option<&str> {
        self.text[self.query..self.fragment].strip_prefix('?')
    }

    /// What follows the hash sign, if there is one.
    pub(crate) fn fragment(&self) -> Option<&str> {
        self.text[self.fragment..].strip_prefix('#')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `java.net.URL` of Java 17 gives.
    #[test]
    fn parts_as_java_cuts_them() {
        for (text, expect) in [
            ("http://h/p?q=1", ("h", None, "/p", Some("q=1"), None)),
            ("https://h:8443", ("h", Some(8443), "", None, None)),
            (
                "http://u:p@h:1/a/b#f",
                ("h", Some(1), "/a/b", None, Some("f")),
            ),
            (
                "http://[::1]:80/x?a#b?c",
                ("[::1]", Some(80), "/x", Some("a"), Some("b?c")),
            ),
            ("http://h?", ("h", None, "", Some(""), None)),
        ] {
            let read = Url::read(text);
            let parts = read.as_ref().map(|url| {
                (
                    url.host(),
                    url.port(),
                    url.path(),
                    url.query(),
                    url.fragment(),
                )
            });
            assert_eq!(parts, Some(expect), "{text}");
        }
        assert!(Url::read("nosuch").is_none());
        assert!(Url::read("http://h:x/").is_none());
    }
}
