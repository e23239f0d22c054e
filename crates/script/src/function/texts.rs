//! From one text to another.

use super::{Answer, Call, Function, MANY, Name, digest, html, push};
use crate::Scope;
use weir_charset::{Charset, decode_form};
use weir_response::quotemeta;

use crate::encode::push_form;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__char", (1, MANY), Answer::Same, chars),
    Function::new("__changeCase", (1, 3), Answer::Same, change_case).stores(2, Name::Trimmed),
    Function::new("__digest", (2, 5), Answer::Same, digest::render)
        .stores(4, Name::Trimmed)
        .prepares(digest::prepare),
    Function::new("__escapeHtml", (1, 1), Answer::Same, |call, scope, out| {
        html::escape(&call.argument(0, scope), out);
    }),
    Function::new("__escapeOroRegexpChars", (1, 2), Answer::Same, quote_regex)
        .stores(1, Name::Trimmed),
    Function::new("__escapeXml", (1, 1), Answer::Same, |call, scope, out| {
        html::escape_xml(&call.argument(0, scope), out);
    }),
    Function::new("__unescape", (1, 1), Answer::Same, unescape),
    Function::new(
        "__unescapeHtml",
        (1, 1),
        Answer::Same,
        |call, scope, out| {
            let text = call.argument(0, scope);
            if let Err(says) = html::unescape(&text, out) {
                scope.fail(says);
            }
        },
    ),
    Function::new(
        "__urldecode",
        (1, 1),
        Answer::Same,
        |call, scope, out| match decode_form(&call.argument(0, scope), Charset::UTF_8) {
            Ok(text) => out.push_str(&text),
            Err(error) => scope.fail(format!("java.lang.IllegalArgumentException: {error}")),
        },
    ),
    Function::new("__urlencode", (1, 1), Answer::Same, |call, scope, out| {
        push_form(out, &call.argument(0, scope), Charset::UTF_8);
    }),
];

/// Numbers as Java's 16-bit characters; what is no number is left out.
fn chars(call: &Call, scope: &mut Scope, out: &mut String) {
    let mut units = Vec::new();
    for index in 0..call.arguments.len() {
        let text = call.argument(index, scope);
        units.extend(decode_long(text.trim()).map(|number| number as u16));
    }
    push_utf16(&units, out);
}

/// Half of a pair is sent as a question mark.
fn push_utf16(units: &[u16], out: &mut String) {
    let chars = char::decode_utf16(units.iter().copied());
    out.extend(chars.map(|c| c.unwrap_or('?')));
}

/// `java.lang.Long.decode`: decimal, `0x`, `0X` or `#` hexadecimal, `0` octal, with a sign.
fn decode_long(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { "-" } else { "" };
    let hex = ["0x", "0X", "#"];
    let hex = hex.iter().find_map(|prefix| digits.strip_prefix(prefix));
    let (digits, radix) = match (hex, digits.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

fn change_case(call: &Call, scope: &mut Scope, out: &mut String) {
    let text = call.argument(0, scope);
    let mode = call.argument(1, scope).to_uppercase();
    match mode.as_str() {
        "" | "UPPER" => out.push_str(&text.to_uppercase()),
        "LOWER" => out.push_str(&text.to_lowercase()),
        "CAPITALIZE" => {
            let mut rest = text.chars();
            out.extend(rest.next().map(title_case));
            out.push_str(rest.as_str());
        }
        _ => out.push_str(&text),
    }
}

/// `Character.toTitleCase`: one character for one character.
fn title_case(c: char) -> char {
    match c {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        // Georgian letters are their own title case.
        'ა'..='ჿ' => c,
        _ => {
            let mut upper = c.to_uppercase();
            match (upper.next(), upper.next()) {
                (Some(upper), None) => upper,
                _ => c,
            }
        }
    }
}

fn quote_regex(call: &Call, scope: &mut Scope, out: &mut String) {
    out.push_str(&quotemeta(&call.argument(0, scope)));
}

fn unescape(call: &Call, scope: &mut Scope, out: &mut String) {
    let text = call.argument(0, scope);
    if let Err(says) = unescape_java(&text, out) {
        scope.fail(says);
    }
}

/// Java's escapes as Apache Commons Text reads them; a backslash before anything else is dropped.
fn unescape_java(text: &str, out: &mut String) -> Result<(), String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        units.extend(rest[..at].encode_utf16());
        let (unit, length) = match &rest.as_bytes()[at + 1..] {
            [b'u', ..] => unicode_escape(&rest[at..])?,
            [b'0'..=b'7', ..] => octal_escape(&rest[at..]),
            [b'b', ..] => (Some(0x08), 2),
            [b'n', ..] => (Some(0x0a), 2),
            [b't', ..] => (Some(0x09), 2),
            [b'f', ..] => (Some(0x0c), 2),
            [b'r', ..] => (Some(0x0d), 2),
            [c @ (b'\\' | b'"' | b'\''), ..] => (Some(u16::from(*c)), 2),
            _ => (None, 1),
        };
        units.extend(unit);
        rest = &rest[at + length..];
    }
    units.extend(rest.encode_utf16());
    push_utf16(&units, out);
    Ok(())
}

/// `\u`, more `u`, perhaps `+`, and four digits.
fn unicode_escape(text: &str) -> Result<(Option<u16>, usize), String> {
    let digits = text[1..].trim_start_matches('u');
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let start = text.len() - digits.len();
    let fails = |says: &str| Err(format!("java.lang.IllegalArgumentException: {says}"));
    if digits.chars().count() < 4 {
        let says = "Less than 4 hex digits in unicode value: '";
        return fails(&format!("{says}{text}' due to end of CharSequence"));
    }
    let code = digits
        .get(..4)
        .filter(|digits| !digits.contains(['+', '-']));
    match code.and_then(|code| u16::from_str_radix(code, 16).ok()) {
        Some(unit) => Ok((Some(unit), start + 4)),
        None => fails(&format!("Unable to parse unicode value: {digits}")),
    }
}

/// One to three digits, up to `\377`.
fn octal_escape(text: &str) -> (Option<u16>, usize) {
    let digits = text[1..].bytes().take_while(|b| matches!(b, b'0'..=b'7'));
    let most = if text.as_bytes()[1] <= b'3' { 3 } else { 2 };
    let length = digits.take(most).count();
    (u16::from_str_radix(&text[1..=length], 8).ok(), length + 1)
}

/// `%02x` of every byte.
pub(super) fn push_hex(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        push(out, format_args!("{byte:02x}"));
    }
}
