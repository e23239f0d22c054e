//! What looking for a selector in a page can cost, paid before it is looked for.
//!
//! The matcher cannot be interrupted. It goes from an element to those above it and, for some
//! selectors, to all that stand beside one of them; so a page with a hundred thousand elements
//! beside each other would keep it busy for minutes. What it may look at is counted beforehand.

use scraper::{ElementRef, Html, Selector};

use crate::bounds::{Budget, TooMuch};

/// What of a selector makes it expensive.
#[derive(Debug)]
pub(super) struct Work {
    /// How many elements one match is about.
    steps: usize,
    /// It looks at what stands beside an element.
    beside: bool,
    /// It looks into an element.
    inside: bool,
    /// Whatever it finds is found by this too, which is cheap to look for.
    last: Option<Selector>,
}

impl Work {
    /// Of a selector without a comma.
    pub(super) fn of(selector: &str) -> Self {
        let selector = selector.trim();
        let mut work = Self {
            steps: 1,
            beside: false,
            inside: selector.contains(":has"),
            last: None,
        };
        let (mut brackets, mut open) = (0_usize, 0_usize);
        let (mut quote, mut escaped, mut last) = (None, false, 0);
        for (at, c) in selector.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if quote.is_some() => quote = quote.filter(|quote| *quote != c),
                '"' | '\'' => quote = Some(c),
                '[' => brackets += 1,
                ']' => brackets = brackets.saturating_sub(1),
                _ if brackets > 0 => {}
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                ' ' | '\t' | '\n' | '\r' | '\u{c}' | '>' | '+' | '~' => {
                    work.steps += 1;
                    work.beside |= c == '~';
                    if open == 0 {
                        last = at + 1;
                    }
                }
                ',' => work.steps += 1,
                _ => {}
            }
        }
        let last = &selector[last..];
        work.beside |= selector.contains(":nth") || selector.contains("-of-type");
        if work.steps > 1 && !last.contains(':') {
            work.last = Selector::parse(last).ok();
        }
        work
    }

    /// Pays for all elements of a page that may be found.
    pub(super) fn pay(&self, page: &Html, budget: &Budget) -> Result<(), TooMuch> {
        if self.steps == 1 && !self.beside && !self.inside {
            return budget.step(page.tree.values().len());
        }
        // Of each element that is open: elements before it, and those before all above it.
        let mut open = vec![(0_usize, 0_usize)];
        let mut at = page.tree.root();
        loop {
            if let Some(element) = ElementRef::wrap(at) {
                let depth = open.len();
                let (before, above) = open[depth - 1];
                open[depth - 1].0 += 1;
                let around = above + before;
                if self.last.as_ref().is_none_or(|last| last.matches(&element)) {
                    let each = if self.beside { around + depth } else { depth };
                    let inside = if self.inside { depth + before } else { 1 };
                    budget.step(self.steps.saturating_mul(each).saturating_mul(inside))?;
                }
                if at.has_children() {
                    open.push((0, around));
                }
            }
            if let Some(child) = at.first_child() {
                at = child;
                continue;
            }
            at = loop {
                if let Some(next) = at.next_sibling() {
                    break next;
                }
                let Some(parent) = at.parent() else {
                    return Ok(());
                };
                if parent.value().is_element() {
                    open.pop();
                }
                at = parent;
            };
        }
    }
}
