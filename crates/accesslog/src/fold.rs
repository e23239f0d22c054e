//! Paths with what varies in them folded away: `/posts/123` and `/posts/124` are one endpoint.

use std::fmt::Write as _;

/// Digits in a row from which a part of a name is a number that varies, and not a version.
const NUMBER: usize = 3;
/// Length from which a segment of hexadecimal digits is an id.
const ID: usize = 8;

/// The pattern of a path: `{n}` for numbers, `{id}` for identifiers.
pub fn pattern(path: &str) -> String {
    let path = path.split(';').next().unwrap_or_default();
    let segments: Vec<String> = path.split('/').map(segment).collect();
    segments.join("/")
}

fn segment(text: &str) -> String {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return "{n}".to_owned();
    }
    if is_id(text) {
        return "{id}".to_owned();
    }
    let mut folded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[start..].bytes().take_while(u8::is_ascii_digit).count();
        folded.push_str(&rest[..start]);
        let number = &rest[start..start + digits];
        let shown = if digits >= NUMBER { "{n}" } else { number };
        let _ = write!(folded, "{shown}");
        rest = &rest[start + digits..];
    }
    folded + rest
}

/// A UUID, a digest, an object id: hexadecimal digits and dashes with a digit among them.
fn is_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    text.len() >= ID && text.bytes().all(fits) && text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_vary_and_words_do_not() {
        for (path, folded) in [
            ("/", "/"),
            ("/posts/123/comments/4", "/posts/{n}/comments/{n}"),
            ("/a/7d793037-a076-4f5d-8d3e-0f1f2e3d4c5b", "/a/{id}"),
            ("/a/5d41402abc4b2a76b9719d911017c592", "/a/{id}"),
            ("/item-4711.html", "/item-{n}.html"),
            ("/v1/jquery-3.6.0.min.js", "/v1/jquery-3.6.0.min.js"),
            ("/feedback/facade", "/feedback/facade"),
            ("/stress;jsessionid=1A", "/stress"),
            ("/ü/1", "/ü/{n}"),
            ("//", "//"),
        ] {
            assert_eq!(pattern(path), folded, "{path}");
        }
    }
}
