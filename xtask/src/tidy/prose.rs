//! Rules for text that users read: short sentences, lines that fit a terminal, one word per thing.
//!
//! A page is parsed as Markdown. Each paragraph, item, heading and cell of a table is a block; a
//! sentence ends within its block. A code span is one word, whatever stands in it.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::tidy::Problem;
use crate::tidy::tree::{Tree, extension, is_below};

/// The most words of a sentence.
const LONGEST: usize = 25;
/// The most columns of a line.
const WIDEST: usize = 100;
/// Pages beside those below `docs`.
const PAGES: [&str; 4] = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "bench/README.md",
];
/// Words that were given up, and what stands in their place.
const GIVEN_UP: [(&str, &str); 8] = [
    ("requirement that binds", "limiting requirement"),
    ("binding requirement", "limiting requirement"),
    ("cannot bind", "does not limit"),
    ("load tool", "load generator"),
    ("turned away", "rejected"),
    ("turns away", "rejects"),
    ("turn away", "reject"),
    ("unaccounted", "unattributed"),
];
/// The most words of the first page.
const README_LONGEST: usize = 500;

/// Sentences, lines and words of pages that are not as they should be.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.files() {
        if extension(path) != "md" || !(is_below(path, "docs") || PAGES.contains(&path)) {
            continue;
        }
        let page = Page::of(text);
        problems.extend(page.long_sentences(path));
        problems.extend(page.wide_lines(path));
        problems.extend(page.given_up(path));
        if path == "README.md" {
            problems.extend(long_page(path, text));
        }
    }
    problems
}

/// A stretch of prose with its place.
struct Block {
    /// Its text; a code span is [`CODE`].
    text: String,
    at: usize,
}

/// What a code span is to a reader who counts.
const CODE: &str = "CODE";

struct Page<'t> {
    text: &'t str,
    blocks: Vec<Block>,
    /// Fenced code and tables, whose lines are as wide as they are.
    wide: Vec<Range<usize>>,
}

impl<'t> Page<'t> {
    fn of(text: &'t str) -> Self {
        let mut page = Self {
            text,
            blocks: Vec::new(),
            wide: Vec::new(),
        };
        let mut is_code = false;
        let mut is_new = true;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => {
                    is_code = true;
                    page.wide.push(range);
                }
                Event::End(TagEnd::CodeBlock) => is_code = false,
                Event::Start(Tag::Table(_)) => page.wide.push(range),
                Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Item | Tag::TableCell)
                | Event::End(
                    TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell,
                ) => is_new = true,
                Event::Text(words) if !is_code => page.add(&words, range.start, &mut is_new),
                Event::Code(_) => page.add(CODE, range.start, &mut is_new),
                Event::SoftBreak | Event::HardBreak => page.add(" ", range.start, &mut is_new),
                _ => {}
            }
        }
        page
    }

    fn add(&mut self, words: &str, at: usize, is_new: &mut bool) {
        match self.blocks.last_mut().filter(|_| !*is_new) {
            Some(block) => block.text.push_str(words),
            None => self.blocks.push(Block {
                text: words.to_owned(),
                at,
            }),
        }
        *is_new = false;
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    fn long_sentences(&self, path: &str) -> Vec<Problem> {
        let blocks = self.blocks.iter();
        let sentences = blocks.flat_map(|block| {
            let line = self.line(block.at);
            sentences(&block.text).map(move |sentence| (line, sentence))
        });
        sentences
            .filter_map(|(line, sentence)| {
                let words = words(sentence).count();
                let begins: Vec<&str> = sentence.split_whitespace().take(6).collect();
                (words > LONGEST).then(|| {
                    let says = format!(
                        "a sentence of {words} words (\"{} …\"): at most {LONGEST}",
                        begins.join(" ")
                    );
                    Problem::at_line(path, line, says)
                })
            })
            .collect()
    }

    fn wide_lines(&self, path: &str) -> Vec<Problem> {
        let mut at = 0;
        let mut problems = Vec::new();
        for (number, line) in self.text.split('\n').enumerate() {
            let end = at + line.len();
            let is_free = self
                .wide
                .iter()
                .any(|wide| wide.start < end && at < wide.end);
            let columns = line.chars().count();
            // One word that is wider, such as a link, cannot be broken.
            let breaks = line.split_whitespace().nth(1).is_some();
            if columns > WIDEST && !is_free && breaks {
                let says = format!("a line of {columns} columns: at most {WIDEST}");
                problems.push(Problem::at_line(path, number + 1, says));
            }
            at += line.len() + 1;
        }
        problems
    }

    fn given_up(&self, path: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        for block in &self.blocks {
            let text = block.text.to_lowercase();
            for (old, new) in GIVEN_UP.iter().filter(|(old, _)| text.contains(old)) {
                let says = format!("\"{old}\": Weir's word is \"{new}\" (docs/glossary.md)");
                problems.push(Problem::at_line(path, self.line(block.at), says));
            }
        }
        problems
    }
}

fn long_page(path: &str, text: &str) -> Option<Problem> {
    let words = text.split_whitespace().count();
    (words > README_LONGEST)
        .then(|| Problem::in_file(path, format!("{words} words: at most {README_LONGEST}")))
}

/// Parts that end with a full stop, a question or an exclamation mark before white space and
/// something that begins a sentence.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut ends = Vec::new();
    let mut ended = false;
    let mut blank = None;
    for (at, letter) in text.char_indices() {
        match letter {
            '.' | '!' | '?' => (ended, blank) = (true, None),
            '"' | '”' | ')' | '*' if ended && blank.is_none() => {}
            ' ' if ended => blank = blank.or(Some(at)),
            _ => {
                let begins =
                    letter.is_uppercase() || letter.is_ascii_digit() || "\"“(".contains(letter);
                if let (true, Some(at), true) = (ended, blank, begins) {
                    ends.push(at);
                }
                (ended, blank) = (false, None);
            }
        }
    }
    ends.push(text.len());
    let mut begin = 0;
    ends.into_iter().map(move |end| {
        let sentence = &text[begin..end];
        begin = end;
        sentence
    })
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    let parts = sentence.split_whitespace();
    parts.filter(|part| part.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[("docs/page.md", text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    fn of_words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    #[test]
    fn a_sentence_has_so_many_words_and_no_more() {
        assert_eq!(
            found(&format!("{}\n{}.\n", of_words(12), of_words(13))),
            [""; 0]
        );
        let long = found(&format!(
            "Short. \n\n- {}\n  {}.\n",
            of_words(13),
            of_words(13)
        ));
        assert_eq!(
            long,
            [
                "docs/page.md:3: a sentence of 26 words (\"word word word word word word …\"): at most 25"
            ]
        );
        let cell = format!("| a | b |\n|---|---|\n| x | {} |\n", of_words(26));
        assert_eq!(found(&cell).len(), 1);
    }

    #[test]
    fn sentences_and_code_are_told_apart() {
        let two = format!("{}.\nWord {}.\n", of_words(19), of_words(19));
        assert_eq!(found(&two), [""; 0]);
        let code = format!("{} `a b c d e f g`\n{}.\n", of_words(12), of_words(12));
        assert_eq!(found(&code), [""; 0]);
        let version = format!("{} 5.6.3\n{}.\n", of_words(18), of_words(7));
        assert!(found(&version)[0].contains("26 words"));
        assert_eq!(found(&format!("```\n{}\n```\n", of_words(60))), [""; 0]);
    }

    #[test]
    fn lines_of_prose_fit_and_those_of_tables_need_not() {
        let wide = "A word that is followed by some more of them. ".repeat(3);
        assert_eq!(found(&wide).len(), 1, "{wide}");
        assert_eq!(
            found(&format!("- x\n\n  | a |\n  |---|\n  | {wide} |\n")),
            [""; 0]
        );
        assert_eq!(found(&format!("| a |\n|---|\n| {wide} |\n")), [""; 0]);
    }

    #[test]
    fn words_that_were_given_up_are_named_with_the_new_one() {
        let says = found("The load\ntool was late.\n");
        assert_eq!(
            says,
            ["docs/page.md:1: \"load tool\": Weir's word is \"load generator\" (docs/glossary.md)"]
        );
        assert_eq!(found("The id `load tool` stays.\n"), [""; 0]);
    }

    #[test]
    fn the_first_page_is_short() {
        let text = "Word. ".repeat(501).replace(". ", ".\n");
        let tree = Tree::of(&[("README.md", &text)]);
        assert_eq!(check(&tree).len(), 1);
    }
}
