//! Text from outside as it may be shown to people.
//!
//! Names of threads and files, messages of servers, command lines of processes and stored runs hold
//! whatever their writers like: a terminal would obey it (colours, titles, the clipboard, lines
//! that overwrite others), and letters that turn the direction of writing show something else than
//! what is there. Here such characters become visible, and nothing else changes.
//!
//! [`line()`] is for what stands on one line, so that a name cannot begin another one; [`text`] for
//! what has lines of its own; [`json`] for JSON, which stays the same value; [`in_place`] where
//! positions in the text must stay what they are.
//!
//! Why not `str::escape_debug`: it changes quotes, backslashes and tabs, which are harmless, and
//! leaves letters that turn the direction.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character does something instead of being seen: control characters, what turns the
/// direction of writing, what separates lines or has no width, and tags.
///
/// The two joiners (U+200C, U+200D) are none of them: several scripts are not written without.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Text on one line: line breaks are made visible, too.
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, |character| is_hidden(character) && character != '\t')
}

/// Text of several lines: those that it has stay.
pub fn text(text: &str) -> Cow<'_, str> {
    let is_plain = |character| matches!(character, '\n' | '\t');
    if !text.contains("\r\n") {
        return shown(text, |character| {
            is_hidden(character) && !is_plain(character)
        });
    }
    let unix = text.replace("\r\n", "\n");
    let seen = shown(&unix, |character| {
        is_hidden(character) && !is_plain(character)
    });
    Cow::Owned(seen.into_owned())
}

/// JSON that is the same value: hidden characters stand in it only inside strings, where they can
/// be written as escapes.
pub fn json(text: &str) -> Cow<'_, str> {
    let hides = |character: char| is_hidden(character) && !matches!(character, '\n' | '\r' | '\t');
    replaced(text, hides, |character, written| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(written, "\\u{unit:04x}");
        }
    })
}

/// Text of which each byte stays where it is: hidden characters become marks of the same length.
pub fn in_place(text: &str) -> Cow<'_, str> {
    let hides = |character: char| is_hidden(character) && !matches!(character, '\n' | '\t');
    let placed = replaced(text, hides, |character, written| {
        written.push_str(match (character, character.len_utf8()) {
            // That of a line break of two bytes.
            ('\r', _) => " ",
            (_, 1) => "?",
            (_, 2) => "??",
            (_, 3) => "\u{fffd}",
            _ => "\u{fffd}?",
        });
    });
    assert_eq!(
        placed.len(),
        text.len(),
        "a mark is as long as what it stands for"
    );
    placed
}

fn shown(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    replaced(text, hides, |character, written| match character {
        '\n' => written.push_str("\\n"),
        '\r' => written.push_str("\\r"),
        other => {
            let _ = write!(written, "{}", other.escape_unicode());
        }
    })
}

fn replaced(
    text: &str,
    hides: impl Fn(char) -> bool,
    replace: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&hides) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hides(character) {
            replace(character, &mut written);
        } else {
            written.push(character);
        }
    }
    Cow::Owned(written)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_obeys_becomes_visible() {
        for (outside, inside) in [
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("\u{1b}]52;c;aWQ=\u{7}", "\\u{1b}]52;c;aWQ=\\u{7}"),
            ("\u{9b}2J", "\\u{9b}2J"),
            ("a\u{8}b\u{7f}", "a\\u{8}b\\u{7f}"),
            ("a\rb", "a\\rb"),
            ("a\nCheck: passed", "a\\nCheck: passed"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("a\u{2028}b\u{85}c", "a\\u{2028}b\\u{85}c"),
            ("\u{e0041}\u{200b}\u{feff}", "\\u{e0041}\\u{200b}\\u{feff}"),
        ] {
            assert_eq!(line(outside), inside);
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let plain = "Grüße \"a\\b\" 検索 \u{200d}می‌خواهم 👩‍💻\t| `x` <= 3";
        assert!(matches!(line(plain), Cow::Borrowed(same) if same == plain));
        assert_eq!(text("a\r\nb\n"), "a\nb\n");
        assert_eq!(text("a\rb\n"), "a\\rb\n");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(outside: String) {
            prop_assert!(!line(&outside).contains(|c| is_hidden(c) && c != '\t'));
            let plain = |c| matches!(c, '\n' | '\t');
            prop_assert!(!text(&outside).contains(|c| is_hidden(c) && !plain(c)));
            let placed = in_place(&outside);
            prop_assert_eq!(placed.len(), outside.len());
            prop_assert!(!placed.contains(|c| is_hidden(c) && !plain(c)));
        }

        #[test]
        fn json_stays_the_same_value(outside: String, hidden in "[\\x00-\\x1f\\x7f-\\u{9f}\\u{202e}\\u{e0041}]*") {
            let value = serde_json::json!({ outside.clone() + &hidden: [hidden] });
            let written = serde_json::to_string_pretty(&value).unwrap();
            let seen = json(&written);
            prop_assert!(!seen.contains(|c| is_hidden(c) && c != '\n'));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&seen).unwrap(), value);
        }
    }
}
