//! Jayway's paths: their syntax.

use super::Json;
use super::filter::{self, Filter};

/// A compiled path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonPath {
    pub(super) steps: Vec<Step>,
    /// Begins at the whole document (`$`) rather than at the current value (`@`).
    pub(super) from_root: bool,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// `.name`, `['name']` or several names.
    Names(Vec<String>),
    /// `[1]`, `[-1]` or several places.
    Places(Vec<i64>),
    /// `[from:to]`; a third number is read and has no effect.
    Slice(Option<i64>, Option<i64>),
    /// `*`
    Wildcard,
    /// `..`: what follows, at any depth.
    Anywhere,
    /// `[?(…)]`
    Filter(Filter),
    /// `.name()`
    Function(Function),
}

/// A function at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Length,
    Min,
    Max,
    Avg,
    Sum,
    StandardDeviation,
    Keys,
    First,
    Last,
    Index(i64),
}

/// Why a path gives nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonPathError {
    /// It is not a path; what Jayway says about it.
    Invalid(String),
    /// It is a path that Jayway knows and Weir cannot evaluate.
    Unsupported(String),
    /// There is nothing at this path; what Jayway says about it.
    NotFound(String),
    /// It cannot be evaluated here; what Jayway says about it.
    Failed(String),
}

impl JsonPathError {
    pub(crate) fn says(&self) -> &str {
        let (Self::Invalid(says)
        | Self::Unsupported(says)
        | Self::NotFound(says)
        | Self::Failed(says)) = self;
        says
    }
}

/// How long a path may be, in bytes: long enough for any, too short to be nested without end.
const LENGTH: usize = 10_000;

/// How deep filters may stand in each other.
pub(super) const FILTER_DEPTH: usize = 20;

impl JsonPath {
    pub(crate) fn compile(text: &str) -> Result<Self, JsonPathError> {
        Self::compile_nested(text, FILTER_DEPTH)
    }

    pub(super) fn compile_nested(text: &str, depth: usize) -> Result<Self, JsonPathError> {
        if text.is_empty() {
            return Err(invalid("path can not be null or empty"));
        }
        if text.len() > LENGTH {
            return Err(invalid(format!("a path is longer than {LENGTH} bytes")));
        }
        let trimmed = text.trim_end();
        let prefixed = match trimmed.chars().next() {
            Some('$' | '@') => trimmed.to_owned(),
            _ => format!("$.{trimmed}"),
        };
        if prefixed.ends_with('.') {
            return Err(invalid("Path must not end with a '.' or '..'"));
        }
        let mut reader = PathReader {
            text: prefixed.chars().collect(),
            at: 1,
            depth,
        };
        let steps = reader.steps()?;
        Ok(Self {
            steps,
            from_root: prefixed.starts_with('$'),
        })
    }

    /// Whether the path can lead to one value only.
    pub(crate) fn is_definite(&self) -> bool {
        let anywhere_then_function = self.steps.first() == Some(&Step::Anywhere)
            && matches!(self.steps.last(), Some(Step::Function(_)));
        let last = self.steps.len().saturating_sub(1);
        let mut steps = self.steps.iter().enumerate();
        anywhere_then_function || steps.all(|(n, step)| step.is_definite(n == last))
    }

    pub(crate) fn ends_with_function(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step, Step::Function(_)))
    }
}

impl Step {
    pub(super) fn is_definite(&self, is_last: bool) -> bool {
        match self {
            Self::Names(names) => names.len() == 1 || is_last,
            Self::Places(places) => places.len() == 1,
            Self::Function(_) => true,
            Self::Slice(..) | Self::Wildcard | Self::Anywhere | Self::Filter(_) => false,
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers = |places: &[i64]| {
            let shown: Vec<String> = places.iter().map(i64::to_string).collect();
            shown.join(",")
        };
        let end = |end: &Option<i64>| end.map_or(String::new(), |end| end.to_string());
        match self {
            Self::Names(names) => {
                let shown: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
                write!(f, "[{}]", shown.join(","))
            }
            Self::Places(places) => write!(f, "[{}]", numbers(places)),
            Self::Slice(from, to) => write!(f, "[{}:{}]", end(from), end(to)),
            Self::Wildcard => f.write_str("[*]"),
            Self::Anywhere => f.write_str(".."),
            Self::Filter(_) => f.write_str("[?]"),
            Self::Function(_) => f.write_str(".()"),
        }
    }
}

impl std::fmt::Display for JsonPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.from_root { "$" } else { "@" })?;
        self.steps.iter().try_for_each(|step| step.fmt(f))
    }
}

pub(super) fn invalid(says: impl Into<String>) -> JsonPathError {
    JsonPathError::Invalid(says.into())
}

struct PathReader {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

impl PathReader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        self.at += usize::from(there);
        there
    }

    fn skip_blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn steps(&mut self) -> Result<Vec<Step>, JsonPathError> {
        let mut steps = Vec::new();
        self.skip_blanks();
        if !matches!(self.peek(), None | Some('.' | '[')) {
            let at = self.at;
            return Err(invalid(format!(
                "Illegal character at position {at} expected '.' or '['"
            )));
        }
        // Jayway does not look at a single character behind a step.
        while self.peek().is_some() && (steps.is_empty() || self.at + 1 < self.text.len()) {
            self.step(&mut steps)?;
        }
        Ok(steps)
    }

    fn step(&mut self, steps: &mut Vec<Step>) -> Result<(), JsonPathError> {
        if self.eat('.') {
            if self.eat('.') {
                steps.push(Step::Anywhere);
            }
            if self.peek() == Some('.') {
                let at = self.at;
                return Err(invalid(format!(
                    "Character '.' on position {at} is not valid."
                )));
            }
        }
        let step = match self.peek() {
            Some('[') => self.bracket()?,
            Some('*') => {
                self.at += 1;
                Step::Wildcard
            }
            Some(' ') | None => {
                let at = self.at;
                return Err(invalid(format!(
                    "Could not parse token starting at position {at}"
                )));
            }
            Some(_) => self.name()?,
        };
        steps.push(step);
        Ok(())
    }

    /// A name, or a function.
    fn name(&mut self) -> Result<Step, JsonPathError> {
        let begin = self.at;
        while let Some(c) = self.peek() {
            match c {
                '.' | '[' => break,
                '(' => return self.function(begin),
                ' ' => {
                    return Err(invalid(format!(
                        "Use bracket notion ['my prop'] if your property contains blank \
                         characters. position: {begin}"
                    )));
                }
                _ => self.at += 1,
            }
        }
        Ok(Step::Names(vec![
            self.text[begin..self.at].iter().collect(),
        ]))
    }

    fn function(&mut self, begin: usize) -> Result<Step, JsonPathError> {
        let name: String = self.text[begin..self.at].iter().collect();
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.iter().position(|c| *c == ')') else {
            return Err(invalid(
                "Arguments to function: '".to_owned() + &name + "' are not closed properly.",
            ));
        };
        let arguments: String = rest[..length].iter().collect();
        self.at += length + 2;
        let function = match (name.as_str(), arguments.trim()) {
            ("length" | "size", "") => Function::Length,
            ("min", "") => Function::Min,
            ("max", "") => Function::Max,
            ("avg", "") => Function::Avg,
            ("sum", "") => Function::Sum,
            ("stddev", "") => Function::StandardDeviation,
            ("keys", "") => Function::Keys,
            ("first", "") => Function::First,
            ("last", "") => Function::Last,
            ("index", index) => {
                let parsed = index.parse().map_err(|_| {
                    JsonPathError::Unsupported(format!("index({index}) is not supported"))
                })?;
                Function::Index(parsed)
            }
            ("append" | "concat", _) | (_, "") => {
                return Err(invalid(format!(
                    "Function with name: {name} does not exist."
                )));
            }
            _ => {
                let says = format!("{name}({arguments}) is not supported");
                return Err(JsonPathError::Unsupported(says));
            }
        };
        Ok(Step::Function(function))
    }

    fn bracket(&mut self) -> Result<Step, JsonPathError> {
        let begin = self.at;
        self.at += 1;
        self.skip_blanks();
        let step = match self.peek() {
            Some(quote @ ('\'' | '"')) => Some(self.quoted_names(quote)?),
            Some('*') => {
                self.at += 1;
                self.skip_blanks();
                self.eat(']').then_some(Step::Wildcard)
            }
            Some('?') => self.filter(begin)?,
            Some('0'..='9' | '-' | ':') => self.places()?,
            _ => None,
        };
        step.ok_or_else(|| {
            invalid(format!(
                "Could not parse token starting at position {begin}. Expected ?, ', 0-9, * "
            ))
        })
    }

    fn quoted_names(&mut self, quote: char) -> Result<Step, JsonPathError> {
        let mut names = Vec::new();
        loop {
            self.at += 1;
            names.push(self.quoted(quote)?);
            self.skip_blanks();
            if self.eat(']') {
                return Ok(Step::Names(names));
            }
            if !self.eat(',') {
                let at = self.at;
                return Err(invalid(format!(
                    "Property must be separated by comma or Property must be terminated close square bracket at index {at}"
                )));
            }
            self.skip_blanks();
            if self.peek() != Some(quote) {
                return Err(invalid(
                    "Found empty property at index ".to_owned() + &self.at.to_string(),
                ));
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, JsonPathError> {
        let mut name = String::new();
        loop {
            match self.peek() {
                None => {
                    return Err(invalid(format!(
                        "Property has not been closed - missing closing {quote}"
                    )));
                }
                Some('\\') => {
                    self.at += 1;
                    name.extend(self.peek());
                }
                Some(c) if c == quote => {
                    self.at += 1;
                    return Ok(name);
                }
                Some(c) => name.push(c),
            }
            self.at += 1;
        }
    }

    fn places(&mut self) -> Result<Option<Step>, JsonPathError> {
        let rest = &self.text[self.at..];
        let Some(length) = rest.iter().position(|c| *c == ']') else {
            return Ok(None);
        };
        let inside: String = rest[..length].iter().collect();
        let inside = inside.trim();
        let only = |allowed: &str| {
            let mut chars = inside.chars();
            chars.all(|c| c.is_ascii_digit() || allowed.contains(c))
        };
        if inside.contains(':') {
            if !only("-:") {
                return Ok(None);
            }
            let wrong = || invalid(format!("Failed to parse SliceOperation: {inside}"));
            let mut ends = inside.split(':');
            let mut end = || match ends.next() {
                None | Some("") => Ok(None),
                Some(end) => end.parse().map(Some).map_err(|_| wrong()),
            };
            let (from, to) = (end()?, end()?);
            if from.is_none() && to.is_none() {
                return Err(wrong());
            }
            self.at += length + 1;
            return Ok(Some(Step::Slice(from, to)));
        }
        if !only("-, ") {
            return Ok(None);
        }
        let places: Result<Vec<i64>, _> = inside
            .split(',')
            .map(|place| place.trim().parse())
            .collect();
        let places = places.map_err(|_| {
            invalid(format!(
                "Failed to parse token in ArrayIndexOperation: {inside}"
            ))
        })?;
        self.at += length + 1;
        Ok(Some(Step::Places(places)))
    }

    fn filter(&mut self, begin: usize) -> Result<Option<Step>, JsonPathError> {
        self.at += 1;
        self.skip_blanks();
        if self.peek() == Some(']') {
            return Err(invalid(format!(
                "Not enough predicates supplied for filter [?] at position {begin}"
            )));
        }
        if self.peek() != Some('(') || self.depth == 0 {
            return Ok(None);
        }
        let Some(end) = filter::end(&self.text, self.at) else {
            return Ok(None);
        };
        let inside = &self.text[self.at + 1..end];
        let filter = Filter::compile(inside, self.depth - 1)?;
        self.at = end + 1;
        self.skip_blanks();
        Ok(self.eat(']').then_some(Step::Filter(filter)))
    }
}

impl JsonPath {
    /// The values found in this value, which is its own document.
    pub(crate) fn read_in<'j>(
        &self,
        document: &'j Json,
    ) -> Result<super::Found<'j>, JsonPathError> {
        super::evaluate::read(self, document)
    }
}
