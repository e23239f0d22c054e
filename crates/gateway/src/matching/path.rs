//! The path that a server is going to understand, however the client has written it.

use std::borrow::Cow;

/// The path with its percent-encoding undone and its empty, `.` and `..` segments removed (RFC
/// 3986, 5.2.4 and 6.2.2), for matching only: what is forwarded stays as it came.
///
/// Without this, a client would choose its class by writing `/%68eavy` for `/heavy`.
pub(crate) fn plain_path(path: &str) -> Cow<'_, str> {
    let is_plain = !path.contains('%') && !path.contains("//") && !path.contains("/.");
    if is_plain {
        return Cow::Borrowed(path);
    }
    let decoded = decode(path.as_bytes());
    let decoded = String::from_utf8_lossy(&decoded);
    Cow::Owned(without_detours(&decoded))
}

fn decode(path: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| (*after.get(at)? as char).to_digit(16);
        if let (b'%', Some(high), Some(low)) = (first, digit(0), digit(1)) {
            decoded.push((high * 16 + low) as u8);
            rest = &after[2..];
        } else {
            decoded.push(first);
            rest = after;
        }
    }
    decoded
}

fn without_detours(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    let mut plain = format!("/{}", segments.join("/"));
    let is_folder = ["/", "/.", "/.."].iter().any(|end| path.ends_with(end));
    if is_folder && !segments.is_empty() {
        plain.push('/');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_where_the_server_would_look() {
        for (written, meant) in [
            ("/", "/"),
            ("/a/b", "/a/b"),
            ("/a/./b/", "/a/b/"),
            ("/a/b/..", "/a/"),
            ("/../..", "/"),
            ("/%zz%4", "/%zz%4"),
            ("/%41%2Fb", "/A/b"),
            ("//a///b", "/a/b"),
        ] {
            assert_eq!(plain_path(written), meant, "{written}");
        }
    }
}
