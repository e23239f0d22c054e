//! Encoding and decoding of characters as JMeter's HTTP library does it, to the byte.

use std::fmt::Write as _;

use weir_charset::Charset;

/// Appends form-encoded text as `HttpClient` does: all of it becomes bytes, of which ASCII letters,
/// digits and `. - * _` are kept, a space is `+`, and all others are `%XX`.
pub(crate) fn push_form(out: &mut String, text: &str, charset: Charset) {
    // The URL standard's set for forms is the same: `*`, `-`, `.`, `_` and alphanumerics.
    out.extend(form_urlencoded::byte_serialize(&charset.encode(text)));
}

/// Appends form-encoded text as `java.net.URLEncoder` does: it makes bytes only of what is not
/// kept, one run after the other. With UTF-16, each run so begins with a mark.
pub(crate) fn push_text(out: &mut String, text: &str, charset: Charset) {
    if charset == Charset::UTF_8 {
        return push_form(out, text, charset);
    }
    let is_kept = |c: char| c.is_ascii_alphanumeric() || " .-*_".contains(c);
    let mut rest = text;
    while !rest.is_empty() {
        let kept = rest.find(|c| !is_kept(c)).unwrap_or(rest.len());
        out.extend(rest[..kept].chars().map(|c| if c == ' ' { '+' } else { c }));
        rest = &rest[kept..];
        let run = rest.find(is_kept).unwrap_or(rest.len());
        for byte in &*charset.encode(&rest[..run]) {
            push_escape(out, *byte);
        }
        rest = &rest[run..];
    }
}

/// Appends the path of a request line: empty segments dropped (except a last one) and, only if
/// there were some, every segment decoded and encoded again; other text in ASCII as it is.
///
/// This is what Apache `HttpClient` 4.5.14 does, which garbles characters beyond ASCII where it
/// drops empty segments.
pub(crate) fn push_path(out: &mut String, path: &str) {
    let segments = path.strip_prefix('/').unwrap_or(path);
    if !segments.contains("//") && !segments.starts_with('/') {
        out.push('/');
        push_ascii(out, segments);
        return;
    }
    let ends_empty = segments.ends_with('/');
    for segment in segments.split('/').filter(|segment| !segment.is_empty()) {
        out.push('/');
        push_segment(out, &decode_segment(segment));
    }
    if ends_empty {
        out.push('/');
    }
}

fn decode_segment(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let lowest =
        |text: &str, bytes: &mut Vec<u8>| bytes.extend(text.chars().map(|c| c as u32 as u8));
    let mut rest = segment;
    while let Some((plain, escape)) = rest.split_once('%') {
        lowest(plain, &mut bytes);
        // The URL has been checked: two hexadecimal digits follow.
        let digits = escape.get(..2).unwrap_or_default();
        bytes.push(u8::from_str_radix(digits, 16).unwrap_or(b'%'));
        rest = escape.get(2..).unwrap_or_default();
    }
    lowest(rest, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push_segment(out: &mut String, segment: &str) {
    for byte in segment.as_bytes() {
        let kept = byte.is_ascii_alphanumeric() || b"-_.~!*'();:@&=+$,".contains(byte);
        if kept {
            out.push(char::from(*byte));
        } else {
            push_escape(out, *byte);
        }
    }
}

/// Appends text with everything beyond ASCII as `%XX` of its UTF-8.
pub(crate) fn push_ascii(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii() {
            out.push(char::from(byte));
        } else {
            push_escape(out, byte);
        }
    }
}

fn push_escape(out: &mut String, byte: u8) {
    write!(out, "%{byte:02X}").expect("writing to a String never fails");
}

/// Appends a header field's text as bytes: line ends become spaces, so that no value can end the
/// line, and what ISO 8859-1 does not have becomes `?`.
pub(crate) fn push_header_text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.chars().map(|c| match c {
        '\n' | '\r' | '\x0b' | '\x0c' => b' ',
        '\t' | ' '..='~' | '\u{a0}'..='\u{ff}' => c as u32 as u8,
        _ => b'?',
    }));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_charset::decode_form;

    use super::*;

    /// Measured with JMeter 5.6.3.
    #[test]
    fn forms() {
        let encoded = |text| {
            let mut out = String::new();
            push_form(&mut out, text, Charset::UTF_8);
            out
        };
        assert_eq!(encoded("é&=*-._~!"), "%C3%A9%26%3D*-._%7E%21");
        assert_eq!(encoded("x y"), "x+y");
    }

    /// Measured with JMeter 5.6.3.
    #[test]
    fn paths() {
        for (path, sent) in [
            ("", "/"),
            ("/", "/"),
            ("//", "/"),
            ("///", "/"),
            ("//a", "/a"),
            ("/a//", "/a/"),
            ("/a//b/../c/./d", "/a/b/../c/./d"),
            ("//..//x", "/../x"),
            ("/a//b%2fc%c3%bc", "/a/b%2Fc%C3%BC"),
            ("/a%C3%bc%2f", "/a%C3%bc%2f"),
            ("/%7e//x%20y", "/~/x%20y"),
            (
                "/a//b+c;d=e:f@g&h=i,j$k!l*m'(n)~",
                "/a/b+c;d=e:f@g&h=i,j$k!l*m'(n)~",
            ),
            ("/é%2f", "/%C3%A9%2f"),
            ("/ü//b", "/%EF%BF%BD/b"),
        ] {
            let mut out = String::new();
            push_path(&mut out, path);
            assert_eq!(out, sent, "{path}");
        }
    }

    /// Measured with JMeter 5.6.3.
    #[test]
    fn header_texts() {
        let mut out = Vec::new();
        push_header_text(&mut out, "a\nb\t\u{20ac}é\u{85}");
        assert_eq!(out, b"a b\t?\xe9?");
    }

    proptest! {
        #[test]
        fn decodes_what_was_encoded(text in "\\PC{0,40}") {
            let mut encoded = String::new();
            push_form(&mut encoded, &text, Charset::UTF_8);
            prop_assert_eq!(decode_form(&encoded, Charset::UTF_8), Ok(text));
        }

        #[test]
        fn any_text_gives_an_answer(text in "([%+0-9a-g/-]|\\PC){0,40}") {
            let _ = decode_form(&text, Charset::UTF_8);
            push_path(&mut String::new(), &text);
        }
    }
}
