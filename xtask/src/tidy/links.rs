//! Links of pages lead somewhere: to a file that is there, and to a heading of it.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::tidy::Problem;
use crate::tidy::tree::{Tree, extension};

/// Links that lead nowhere.
pub(crate) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| extension(path) == "md") {
        for (event, range) in Parser::new(text).into_offset_iter() {
            let Event::Start(Tag::Link { dest_url, .. }) = event else {
                continue;
            };
            if let Some(says) = dead(tree, path, &dest_url) {
                let line = text[..range.start].matches('\n').count() + 1;
                problems.push(Problem::at_line(path, line, says));
            }
        }
    }
    problems
}

/// What is wrong with a link.
fn dead(tree: &Tree, page: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let to = if file.is_empty() {
        PathBuf::from(page)
    } else {
        beside(page, file)
    };
    let to = to.to_str()?;
    let is_folder = || {
        tree.files()
            .any(|(path, _)| Path::new(path).starts_with(to))
    };
    let Some(text) = tree.file(to) else {
        return (!is_folder() && extension(to) != "png")
            .then(|| format!("the link to {link} leads to no file"));
    };
    let leads = heading.is_empty() || extension(to) != "md" || anchors(text).contains(heading);
    (!leads).then(|| format!("the link to {link} leads to no heading of {to}"))
}

/// A path that is written relative to a page.
fn beside(page: &str, file: &str) -> PathBuf {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// The names of a page's headings, as forges make them: lower case, blanks as hyphens, other signs
/// left out.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => names.extend(heading.take().map(|text| name(&text))),
            _ => {}
        }
    }
    names
}

fn name(heading: &str) -> String {
    let letters = heading.to_lowercase();
    let letters = letters.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(link: &str) -> Vec<String> {
        let page = format!("[x]({link})\n");
        let tree = Tree::of(&[
            ("docs/how-to/a.md", page.as_str()),
            ("docs/reference/b.md", "# `weir`: all, of \"it\"\n"),
        ]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_and_headings_have_to_be_there() {
        for right in [
            "../reference/b.md",
            "../reference/b.md#weir-all-of-it",
            "../reference",
            "https://example.org/nothing",
        ] {
            assert_eq!(found(right), [""; 0], "{right}");
        }
        for wrong in ["b.md", "../reference/b.md#gone", "#gone"] {
            assert_eq!(found(wrong).len(), 1, "{wrong}");
        }
    }
}
