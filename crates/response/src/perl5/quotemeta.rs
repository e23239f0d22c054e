//! Text as an expression that matches it.

use std::sync::LazyLock;

use fancy_regex::Regex;

/// `Perl5Compiler.quotemeta`: a backslash before each 16-bit character that is no part of a word.
pub fn quotemeta(text: &str) -> String {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\A[\p{L}\p{Nd}_]").expect("the pattern is fixed"));
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.len_utf16() == 2 {
            // Each half gets a backslash, which leaves none of the character.
            out.push_str(r"\?\?");
            continue;
        }
        let mut buffer = [0; 4];
        if !WORD.is_match(c.encode_utf8(&mut buffer)).unwrap_or(false) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
