//! From characters to tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::number::Decimal;
use crate::{Language, SyntaxError};

/// Longest script; real ones have a few thousand bytes.
pub(crate) const BYTES_MAX: usize = 1 << 20;

/// A value that stands in a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Float(f32),
    Decimal(Decimal),
    Char(char),
    Text(Arc<str>),
}

/// A part of a text with references in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(Arc<str>),
    /// The source of an expression.
    Code(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Literal(Literal),
    Interpolated(Vec<Piece>),
    /// A name or a word of the language.
    Name(Arc<str>),
    Sign(&'static str),
    End,
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) line: u32,
    /// A line ended before it.
    pub(crate) begins_line: bool,
}

/// Longest first.
const SIGNS: &[&str] = &[
    ">>>=", "<=>", "==~", "===", "!==", "<<=", ">>=", ">>>", "**=", "...", "..<", "?.", "?:", "*.",
    ".&", "..", "->", "=>", "==", "=~", "!~", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**", "::", "(", ")", "{", "}", "[", "]", ";",
    ",", ".", "=", "<", ">", "+", "-", "*", "/", "%", "!", "?", "&", "|", "^", "~", ":", "@",
];
/// Words after which an expression begins, so that a slash there is a text and no division.
const BEFORE_EXPRESSIONS: [&str; 6] = ["return", "in", "case", "throw", "assert", "else"];

pub(crate) fn tokens(
    source: &str,
    language: Language,
    line: u32,
) -> Result<Vec<Token>, SyntaxError> {
    if source.len() > BYTES_MAX {
        return Err(SyntaxError::new(line, "the script is too long"));
    }
    let mut lexer = Lexer {
        rest: source,
        language,
        line,
        begins_line: false,
        tokens: Vec::new(),
        texts: BTreeSet::new(),
    };
    while lexer.token()? {}
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    rest: &'s str,
    language: Language,
    line: u32,
    begins_line: bool,
    tokens: Vec<Token>,
    /// Texts that are written twice are one object, as in Java.
    texts: BTreeSet<Arc<str>>,
}

impl<'s> Lexer<'s> {
    fn error(&self, says: impl Into<String>) -> SyntaxError {
        SyntaxError::new(self.line, says)
    }

    fn push(&mut self, kind: Kind) {
        self.tokens.push(Token {
            kind,
            line: self.line,
            begins_line: std::mem::take(&mut self.begins_line),
        });
    }

    /// Moves on by so many bytes and counts lines.
    fn skip(&mut self, bytes: usize) -> &'s str {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.bytes().filter(|byte| *byte == b'\n').count() as u32;
        self.rest = rest;
        skipped
    }

    /// Reads one token; false after the last.
    fn token(&mut self) -> Result<bool, SyntaxError> {
        self.blank()?;
        let Some(first) = self.rest.chars().next() else {
            self.push(Kind::End);
            return Ok(false);
        };
        match first {
            '0'..='9' => self.number()?,
            '.' if self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            '"' | '\'' => self.text(first)?,
            '`' => return Err(self.error("texts in backquotes are not known")),
            '/' if self.language == Language::Groovy && self.expects_value() => self.slashy()?,
            '$' if self.rest.starts_with("$/") && self.language == Language::Groovy => {
                return Err(self.error("texts in dollar slashes are not known"));
            }
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let word = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
                let end = self.rest.find(word).unwrap_or(self.rest.len());
                let name = self.skip(end);
                self.push(word_kind(name));
            }
            _ => {
                let mut signs = SIGNS.iter().copied();
                let sign = signs.find(|sign| self.rest.starts_with(sign));
                let Some(sign) = sign else {
                    return Err(self.error(format!("unexpected character {first:?}")));
                };
                self.skip(sign.len());
                self.push(Kind::Sign(sign));
            }
        }
        Ok(true)
    }

    /// Skips spaces, lines and comments.
    fn blank(&mut self) -> Result<(), SyntaxError> {
        loop {
            let before = self.line;
            let spaces = self.rest.len() - self.rest.trim_start().len();
            self.skip(spaces);
            let is_comment = self.rest.starts_with("//")
                || (self.rest.starts_with("#!") && self.tokens.is_empty())
                || (self.language.is_jexl() && self.rest.starts_with("##"));
            if is_comment {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.skip(end);
            } else if self.rest.starts_with("/*") {
                let Some(end) = self.rest[2..].find("*/") else {
                    return Err(self.error("a comment is not closed"));
                };
                self.skip(end + 4);
            } else if self.language.ends_at_lines() && self.rest.starts_with("\\\n") {
                // The line goes on.
                self.rest = &self.rest[2..];
                continue;
            } else if spaces == 0 {
                return Ok(());
            }
            self.begins_line |= self.line > before;
        }
    }

    /// Whether a value, and no operator, can come next.
    fn expects_value(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            None | Some(Kind::End) => true,
            Some(Kind::Literal(_) | Kind::Interpolated(_)) => false,
            Some(Kind::Name(name)) => BEFORE_EXPRESSIONS.contains(&&**name),
            Some(Kind::Sign(sign)) => !matches!(*sign, ")" | "]" | "}" | "++" | "--"),
        }
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let digits = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let mut end = self.rest.find(digits).unwrap_or(self.rest.len());
        let is_hex = self.rest.starts_with("0x") || self.rest.starts_with("0X");
        if !is_hex {
            // `1..5` is a range, `1.abs()` a call.
            let after = &self.rest[end..];
            if after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit()) {
                let more = &after[1..];
                end += 1 + more.find(digits).unwrap_or(more.len());
            } else if after.starts_with('.')
                && self.language != Language::Groovy
                && !after[1..].starts_with(|c: char| c.is_alphabetic() || c == '.')
            {
                end += 1;
            }
            let so_far = &self.rest[..end];
            let exponent = so_far.ends_with(['e', 'E']);
            let sign = self.rest[end..].starts_with(['+', '-']);
            if exponent && sign {
                let more = &self.rest[end + 1..];
                end += 1 + more.find(digits).unwrap_or(more.len());
            }
        }
        let text = self.skip(end).replace('_', "");
        let literal = number_literal(&text, self.language)
            .ok_or_else(|| self.error(format!("{text} is not a number that is known")))?;
        self.push(Kind::Literal(literal));
        Ok(())
    }

    fn text(&mut self, quote: char) -> Result<(), SyntaxError> {
        let is_groovy = self.language == Language::Groovy;
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let is_long = is_groovy && self.rest.starts_with(&triple);
        let end = if is_long { &*triple } else { &triple[..1] };
        let line = self.line;
        let begins_line = self.begins_line;
        self.skip(end.len());
        let pieces = self.pieces(end, is_groovy && quote == '"', is_long)?;
        let is_character = self.language == Language::BeanShell && quote == '\'';
        let kind = match pieces.as_slice() {
            [] => Kind::Literal(Literal::Text("".into())),
            [Piece::Text(text)] if is_character => match text.chars().next() {
                Some(c) if text.chars().count() == 1 => Kind::Literal(Literal::Char(c)),
                _ => return Err(self.error("more than one character in single quotes")),
            },
            [Piece::Text(text)] => {
                self.texts.insert(Arc::clone(text));
                let known = self.texts.get(text).unwrap_or(text);
                Kind::Literal(Literal::Text(Arc::clone(known)))
            }
            _ => Kind::Interpolated(pieces),
        };
        self.tokens.push(Token {
            kind,
            line,
            begins_line,
        });
        self.begins_line = false;
        Ok(())
    }

    /// Reads up to the closing quotes.
    fn pieces(
        &mut self,
        end: &str,
        has_references: bool,
        is_long: bool,
    ) -> Result<Vec<Piece>, SyntaxError> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        loop {
            if self.rest.starts_with(end) {
                self.skip(end.len());
                break;
            }
            let Some(c) = self.rest.chars().next() else {
                return Err(self.error("a text is not closed"));
            };
            if c == '\n' && !is_long && !self.language.is_jexl() {
                return Err(self.error("a text is not closed"));
            }
            if c == '\\' {
                self.skip(1);
                self.escape(&mut text)?;
                continue;
            }
            self.skip(c.len_utf8());
            let code = if has_references && c == '$' {
                self.reference()?
            } else {
                None
            };
            // Groovy compiles no text in quotes with a dollar that stands alone.
            let is_quoted = end.starts_with('"') && self.language == Language::Groovy;
            if has_references && c == '$' && code.is_none() && is_quoted {
                return Err(self.error("a text has a $ without a name after it; write \\$"));
            }
            match code {
                None => text.push(c),
                Some(code) => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text).into()));
                    }
                    pieces.push(Piece::Code(code));
                }
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text.into()));
        }
        Ok(pieces)
    }

    /// What follows `$` in a text: `{code}` or a name with dots in it.
    fn reference(&mut self) -> Result<Option<String>, SyntaxError> {
        if self.rest.starts_with('{') {
            let mut depth = 0_usize;
            for (at, c) in self.rest.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    let code = self.skip(at + 1);
                    return Ok(Some(code[1..at].to_owned()));
                }
            }
            return Err(self.error("a reference in a text is not closed"));
        }
        if !self
            .rest
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
        {
            return Ok(None);
        }
        let word = |c: char| !(c.is_alphanumeric() || c == '_');
        let mut end = self.rest.find(word).unwrap_or(self.rest.len());
        while let Some(more) = self.rest[end..].strip_prefix('.')
            && more.starts_with(|c: char| c.is_alphabetic() || c == '_')
        {
            end += 1 + more.find(word).unwrap_or(more.len());
        }
        Ok(Some(self.skip(end).to_owned()))
    }

    /// What follows a backslash.
    fn escape(&mut self, text: &mut String) -> Result<(), SyntaxError> {
        let Some(c) = self.rest.chars().next() else {
            return Err(self.error("a text is not closed"));
        };
        self.skip(c.len_utf8());
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            '0'..='7' => text.push(self.octal(c)),
            'u' => {
                let end = self.rest.find(|c| c != 'u').unwrap_or(0);
                self.skip(end);
                let digits = self.rest.get(..4).unwrap_or_default();
                let c = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32);
                let c = c.ok_or_else(|| self.error("\\u without a character after it"))?;
                self.skip(4);
                text.push(c);
            }
            '\n' if self.language == Language::Groovy => {}
            '\\' | '\'' | '"' | '$' => text.push(c),
            // JEXL keeps the backslash.
            _ if self.language.is_jexl() => text.extend(['\\', c]),
            _ => return Err(self.error(format!("\\{c} is not known in a text"))),
        }
        Ok(())
    }

    fn octal(&mut self, first: char) -> char {
        let mut code = first.to_digit(8).unwrap_or(0);
        while let Some(digit) = self.rest.chars().next().and_then(|c| c.to_digit(8)) {
            if code * 8 + digit > 0o377 {
                break;
            }
            code = code * 8 + digit;
            self.skip(1);
        }
        char::from_u32(code).unwrap_or_default()
    }

    /// A text between slashes, as expressions are written in Groovy.
    fn slashy(&mut self) -> Result<(), SyntaxError> {
        let mut text = String::new();
        let mut escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            if escaped {
                if c != '/' {
                    text.push('\\');
                }
                text.push(c);
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '$' && self.rest[at + 1..].starts_with('{') {
                return Err(self.error("references in texts between slashes are not known"));
            } else if c == '/' {
                self.skip(at + 1);
                self.push(Kind::Literal(Literal::Text(text.into())));
                return Ok(());
            } else {
                text.push(c);
            }
        }
        Err(self.error("a text is not closed"))
    }
}

fn word_kind(name: &str) -> Kind {
    match name {
        "null" => Kind::Literal(Literal::Null),
        "true" => Kind::Literal(Literal::Bool(true)),
        "false" => Kind::Literal(Literal::Bool(false)),
        _ => Kind::Name(name.into()),
    }
}

fn number_literal(text: &str, language: Language) -> Option<Literal> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return match digits.strip_suffix('l') {
            Some(digits) => u64::from_str_radix(digits, 16)
                .ok()
                .map(|bits| Literal::Long(bits.cast_signed())),
            None => match u32::from_str_radix(digits, 16) {
                Ok(bits) => Some(Literal::Int(bits.cast_signed())),
                Err(_) => u64::from_str_radix(digits, 16)
                    .ok()
                    .map(|bits| Literal::Long(bits.cast_signed())),
            },
        };
    }
    if let Some(digits) = lower.strip_suffix('l') {
        return digits.parse().ok().map(Literal::Long);
    }
    if let Some(digits) = lower.strip_suffix('f') {
        return digits.parse().ok().map(Literal::Float);
    }
    if let Some(digits) = lower.strip_suffix('d') {
        return digits.parse().ok().map(Literal::Double);
    }
    if language == Language::Groovy
        && let Some(digits) = lower.strip_suffix('i')
    {
        return digits.parse().ok().map(Literal::Int);
    }
    if language != Language::BeanShell
        && let Some(digits) = lower.strip_suffix(['b', 'h', 'g'])
    {
        return Decimal::parse(digits).map(Literal::Decimal);
    }
    if lower.contains(['.', 'e']) {
        return match language {
            Language::Groovy => Decimal::parse(&lower).map(Literal::Decimal),
            _ => lower.parse().ok().map(Literal::Double),
        };
    }
    let is_octal = lower.len() > 1 && lower.starts_with('0');
    let number = if is_octal && !language.is_jexl() {
        i64::from_str_radix(&lower, 8).ok()?
    } else {
        lower.parse::<i64>().ok()?
    };
    match i32::try_from(number) {
        Ok(number) => Some(Literal::Int(number)),
        Err(_) if language == Language::BeanShell => None,
        Err(_) => Some(Literal::Long(number)),
    }
}
