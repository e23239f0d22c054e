//! Compiled expressions, kept so that a constant one is compiled once.

use std::collections::HashMap;

use crate::html::CssSelector;
use crate::json::{JsonPath, JsonPathError};
use crate::perl5::{Match, PatternError, Perl5};

/// Compiled expressions by their text; at most [`Patterns::KEPT`] of each kind.
///
/// One belongs to each runtime. When a kind is full it starts again: plans whose expressions are
/// constant never get there.
#[derive(Debug, Default)]
pub struct Patterns {
    regexes: HashMap<String, Result<Perl5, PatternError>>,
    json_paths: HashMap<String, Result<JsonPath, JsonPathError>>,
    selectors: HashMap<String, Result<CssSelector, String>>,
}

impl Patterns {
    /// How many expressions of a kind are kept.
    pub const KEPT: usize = 1000;

    /// Whether the whole text matches an expression; `None` if it is none, or takes too long.
    pub fn matches(&mut self, expression: &str, text: &str) -> Option<bool> {
        self.regex(expression).ok()?.matches(text).ok()
    }

    /// The first match of an expression in a text; `None` also if it is none, or takes too long.
    pub fn first(&mut self, expression: &str, text: &str) -> Option<Match> {
        let found = self.regex(expression).ok()?.find(text, 1).ok()?;
        found.into_iter().next()
    }

    pub(crate) fn regex(&mut self, text: &str) -> Result<&Perl5, &PatternError> {
        kept(&mut self.regexes, text, Perl5::compile).as_ref()
    }

    pub(crate) fn selector(&mut self, text: &str) -> Result<&CssSelector, &String> {
        kept(&mut self.selectors, text, CssSelector::compile).as_ref()
    }

    pub(crate) fn json_path(&mut self, text: &str) -> Result<&JsonPath, &JsonPathError> {
        kept(&mut self.json_paths, text, JsonPath::compile).as_ref()
    }
}

fn kept<'k, V>(
    kept: &'k mut HashMap<String, V>,
    text: &str,
    compile: impl FnOnce(&str) -> V,
) -> &'k V {
    if !kept.contains_key(text) {
        if kept.len() >= Patterns::KEPT {
            kept.clear();
        }
        kept.insert(text.to_owned(), compile(text));
    }
    &kept[text]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let mut patterns = Patterns::default();
        for n in 0..Patterns::KEPT + 2 {
            patterns.regex(&format!("a{n}")).unwrap();
        }
        assert_eq!(patterns.regexes.len(), 2);
    }
}
