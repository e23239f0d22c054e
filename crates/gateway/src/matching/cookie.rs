//! Cookies of a request.

/// The value of a cookie in a `Cookie` field (RFC 6265, 4.2.1); quotes around it are no part of it.
pub(crate) fn cookie<'a>(field: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut pairs = field.split(|&byte| byte == b';');
    let value = pairs.find_map(|pair| {
        let at = pair.iter().position(|&byte| byte == b'=')?;
        (pair[..at].trim_ascii() == name).then(|| pair[at + 1..].trim_ascii())
    })?;
    let quoted = value
        .strip_prefix(b"\"")
        .and_then(|value| value.strip_suffix(b"\""));
    Some(quoted.unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_of_its_name() {
        for (field, expected) in [
            ("a=1; b=2", Some("2")),
            ("b=2; b=3", Some("2")),
            ("b=\"x y\"", Some("x y")),
            (" b = 2 ", Some("2")),
            ("b=", Some("")),
            ("ab=2; B=3; b", None),
            ("", None),
        ] {
            let found = cookie(field.as_bytes(), b"b");
            assert_eq!(found, expected.map(str::as_bytes), "{field}");
        }
    }
}
