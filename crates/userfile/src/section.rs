//! One table of a file while it is read.
//!
//! serde stops at the first mistake; this reader takes what it can, notes every problem with the
//! bytes it stands at, and names the keys that nobody asked for.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::Problems;
use crate::suggest::hint;

/// A value with the bytes where it stands.
pub type At<'a> = &'a Spanned<DeValue<'a>>;

/// One table and the keys that are known in it.
pub struct Section<'a> {
    name: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    problems: &'a Problems,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Section<'a> {
    /// The table `name` of the file, as messages call it.
    pub fn new(
        name: &str,
        table: &'a DeTable<'a>,
        span: Range<usize>,
        problems: &'a Problems,
    ) -> Self {
        Self {
            name: name.to_owned(),
            table,
            span,
            problems,
            known: RefCell::default(),
        }
    }

    /// The bytes where it stands.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The table itself.
    pub fn table(&self) -> &'a DeTable<'a> {
        self.table
    }

    /// Where problems go.
    pub fn problems(&self) -> &'a Problems {
        self.problems
    }

    /// The value of a key, which is known from now on.
    pub fn value(&self, key: &'static str) -> Option<At<'a>> {
        self.known.borrow_mut().push(key);
        self.table.get(key)
    }

    /// All keys of the table with the bytes they stand at; they all count as known.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Range<usize>, At<'a>)> + use<'a> {
        self.table
            .iter()
            .map(|(key, value)| (key.get_ref().as_ref(), key.span(), value))
    }

    /// Counts keys as known that are not read, because something else is wrong with them.
    pub fn know(&self, keys: &[&'static str]) {
        self.known.borrow_mut().extend(keys);
    }

    /// Refuses keys that mean nothing beside something else: `what` has none of them, and `instead`
    /// is the other way out.
    pub fn has_none_of(&self, keys: &[&'static str], what: &str, instead: &str) {
        self.know(keys);
        for key in keys {
            if let Some(value) = self.table().get(*key) {
                self.problems().add_with_help(
                    value.span(),
                    format!("{what} has no `{key}`"),
                    format!("leave `{key}` out, or {instead}"),
                );
            }
        }
    }

    /// A text.
    pub fn text(&self, key: &'static str) -> Option<Spanned<String>> {
        let value = self.value(key)?;
        match value.get_ref().as_str() {
            Some(text) => Some(Spanned::new(value.span(), text.to_owned())),
            None => self.wrong_type(key, value, "a text in quotes"),
        }
    }

    /// A text that `read` understands.
    pub fn parsed<T, E: std::error::Error>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Spanned<T>> {
        let text = self.text(key)?;
        match read(text.get_ref()) {
            Ok(value) => Some(Spanned::new(text.span(), value)),
            Err(error) => {
                self.problems.add(text.span(), cannot(&error));
                None
            }
        }
    }

    /// A whole number in the range.
    pub fn whole(
        &self,
        key: &'static str,
        range: std::ops::RangeInclusive<u32>,
    ) -> Option<Spanned<u32>> {
        let value = self.value(key)?;
        let number = whole(value.get_ref()).filter(|number| range.contains(number));
        if number.is_none() {
            let wanted = format!("a whole number from {} to {}", range.start(), range.end());
            return self.wrong_type(key, value, &wanted);
        }
        number.map(|number| Spanned::new(value.span(), number))
    }

    /// A port to listen on.
    pub fn port(&self) -> Option<u16> {
        let port = self.whole("port", 1..=u32::from(u16::MAX))?;
        u16::try_from(port.into_inner()).ok()
    }

    /// `true` or `false`.
    pub fn flag(&self, key: &'static str) -> Option<bool> {
        let value = self.value(key)?;
        match value.get_ref().as_bool() {
            Some(flag) => Some(flag),
            None => self.wrong_type(key, value, "true or false"),
        }
    }

    /// A table inside this one.
    pub fn section(&self, key: &'static str, name: &str) -> Option<Section<'a>> {
        let value = self.value(key)?;
        self.section_of(name, value)
    }

    /// A value of this table as a table.
    pub fn section_of(&self, name: &str, value: At<'a>) -> Option<Section<'a>> {
        match value.get_ref().as_table() {
            Some(table) => Some(Section::new(name, table, value.span(), self.problems)),
            None => self.wrong_type(name, value, "a table"),
        }
    }

    /// A list.
    pub fn list(&self, key: &'static str) -> Option<(Range<usize>, &'a [Spanned<DeValue<'a>>])> {
        let value = self.value(key)?;
        match value.get_ref().as_array() {
            Some(array) => Some((value.span(), array)),
            None => self.wrong_type(key, value, "a list in square brackets"),
        }
    }

    /// A list of texts.
    pub fn texts(&self, key: &'static str) -> Option<Vec<Spanned<String>>> {
        let (_, list) = self.list(key)?;
        let texts = list
            .iter()
            .filter_map(|value| match value.get_ref().as_str() {
                Some(text) => Some(Spanned::new(value.span(), text.to_owned())),
                None => self.wrong_type(key, value, "a text in quotes"),
            });
        Some(texts.collect())
    }

    /// Notes that a key is missing.
    pub fn missing(&self, key: &str, example: &str) {
        self.problems.add_with_help(
            self.span(),
            format!("`{key}` is missing in {}", self.name),
            format!("write `{example}`"),
        );
    }

    /// Notes the keys that nobody asked for.
    pub fn finish(&self) {
        let known = self.known.borrow();
        for (key, span, _) in self.entries().filter(|(key, ..)| !known.contains(key)) {
            self.problems.add_with_help(
                span,
                format!("`{key}` is not known in {}", self.name),
                hint(key, &known),
            );
        }
    }

    /// Notes that a value is of the wrong kind; `wanted` fits behind "it has to be".
    pub fn wrong_type<T>(&self, key: &str, value: At<'_>, wanted: &str) -> Option<T> {
        self.problems.add(
            value.span(),
            format!(
                "`{key}` is {}; it has to be {wanted}",
                shown(value.get_ref())
            ),
        );
        None
    }
}

/// An error of a library as a sentence: its message fits after "cannot".
pub fn cannot(error: &dyn std::error::Error) -> String {
    let mut text = format!("cannot {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": cannot ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// A whole number that is not negative.
fn whole(value: &DeValue<'_>) -> Option<u32> {
    let integer = value.as_integer()?;
    u32::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
}

/// A number that is finite, whole or not.
pub fn number(value: &DeValue<'_>) -> Option<f64> {
    if let Some(float) = value.as_float() {
        let number: f64 = float.as_str().replace('_', "").parse().ok()?;
        return number.is_finite().then_some(number);
    }
    whole(value).map(f64::from)
}

/// A value as a message shows it.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        other => format!("a value of type {}", other.type_str()),
    }
}
