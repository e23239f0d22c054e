//! Reading a page into a tree within bounds that hold while the tree grows.
//!
//! How deep and how large a tree becomes cannot be seen in the text: tags are implied, elements
//! stay open, and what formats a text is opened again wherever it was cut. So the bounds are on
//! what the parser holds, looked at every few tokens; a page beyond them is not read to its end.

use std::cell::{Cell, RefCell};

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts, TreeSink};
use scraper::{Html, HtmlTreeSink};

use crate::bounds::TooMuch;

/// How deep elements may be nested: Chromium nests no deeper either, it puts them beside each
/// other (`Settings::maximumHTMLParserDOMTreeDepth`).
pub(crate) const DEPTH: usize = 512;

/// How many nodes a page may become: a body of 16 MB with a tag every 16 bytes.
const NODES: usize = 1_000_000;

/// How many attributes one tag may have: the parser compares each with all others.
const ATTRIBUTES: usize = 1_000;

/// Open elements that may be looked through, summed over all tokens: under a second.
const STEPS: usize = 200_000_000;

/// Tokens between two looks at the tree.
const LOOK: usize = 16;

/// Text that is given to the tokenizer at once.
const PIECE_BYTES: usize = 8 * 1024;

/// What hears of a page's tokens.
pub(crate) trait Reader: TokenSink {
    /// Elements that are open or are to be opened again.
    fn open(&self) -> usize;

    /// Nodes that were made.
    fn nodes(&self) -> usize;
}

/// A reader that is told no more once it has had too much.
pub(crate) struct Bounded<R> {
    pub(crate) reader: R,
    tokens: Cell<usize>,
    steps: Cell<usize>,
    /// Attributes of all `html` and `body` tags, which become those of one element.
    of_root: Cell<usize>,
    refused: RefCell<Option<TooMuch>>,
}

/// Reads a page.
pub(crate) fn read(text: &str) -> Result<Html, TooMuch> {
    let sink = HtmlTreeSink::new(Html::new_document());
    let builder = TreeBuilder::new(sink, TreeBuilderOpts::default());
    let (builder, refused) = tokenized(text, builder);
    if let Some(refused) = refused {
        return Err(refused);
    }
    let page = builder.sink.finish();
    match depth(&page) {
        depth if depth > DEPTH => Err(TooMuch::Deep(DEPTH)),
        _ => Ok(page),
    }
}

/// Gives the tokens of a page to a reader, all unless it is too much.
pub(crate) fn tokenized<R: Reader>(text: &str, reader: R) -> (R, Option<TooMuch>) {
    let bounded = Bounded {
        reader,
        tokens: Cell::new(0),
        steps: Cell::new(0),
        of_root: Cell::new(0),
        refused: RefCell::default(),
    };
    let tokenizer = Tokenizer::new(bounded, TokenizerOpts::default());
    let whole = StrTendril::from(text);
    let input = BufferQueue::default();
    let mut tags = Tags::default();
    let (mut from, mut before) = (0, 0);
    while from < text.len() {
        let to = end_of_piece(text, from);
        let heard = tokenizer.sink.tokens.get();
        // A piece of a text: it shares its memory, and `from` and `to` fit as the whole does.
        input.push_back(whole.subtendril(from as u32, (to - from) as u32));
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        if tokenizer.sink.tokens.get() > heard {
            tags = Tags::default();
        } else {
            // Inside of one tag, or of a comment. The tag has begun in the piece before.
            if tags.is_idle() {
                tags.hear(&text[before..from]);
            }
            tags.hear(&text[from..to]);
            if tags.attributes() > ATTRIBUTES {
                tokenizer.sink.refuse(TooMuch::Attributes(ATTRIBUTES));
            }
        }
        if tokenizer.sink.refused.borrow().is_some() {
            break;
        }
        (before, from) = (from, to);
    }
    if from >= text.len() {
        tokenizer.end();
    }
    let Bounded {
        reader, refused, ..
    } = tokenizer.sink;
    (reader, refused.into_inner())
}

/// Where the piece ends that begins here: not in a character, and not before a byte order mark,
/// which the tokenizer would take for the first character of a page.
fn end_of_piece(text: &str, from: usize) -> usize {
    let mut to = (from + PIECE_BYTES).min(text.len());
    while !text.is_char_boundary(to) || text[to..].starts_with('\u{feff}') {
        to += 1;
    }
    to
}

/// How deep the elements of a page are nested.
fn depth(page: &Html) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    let mut at = page.tree.root();
    loop {
        if let Some(child) = at.first_child() {
            open += 1;
            most = most.max(open);
            at = child;
            continue;
        }
        let next = loop {
            if let Some(next) = at.next_sibling() {
                break next;
            }
            match at.parent() {
                Some(parent) if open > 0 => {
                    open -= 1;
                    at = parent;
                }
                _ => return most,
            }
        };
        at = next;
    }
}

impl<R: Reader> Bounded<R> {
    fn refuse(&self, refused: TooMuch) {
        self.refused.borrow_mut().get_or_insert(refused);
    }

    fn spend(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps);
        if self.steps.get() > STEPS {
            self.refuse(TooMuch::Reading(STEPS));
        }
    }

    fn look(&self) {
        let open = self.reader.open();
        self.spend(open * LOOK);
        // Each element may stand twice: as open, and as one to be opened again.
        if open > 2 * DEPTH {
            self.refuse(TooMuch::Deep(DEPTH));
        }
        if self.reader.nodes() > NODES {
            self.refuse(TooMuch::Nodes(NODES));
        }
    }

    fn count(&self, token: &Token) {
        let Token::TagToken(tag) = token else { return };
        let attributes = tag.attrs.len();
        // What the tokenizer has compared, a few in the time of one open element.
        self.spend(attributes * attributes / 8);
        let mut together = attributes;
        if matches!(&*tag.name, "html" | "body") {
            together += self.of_root.get();
            self.of_root.set(together);
        }
        if together > ATTRIBUTES {
            self.refuse(TooMuch::Attributes(ATTRIBUTES));
        }
    }
}

impl<R: Reader> TokenSink for Bounded<R> {
    type Handle = R::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<R::Handle> {
        if !matches!(token, Token::ParseError(_)) {
            self.tokens.set(self.tokens.get() + 1);
            self.count(&token);
            if self.tokens.get().is_multiple_of(LOOK) {
                self.look();
            }
            if self.refused.borrow().is_some() {
                return TokenSinkResult::Continue;
            }
        }
        self.reader.process_token(token, line)
    }

    fn end(&self) {
        self.reader.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.reader
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// What a tree knows its nodes by.
type Node = <HtmlTreeSink as TreeSink>::Handle;

impl Reader for TreeBuilder<Node, HtmlTreeSink> {
    fn open(&self) -> usize {
        struct Count(Cell<usize>);
        impl Tracer for Count {
            type Handle = Node;

            fn trace_handle(&self, _: &Node) {
                self.0.set(self.0.get() + 1);
            }
        }
        let count = Count(Cell::new(0));
        self.trace_handles(&count);
        count.0.get()
    }

    fn nodes(&self) -> usize {
        self.sink.0.borrow().tree.values().len()
    }
}

/// Attributes of a tag that is not at its end: the tokenizer does not tell of them, and compares
/// each with all others.
///
/// Where the tag has begun is not known, so all places are followed at once: for each state of the
/// tokenizer, the most attributes with which it may be in it.
#[derive(Debug, Default)]
struct Tags {
    most: [Option<usize>; STATES],
    /// A `<` stands before.
    opens: bool,
}

/// In the name of the tag, between attributes, in the name of one, behind a `=`, in a value in
/// double, single or no quotes.
const STATES: usize = 7;

impl Tags {
    fn is_idle(&self) -> bool {
        self.most.iter().all(Option::is_none)
    }

    fn attributes(&self) -> usize {
        self.most.iter().flatten().copied().max().unwrap_or(0)
    }

    fn hear(&mut self, text: &str) {
        for byte in text.bytes() {
            let mut next = [None; STATES];
            let mut reach = |state: usize, count: usize| next[state] = next[state].max(Some(count));
            if self.opens && byte.is_ascii_alphabetic() {
                reach(0, 0);
            }
            self.opens = byte == b'<';
            for (state, count) in self.most.iter().enumerate() {
                let Some(count) = *count else { continue };
                let is_blank = byte.is_ascii_whitespace();
                match (state, byte) {
                    (4, b'"') | (5, b'\'') | (0..=2, b'/') => reach(1, count),
                    (0..=3 | 6, b'>') => {}
                    (3, b'"') => reach(4, count),
                    (3, b'\'') => reach(5, count),
                    (3, _) if !is_blank => reach(6, count),
                    (0..=2 | 6, _) if is_blank => reach(1, count),
                    (1, b'=') => {
                        reach(2, count + 1);
                        reach(3, count);
                    }
                    (2, b'=') => reach(3, count),
                    (1, _) => reach(2, count + 1),
                    // On inside of a name, of a value, or of blanks behind `=`.
                    _ => reach(state, count),
                }
            }
            self.most = next;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// The longest body that anything looks into.
    const BODY: usize = 16 * 1024 * 1024;

    /// What no page may take: on a busy machine, without much optimisation.
    const PATIENCE: Duration = Duration::from_secs(20);

    fn filled(start: &str, each: impl Fn(usize) -> String) -> String {
        let mut page = start.to_owned();
        for n in 0.. {
            if page.len() >= BODY {
                break;
            }
            page.push_str(&each(n));
        }
        page
    }

    /// Pages that were made to hurt, each up to the longest body.
    pub(crate) fn hostile() -> Vec<(&'static str, String)> {
        let many = |text: &str| text.repeat(BODY / text.len());
        let fonts: Vec<String> = (0..300).map(|n| format!("<font a={n}>")).collect();
        let fonts = fonts.concat();
        vec![
            ("unclosed elements", many("<b>x")),
            ("unclosed blocks", many("<div>")),
            (
                "formatting that is opened again",
                fonts.clone() + &many("<p>x"),
            ),
            ("formatting in cells", many("<table><tr><td><b><i>")),
            ("foster parents", many("<table><b>x<tr>y")),
            ("misnested formatting", many("<a><b><p></a></b>")),
            ("links in links", many("<a href=x><div>")),
            ("closed where nothing is open", fonts + &many("</p>")),
            ("templates", many("<template>")),
            ("foreign elements", many("<svg><g><math><mi>")),
            ("lists in lists", many("<ul><li>")),
            ("forms in forms", many("<form><div></form><input name=a>")),
            ("buttons", many("<button><p><select><option>")),
            ("one tag", filled("<a ", |n| format!("a{n:x} "))),
            (
                "one tag with values",
                filled("<a ", |n| format!("a{n:x}='>'/")),
            ),
            (
                "wide tags",
                filled("", |n| {
                    let open = if n % 900 == 0 { "><a " } else { "" };
                    format!("{open}a{n:x} ")
                }),
            ),
            (
                "the body's attributes",
                filled("", |n| format!("<body a{n:x}>")),
            ),
            ("attributes that hold tags", many("<a title='<b><b><b>")),
            ("a comment without end", "<!--".to_owned() + &many("<b a ")),
            ("tags without end", many("<a<b<c ")),
            ("siblings", many("<p>x</p><i></i>")),
            (
                "elements of different names",
                filled("", |n| format!("<t{n:x}></t{n:x}>")),
            ),
        ]
    }

    #[test]
    fn hostile_pages_are_read_in_time_and_never_too_deep() {
        for (name, page) in hostile() {
            let begun = Instant::now();
            let read = read(&page);
            let took = begun.elapsed();
            assert!(took < PATIENCE, "{name}: {took:?}");
            drop(crate::page_links(&page));
            let took = begun.elapsed();
            assert!(took < 2 * PATIENCE, "links of {name}: {took:?}");
            if let Ok(page) = read {
                assert!(
                    depth(&page) <= DEPTH && page.tree.values().len() <= 2 * NODES,
                    "{name}"
                );
            }
        }
    }
}
