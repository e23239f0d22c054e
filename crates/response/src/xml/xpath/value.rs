//! What an expression gives, and how one kind becomes another (XPath 1.0, sections 3 and 4).

use std::fmt;

use super::index::{Index, Place};
use crate::bounds::{Budget, TooMuch};

/// What an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nodes in document order, each once.
    Nodes(Vec<Place>),
    Boolean(bool),
    Number(f64),
    Text(String),
}

/// Why an expression gives nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is longer or deeper than Weir reads.
    TooLong,
    /// There is none.
    Empty,
    /// It is none.
    NoPath,
    /// A prefix stands for no namespace.
    Prefix(String),
    /// The function of this name is not known.
    Function(String),
    /// The variable of this name is not known.
    Variable(String),
    /// A value stands where nodes have to.
    NoNodes,
    /// A function got too few or too many values.
    Arguments(String),
    /// It costs more than a sample may.
    TooMuch(TooMuch),
}

/// Xalan's words.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("The XPath expression is too long or too deep."),
            Self::Empty => f.write_str("Empty expression!"),
            Self::NoPath => f.write_str(
                "A location path was expected, but the end of the XPath expression was found instead.",
            ),
            Self::Prefix(prefix) => write!(f, "Prefix must resolve to a namespace: {prefix}"),
            Self::Function(name) => write!(f, "Could not find function: {name}"),
            Self::Variable(name) => write!(f, "Variable not resolvable: {name}"),
            Self::NoNodes => f.write_str("Can not convert a value to a NodeList!"),
            Self::Arguments(name) => write!(f, "{name} got too few or too many arguments"),
            Self::TooMuch(refused) => write!(f, "{refused}"),
        }
    }
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        trouble.to_string()
    }
}

impl From<TooMuch> for Trouble {
    fn from(refused: TooMuch) -> Self {
        Self::TooMuch(refused)
    }
}

/// With what values are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'r, 'd> {
    pub(super) index: &'r Index<'d>,
    pub(super) budget: &'r Budget,
}

impl Value {
    pub(super) fn boolean(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Boolean(value) => *value,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
        }
    }

    pub(super) fn text(self, reading: Reading<'_, '_>) -> Result<String, TooMuch> {
        match self {
            Self::Nodes(nodes) => match nodes.first() {
                Some(first) => reading.index.text(*first, reading.budget),
                None => Ok(String::new()),
            },
            Self::Boolean(value) => Ok(value.to_string()),
            Self::Number(number) => Ok(number_text(number)),
            Self::Text(text) => Ok(text),
        }
    }

    pub(super) fn number(self, reading: Reading<'_, '_>) -> Result<f64, TooMuch> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Boolean(value) => Ok(f64::from(u8::from(value))),
            other => Ok(number_of(&other.text(reading)?)),
        }
    }
}

/// A number as a text.
pub(crate) fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    // Zero has no sign here.
    (number + 0.0).to_string()
}

/// The number that a text is, else none (NaN).
pub(super) fn number_of(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().any(|b| b.is_ascii_digit());
    if is_number {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}
