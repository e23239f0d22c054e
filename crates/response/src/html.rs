//! Pages: selecting elements with jsoup's selectors, and their text as jsoup gives it.
//!
//! Pages are read and searched by `scraper`. Of jsoup's own selectors the attribute forms
//! `[name~=regex]`, `[name!=value]` and `[^prefix]`, unquoted values and `:contains`,
//! `:containsOwn`, `:matches`, `:matchesOwn`, `:eq`, `:lt` and `:gt` at the end of a selector are
//! understood; any other is an error.

pub(crate) mod read;
mod work;

use std::fmt::Write as _;

use scraper::{ElementRef, Html, Node, Selector};

pub(crate) use self::read::read;
use self::work::Work;
use crate::bounds::{Budget, TooMuch};
use crate::perl5::Perl5;

/// How long a selector may be, in bytes.
const LENGTH: usize = 10_000;

/// How deep brackets may stand in each other in a selector.
const BRACKETS: usize = 50;

/// A selector with jsoup's extras.
#[derive(Debug)]
pub(crate) struct CssSelector {
    parts: Vec<Part>,
}

/// One selector of a list.
#[derive(Debug)]
struct Part {
    plain: Selector,
    /// What looking for it costs.
    work: Work,
    /// What jsoup asks of an element beyond CSS.
    extras: Vec<Extra>,
}

#[derive(Debug)]
enum Extra {
    Contains { text: String, own: bool },
    Matches { regex: Perl5, own: bool },
    Attribute { name: String, regex: Perl5 },
    AttributePrefix(String),
    AttributeNot { name: String, value: String },
    Place(std::cmp::Ordering, usize),
}

impl CssSelector {
    /// Reads a selector, or says what is wrong with it.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        if text.len() > LENGTH || is_too_deep(text) {
            return Err(format!(
                "a selector has at most {LENGTH} bytes and {BRACKETS} brackets in each other"
            ));
        }
        let parts: Result<Vec<Part>, String> = split(text).into_iter().map(Part::compile).collect();
        Ok(Self { parts: parts? })
    }

    /// The elements of a page, in its order.
    pub(crate) fn select<'p>(
        &self,
        page: &'p Html,
        budget: &Budget,
    ) -> Result<Vec<ElementRef<'p>>, TooMuch> {
        for part in &self.parts {
            part.work.pay(page, budget)?;
        }
        let mut found = Vec::new();
        for element in page.tree.root().descendants().filter_map(ElementRef::wrap) {
            for part in &self.parts {
                if part.matches(&element, budget)? {
                    found.push(element);
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// Whether brackets stand in each other deeper than in any selector that means something.
fn is_too_deep(selector: &str) -> bool {
    let mut open = 0_usize;
    selector.chars().any(|c| {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        open > BRACKETS
    })
}

impl Part {
    fn compile(text: &str) -> Result<Self, String> {
        let mut plain = String::new();
        let mut extras = Vec::new();
        let mut rest = text.trim();
        while let Some(at) = rest.find(['[', ':']) {
            plain.push_str(&rest[..at]);
            rest = &rest[at..];
            let piece = piece(rest);
            match extra(piece)? {
                Some(extra) => extras.push(extra),
                None => plain.push_str(&quoted(piece)),
            }
            rest = &rest[piece.len()..];
            if !extras.is_empty() && rest.contains([' ', '>', '+', '~']) {
                return Err(format!(
                    "{piece} is only understood at the end of a selector"
                ));
            }
        }
        plain.push_str(rest);
        if plain.is_empty() && !extras.is_empty() {
            plain.push('*');
        }
        let work = Work::of(&plain);
        let plain = Selector::parse(&plain).map_err(|_| format!("{text:?} is no selector"))?;
        Ok(Self {
            plain,
            work,
            extras,
        })
    }

    fn matches(&self, element: &ElementRef<'_>, budget: &Budget) -> Result<bool, TooMuch> {
        if !self.plain.matches(element) {
            return Ok(false);
        }
        for extra in &self.extras {
            if !extra.holds(element, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Extra {
    fn holds(&self, element: &ElementRef<'_>, budget: &Budget) -> Result<bool, TooMuch> {
        let text_of = |own: bool| {
            let found = if own {
                own_text(*element)
            } else {
                // Only looked at, not kept.
                text_of(*element, &Budget::default())?
            };
            budget.step(found.len())?;
            Ok(found)
        };
        // One that takes too long does so again in the next element.
        let is_in = |regex: &Perl5, text: &str| {
            let found = regex.is_in(text);
            found.map_err(|error| TooMuch::Pattern(error.to_string()))
        };
        Ok(match self {
            Self::Contains { text, own } => {
                text_of(*own)?.to_lowercase().contains(&text.to_lowercase())
            }
            Self::Matches { regex, own } => is_in(regex, &text_of(*own)?)?,
            Self::Attribute { name, regex } => match element.attr(name) {
                Some(value) => is_in(regex, value)?,
                None => false,
            },
            Self::AttributePrefix(prefix) => {
                let mut attributes = element.value().attrs();
                attributes.any(|(name, _)| name.starts_with(prefix.as_str()))
            }
            Self::AttributeNot { name, value } => !element
                .attr(name)
                .is_some_and(|is| is.eq_ignore_ascii_case(value)),
            Self::Place(order, place) => {
                let before = element
                    .prev_siblings()
                    .filter(|node| node.value().is_element());
                // No more than says it.
                let before = before.take(place.saturating_add(1)).count();
                budget.step(before)?;
                before.cmp(place) == *order
            }
        })
    }
}

/// A list of selectors, split at the commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut begin, mut open) = (0, 0_i32);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '(' => open += 1,
            ']' | ')' => open -= 1,
            ',' if open <= 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// The attribute in brackets or the pseudo-class at the start of the text.
fn piece(text: &str) -> &str {
    let mut open = 0_i32;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '(' => open += 1,
            ')' => {
                open -= 1;
                if open <= 0 && text.starts_with(':') {
                    return &text[..=at];
                }
            }
            ']' if text.starts_with('[') && open <= 0 => return &text[..=at],
            '[' | ':' | '.' | '#' | ' ' | '>' | '+' | '~' if text.starts_with(':') && open == 0 => {
                return &text[..at];
            }
            _ => {}
        }
    }
    text
}

/// What jsoup adds to CSS, if the piece is that.
fn extra(piece: &str) -> Result<Option<Extra>, String> {
    let regex = |text: &str| Perl5::compile(text).map_err(|error| error.to_string());
    if let Some(inside) = piece
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        if let Some(prefix) = inside.strip_prefix('^') {
            return Ok(Some(Extra::AttributePrefix(prefix.to_ascii_lowercase())));
        }
        if let Some((name, value)) = inside.split_once("~=") {
            let (name, regex) = (name.trim().to_ascii_lowercase(), regex(value.trim())?);
            return Ok(Some(Extra::Attribute { name, regex }));
        }
        if let Some((name, value)) = inside.split_once("!=") {
            let name = name.trim().to_ascii_lowercase();
            let value = value.trim().trim_matches(['"', '\'']).to_owned();
            return Ok(Some(Extra::AttributeNot { name, value }));
        }
        return Ok(None);
    }
    let Some((name, argument)) = piece.split_once('(') else {
        return Ok(None);
    };
    let argument = argument.strip_suffix(')').unwrap_or(argument);
    let place = |order| {
        let place = argument
            .trim()
            .parse()
            .map_err(|_| format!("{piece} has no number"));
        place.map(|place| Some(Extra::Place(order, place)))
    };
    let own = name.ends_with("Own");
    match name {
        ":contains" | ":containsOwn" => Ok(Some(Extra::Contains {
            text: argument.to_owned(),
            own,
        })),
        ":matches" | ":matchesOwn" => Ok(Some(Extra::Matches {
            regex: regex(argument)?,
            own,
        })),
        ":eq" => place(std::cmp::Ordering::Equal),
        ":lt" => place(std::cmp::Ordering::Less),
        ":gt" => place(std::cmp::Ordering::Greater),
        _ => Ok(None),
    }
}

/// An attribute test with its value in quotes, which CSS wants for some.
fn quoted(piece: &str) -> String {
    let inside = piece
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match inside.and_then(|inside| inside.split_once('=')) {
        Some((name, value)) if !value.trim().starts_with(['"', '\'']) => {
            format!("[{name}=\"{}\"]", value.trim())
        }
        _ => piece.to_owned(),
    }
}

/// The text of an element: blanks in one, line breaks and blocks as a blank, at the ends none.
pub(crate) fn text_of(element: ElementRef<'_>, budget: &Budget) -> Result<String, TooMuch> {
    if is_data(element.value().name()) {
        return Ok(String::new());
    }
    let mut out = String::new();
    write(element, &mut out, in_pre(element), budget)?;
    let text = out.trim_matches(|c| c <= ' ').to_owned();
    budget.find(text.len())?;
    Ok(text)
}

/// The text that stands in the element itself.
fn own_text(element: ElementRef<'_>) -> String {
    let mut out = String::new();
    for child in element.children() {
        if let Node::Text(text) = child.value() {
            push_text(text, &mut out, false);
        }
    }
    out.trim().to_owned()
}

/// Calls itself no deeper than a page is nested, which [`read`] bounds.
fn write(
    element: ElementRef<'_>,
    out: &mut String,
    pre: bool,
    budget: &Budget,
) -> Result<(), TooMuch> {
    for child in element.children() {
        budget.step(1)?;
        match child.value() {
            Node::Text(text) => push_text(text, out, pre),
            Node::Element(value) => {
                let name = value.name();
                if is_data(name) {
                    continue;
                }
                let Some(child) = ElementRef::wrap(child) else {
                    continue;
                };
                let block = is_block(name);
                if (block || name == "br") && !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
                write(child, out, pre || keeps_blanks(name), budget)?;
                let inline = child.next_sibling().is_some_and(|next| match next.value() {
                    Node::Text(_) => true,
                    Node::Element(next) => !is_block(next.name()),
                    _ => false,
                });
                if (block || name == "br") && inline && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn push_text(text: &str, out: &mut String, pre: bool) {
    if pre {
        let _ = out.write_str(text);
        return;
    }
    for c in text.chars() {
        if matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{a0}') {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
        } else {
            out.push(c);
        }
    }
}

fn in_pre(element: ElementRef<'_>) -> bool {
    let mut above = element.ancestors().filter_map(ElementRef::wrap);
    keeps_blanks(element.value().name()) || above.any(|above| keeps_blanks(above.value().name()))
}

/// jsoup keeps scripts and styles as data, which is no text.
fn is_data(name: &str) -> bool {
    matches!(name, "script" | "style")
}

fn keeps_blanks(name: &str) -> bool {
    matches!(name, "pre" | "plaintext" | "title" | "textarea")
}

/// jsoup's list of elements that stand on lines of their own.
fn is_block(name: &str) -> bool {
    const BLOCKS: &str = " html head body frameset script noscript style meta link title frame \
         noframes section nav aside hgroup header footer p h1 h2 h3 h4 h5 h6 ul ol pre div \
         blockquote hr address figure figcaption form fieldset ins del dl dt dd li table caption \
         thead tfoot tbody colgroup col tr th td video audio canvas details menu plaintext \
         template article main svg math center dir applet marquee listing ";
    BLOCKS.split_ascii_whitespace().any(|block| block == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(selector: &str, page: &str) -> Vec<String> {
        let Ok(page) = read(page) else {
            return Vec::new();
        };
        let budget = Budget::default();
        let selected = CssSelector::compile(selector)
            .ok()
            .and_then(|selector| selector.select(&page, &budget).ok());
        let texts = selected.into_iter().flatten();
        texts
            .map_while(|element| text_of(element, &budget).ok())
            .collect()
    }

    #[test]
    fn a_page_that_is_too_deep_has_nothing_to_select() {
        assert_eq!(texts("b", "<b>x</b>"), ["x"]);
        assert!(texts("b", &"<b>x".repeat(100_000)).is_empty());
        let list = "<ul>".to_owned() + &"<li>x<br>".repeat(10_000);
        assert_eq!(texts("li", &list).len(), 10_000);
    }

    /// Each selector on a page for which the matcher would look at all elements for each one, or
    /// that holds one text in many elements.
    #[test]
    fn hostile_pages_are_searched_in_time() {
        let names = (0..200_000).map(|n| format!("<t{n:x}></t{n:x}>"));
        let names = names.collect::<Vec<_>>().concat();
        let siblings = "<p>x</p><i></i>".repeat(200_000);
        let nested = "<div>".repeat(500) + &"x".repeat(4_000_000);
        let pages = [names, siblings, nested];
        for selector in [
            "b ~ p",
            "b ~ i ~ p",
            "p:nth-child(7)",
            "p:nth-last-child(7)",
            "*:nth-of-type(7)",
            "p:not(b ~ i)",
            "p:has(~ b)",
            "body:has(b ~ p) p",
            "div div div div b",
            "div",
            "div:contains(y)",
            "div:containsOwn(y)",
            "p:eq(3)",
            "p:gt(3)",
            "p:matches((x|xx)+\\1$)",
        ] {
            for page in &pages {
                let begun = std::time::Instant::now();
                let found = texts(selector, page);
                let took = begun.elapsed();
                assert!(took.as_secs() < 20, "{selector}: {took:?}");
                let bytes: usize = found.iter().map(String::len).sum();
                assert!(bytes <= crate::bounds::FOUND, "{selector}");
            }
        }
    }

    #[test]
    fn a_selector_that_is_too_deep_is_an_error() {
        for selector in [
            ":not(".repeat(100_000) + &")".repeat(100_000),
            ":not(".repeat(60) + "b" + &")".repeat(60),
            "a ".repeat(100_000),
        ] {
            assert!(CssSelector::compile(&selector).is_err());
        }
    }

    #[test]
    fn what_is_no_selector_is_an_error() {
        for text in ["a[", "a:nope(1)", "a:contains(x) b", ">", "a,,b", ""] {
            assert!(CssSelector::compile(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_selector_and_page_do_no_harm(
            selector in "([a-z*]|\\[|\\]|=|~|\\^|!|:|\\(|\\)|,| |>|\\+|contains|eq|not|has|1|\"|'|é){0,10}",
            page in "(<|>|/|a|b|div|table|td|p|script|<!--|-->|&|;|=|\"| |é){0,20}",
        ) {
            texts(&selector, &page);
            texts("*", &page);
        }
    }
}
