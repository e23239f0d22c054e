//! The tokens of an expression (XPath 1.0, section 3.7).

/// A token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'q> {
    /// A character or two that stand for themselves: `(`, `//`, `::`, `<=` …
    Sign(&'q str),
    /// `and`, `or`, `div`, `mod`, `*` between two operands.
    Operator(&'q str),
    /// A name, with its prefix if it has one.
    Name(Option<&'q str>, &'q str),
    /// `*` or `prefix:*` as a name.
    Any(Option<&'q str>),
    /// A text in quotes.
    Text(&'q str),
    /// A number.
    Number(f64),
    /// `$name`.
    Variable(&'q str),
}

/// Signs, the longer ones first.
const SIGNS: [&str; 18] = [
    "::", "..", "//", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=",
];
const COMPARISONS: [&str; 2] = ["<", ">"];
const WORDS: [&str; 4] = ["and", "or", "div", "mod"];

/// The tokens; `None` where something is none.
pub(super) fn tokens(query: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut rest = query.trim_start_matches(is_blank);
    while let Some(first) = rest.chars().next() {
        let is_operand_next = tokens.last().is_none_or(wants_operand);
        let (token, length) = if matches!(first, '"' | '\'') {
            let end = rest[1..].find(first)?;
            (Token::Text(&rest[1..=end]), end + 2)
        } else if starts_number(rest) {
            number(rest)?
        } else if first == '*' && is_operand_next {
            (Token::Any(None), 1)
        } else if first == '*' {
            (Token::Operator("*"), 1)
        } else if first == '$' {
            let (_, length) = qualified(&rest[1..])?;
            (Token::Variable(&rest[1..=length]), length + 1)
        } else if let Some(sign) = sign(rest) {
            (Token::Sign(sign), sign.len())
        } else {
            let (name, length) = qualified(rest)?;
            match name {
                Token::Name(None, word) if !is_operand_next => {
                    let word = WORDS.iter().find(|known| **known == word)?;
                    (Token::Operator(word), length)
                }
                name => (name, length),
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start_matches(is_blank);
    }
    Some(tokens)
}

/// Whether what stands behind the token is an operand, so that `*` is a name there and `div` too.
fn wants_operand(token: &Token<'_>) -> bool {
    match token {
        Token::Sign(sign) => !matches!(*sign, ")" | "]" | "." | ".."),
        Token::Operator(_) => true,
        _ => false,
    }
}

fn sign(rest: &str) -> Option<&'static str> {
    let mut all = SIGNS.iter().chain(&COMPARISONS);
    all.find(|sign| rest.starts_with(**sign)).copied()
}

fn starts_number(rest: &str) -> bool {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    rest.starts_with(|c: char| c.is_ascii_digit())
}

fn number(rest: &str) -> Option<(Token<'_>, usize)> {
    let mut points = 0;
    let end = rest.find(|c: char| {
        points += usize::from(c == '.');
        !(c.is_ascii_digit() || c == '.' && points == 1)
    });
    let length = end.unwrap_or(rest.len());
    Some((Token::Number(rest[..length].parse().ok()?), length))
}

/// A name, or `prefix:*`, and its length.
fn qualified(rest: &str) -> Option<(Token<'_>, usize)> {
    let first = name(rest)?;
    let behind = &rest[first.len()..];
    let Some(after) = behind
        .strip_prefix(':')
        .filter(|rest| !rest.starts_with(':'))
    else {
        return Some((Token::Name(None, first), first.len()));
    };
    if after.starts_with('*') {
        return Some((Token::Any(Some(first)), first.len() + 2));
    }
    let local = name(after)?;
    let length = first.len() + 1 + local.len();
    Some((Token::Name(Some(first), local), length))
}

fn name(rest: &str) -> Option<&str> {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    let is_inner = |c: char| c.is_alphanumeric() || "_-.\u{b7}".contains(c);
    if !rest.starts_with(is_start) {
        return None;
    }
    let end = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}
