//! Java's regular expressions, run by `fancy-regex`.
//!
//! What differs in meaning is translated: `\d`, `\w` and `\s` are ASCII only, `\Q…\E` is quoted.
//! An expression that needs backtracking gives up after a number of steps.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use fancy_regex::{Regex, RegexBuilder};

use crate::machine::BYTES_MAX;
use crate::work;

/// How many steps backwards one match may take.
const STEPS: usize = 1_000_000;
/// What a search with so many steps back takes, in bytes that are copied meanwhile.
const GIVEN_UP: usize = 32 << 20;
/// As `GIVEN_UP`, for a search that may go back at all, and for the compilation of an expression.
const MAY_GO_BACK: usize = 16 << 10;
const COMPILATION: usize = 64 << 10;
/// Largest compiled expression.
const PATTERN_BYTES_MAX: usize = 2 << 20;
/// Most expressions that a thread keeps compiled.
const KEPT_MAX: usize = 32;
/// Most matches in one text, and bytes that replacing them may give: both are more than a run may
/// take.
const MATCHES_MAX: usize = 1 << 20;
const REPLACED_BYTES_MAX: usize = BYTES_MAX;

/// What makes an expression more than a regular one.
const GOES_BACK: [&str; 8] = ["(?=", "(?!", "(?<", "(?>", "*+", "++", "?+", "}+"];

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Arc<str>,
    anywhere: Regex,
    whole: Regex,
    may_go_back: bool,
}

/// Why there is no text with matches replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadReplacement {
    NoGroup(usize),
    Malformed(&'static str),
    TooLong,
}

thread_local! {
    static KNOWN: RefCell<Vec<(i32, Rc<Pattern>)>> = const { RefCell::new(Vec::new()) };
}

/// A match: where each group is.
pub(crate) type Found = Vec<Option<(usize, usize)>>;

impl Pattern {
    /// The expression, compiled once for the thread while it is in use.
    pub(crate) fn known(source: &str, flags: i32) -> Result<Rc<Self>, String> {
        let known = KNOWN.with_borrow(|known| {
            let mut known = known.iter();
            let found = known.find(|(with, known)| *with == flags && *known.source == *source);
            found.map(|(_, known)| Rc::clone(known))
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let repeats = source.matches('{').count();
        work::note(COMPILATION + source.len() * 64 + repeats * GIVEN_UP / 32);
        let compiled = Rc::new(Self::compile(source, flags)?);
        KNOWN.with_borrow_mut(|known| {
            if known.len() >= KEPT_MAX {
                known.remove(0);
            }
            known.push((flags, Rc::clone(&compiled)));
        });
        Ok(compiled)
    }

    pub(crate) fn compile(source: &str, flags: i32) -> Result<Self, String> {
        let translated = translate(source);
        let mut letters = String::new();
        for (flag, letter) in [(2, 'i'), (8, 'm'), (32, 's'), (4, 'x')] {
            if flags & flag != 0 {
                letters.push(letter);
            }
        }
        let flags = if letters.is_empty() {
            String::new()
        } else {
            format!("(?{letters})")
        };
        let build = |text: &str| {
            let built = RegexBuilder::new(text)
                .backtrack_limit(STEPS)
                .delegate_size_limit(PATTERN_BYTES_MAX)
                .build();
            built.map_err(|error| error.to_string())
        };
        Ok(Self {
            source: source.into(),
            anywhere: build(&format!("{flags}{translated}"))?,
            whole: build(&format!("{flags}\\A(?:{translated})\\z"))?,
            may_go_back: goes_back(source),
        })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whether all of the text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.find_whole(text).is_some()
    }

    pub(crate) fn find(&self, text: &str, from: usize) -> Option<Found> {
        self.found(&self.anywhere, text, from)
    }

    pub(crate) fn find_whole(&self, text: &str) -> Option<Found> {
        self.found(&self.whole, text, 0)
    }

    fn found(&self, regex: &Regex, text: &str, from: usize) -> Option<Found> {
        if from > text.len() || work::is_too_much() {
            return None;
        }
        if self.may_go_back {
            work::note(MAY_GO_BACK);
        }
        let captures = regex.captures_from_pos(text, from);
        // Java would go on; who comes back with nothing every time is stopped soon.
        let captures = captures.unwrap_or_else(|_| {
            work::note(GIVEN_UP);
            None
        });
        let end = captures.as_ref().and_then(|found| found.get(0));
        let end = end.map_or(text.len(), |whole| whole.end());
        work::note(end.saturating_sub(from) * 4);
        let captures = captures?;
        let groups = captures.iter();
        let groups = groups.map(|group| group.map(|group| (group.start(), group.end())));
        Some(groups.collect())
    }

    /// All matches, from left to right.
    pub(crate) fn find_all(&self, text: &str) -> Vec<Found> {
        let mut all = Vec::new();
        let mut from = 0;
        while let Some(found) = self.find(text, from) {
            if all.len() >= MATCHES_MAX {
                work::note(usize::MAX);
                break;
            }
            from = next_start(&found, text);
            all.push(found);
        }
        all
    }

    /// Java's `replaceAll` and `replaceFirst`, with `$1` and `\$` in the replacement.
    pub(crate) fn replace(
        &self,
        text: &str,
        replacement: &str,
        is_all: bool,
    ) -> Result<String, BadReplacement> {
        let mut out = String::new();
        let mut last = 0;
        let mut from = 0;
        while let Some(found) = self.find(text, from) {
            let Some((start, end)) = found[0] else { break };
            out.push_str(&text[last..start]);
            expand(replacement, text, &found, &mut out)?;
            if out.len() > REPLACED_BYTES_MAX {
                return Err(BadReplacement::TooLong);
            }
            last = end;
            from = next_start(&found, text);
            if !is_all {
                break;
            }
        }
        out.push_str(&text[last..]);
        Ok(out)
    }

    /// Java's `split`: what is empty at the end is left out when the limit is 0.
    pub(crate) fn split(&self, text: &str, limit: usize) -> Vec<String> {
        let mut parts = Vec::new();
        let mut last = 0;
        for found in self.find_all(text) {
            if limit > 0 && parts.len() + 1 == limit {
                break;
            }
            let Some((start, end)) = found[0] else { break };
            // Nothing stands before a match of no length at the start.
            if end == 0 || (start == end && start == text.len()) {
                continue;
            }
            parts.push(text[last..start].to_owned());
            last = end;
        }
        parts.push(text[last..].to_owned());
        if limit == 0 {
            while parts.len() > 1 && parts.last().is_some_and(String::is_empty) {
                parts.pop();
            }
            if parts.len() == 1 && parts[0].is_empty() && !text.is_empty() {
                parts.clear();
            }
        }
        parts
    }
}

/// Where the search goes on.
fn next_start(found: &Found, text: &str) -> usize {
    match found[0] {
        Some((start, end)) if start == end => {
            let next = text[end..].chars().next();
            end + next.map_or(1, char::len_utf8)
        }
        Some((_, end)) => end,
        None => text.len() + 1,
    }
}

/// Whether an expression may need steps backwards: it looks around, does not give back, or asks for
/// a group again.
fn goes_back(source: &str) -> bool {
    let again = source.as_bytes().windows(2);
    let asks_again = |two: &[u8]| two[0] == b'\\' && (two[1].is_ascii_digit() || two[1] == b'k');
    GOES_BACK.iter().any(|sign| source.contains(sign)) || again.clone().any(asks_again)
}

fn expand(
    replacement: &str,
    text: &str,
    found: &Found,
    out: &mut String,
) -> Result<(), BadReplacement> {
    let malformed = |says| BadReplacement::Malformed(says);
    let mut rest = replacement.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                let escaped = rest.next();
                out.push(escaped.ok_or(malformed("character to be escaped is missing"))?);
            }
            '$' => {
                let first = rest.next().and_then(|c| c.to_digit(10));
                let mut group = first.ok_or(malformed("Illegal group reference"))? as usize;
                if group >= found.len() {
                    return Err(BadReplacement::NoGroup(group));
                }
                while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= found.len() {
                        break;
                    }
                    group = longer;
                    rest.next();
                }
                if let Some((start, end)) = found[group] {
                    out.push_str(&text[start..end]);
                }
            }
            c => out.push(c),
        }
    }
    Ok(())
}

/// Java's expression in the words of `fancy-regex`.
fn translate(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source.chars().peekable();
    let mut in_class = 0_u32;
    while let Some(c) = rest.next() {
        if c == '[' {
            in_class += 1;
        } else if c == ']' && in_class > 0 {
            in_class -= 1;
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escaped) = rest.next() else {
            out.push('\\');
            break;
        };
        match escaped {
            'd' | 'w' | 's' => {
                let inside = match escaped {
                    'd' => "0-9",
                    'w' => "a-zA-Z_0-9",
                    _ => " \\t\\n\\x0B\\f\\r",
                };
                if in_class > 0 {
                    out.push_str(inside);
                } else {
                    out.extend(["[", inside, "]"]);
                }
            }
            'D' => out.push_str("[^0-9]"),
            'W' => out.push_str("[^a-zA-Z_0-9]"),
            'S' => out.push_str("[^ \\t\\n\\x0B\\f\\r]"),
            'Q' => {
                let quoted: String = rest.clone().collect();
                let end = quoted.find("\\E").unwrap_or(quoted.len());
                out.push_str(&fancy_regex::escape(&quoted[..end]));
                let skip = quoted[..end].chars().count() + 2;
                for _ in 0..skip {
                    rest.next();
                }
            }
            'Z' => out.push_str("(?=\\n?\\z)"),
            c if c.is_ascii_alphanumeric() => out.extend(['\\', c]),
            // An escape of what needs none is refused there.
            c if "\\.+*?()|[]{}^$#&-~".contains(c) => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A `java.util.regex.Matcher`.
#[derive(Debug)]
pub(crate) struct Matcher {
    pub(crate) pattern: Rc<Pattern>,
    pub(crate) text: Arc<str>,
    next: Cell<usize>,
    found: RefCell<Option<Found>>,
}

impl Matcher {
    pub(crate) fn new(pattern: Rc<Pattern>, text: Arc<str>) -> Self {
        Self {
            pattern,
            text,
            next: Cell::new(0),
            found: RefCell::new(None),
        }
    }

    /// The next match.
    pub(crate) fn find(&self) -> bool {
        let found = self.pattern.find(&self.text, self.next.get());
        if let Some(found) = &found {
            self.next.set(next_start(found, &self.text));
        }
        self.found.replace(found);
        self.found.borrow().is_some()
    }

    pub(crate) fn matches(&self) -> bool {
        self.found.replace(self.pattern.find_whole(&self.text));
        self.found.borrow().is_some()
    }

    pub(crate) fn reset(&self) {
        self.next.set(0);
        self.found.replace(None);
    }

    /// Whether there was a match.
    pub(crate) fn has_found(&self) -> bool {
        self.found.borrow().is_some()
    }

    /// Where a group of the last match is; `None` if it took no part in it.
    pub(crate) fn group(&self, group: usize) -> Option<(usize, usize)> {
        let found = self.found.borrow();
        found.as_ref()?.get(group).copied().flatten()
    }

    pub(crate) fn group_count(&self) -> usize {
        self.pattern.anywhere.captures_len() - 1
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// What Java 17 gives.
    #[test]
    fn splits_as_java_does() {
        for (text, pattern, expect) in [
            ("a,b,,c,,", ",", &["a", "b", "", "c"][..]),
            (",a", ",", &["", "a"]),
            ("", ",", &[""]),
            (",", ",", &[]),
            ("abc", "", &["a", "b", "c"]),
            ("a1b22c", "\\d+", &["a", "b", "c"]),
            ("a|b", "\\|", &["a", "b"]),
        ] {
            let compiled = Pattern::compile(pattern, 0).unwrap();
            assert_eq!(compiled.split(text, 0), expect, "{text} {pattern}");
        }
        let comma = Pattern::compile(",", 0).unwrap();
        assert_eq!(comma.split("a,b,c", 2), ["a", "b,c"]);
    }

    #[test]
    fn replaces_as_java_does() {
        let pattern = Pattern::compile("<(\\w+)/>", 0).unwrap();
        let replaced = pattern.replace("<a/><b/>", "[$1]\\$", true).unwrap();
        assert_eq!(replaced, "[a]$[b]$");
        assert!(pattern.replace("<a/>", "$2", true).is_err());
    }
}
