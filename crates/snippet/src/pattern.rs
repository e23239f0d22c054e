//! Java's regular expressions, run by `fancy-regex`.
//!
//! What differs in meaning is translated: `\d`, `\w` and `\s` are ASCII only, `\Q…\E` is quoted.
//! An expression that needs backtracking gives up after a number of steps.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use fancy_regex::{Regex, RegexBuilder};

/// How many steps backwards one match may take.
const STEPS: usize = 1_000_000;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Arc<str>,
    anywhere: Regex,
    whole: Regex,
}

/// A match: where each group is.
pub(crate) type Found = Vec<Option<(usize, usize)>>;

impl Pattern {
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
            let built = RegexBuilder::new(text).backtrack_limit(STEPS).build();
            built.map_err(|error| error.to_string())
        };
        Ok(Self {
            source: source.into(),
            anywhere: build(&format!("{flags}{translated}"))?,
            whole: build(&format!("{flags}\\A(?:{translated})\\z"))?,
        })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whether all of the text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.whole.is_match(text).unwrap_or(false)
    }

    pub(crate) fn find(&self, text: &str, from: usize) -> Option<Found> {
        Self::found(&self.anywhere, text, from)
    }

    pub(crate) fn find_whole(&self, text: &str) -> Option<Found> {
        Self::found(&self.whole, text, 0)
    }

    fn found(regex: &Regex, text: &str, from: usize) -> Option<Found> {
        if from > text.len() {
            return None;
        }
        let captures = regex.captures_from_pos(text, from).ok().flatten()?;
        let groups = captures.iter();
        let groups = groups.map(|group| group.map(|group| (group.start(), group.end())));
        Some(groups.collect())
    }

    /// All matches, from left to right.
    pub(crate) fn find_all(&self, text: &str) -> Vec<Found> {
        let mut all = Vec::new();
        let mut from = 0;
        while let Some(found) = self.find(text, from) {
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
    ) -> Result<String, String> {
        let mut out = String::new();
        let mut last = 0;
        let mut from = 0;
        while let Some(found) = self.find(text, from) {
            let Some((start, end)) = found[0] else { break };
            out.push_str(&text[last..start]);
            expand(replacement, text, &found, &mut out)?;
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

fn expand(replacement: &str, text: &str, found: &Found, out: &mut String) -> Result<(), String> {
    let mut rest = replacement.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.push(rest.next().ok_or("character to be escaped is missing")?),
            '$' => {
                let first = rest.next().and_then(|c| c.to_digit(10));
                let mut group = first.ok_or("Illegal group reference")? as usize;
                if group >= found.len() {
                    return Err(format!("No group {group}"));
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
