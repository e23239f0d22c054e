//! What a page wants its reader to fetch as well: images, scripts, style sheets, frames.
//!
//! Which elements and attributes count is what JMeter 5.6.3 does with its usual parser, and no
//! more: no `srcset`, no `<source>`, no addresses in `<style>` elements. Pages are read tag by tag,
//! because elements are asked for in the order in which they are written, not in that of the tree
//! which a browser makes of them. Comments that only an old Internet Explorer would read are
//! comments.

use std::cell::RefCell;
use std::sync::LazyLock;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};

use crate::html::read::{Reader, tokenized};
use crate::perl5::Perl5;

/// The most that is taken from one page; a page with more was made to hurt.
const LINKS_MAX: usize = 10_000;

/// One thing that a page names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// Something to fetch, relative to the base.
    Resource(String),
    /// The base of those that follow, relative to the base so far.
    Base(String),
}

/// What a page names, in its order.
pub fn page_links(page: &str) -> Vec<Link> {
    // Of a page that is too much to read, what it named before.
    let (links, _) = tokenized(page, Links::default());
    links.found.into_inner()
}

/// What a style sheet imports, in its order.
///
/// JMeter 5.6.3 fetches nothing else that a style sheet names.
pub fn style_sheet_links(sheet: &str) -> Vec<Link> {
    let sheet = without_comments(sheet);
    let mut links = Vec::new();
    let (mut rest, mut open) = (sheet.as_str(), 0_usize);
    while let Some(at) = rest.find(['{', '}', '@', '"', '\'']) {
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            b'"' | b'\'' => {
                let string = rest.split_once(char::from(mark));
                rest = string.map_or("", |(_, after)| after);
            }
            // Wherever it stands, but not inside of anything.
            _ if open == 0 && links.len() < LINKS_MAX => {
                if let Some(statement) = import(rest) {
                    links.extend(imported(statement.trim()).map(Link::Resource));
                    rest = &rest[IMPORT.len() + statement.len()..];
                }
            }
            _ => {}
        }
    }
    links
}

const IMPORT: &str = "import";

/// What follows `import` up to the end of the statement.
fn import(text: &str) -> Option<&str> {
    let name = text.get(..IMPORT.len())?;
    if !name.eq_ignore_ascii_case(IMPORT) {
        return None;
    }
    let rest = &text[IMPORT.len()..];
    Some(&rest[..rest.find([';', '{', '}']).unwrap_or(rest.len())])
}

/// The address in `"address"`, `url(address)` or `url("address")`.
fn imported(text: &str) -> Option<String> {
    let inner = match text.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("url(") => {
            text[4..].split_once(')').map(|(inner, _)| inner.trim())?
        }
        _ => text,
    };
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''));
    let address = match quote {
        Some(quote) => inner[1..].split_once(quote)?.0,
        None if inner.len() == text.len() => return None,
        None => inner,
    };
    (!address.is_empty()).then(|| address.to_owned())
}

fn without_comments(sheet: &str) -> String {
    let mut kept = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some((before, after)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// Gathers links while a page is read.
#[derive(Default)]
struct Links {
    found: RefCell<Vec<Link>>,
}

impl TokenSink for Links {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else {
            return TokenSinkResult::Continue;
        };
        if tag.kind == TagKind::EndTag {
            return TokenSinkResult::Continue;
        }
        self.take(&tag);
        // What is inside these is text, whatever it looks like.
        match &*tag.name {
            _ if tag.self_closing => TokenSinkResult::Continue,
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => {
                TokenSinkResult::RawData(RawKind::Rawtext)
            }
            "textarea" | "title" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
}

impl Reader for Links {
    fn open(&self) -> usize {
        0
    }

    fn nodes(&self) -> usize {
        0
    }
}

impl Links {
    fn take(&self, tag: &Tag) {
        let mut found = self.found.borrow_mut();
        if found.len() >= LINKS_MAX {
            return;
        }
        let mut resource = |address: Option<&str>| {
            found.extend(address.and_then(cleaned).map(Link::Resource));
        };
        match &*tag.name {
            "base" => {
                let base = attribute(tag, "href").filter(|base| !base.is_empty());
                found.extend(base.map(|base| Link::Base(base.to_owned())));
            }
            "img" | "script" | "frame" | "iframe" | "embed" | "bgsound" => {
                resource(attribute(tag, "src"));
            }
            "applet" => resource(applet(tag).as_deref()),
            "object" => {
                resource(attribute(tag, "codebase"));
                resource(attribute(tag, "data"));
            }
            "input" => {
                let is_image =
                    attribute(tag, "type").is_some_and(|t| t.eq_ignore_ascii_case("image"));
                resource(attribute(tag, "src").filter(|_| is_image));
            }
            "link" => {
                const FETCHED: [&str; 4] = ["stylesheet", "icon", "shortcut icon", "preload"];
                let is_fetched = attribute(tag, "rel")
                    .is_some_and(|rel| FETCHED.iter().any(|known| rel.eq_ignore_ascii_case(known)));
                resource(attribute(tag, "href").filter(|_| is_fetched));
            }
            _ => resource(attribute(tag, "background")),
        }
        if let Some(style) = attribute(tag, "style") {
            found.extend(in_style(style).into_iter().map(Link::Resource));
        }
    }
}

fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    let found = tag
        .attrs
        .iter()
        .find(|attribute| &*attribute.name.local == name);
    found.map(|attribute| &*attribute.value)
}

fn applet(tag: &Tag) -> Option<String> {
    let code = attribute(tag, "code");
    let Some(base) = attribute(tag, "codebase").filter(|base| !base.trim().is_empty()) else {
        return code.map(str::to_owned);
    };
    let archive = attribute(tag, "archive").filter(|archive| !archive.trim().is_empty());
    // Java writes `null` for what is not there.
    Some(format!("{base}/{}", archive.or(code).unwrap_or("null")))
}

/// An address without blanks around it and line ends in it.
fn cleaned(address: &str) -> Option<String> {
    let address = address.trim_matches(|c: char| c <= ' ');
    let kept = address.replace(['\n', '\r', '\u{8}', '\u{c}'], "");
    (!kept.is_empty()).then_some(kept)
}

/// Addresses in a `style` attribute; only those in quotation marks, up to the last one.
fn in_style(style: &str) -> Vec<String> {
    static ADDRESS: LazyLock<Option<Perl5>> =
        LazyLock::new(|| Perl5::compile(r#"(?is)URL\(\s*('|")(.*)('|")\s*\)"#).ok());
    let matches = ADDRESS
        .as_ref()
        .map(|address| address.find(style, LINKS_MAX));
    let matches = matches.and_then(Result::ok).unwrap_or_default();
    let address = |found: crate::Match| found.groups.into_iter().nth(2).flatten();
    let addresses = matches.into_iter().filter_map(address);
    addresses.filter(|address| !address.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(page: &str) -> Vec<String> {
        let links = page_links(page).into_iter();
        links
            .map(|link| match link {
                Link::Resource(address) => address,
                Link::Base(base) => format!("base {base}"),
            })
            .collect()
    }

    #[test]
    fn elements_that_name_resources() {
        let page = r#"<!DOCTYPE html><html><head><base href="/b/">
            <link rel="stylesheet" href="a.css"><link rel="Icon" href="a.ico">
            <link rel="shortcut icon" href="b.ico"><link rel="preload" href="a.pre">
            <link rel="alternate stylesheet" href="no">
            <link href="no"><script src="a.js"></script></head>
            <body background="a.png"><img src=" b.
png "><img src="data:x"><img>
            <input type="IMAGE" src="c.png"><input type="text" src="no">
            <table background="d.png"></table><frame src="f"><iframe src="g"></iframe>
            <embed src="h"><bgsound src="i"><object codebase="j" data="k"></object>
            <applet code="l"></applet><applet codebase="m" code="n"></applet>
            <applet codebase="m" archive="o" code="n"></applet>
            <div style="background: url('p.png')"></div><div style="x: url(no)"></div>
            <a href="no"></a><video src="no"></video></body></html>"#;
        let expected = [
            "base /b/", "a.css", "a.ico", "b.ico", "a.pre", "a.js", "a.png", "b.png", "data:x",
            "c.png", "d.png", "f", "g", "h", "i", "j", "k", "l", "m/n", "m/o", "p.png",
        ];
        assert_eq!(resources(page), expected);
    }

    #[test]
    fn text_that_looks_like_elements_names_nothing() {
        for page in [
            "<!-- <img src=no> -->",
            "<script>document.write('<img src=no>')</script>",
            "<style>a { background: url('no') }</style>",
            "<textarea><img src=no></textarea>",
            "<title><img src=no></title>",
            "<noscript><img src=no></noscript>",
            "<![CDATA[<img src=no]]>",
            "</img src=no>",
        ] {
            assert_eq!(resources(page), [""; 0], "{page}");
        }
        assert_eq!(resources("<img src=\"a?b=1&amp;c=2\">"), ["a?b=1&c=2"]);
        assert_eq!(resources("<img src=a"), [""; 0]);
    }

    #[test]
    fn imports_of_style_sheets() {
        let sheet = "@charset \"utf-8\"; /* @import 'no'; */ @import 'a.css';\n@import url(b.css);\
                     @IMPORT url( \"c.css\" ) screen; body { background: url(no) }\
                     @media x { @import 'no'; } p { content: \"} @import 'no';\" } @import 'd.css'";
        let links = style_sheet_links(sheet).into_iter();
        let expected =
            ["a.css", "b.css", "c.css", "d.css"].map(|link| Link::Resource(link.to_owned()));
        assert_eq!(links.collect::<Vec<_>>(), expected);
        assert_eq!(style_sheet_links("a { b: c }"), []);
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_an_answer(text in "(<img |<base |style=|url\\(|src=|['\"<>=/&;!-]|@import|\\PC){0,40}") {
            let _ = page_links(&text);
            let _ = style_sheet_links(&text);
        }
    }
}
