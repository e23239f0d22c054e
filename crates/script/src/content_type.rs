//! Types of parts, read and written as Apache `HttpClient` 4.5 does it.

use weir_charset::Charset;

use crate::Unsendable;

/// The type of a part, as it goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentType {
    pub(crate) text: String,
    /// The character set that it names.
    pub(crate) charset: Option<Charset>,
}

impl ContentType {
    /// A media type with a character set beside it.
    pub(crate) fn of(media_type: &str, charset: Charset) -> Result<Self, Unsendable> {
        let fails = |says: &str| Unsendable::illegal_argument(says.to_owned());
        if media_type.trim().is_empty() {
            return Err(fails("MIME type may not be blank"));
        }
        if media_type.contains(['"', ',', ';']) {
            return Err(fails("MIME type may not contain reserved characters"));
        }
        Ok(Self {
            text: format!("{media_type}; charset={}", charset.name()),
            charset: Some(charset),
        })
    }

    /// A media type that may have parameters: the first of a list.
    pub(crate) fn parse(text: &str) -> Result<Self, Unsendable> {
        let elements = split(text, ',')
            .into_iter()
            .map(|element| split(element, ';'));
        let mut named = elements.filter(|parts| !parts[0].trim().is_empty());
        let Some(parts) = named.next() else {
            let says = format!("Invalid content type: {text}");
            return Err(Unsendable::parse(says));
        };
        let media_type = parts[0].split('=').next().unwrap_or_default().trim();
        let mut out = media_type.to_owned();
        let mut charset = None;
        for parameter in &parts[1..] {
            let (name, value) = match parameter.split_once('=') {
                Some((name, value)) => (name.trim(), Some(unquoted(value))),
                None => (parameter.trim(), None),
            };
            if name.is_empty() {
                continue;
            }
            out.extend(["; ", name]);
            let Some(value) = value else { continue };
            if name.eq_ignore_ascii_case("charset") && !value.trim().is_empty() {
                let named = Charset::named(&value);
                charset = Some(named.map_err(|why| Unsendable::no_charset(why, &value))?);
            }
            out.push('=');
            push_value(&mut out, &value);
        }
        Ok(Self { text: out, charset })
    }
}

/// Splits at a separator that does not stand in quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    text.split(|c| {
        let ends = !is_quoted && c == separator;
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = is_quoted && c == '\\' && !is_escaped;
        ends
    })
    .collect()
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    match value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
        Some(inside) => inside.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => value.to_owned(),
    }
}

/// A value with separators in it stands in quotes.
fn push_value(out: &mut String, value: &str) {
    if value.contains(|c| " ;,:@()<>\\\"/[]?={}\t".contains(c)) {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        out.extend(["\"", &escaped, "\""]);
    } else {
        out.push_str(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured with JMeter 5.6.3.
    #[test]
    fn types_are_written_anew() {
        for (text, written, charset) in [
            ("text/x; a=b", "text/x; a=b", None),
            (
                "text/y; charset=latin1",
                "text/y; charset=latin1",
                Some("ISO-8859-1"),
            ),
            (
                "text/z;charset=\"utf-8\"; x=1",
                "text/z; charset=utf-8; x=1",
                Some("UTF-8"),
            ),
            ("t e/x;a", "t e/x; a", None),
            ("text/plain;a=b;c", "text/plain; a=b; c", None),
            ("a,b", "a", None),
        ] {
            let parsed = ContentType::parse(text).expect(text);
            let named = parsed.charset.map(Charset::name);
            assert_eq!((&*parsed.text, named), (written, charset), "{text}");
        }
    }

    /// Measured with JMeter 5.6.3.
    #[test]
    fn what_is_no_type_fails() {
        let why = |failure: Unsendable| format!("{}: {}", failure.class(), failure.message());
        for (text, failure) in [
            ("", "org.apache.http.ParseException: Invalid content type: "),
            (
                ";x",
                "org.apache.http.ParseException: Invalid content type: ;x",
            ),
            (
                "text/x; charset=nosuch",
                "java.nio.charset.UnsupportedCharsetException: nosuch",
            ),
            (
                "text/x; charset=no such",
                "java.nio.charset.IllegalCharsetNameException: no such",
            ),
        ] {
            assert_eq!(
                ContentType::parse(text).map_err(why),
                Err(failure.to_owned())
            );
        }
        for text in ["te,xt", "te\"xt"] {
            let failed = ContentType::of(text, Charset::UTF_8).map_err(why);
            let says =
                "java.lang.IllegalArgumentException: MIME type may not contain reserved characters";
            assert_eq!(failed, Err(says.to_owned()), "{text}");
        }
    }
}
