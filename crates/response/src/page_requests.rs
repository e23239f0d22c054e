//! What can be asked for from a page: its anchors, forms and frames, and which of them are wanted.
//!
//! JMeter's HTML Link Parser lets a request be a pattern: protocol, host and path are regular
//! expressions (or the text itself), and so are the names and values of its arguments. One of the
//! links that match takes their place. Anchors come first, then forms, then frames, each kind in
//! the order of the page. A page is read as browsers read it; JMeter tidies it up first.

use std::cell::Cell;

use scraper::{ElementRef, Html};
use url::Url;

use crate::{Patterns, html};

/// The most that is taken from one page.
const REQUESTS_MAX: usize = 10_000;

/// The most fields of all forms of a page.
const FIELDS_MAX: usize = 100_000;

/// Something that a page lets its reader ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageRequest {
    /// `http` or `https`.
    pub protocol: String,
    /// The host.
    pub host: String,
    /// The path, without a query.
    pub path: String,
    /// Names and values: of the query, or of a form's fields.
    pub fields: Vec<(String, String)>,
    /// It is a form.
    pub is_form: bool,
}

/// A request whose texts are patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestPattern {
    /// Protocol.
    pub protocol: String,
    /// Host; empty: any.
    pub host: String,
    /// Path; slashes may stand before it.
    pub path: String,
    /// Names and values of the arguments.
    pub arguments: Vec<(String, String)>,
}

/// What a page that came from this URL lets its reader ask for, and what of it fits the pattern;
/// nothing of a page that is too much to read, or when the pattern takes too long.
pub fn matching_requests(
    page: &str,
    url: &str,
    pattern: &RequestPattern,
    patterns: &mut Patterns,
) -> Vec<PageRequest> {
    let Ok(url) = Url::parse(url) else {
        return Vec::new();
    };
    let Ok(page) = html::read(&page[page.find('<').unwrap_or(0)..]) else {
        return Vec::new();
    };
    let mut fitting = Vec::new();
    for request in requests(&page, &url) {
        match fits(&request, pattern, patterns) {
            Ok(true) => fitting.push(request),
            Ok(false) => {}
            // It would do so for each of ten thousand links.
            Err(TooSlow) => return Vec::new(),
        }
    }
    fitting
}

/// The values that a form has for arguments that are patterns, in their order: `None` for an
/// argument that no field fits. Each field is given once; `random` picks one of so many.
pub fn filled_in(
    arguments: &[(String, String)],
    fields: &[(String, String)],
    patterns: &mut Patterns,
    random: &mut dyn FnMut(usize) -> usize,
) -> Vec<Option<(String, String)>> {
    let mut left = fields.to_vec();
    let mut fill = |(name, value): &(String, String)| {
        let fitting: Vec<usize> = (0..left.len())
            .filter(|at| {
                is_like(&left[*at].0, name, patterns) == Ok(true)
                    && is_like(&left[*at].1, value, patterns) == Ok(true)
            })
            .collect();
        let picked = *fitting.get(random(fitting.len().max(1)))?;
        Some(left.remove(picked))
    };
    arguments.iter().map(&mut fill).collect()
}

fn requests(page: &Html, url: &Url) -> Vec<PageRequest> {
    let all = || {
        page.root_element()
            .descendants()
            .filter_map(ElementRef::wrap)
    };
    let named =
        |wanted: &'static str| all().filter(move |element| element.value().name() == wanted);
    let base = named("base").find_map(|base| base.value().attr("href"));
    let base = base.and_then(|base| url.join(base).ok());
    let base = base.as_ref().unwrap_or(url);
    // Forms that are not closed stand in each other, and each has the fields of all inside.
    let fields_left = Cell::new(FIELDS_MAX);
    let anchors = named("a")
        .filter_map(|anchor| anchor.value().attr("href"))
        .filter(|href| !href.starts_with("javascript:"))
        .filter_map(|href| request(base, href));
    let forms = named("form").filter_map(|form| {
        let mut asked = request(url, form.value().attr("action")?)?;
        asked.is_form = true;
        let fields = fields(form).take(fields_left.get());
        asked.fields.extend(fields);
        fields_left.set(fields_left.get() - asked.fields.len().min(fields_left.get()));
        Some(asked)
    });
    let frames = named("frame")
        .filter_map(|frame| frame.value().attr("src"))
        .filter_map(|source| request(base, source));
    anchors
        .chain(forms)
        .chain(frames)
        .take(REQUESTS_MAX)
        .collect()
}

fn request(base: &Url, href: &str) -> Option<PageRequest> {
    let url = base.join(href).ok()?;
    let query = url.query().unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    Some(PageRequest {
        protocol: url.scheme().to_owned(),
        host: url.host_str()?.to_owned(),
        path: url.path().to_owned(),
        fields: pairs
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (name.to_owned(), value.to_owned())
            })
            .collect(),
        is_form: false,
    })
}

/// Every field that a form could send: all its options, whichever is selected (JMeter).
fn fields(form: ElementRef<'_>) -> impl Iterator<Item = (String, String)> + '_ {
    let mut select = String::new();
    let elements = form.descendants().filter_map(ElementRef::wrap);
    elements.filter_map(move |element| {
        let attribute = |name: &str| element.value().attr(name).unwrap_or_default().to_owned();
        match element.value().name() {
            "input" => Some((attribute("name"), attribute("value"))),
            "textarea" => Some((attribute("name"), element.text().collect())),
            "select" => {
                select = attribute("name");
                None
            }
            "option" => Some((select.clone(), attribute("value"))),
            _ => None,
        }
    })
}

/// A pattern that takes too many steps.
#[derive(Debug, PartialEq, Eq)]
struct TooSlow;

fn fits(
    request: &PageRequest,
    pattern: &RequestPattern,
    patterns: &mut Patterns,
) -> Result<bool, TooSlow> {
    let query: Vec<String> = request
        .fields
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let query = query.join("&");
    if !is_like(&request.protocol, &pattern.protocol, patterns)?
        || !pattern.host.is_empty() && !is_like(&request.host, &pattern.host, patterns)?
        || request.path != pattern.path
            && !is_like(&request.path, &format!("[/]*{}", pattern.path), patterns)?
    {
        return Ok(false);
    }
    for (name, _) in &pattern.arguments {
        if query.contains(&format!("{name}=")) {
            continue;
        }
        let has = match patterns.regex(name) {
            Ok(regex) => regex.is_in(&query).map_err(|_| TooSlow)?,
            Err(_) => false,
        };
        if !has {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a text is the pattern's, or what it describes.
fn is_like(text: &str, pattern: &str, patterns: &mut Patterns) -> Result<bool, TooSlow> {
    if text == pattern {
        return Ok(true);
    }
    match patterns.regex(pattern) {
        Ok(regex) => regex.matches(text).map_err(|_| TooSlow),
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "say <html><body><a href='/node/7?page=2'>a</a> <a href='javascript:x()'>b</a>\
        <a href='http://other/node/8'>c</a> <a href='user'>d</a>\
        <form action='/login?x=1' method='post'><input name=name><input name=token value=t7>\
        <select name=color><option value=red><option value=blue></select></form></body></html>";

    fn paths(pattern: &RequestPattern) -> Vec<String> {
        let mut patterns = Patterns::default();
        let found = matching_requests(PAGE, "http://host/a/b", pattern, &mut patterns);
        found.into_iter().map(|request| request.path).collect()
    }

    fn pattern(host: &str, path: &str, names: &[&str]) -> RequestPattern {
        RequestPattern {
            protocol: "http".to_owned(),
            host: host.to_owned(),
            path: path.to_owned(),
            arguments: names
                .iter()
                .map(|name| ((*name).to_owned(), ".*".to_owned()))
                .collect(),
        }
    }

    #[test]
    fn links_are_picked_by_host_path_and_names() {
        assert_eq!(paths(&pattern("host", "node/\\d+", &[])), ["/node/7"]);
        assert_eq!(paths(&pattern("", "/node/.*", &[])), ["/node/7", "/node/8"]);
        assert_eq!(paths(&pattern("", ".*", &["page"])), ["/node/7"]);
        assert_eq!(paths(&pattern("host", "a/user", &[])), ["/a/user"]);
        assert_eq!(paths(&pattern("", "login", &["token", "x"])), ["/login"]);
        assert!(paths(&pattern("host", "none", &[])).is_empty());
    }

    #[test]
    fn a_form_fills_in_what_fits() {
        let mut patterns = Patterns::default();
        let found = matching_requests(
            PAGE,
            "http://host/",
            &pattern("", "/login", &[]),
            &mut patterns,
        );
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let asked = [
            pair("token", ".*"),
            pair("color", "b.*"),
            pair("name", "me"),
            pair("token", ".*"),
        ];
        let filled = filled_in(&asked, &found[0].fields, &mut patterns, &mut |_| 0);
        let expected = [
            Some(pair("token", "t7")),
            Some(pair("color", "blue")),
            None,
            None,
        ];
        assert_eq!(filled, expected);
    }
}
