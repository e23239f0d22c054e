//! The form of an Apache httpd's configuration: directives and sections, line by line, with the
//! place of every word.
//!
//! As the manual has it ("Configuration Files"): a directive a line, a backslash at the end of a
//! line goes on in the next one, comments fill a line, words are split at blanks unless they are
//! quoted, case of names does not matter.

use std::ops::Range;

/// A directive, or the beginning or the end of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Number of its first line, from 1.
    pub(crate) number: usize,
    /// All of it, with the line end.
    pub(crate) range: Range<usize>,
    /// Its name in small letters: `listen`, `<ifmodule`, `</ifmodule`.
    pub(crate) name: String,
    /// What stands behind the name.
    pub(crate) words: Vec<Word>,
}

/// A word behind a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Without its quotes.
    pub(crate) text: String,
    /// With its quotes.
    pub(crate) range: Range<usize>,
}

impl Line {
    /// The first word, empty when there is none.
    pub(crate) fn first(&self) -> &str {
        self.words.first().map_or("", |word| &word.text)
    }
}

/// All lines of a text but comments and empty ones.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let (mut at, mut number) = (0, 1);
    while at < text.len() {
        let start = at;
        let first = number;
        loop {
            let end = text[at..]
                .find('\n')
                .map_or(text.len(), |length| at + length + 1);
            let goes_on = text[at..end]
                .trim_end_matches('\n')
                .trim_end_matches('\r')
                .ends_with('\\');
            at = end;
            number += 1;
            if !goes_on || at >= text.len() {
                break;
            }
        }
        lines.extend(line(text, start..at, first));
    }
    lines
}

fn line(text: &str, range: Range<usize>, number: usize) -> Option<Line> {
    let mut words = words(text, range.clone());
    if words.is_empty() || words[0].text.starts_with('#') {
        return None;
    }
    let mut name = words.remove(0).text.to_ascii_lowercase();
    if name.starts_with('<') {
        // `</IfModule>`, or `<IfModule x>` with the bracket at the last word or by itself.
        let last = words.last_mut().map_or(&mut name, |word| &mut word.text);
        *last = last.trim_end_matches('>').to_owned();
        words.retain(|word| !word.text.is_empty());
    }
    Some(Line {
        number,
        range,
        name,
        words,
    })
}

fn words(text: &str, range: Range<usize>) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text[range.clone()].char_indices().peekable();
    let of = |offset: usize| range.start + offset;
    while let Some((start, first)) = rest.next() {
        let is_line_break = first == '\\'
            && text[of(start) + 1..range.end]
                .trim_start_matches('\r')
                .starts_with('\n');
        if first.is_whitespace() || is_line_break {
            continue;
        }
        let quote = ['"', '\''].contains(&first).then_some(first);
        let mut word = String::new();
        if quote.is_none() {
            word.push(first);
        }
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = rest.peek().copied() {
            if quote.is_none() && c.is_whitespace() {
                break;
            }
            rest.next();
            end = at + c.len_utf8();
            if Some(c) == quote {
                break;
            }
            match rest.peek().copied() {
                Some((at, next)) if c == '\\' && quote == Some(next) => {
                    rest.next();
                    end = at + next.len_utf8();
                    word.push(next);
                }
                _ => word.push(c),
            }
        }
        words.push(Word {
            text: word,
            range: of(start)..of(end),
        });
    }
    words
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_with_their_places() {
        let text = "# Listen 1\n\n  listen 80\r\n<IfModule mpm_prefork_module>\n\tMaxRequestWorkers\t\t \"150\"\n\
                    </IfModule>\nErrorLog \"my \\\"own\\\" log\" \\\r\n  more\nLast 1";
        let read = lines(text);
        let told: Vec<(usize, &str, Vec<&str>)> = read
            .iter()
            .map(|line| {
                let words = line.words.iter().map(|word| word.text.as_str());
                (line.number, line.name.as_str(), words.collect())
            })
            .collect();
        assert_eq!(
            told,
            [
                (3, "listen", vec!["80"]),
                (4, "<ifmodule", vec!["mpm_prefork_module"]),
                (5, "maxrequestworkers", vec!["150"]),
                (6, "</ifmodule", vec![]),
                (7, "errorlog", vec!["my \"own\" log", "more"]),
                (9, "last", vec!["1"]),
            ]
        );
        assert_eq!(&text[read[2].words[0].range.clone()], "\"150\"");
        assert_eq!(&text[read[0].range.clone()], "  listen 80\r\n");
        assert_eq!(read[0].first(), "80");
        assert_eq!(lines("<VirtualHost *:80 >\n")[0].words.len(), 1);
        assert!(
            lines("# a \\\nListen 1\n").is_empty(),
            "the comment goes on"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            for line in lines(&text) {
                for word in &line.words {
                    proptest::prop_assert!(text.get(word.range.clone()).is_some());
                }
            }
        }
    }

    #[test]
    fn a_word_can_be_replaced() {
        let text = "Listen 'a'";
        let word = lines(text)[0].words.first().cloned().unwrap();
        assert_eq!(word.range, 7..10);
    }
}
