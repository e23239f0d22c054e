//! What stands in `[?(…)]`.

use std::cmp::Ordering;

use super::evaluate::{Document, Found, Value, evaluate};
use super::path::invalid;
use super::{Json, JsonPath, JsonPathError, Number};
use crate::perl5::PatternError;

/// A condition on a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    /// The path leads somewhere.
    Exists(JsonPath),
    Compares(Operand, Operator, Operand),
}

/// A side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Path(JsonPath),
    Constant(Json),
    Pattern(Pattern),
}

/// A Java regular expression between slashes, with its flags; compared by its text.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    text: String,
    compiled: fancy_regex::Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// How two sides are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    SameTypeEqual,
    SameTypeNotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    In,
    NotIn,
    Contains,
    All,
    Size,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
}

/// The place of the parenthesis that closes the one at `begin`.
pub(super) fn end(text: &[char], begin: usize) -> Option<usize> {
    let mut open = 0_usize;
    let mut at = begin;
    while at < text.len() {
        match text[at] {
            quote @ ('\'' | '"') => at = closing(text, at, quote)?,
            '/' if text[..at].iter().rev().find(|c| **c != ' ') == Some(&'~') => {
                at = closing(text, at, '/')?;
            }
            '(' => open += 1,
            ')' => {
                open -= 1;
                if open == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The next place of `quote` behind `begin` that has no backslash before it.
fn closing(text: &[char], begin: usize, quote: char) -> Option<usize> {
    let mut at = begin + 1;
    while at < text.len() {
        match text[at] {
            '\\' => at += 1,
            c if c == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

impl Filter {
    /// The filter between the outer parentheses.
    pub(super) fn compile(text: &[char], depth: usize) -> Result<Self, JsonPathError> {
        let mut reader = FilterReader { text, at: 0, depth };
        let filter = reader.any()?;
        reader.skip_blanks();
        match reader.peek() {
            None => Ok(filter),
            Some(_) => Err(invalid("Expected character: )")),
        }
    }

    /// Whether the value meets the condition.
    pub(super) fn accepts(
        &self,
        value: &Json,
        document: Document<'_>,
    ) -> Result<bool, JsonPathError> {
        match self {
            Self::All(filters) => {
                for filter in filters {
                    if !filter.accepts(value, document)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(filters) => {
                for filter in filters {
                    if filter.accepts(value, document)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Not(filter) => Ok(!filter.accepts(value, document)?),
            Self::Exists(path) => Ok(at(path, value, document)?.is_some()),
            Self::Compares(left, operator, right) => operator.holds(left, right, value, document),
        }
    }
}

/// What is at a path of a filter: nothing, or one value.
fn at(
    path: &JsonPath,
    value: &Json,
    document: Document<'_>,
) -> Result<Option<Json>, JsonPathError> {
    match evaluate(path, value, document.root, document.visits) {
        Ok(Found::One(found)) => Ok(Some(found.into_json())),
        Ok(Found::Many(found)) => Ok(Some(Json::Array(
            found.into_iter().map(Value::into_json).collect(),
        ))),
        Err(JsonPathError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Operator {
    fn named(text: &str) -> Option<Self> {
        Some(match text.to_ascii_uppercase().as_str() {
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "===" => Self::SameTypeEqual,
            "!==" => Self::SameTypeNotEqual,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "=~" => Self::Matches,
            "IN" => Self::In,
            "NIN" => Self::NotIn,
            "CONTAINS" => Self::Contains,
            "ALL" => Self::All,
            "SIZE" => Self::Size,
            "EMPTY" => Self::Empty,
            "SUBSETOF" => Self::SubsetOf,
            "ANYOF" => Self::AnyOf,
            "NONEOF" => Self::NoneOf,
            _ => return None,
        })
    }

    fn holds(
        self,
        left: &Operand,
        right: &Operand,
        value: &Json,
        document: Document<'_>,
    ) -> Result<bool, JsonPathError> {
        let (left, right) = match (left, right) {
            (Operand::Pattern(pattern), other) | (other, Operand::Pattern(pattern)) => {
                let other = other.value(value, document)?;
                return match self {
                    Self::Matches => pattern.matches(other.as_ref()),
                    _ => Ok(self == Self::NotEqual),
                };
            }
            (left, right) => (left.value(value, document)?, right.value(value, document)?),
        };
        let compared = self.compares(left.as_ref(), right.as_ref());
        Ok(compared)
    }

    fn compares(self, left: Option<&Json>, right: Option<&Json>) -> bool {
        let order = || order(left?, right?);
        let (list, other) = (items(left), items(right));
        match self {
            Self::Equal => equal(left, right),
            Self::NotEqual => !equal(left, right),
            Self::SameTypeEqual => same_type(left, right) && equal(left, right),
            Self::SameTypeNotEqual => !(same_type(left, right) && equal(left, right)),
            Self::Less => order().is_some_and(Ordering::is_lt),
            Self::LessOrEqual => order().is_some_and(Ordering::is_le),
            Self::Greater => order().is_some_and(Ordering::is_gt),
            Self::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
            Self::Matches => false,
            Self::In => other.is_some_and(|other| has(other, left)),
            Self::NotIn => !other.is_some_and(|other| has(other, left)),
            Self::Contains => match (left, right) {
                (Some(Json::Text(left)), Some(Json::Text(right))) => left.contains(right),
                _ => list.is_some_and(|list| has(list, right)),
            },
            Self::All => match (list, other) {
                (Some(list), Some(other)) => other.iter().all(|item| has(list, Some(item))),
                _ => false,
            },
            Self::Size => match (left.and_then(size), right) {
                (Some(size), Some(Json::Number(right))) => Number::Int(size) == *right,
                _ => false,
            },
            Self::Empty => match (left.and_then(size), right) {
                (Some(size), Some(Json::Bool(right))) => (size == 0) == *right,
                _ => false,
            },
            Self::SubsetOf => match (list, other) {
                (Some(list), Some(other)) => list.iter().all(|item| has(other, Some(item))),
                _ => false,
            },
            Self::AnyOf => match (list, other) {
                (Some(list), Some(other)) => list.iter().any(|item| has(other, Some(item))),
                _ => false,
            },
            Self::NoneOf => match (list, other) {
                (Some(list), Some(other)) => !list.iter().any(|item| has(other, Some(item))),
                _ => false,
            },
        }
    }
}

fn items(value: Option<&Json>) -> Option<&[Json]> {
    match value {
        Some(Json::Array(items)) => Some(items),
        _ => None,
    }
}

fn has(items: &[Json], value: Option<&Json>) -> bool {
    items.iter().any(|item| equal(Some(item), value))
}

/// Length of a text or array, members of an object.
fn size(value: &Json) -> Option<i64> {
    let size = match value {
        Json::Text(text) => text.encode_utf16().count(),
        Json::Array(items) => items.len(),
        Json::Object(members) => members.len(),
        _ => return None,
    };
    i64::try_from(size).ok()
}

fn same_type(left: Option<&Json>, right: Option<&Json>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => std::mem::discriminant(left) == std::mem::discriminant(right),
        (left, right) => left.is_none() && right.is_none(),
    }
}

/// Equality in a filter: what is missing equals nothing, a number equals a text that shows it.
fn equal(left: Option<&Json>, right: Option<&Json>) -> bool {
    match (left, right) {
        (Some(Json::Text(left)), Some(Json::Number(right))) => *left == right.to_string(),
        (Some(Json::Number(left)), Some(Json::Text(right))) => {
            let right = Number::parse(right);
            right.is_some_and(|right| left.compare(&right) == Some(Ordering::Equal))
        }
        (Some(Json::Number(left)), Some(Json::Number(right))) => {
            left.compare(right) == Some(Ordering::Equal)
        }
        (Some(left), Some(right)) => left == right,
        _ => false,
    }
}

fn order(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => left.compare(right),
        (Json::Text(left), Json::Text(right)) => {
            Some(left.encode_utf16().cmp(right.encode_utf16()))
        }
        _ => None,
    }
}

impl Operand {
    fn value(&self, value: &Json, document: Document<'_>) -> Result<Option<Json>, JsonPathError> {
        match self {
            Self::Path(path) => at(path, value, document),
            Self::Constant(constant) => Ok(Some(constant.clone())),
            Self::Pattern(_) => Ok(None),
        }
    }
}

impl Pattern {
    fn compile(text: &str, flags: &str) -> Result<Self, JsonPathError> {
        let known: String = flags.chars().filter(|c| "imsx".contains(*c)).collect();
        let flags = if known.is_empty() {
            String::new()
        } else {
            format!("(?{known})")
        };
        let whole = format!("\\A(?:{flags}{text})\\z");
        let compiled = fancy_regex::RegexBuilder::new(&whole)
            .backtrack_limit(crate::perl5::STEPS)
            .build()
            .map_err(|error| invalid(error.to_string()))?;
        Ok(Self {
            text: whole,
            compiled,
        })
    }

    fn matches(&self, value: Option<&Json>) -> Result<bool, JsonPathError> {
        let slow = |_| {
            let pattern = self.text.clone();
            JsonPathError::Failed(PatternError::TooSlow { pattern }.to_string())
        };
        let is = |value: &Json| {
            let text = match value {
                Json::Text(text) => text.clone(),
                Json::Number(number) => number.to_string(),
                _ => String::new(),
            };
            self.compiled.is_match(&text).map_err(slow)
        };
        match value {
            Some(Json::Array(items)) => {
                for item in items {
                    if is(item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Some(value) => is(value),
            None => is(&Json::Null),
        }
    }
}

struct FilterReader<'t> {
    text: &'t [char],
    at: usize,
    depth: usize,
}

impl FilterReader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let mut at = self.at;
        for c in text.chars() {
            if self.text.get(at) != Some(&c) {
                return false;
            }
            at += 1;
        }
        self.at = at;
        true
    }

    fn any(&mut self) -> Result<Filter, JsonPathError> {
        let mut filters = vec![self.all()?];
        self.skip_blanks();
        while self.eat("||") {
            filters.push(self.all()?);
            self.skip_blanks();
        }
        Ok(match filters.len() {
            1 => filters.remove(0),
            _ => Filter::Any(filters),
        })
    }

    fn all(&mut self) -> Result<Filter, JsonPathError> {
        let mut filters = vec![self.one()?];
        self.skip_blanks();
        while self.eat("&&") {
            filters.push(self.one()?);
            self.skip_blanks();
        }
        Ok(match filters.len() {
            1 => filters.remove(0),
            _ => Filter::All(filters),
        })
    }

    fn one(&mut self) -> Result<Filter, JsonPathError> {
        self.skip_blanks();
        if self.peek() == Some('!') {
            self.at += 1;
            self.skip_blanks();
            return Ok(Filter::Not(Box::new(self.one()?)));
        }
        if self.peek() == Some('(') {
            let end = end(self.text, self.at).ok_or_else(|| invalid("Expected character: )"))?;
            if self.depth == 0 {
                return Err(invalid("Too many filters in each other"));
            }
            let inside = &self.text[self.at + 1..end];
            let filter = Filter::compile(inside, self.depth - 1)?;
            self.at = end + 1;
            return Ok(filter);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Filter, JsonPathError> {
        let left = self.operand()?;
        self.skip_blanks();
        let before = self.at;
        if let Some(operator) = self.operator() {
            self.skip_blanks();
            if let Ok(right) = self.operand() {
                return Ok(Filter::Compares(left, operator, right));
            }
            self.at = before;
        }
        match left {
            Operand::Path(path) => Ok(Filter::Exists(path)),
            _ => Err(invalid("Expected path node")),
        }
    }

    fn operator(&mut self) -> Option<Operator> {
        let rest = &self.text[self.at..];
        let symbols = rest.iter().take_while(|c| "<>=~!".contains(**c)).count();
        let length = match symbols {
            0 => rest.iter().take_while(|c| **c != ' ').count(),
            symbols => symbols,
        };
        let name: String = rest[..length].iter().collect();
        let operator = Operator::named(&name)?;
        self.at += length;
        Some(operator)
    }

    fn operand(&mut self) -> Result<Operand, JsonPathError> {
        let begin = self.at;
        let rest = self.text;
        let unclosed = || invalid("Filter is not closed");
        match self.peek() {
            Some('@' | '$') => self.path(),
            Some(quote @ ('\'' | '"')) => {
                let end = closing(rest, begin, quote).ok_or_else(unclosed)?;
                self.at = end + 1;
                let text: String = rest[begin..=end].iter().collect();
                let text = Json::parse(&text).map_err(invalid)?;
                Ok(Operand::Constant(text))
            }
            Some('/') => {
                let end = closing(rest, begin, '/').ok_or_else(unclosed)?;
                self.at = end + 1;
                let flags_at = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
                    self.at += 1;
                }
                let text: String = rest[begin + 1..end].iter().collect();
                let flags: String = rest[flags_at..self.at].iter().collect();
                Pattern::compile(&text, &flags).map(Operand::Pattern)
            }
            Some('[' | '{') => {
                let end = self.json_end().ok_or_else(unclosed)?;
                self.at = end + 1;
                let text: String = rest[begin..=end].iter().collect();
                let json = Json::parse(&text).map_err(invalid)?;
                Ok(Operand::Constant(json))
            }
            _ => self.word(),
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Operand, JsonPathError> {
        let rest = &self.text[self.at..];
        let length = rest
            .iter()
            .take_while(|c| c.is_ascii_alphanumeric() || "-.+".contains(**c))
            .count();
        let word: String = rest[..length].iter().collect();
        let constant = match word.as_str() {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "null" => Json::Null,
            _ => match Number::parse(&word) {
                Some(number) if !word.is_empty() => Json::Number(number),
                _ => return Err(invalid("Expected character: )")),
            },
        };
        self.at += length;
        Ok(Operand::Constant(constant))
    }

    /// The place of the bracket that closes the one here.
    fn json_end(&self) -> Option<usize> {
        let mut open = 0_usize;
        let mut at = self.at;
        while at < self.text.len() {
            match self.text[at] {
                quote @ ('\'' | '"') => at = closing(self.text, at, quote)?,
                '[' | '{' => open += 1,
                ']' | '}' => {
                    open -= 1;
                    if open == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// A path: up to a blank, an operator, or a parenthesis that closes no function.
    fn path(&mut self) -> Result<Operand, JsonPathError> {
        let begin = self.at;
        while let Some(c) = self.peek() {
            match c {
                '[' => {
                    let end = self.json_end();
                    let wrong = || invalid("Square brackets does not match in filter");
                    self.at = end.ok_or_else(wrong)?;
                }
                '(' => {
                    let mut rest = self.text[self.at..].iter();
                    let length = rest.position(|c| *c == ')');
                    self.at += length.ok_or_else(|| invalid("Expected character: )"))?;
                }
                ' ' | ')' | '<' | '>' | '=' | '~' | '!' => break,
                _ => {}
            }
            self.at += 1;
        }
        let text: String = self.text[begin..self.at].iter().collect();
        JsonPath::compile_nested(&text, self.depth).map(Operand::Path)
    }
}
