//! Reading JSON as json-smart does when it is told to take what it can.
//!
//! Beside JSON it takes text in single quotes, bare words as names and values (up to the next comma
//! or closing bracket), commas too many, raw line feeds in text, anything behind the value. What
//! does not begin with a bracket or a quote is one bare word: a page of HTML reads as a text.

use std::iter::Peekable;
use std::str::Chars;

use indexmap::IndexMap;

use super::{Json, Number};

/// How deep values may be nested, as in json-smart.
const DEPTH: usize = 400;

impl Json {
    /// The value of the text, or why there is none, in json-smart's words as far as they are known.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader {
            rest: text.chars().peekable(),
            position: 0,
        };
        reader.value(&[], DEPTH)
    }
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    position: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        self.position += 1;
        self.rest.next()
    }

    fn skip_blanks(&mut self) {
        while self
            .rest
            .peek()
            .is_some_and(|c| matches!(c, ' ' | '\t' | '\r' | '\n'))
        {
            self.next();
        }
    }

    fn end(&self) -> String {
        format!(
            "Unexpected End Of File position {}: EOF",
            self.position.saturating_sub(1)
        )
    }

    fn unexpected(&self, c: char) -> String {
        format!(
            "Unexpected character ({c}) at position {}.",
            self.position.saturating_sub(1)
        )
    }

    /// A value that ends before one of the characters of `stops`, if it is a bare word.
    fn value(&mut self, stops: &[char], depth: usize) -> Result<Json, String> {
        self.skip_blanks();
        match self.rest.peek() {
            Some('{' | '[') if depth == 0 => Err(format!(
                "Malicious payload, having non natural depths, parsing stoped on {{ at position {}.",
                self.position
            )),
            Some('{') => self.object(depth - 1),
            Some('[') => self.array(depth - 1),
            Some(&quote @ ('"' | '\'')) => self.text(quote).map(Json::Text),
            Some(&c @ (':' | '}' | ']' | ',')) if !stops.is_empty() => Err(self.unexpected(c)),
            None if !stops.is_empty() => Err(self.end()),
            _ => Ok(bare(&self.word(stops))),
        }
    }

    fn word(&mut self, stops: &[char]) -> String {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| !stops.contains(c)) {
            self.position += 1;
            word.push(c);
        }
        word.truncate(word.trim_end().len());
        word
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            match self.rest.peek() {
                Some(']') => {
                    self.next();
                    return Ok(Json::Array(items));
                }
                Some(',') => {
                    self.next();
                }
                Some(&c @ (':' | '}')) => return Err(self.unexpected(c)),
                Some(_) => items.push(self.value(&[',', ']'], depth)?),
                None => return Err(self.end()),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.next();
        let mut members = IndexMap::new();
        loop {
            self.skip_blanks();
            match self.rest.peek() {
                Some('}') => {
                    self.next();
                    return Ok(Json::Object(members));
                }
                Some(',') => {
                    self.next();
                    continue;
                }
                Some(&c @ (':' | ']' | '[' | '{')) => return Err(self.unexpected(c)),
                None => return Err(self.end().replace("EOF", "null")),
                Some(_) => {}
            }
            let name = match self.rest.peek() {
                Some(&quote @ ('"' | '\'')) => self.text(quote)?,
                _ => self.word(&[':', '}', ']', ',', '{']),
            };
            self.skip_blanks();
            match self.next() {
                Some(':') => {}
                Some(c) => {
                    self.position -= 1;
                    return Err(self.unexpected(c));
                }
                None => return Err(self.end()),
            }
            let value = self.value(&[',', '}'], depth)?;
            members.insert(name, value);
        }
    }

    fn text(&mut self, quote: char) -> Result<String, String> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(self.end()),
                Some(c) if c == quote => return Ok(text),
                Some('\\') => self.escaped(&mut text)?,
                Some(c) => text.push(c),
            }
        }
    }

    fn escaped(&mut self, text: &mut String) -> Result<(), String> {
        let c = self.next().ok_or_else(|| self.end())?;
        text.push(match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'x' => char::from_u32(self.hexadecimal(2)?).unwrap_or_default(),
            'u' => {
                let high = self.hexadecimal(4)?;
                self.unicode(high)?
            }
            c => c,
        });
        Ok(())
    }

    /// The character of a `\u`, whose second half may follow.
    fn unicode(&mut self, high: u32) -> Result<char, String> {
        if (0xd800..0xdc00).contains(&high) {
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('\\') && ahead.next() == Some('u') {
                let after = self.rest.clone();
                let position = self.position;
                self.next();
                self.next();
                let low = self.hexadecimal(4)?;
                if (0xdc00..0xe000).contains(&low) {
                    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                self.rest = after;
                self.position = position;
            }
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<u32, String> {
        let mut number = 0;
        for _ in 0..digits {
            let c = self.next().ok_or_else(|| self.end())?;
            let digit = c.to_digit(16).ok_or_else(|| self.unexpected(c))?;
            number = number * 16 + digit;
        }
        Ok(number)
    }
}

/// The value of a bare word.
fn bare(word: &str) -> Json {
    match word {
        "null" => Json::Null,
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        "NaN" => Json::Number(Number::Double(f64::NAN)),
        _ => match Number::parse(word) {
            Some(number) if !word.is_empty() => Json::Number(number),
            _ => Json::Text(word.to_owned()),
        },
    }
}
