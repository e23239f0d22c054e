//! JMeter properties: what `-J name=value` and property files set.

use std::collections::BTreeMap;

/// Names and values; the same for the whole test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties {
    values: BTreeMap<String, String>,
}

impl Properties {
    /// No properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a property away.
    pub fn remove(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// Sets a property, replacing an earlier value.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// The value of a property.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// All properties in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Adds what a Java property file says, replacing earlier values.
    ///
    /// The format is that of `java.util.Properties.load`: `name = value`, `name: value` or `name
    /// value`, comments with `#` or `!`, a line that ends in an odd number of backslashes goes on
    /// in the next one, and `\t \n \r \f \uXXXX` are escapes. Like Java, no text is an error,
    /// except that here a malformed `\u` stands for `u`.
    pub fn load(&mut self, text: &str) {
        for line in logical_lines(text) {
            let (name, value) = split_line(&line);
            self.set(unescape(name), unescape(value));
        }
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Properties {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut properties = Self::new();
        for (name, value) in pairs {
            properties.set(name, value);
        }
        properties
    }
}

const BLANK: [char; 3] = [' ', '\t', '\x0c'];

fn logical_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open: Option<String> = None;
    for line in text.replace("\r\n", "\n").split(['\n', '\r']) {
        let line = line.trim_start_matches(BLANK);
        if open.is_none() && (line.is_empty() || line.starts_with(['#', '!'])) {
            continue;
        }
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        let goes_on = backslashes % 2 == 1;
        let mut whole = open.take().unwrap_or_default();
        whole.push_str(&line[..line.len() - usize::from(goes_on)]);
        if goes_on {
            open = Some(whole);
        } else {
            lines.push(whole);
        }
    }
    lines.extend(open);
    lines
}

fn split_line(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c: char| {
        let ends = !escaped && (matches!(c, '=' | ':') || BLANK.contains(&c));
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else {
        return (line, "");
    };
    let rest = line[end..].trim_start_matches(BLANK);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], rest.trim_start_matches(BLANK))
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match rest.next() {
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('f') => plain.push('\x0c'),
            Some('u') => plain.push(unescape_unicode(&mut rest)),
            other => plain.extend(other),
        }
    }
    plain
}

fn unescape_unicode(rest: &mut std::str::Chars<'_>) -> char {
    let digits = rest.as_str().get(..4);
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match code.and_then(char::from_u32) {
        Some(c) => {
            *rest = rest.as_str()[4..].chars();
            c
        }
        None => 'u',
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &[(&str, &str)]) {
        let mut properties = Properties::new();
        properties.load(text);
        let expect: Properties = expect.iter().copied().collect();
        assert_eq!(properties, expect, "{text}");
    }

    /// The examples of the Javadoc of `java.util.Properties.load`.
    #[test]
    fn reads_what_java_reads() {
        for text in ["Truth = Beauty", " Truth:Beauty", "Truth      :Beauty"] {
            check(text, &[("Truth", "Beauty")]);
        }
        check(
            "fruits     apple, banana, \\\n       kiwi, \\\r\n       mango",
            &[("fruits", "apple, banana, kiwi, mango")],
        );
        check("cheeses", &[("cheeses", "")]);
        check("\\:\\= = x", &[(":=", "x")]);
    }

    #[test]
    fn reads_comments_and_escapes() {
        check(
            "# a=1\n\n  ! b=2\nc=3=\\u00e9\\t\\q\\u12",
            &[("c", "3=é\tqu12")],
        );
        check("a=1\\\\\nb=2", &[("a", "1\\"), ("b", "2")]);
        check("a=1\na=2", &[("a", "2")]);
    }

    proptest! {
        #[test]
        fn any_text_gives_an_answer(text in r"([\\u0-9=: \n#]|\PC){0,60}") {
            Properties::new().load(&text);
        }
    }
}
