//! Taking headers apart at their delimiters, as JMeter's HTTP library does.
//!
//! Blanks around a token are dropped and runs of blanks inside become one space. Values may be
//! quoted in whole or in part; the quotes are dropped and a backslash protects quotes and itself.

/// Reads a header from left to right.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    rest: &'a str,
}

/// A name, and its value if there is an equals sign.
pub(crate) type Pair = (String, Option<String>);

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The character that the last token ended at, or nothing at the end.
    pub(crate) fn delimiter(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let first = characters.next();
        self.rest = characters.as_str();
        first
    }

    /// The text up to one of the delimiters, which stays.
    pub(crate) fn token(&mut self, delimiters: &[char]) -> String {
        let end = self.rest.find(delimiters).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        let words: Vec<&str> = token.split(is_blank).filter(|w| !w.is_empty()).collect();
        words.join(" ")
    }

    /// As `token`, for a value, in which delimiters may stand between quotes.
    pub(crate) fn value(&mut self, delimiters: &[char]) -> String {
        let mut value = String::new();
        let mut after_blank = false;
        while let Some(first) = self.rest.chars().next() {
            if delimiters.contains(&first) {
                break;
            }
            if is_blank(first) {
                self.rest = self.rest.trim_start_matches(is_blank);
                after_blank = true;
                continue;
            }
            if after_blank && !value.is_empty() {
                value.push(' ');
            }
            after_blank = false;
            if first == '"' {
                self.quoted(&mut value);
            } else {
                let ends = |c: char| c == '"' || is_blank(c) || delimiters.contains(&c);
                let end = self.rest.find(ends).unwrap_or(self.rest.len());
                let (plain, rest) = self.rest.split_at(end);
                value.push_str(plain);
                self.rest = rest;
            }
        }
        value
    }

    /// What stands between the quote at which the text begins and the next.
    fn quoted(&mut self, value: &mut String) {
        let mut characters = self.rest[1..].chars();
        let mut is_escaped = false;
        for c in characters.by_ref() {
            if is_escaped {
                if c != '"' && c != '\\' {
                    value.push('\\');
                }
                value.push(c);
                is_escaped = false;
            } else if c == '"' {
                break;
            } else if c == '\\' {
                is_escaped = true;
            } else if c != '\r' && c != '\n' {
                value.push(c);
            }
        }
        self.rest = characters.as_str();
    }

    /// `name`, or `name=value` with a value that may be quoted; the separator after it stays.
    pub(crate) fn pair(&mut self, separators: &[char]) -> Pair {
        let name_ends: Vec<char> = separators.iter().copied().chain(['=']).collect();
        let name = self.token(&name_ends);
        if self.rest.starts_with('=') {
            self.delimiter();
            return (name, Some(self.value(separators)));
        }
        (name, None)
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// An element of a header's list with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) parameters: Vec<Pair>,
}

impl Element {
    /// Whether it has a parameter of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut parameters = self.parameters.iter();
        parameters.any(|(known, _)| known.eq_ignore_ascii_case(name))
    }
}

/// The elements of a list, separated by commas, each with its parameters, separated by semicolons.
pub(crate) fn elements(text: &str) -> Vec<Element> {
    let mut tokens = Tokens::new(text);
    let mut elements = Vec::new();
    while !tokens.is_at_end() {
        let (name, value) = tokens.pair(&[';', ',']);
        let mut parameters = Vec::new();
        while tokens.delimiter() == Some(';') {
            parameters.push(tokens.pair(&[';', ',']));
        }
        if !name.is_empty() || value.is_some() {
            elements.push(Element {
                name,
                value,
                parameters,
            });
        }
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_quotes() {
        let value = |text: &str| Tokens::new(text).value(&[';']);
        assert_eq!(value("  a  b ; c"), "a b");
        assert_eq!(value(r#""a;  b" c"#), "a;  b c");
        assert_eq!(value(r#"x"y"z"#), "xyz");
        assert_eq!(value(r#""a\"b\\c\d""#), r#"a"b\c\d"#);
        assert_eq!(value("\"open"), "open");
        assert_eq!(Tokens::new(" a \t b =").token(&['=']), "a b");
    }

    #[test]
    fn lists_have_elements_with_parameters() {
        let read = elements("a=1; b=\"x,y\"; c, d;e=f,,");
        let pair = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        assert_eq!(read.len(), 2);
        assert_eq!((&*read[0].name, read[0].value.as_deref()), ("a", Some("1")));
        assert_eq!(
            read[0].parameters,
            [pair("b", Some("x,y")), pair("c", None)]
        );
        assert_eq!((&*read[1].name, read[1].value.as_deref()), ("d", None));
        assert!(read[1].has("E") && !read[1].has("f"));
        assert!(elements(" , ;").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "\\PC*") {
            let _ = elements(&text);
            let mut tokens = Tokens::new(&text);
            while !tokens.is_at_end() {
                tokens.value(&[';']);
                tokens.delimiter();
            }
        }
    }
}
