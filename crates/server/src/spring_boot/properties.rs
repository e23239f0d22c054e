//! One value in a `.properties` file of Spring Boot's, set so that everything else stays as it is.
//!
//! The form is that of `java.util.Properties`: `key=value`, `key: value` or `key value`, a line
//! that ends in an odd number of backslashes goes on in the next one, the last of several lines
//! with a key counts. `#---` and `!---` begin another document, as in YAML.

use std::ops::Range;

use crate::configuration::with_lines_at;

use super::property::{Property, canonical};
use super::settings::Setting;

/// What says of a document for which profiles it counts.
const PROFILE: &str = "spring.config.activate";

/// A key with its value.
struct Entry {
    document: usize,
    key: Range<usize>,
    /// As Spring Boot compares names.
    name: String,
    value: Range<usize>,
    /// Behind the end of its last line.
    end: usize,
}

/// The text with the property set; why not, when it cannot be.
pub(super) fn with(text: &str, property: &Property, value: &str) -> Result<String, String> {
    let entries = read(text);
    let is_meant = |entry: &&Entry| entry.name == property.canonical();
    let of_profile = entries.iter().find(|entry| {
        (entry.document > 0 && is_meant(entry))
            || (entry.document == 0 && entry.name.starts_with(PROFILE))
    });
    if let Some(entry) = of_profile {
        return Err(format!(
            "line {}: this document of the file is one of several or for a profile: set {} there by hand",
            text[..entry.value.start].matches('\n').count() + 1,
            property.name()
        ));
    }
    let first = || entries.iter().filter(|entry| entry.document == 0);
    if let Some(entry) = first().rfind(is_meant) {
        let range = entry.value.clone();
        // A key that stands alone has nothing between it and its value.
        let is_bare = text[..range.start].ends_with(|c: char| !"=: \t\x0c".contains(c));
        let separator = if is_bare { "=" } else { "" };
        let (before, behind) = (&text[..range.start], &text[range.end..]);
        return Ok(format!("{before}{separator}{value}{behind}"));
    }
    let kin = |entry: &&Entry| {
        let both = entry.name.split('.').zip(property.canonical().split('.'));
        both.take_while(|(one, other)| one == other).count()
    };
    // Behind the last of those that are most like it.
    let at = match first().max_by_key(kin) {
        Some(entry) if kin(&entry) > 0 => entry.end,
        _ => first()
            .map(|entry| entry.end)
            .max()
            .filter(|_| entries.iter().any(|entry| entry.document > 0))
            .unwrap_or(text.len()),
    };
    let line = format!("{}={value}", property.name());
    Ok(with_lines_at(text, at, &[line]))
}

/// What the documents set, one behind the other.
pub(super) fn documents(text: &str) -> Vec<Vec<Setting>> {
    let mut documents = Vec::new();
    for entry in read(text) {
        let value = unescaped(&text[entry.value.clone()]);
        let says = [&*entry.name, &text[entry.key.clone()], value.trim_end()];
        let setting = Setting::at(text, entry.value.start, says);
        documents.resize_with(documents.len().max(entry.document + 1), Vec::new);
        documents[entry.document].push(setting);
    }
    documents
}

/// Keys, as they are written, and values of a file in the form of `java.util.Properties`.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |entry: Entry| {
        let value = unescaped(&text[entry.value]);
        (unescaped(&text[entry.key]), value.trim_end().to_owned())
    };
    read(text).into_iter().map(pair).collect()
}

/// What a value says: the backslashes taken away, and with one at the end of a line the blanks that
/// begin the next.
fn unescaped(value: &str) -> String {
    let mut said = String::new();
    let mut rest = value.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some('\r' | '\n')) => while rest.next_if(|c| c.is_whitespace()).is_some() {},
            ('\\', _) => said.extend(rest.next()),
            _ => said.push(c),
        }
    }
    said
}

fn read(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut document = 0;
    let mut at = 0;
    while at < text.len() {
        let begin = at;
        let first = line(text, at);
        at = first.end;
        let shown = text[first.clone()].trim_start();
        if shown.starts_with(['#', '!']) {
            if shown[1..].trim_end() == "---" {
                document += 1;
            }
            continue;
        }
        if shown.trim().is_empty() {
            continue;
        }
        let mut last = first;
        while goes_on(&text[last.clone()]) && at < text.len() {
            last = line(text, at);
            at = last.end;
        }
        let end = begin + text[begin..at].trim_end_matches(['\r', '\n']).len();
        let (key, value) = split(text, begin..end);
        entries.push(Entry {
            document,
            name: canonical(&text[key.clone()]),
            key,
            value,
            end: at,
        });
    }
    entries
}

/// The line that begins here, with its end.
fn line(text: &str, at: usize) -> Range<usize> {
    at..text[at..]
        .find('\n')
        .map_or(text.len(), |length| at + length + 1)
}

fn goes_on(line: &str) -> bool {
    let line = line.trim_end_matches(['\r', '\n']);
    let slashes = line.len() - line.trim_end_matches('\\').len();
    slashes % 2 == 1
}

/// Key and value of a line: the key goes to the first `=`, `:` or blank that no backslash hides.
fn split(text: &str, line: Range<usize>) -> (Range<usize>, Range<usize>) {
    const BLANKS: [char; 3] = [' ', '\t', '\x0c'];
    let whole = &text[line.clone()];
    let start = line.start + (whole.len() - whole.trim_start().len());
    let mut is_hidden = false;
    let end = text[start..line.end].char_indices().find(|(_, c)| {
        let ends = !is_hidden && (BLANKS.contains(c) || "=:".contains(*c));
        is_hidden = *c == '\\' && !is_hidden;
        ends
    });
    let end = end.map_or(line.end, |(length, _)| start + length);
    let behind = text[end..line.end].trim_start_matches(BLANKS);
    let behind = behind.strip_prefix(['=', ':']).unwrap_or(behind);
    let behind = behind.trim_start_matches(BLANKS);
    (start..end, line.end - behind.len()..line.end)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_value_changes_and_all_else_stays() {
        let threads = Property::new("server.tomcat.threads.max");
        for (text, wanted) in [
            (
                "# shop\r\nserver.port=80\r\nserver.tomcat.threads.max = 200\r\nx=1",
                "# shop\r\nserver.port=80\r\nserver.tomcat.threads.max = 40\r\nx=1",
            ),
            (
                "  server.tomcat.threads.max: 200",
                "  server.tomcat.threads.max: 40",
            ),
            (
                "server.tomcat.threads.max 1\\\n  00\na=b\n",
                "server.tomcat.threads.max 40\na=b\n",
            ),
            (
                "server.tomcat.threads.max=\n",
                "server.tomcat.threads.max=40\n",
            ),
            (
                "server.tomcat.threads.max\n",
                "server.tomcat.threads.max=40\n",
            ),
            (
                "SERVER.tomcat.threads.max=1\nserver.tomcat.threads.max=2\n",
                "SERVER.tomcat.threads.max=1\nserver.tomcat.threads.max=40\n",
            ),
            (
                "#server.tomcat.threads.max=1\na=b\\\nserver.tomcat.threads.max=2\n",
                "#server.tomcat.threads.max=1\na=b\\\nserver.tomcat.threads.max=2\nserver.tomcat.threads.max=40\n",
            ),
            (
                "server.port=80\nserver.tomcat.accept-count=7\nspring.x=1\n",
                "server.port=80\nserver.tomcat.accept-count=7\nserver.tomcat.threads.max=40\nspring.x=1\n",
            ),
            ("a=b", "a=b\nserver.tomcat.threads.max=40"),
            ("", "server.tomcat.threads.max=40\n"),
            (
                "a=1\n#---\nspring.config.activate.on-profile=load\n",
                "a=1\nserver.tomcat.threads.max=40\n#---\nspring.config.activate.on-profile=load\n",
            ),
        ] {
            assert_eq!(with(text, &threads, "40").unwrap(), wanted);
            assert_eq!(with(wanted, &threads, "40").unwrap(), wanted);
        }
        let error = with("a=1\n!---\nserver.tomcat.threads.max=2\n", &threads, "40").unwrap_err();
        assert!(error.starts_with("line 3"), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            let _ = with(&text, &Property::new("a.b"), "1");
        }
    }
}
