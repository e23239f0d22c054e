//! Perl 5 expressions as JMeter understands them (Apache ORO 2.0.8), run by `fancy-regex`.
//!
//! [`translate`] writes an expression so that `fancy-regex` gives it ORO's meaning, and refuses
//! what ORO refuses. Differences that stay:
//! - An expression that needs backtracking (a group referred to, something looked ahead at, `$`)
//!   gives up after [`STEPS`] steps with an error; ORO would go on, perhaps for ever.
//! - Characters are characters; for ORO one beyond U+FFFF is two.
//! - `(a?)*` and the like: groups that matched nothing in the last round keep what they had in
//!   ORO's way only when the round was not empty.

mod quotemeta;
mod translate;

use std::sync::OnceLock;

use fancy_regex::{Captures, Regex, RegexBuilder};

pub use quotemeta::quotemeta;

/// How many steps backwards one match may take.
pub(crate) const STEPS: usize = 1_000_000;

/// A compiled Perl 5 expression with the meaning that it has in JMeter.
///
/// ```
/// let expression = weir_response::Perl5::compile("(\\w)=(\\d)")?;
/// let found = expression.find("a=1 b=2", 10)?;
/// assert_eq!(found[1].groups[2].as_deref(), Some("2"));
/// # Ok::<(), weir_response::PatternError>(())
/// ```
#[derive(Debug)]
pub struct Perl5 {
    /// Finds the expression anywhere.
    anywhere: Regex,
    /// Finds it where the text begins; made when first needed, as is the next.
    at_start: OnceLock<Option<Regex>>,
    /// Finds it anywhere, but not as nothing where the search begins.
    not_empty: OnceLock<Option<Regex>>,
}

/// Why an expression cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It is not an expression.
    #[error("invalid expression {pattern:?}: {says}")]
    Malformed {
        /// The expression.
        pattern: String,
        /// What is wrong, in ORO's words where it has some.
        says: String,
    },
    /// It takes too many steps for this text.
    #[error("expression {pattern:?} takes more than {STEPS} steps")]
    TooSlow {
        /// The expression.
        pattern: String,
    },
}

/// One match: the texts of its groups, the whole match first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// A group that took no part in the match has no text.
    pub groups: Vec<Option<String>>,
}

impl Perl5 {
    /// Compiles an expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(pattern: &str) -> Result<Self, PatternError> {
        let malformed = |says: String| PatternError::Malformed {
            pattern: pattern.to_owned(),
            says,
        };
        let translated = translate::translate(pattern).map_err(&malformed)?;
        let anywhere = build(&translated).map_err(|error| malformed(error.to_string()))?;
        Ok(Self {
            anywhere,
            at_start: OnceLock::new(),
            not_empty: OnceLock::new(),
        })
    }

    /// Whether the expression matches somewhere.
    pub(crate) fn is_in(&self, text: &str) -> Result<bool, PatternError> {
        self.anywhere.is_match(text).map_err(|_| self.too_slow())
    }

    /// Whether the first match that begins with the text is the whole text.
    ///
    /// ORO looks for no other: `a|ab` does not match `ab`, nor `a*?` anything but nothing.
    pub(crate) fn matches(&self, text: &str) -> Result<bool, PatternError> {
        let made = self.at_start.get_or_init(|| {
            let text = format!("\\A(?:{})", self.anywhere.as_str());
            build(&text).ok()
        });
        // What was built alone is built again.
        let at_start = made.as_ref().ok_or_else(|| self.too_slow())?;
        let found = at_start.find(text).map_err(|_| self.too_slow())?;
        Ok(found.is_some_and(|found| found.end() == text.len()))
    }

    /// The first `limit` matches, from left to right.
    ///
    /// Nothing is no match where the match before it ended.
    ///
    /// # Errors
    /// The expression takes too many steps for this text.
    pub fn find(&self, text: &str, limit: usize) -> Result<Vec<Match>, PatternError> {
        let mut found = Vec::new();
        let mut from = 0;
        while found.len() < limit {
            let mut captures = self.captures(&self.anywhere, text, from)?;
            if !found.is_empty() && captures.as_ref().is_some_and(|c| is_empty_at(c, from)) {
                let Some(not_empty) = self.not_empty() else {
                    break;
                };
                captures = self.captures(not_empty, text, from)?;
            }
            let Some(captures) = captures else { break };
            let groups = captures.iter();
            let groups = groups.map(|group| group.map(|group| group.as_str().to_owned()));
            found.push(Match {
                groups: groups.collect(),
            });
            from = captures.get(0).map_or(text.len(), |whole| whole.end());
        }
        Ok(found)
    }

    fn captures<'t>(
        &self,
        regex: &Regex,
        text: &'t str,
        from: usize,
    ) -> Result<Option<Captures<'t, str>>, PatternError> {
        let captures = regex.captures_from_pos(text, from);
        captures.map_err(|_| self.too_slow())
    }

    fn not_empty(&self) -> Option<&Regex> {
        let made = self.not_empty.get_or_init(|| {
            let text = format!("(?:{})(?!\\G)", self.anywhere.as_str());
            build(&text).ok()
        });
        made.as_ref()
    }

    fn too_slow(&self) -> PatternError {
        PatternError::TooSlow {
            pattern: self.anywhere.as_str().to_owned(),
        }
    }
}

fn build(text: &str) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(text).backtrack_limit(STEPS).build()
}

fn is_empty_at(captures: &Captures<'_, str>, at: usize) -> bool {
    let whole = captures.get(0);
    whole.is_some_and(|whole| whole.start() == at && whole.end() == at)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// What Apache ORO 2.0.8 made of expressions and texts, one a line, as printed by a few lines
    /// of Java: the matches with their groups, whether the whole text matches, or the error.
    const ORO: &str = include_str!("../tests/data/oro.txt");

    /// Where we differ, and why.
    const DIFFERENT: [(&str, &str); 12] = [
        ("((a)(b)?)+", "a group keeps its text from an earlier round"),
        ("(a(b)?)+", "a group keeps its text from an earlier round"),
        ("(a*)*", "no last empty round"),
        ("(a*)+", "no last empty round"),
        ("((a*)|b)+", "no last empty round"),
        (
            "(a){0}",
            "a second search does not know of a group that is never used",
        ),
        ("(?=a)*a", "a repeated look ahead is not supported"),
        ("$*a", "a repeated look ahead is not supported"),
        ("a\\Gb", "not supported"),
        (".", "characters beyond U+FFFF are one"),
        ("a{65536}", "ORO overflows"),
        ("a{99999}", "ORO overflows"),
    ];

    fn shown(text: &str) -> String {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        let text = text.replace('\n', "\\n").replace('\r', "\\r");
        format!("\"{}\"", text.replace('\t', "\\t").replace('\0', "\\0"))
    }

    /// A quoted text at the start of a line, and what follows it.
    fn quoted(line: &str) -> (String, &str) {
        let mut text = String::new();
        let mut chars = line[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return (text, &line[at + 2..]),
                '\\' => match chars.next().unwrap().1 {
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    '0' => text.push('\0'),
                    c => text.push(c),
                },
                c => text.push(c),
            }
        }
        panic!("not closed: {line}");
    }

    fn ours(pattern: &str, text: &str) -> String {
        let regex = match Perl5::compile(pattern) {
            Ok(regex) => regex,
            Err(PatternError::Malformed { says, .. }) => {
                return format!("ERR {}", shown(&says));
            }
            Err(error) => panic!("{error}"),
        };
        let mut out = String::new();
        for found in regex.find(text, 8).unwrap() {
            let groups = found.groups.iter();
            let groups: Vec<String> = groups
                .map(|group| group.as_deref().map_or("null".into(), shown))
                .collect();
            let _ = write!(out, "[{}] ", groups.join(","));
        }
        format!("{out}matches={}", regex.matches(text).unwrap())
    }

    #[test]
    fn expressions_mean_what_they_mean_to_oro() {
        let mut wrong = Vec::new();
        for line in ORO.lines() {
            let (pattern, rest) = quoted(line);
            let (text, rest) = quoted(rest.strip_prefix(" on ").unwrap());
            let expected = rest.strip_prefix(" -> ").unwrap();
            if DIFFERENT.iter().any(|(known, _)| *known == pattern) {
                continue;
            }
            let found = ours(&pattern, &text);
            if found != expected {
                wrong.push(format!("{line}\n    {found}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn an_expression_that_takes_too_long_is_an_error() {
        let regex = Perl5::compile("(a|aa)+\\1$").unwrap();
        let text = "a".repeat(60) + "b";
        assert!(matches!(
            regex.is_in(&text),
            Err(PatternError::TooSlow { .. })
        ));
    }

    proptest::proptest! {
        #[test]
        fn any_expression_and_text_do_no_harm(pattern in "\\PC{0,12}", text in "\\PC{0,30}") {
            if let Ok(regex) = Perl5::compile(&pattern) {
                let _ = regex.find(&text, 10);
                let _ = regex.matches(&text);
            }
        }

        #[test]
        fn expressions_made_of_special_characters_do_no_harm(
            pattern in "[\\\\\\[\\](){}?*+|^$.,:=!#ab01-]{0,14}",
            text in "[ab01\n{}\\[-]{0,12}",
        ) {
            if let Ok(regex) = Perl5::compile(&pattern) {
                let _ = regex.find(&text, 10);
                let _ = regex.matches(&text);
            }
        }
    }
}
