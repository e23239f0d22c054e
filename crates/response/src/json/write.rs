//! Writing JSON as json-smart does.

use std::fmt::Write as _;

use super::Json;

impl Json {
    /// What a variable gets: text as it is, an object or array as JSON; nothing for null.
    pub(crate) fn to_variable(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Text(text) => Some(text.clone()),
            Self::Array(_) | Self::Object(_) => Some(self.to_json()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(number) => Some(number.to_string()),
        }
    }

    /// The value as JMeter writes it when it is what was found.
    ///
    /// The members of an object stand in the order of a Java hash map, because JMeter copies the
    /// object into one; those of objects inside keep their own order.
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                let buckets = buckets(members.len());
                members.sort_by_key(|(name, _)| hash(name) & (buckets - 1));
                write_object(&members, &mut out);
            }
            _ => self.write(&mut out),
        }
        out
    }

    /// The value as Java's `toString` shows it.
    pub(crate) fn to_java(&self) -> String {
        match self {
            Self::Object(members) => {
                let members = members.iter();
                let shown: Vec<String> = members
                    .map(|(name, value)| format!("{name}={}", value.to_java()))
                    .collect();
                format!("{{{}}}", shown.join(", "))
            }
            _ => self.to_variable().unwrap_or_else(|| "null".to_owned()),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => {
                let _ = write!(out, "{value}");
            }
            Self::Number(number) => {
                let _ = write!(out, "{number}");
            }
            Self::Text(text) => write_text(text, out),
            Self::Array(items) => {
                out.push('[');
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => write_object(&members.iter().collect::<Vec<_>>(), out),
        }
    }
}

fn write_object(members: &[(&String, &Json)], out: &mut String) {
    out.push('{');
    for (n, (name, value)) in members.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write_text(name, out);
        out.push(':');
        value.write(out);
    }
    out.push('}');
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2000}'..='\u{20ff}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// How many buckets a Java hash map has that was made from a map of this size.
fn buckets(size: usize) -> u32 {
    let wanted = (size as f32 / 0.75 + 1.0) as u32;
    wanted.max(1).next_power_of_two()
}

/// Java's hash of a text, spread as its hash map does.
fn hash(text: &str) -> u32 {
    let hash = text.encode_utf16().fold(0_u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    });
    hash ^ (hash >> 16)
}
