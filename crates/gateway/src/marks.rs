//! Marks by which a request is found again in the logs of everybody that it passes: an id of its
//! own, and W3C trace context.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::settings::LogSettings;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// An id that somebody else has made is no longer than that.
const ID_MAX: usize = 128;

/// The marks of a request.
#[derive(Debug)]
pub(crate) struct Marks {
    /// The field that has the id, and the id.
    id: Option<(HeaderName, HeaderValue)>,
    trace: Option<Trace>,
}

/// Where in a trace a request is (W3C Trace Context, level 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Of the whole trace: 32 digits.
    pub(crate) id: String,
    /// Whose part this is; `None`: the trace begins here.
    pub(crate) parent: Option<String>,
    /// Of this gateway's part: 16 digits.
    pub(crate) span: String,
    flags: String,
}

impl Marks {
    /// Those that the file asks for; `None` where it asks for none. An id that the request has is
    /// kept if who has sent it `is_trusted`.
    pub(crate) fn find(
        headers: &HeaderMap,
        settings: &LogSettings,
        is_trusted: bool,
    ) -> Option<Box<Self>> {
        if settings.request_id.is_none() && !settings.trace_context {
            return None;
        }
        let id = settings.request_id.clone().map(|name| {
            let given = headers.get(&name).filter(|_| is_trusted);
            let is_fit =
                |id: &&HeaderValue| (1..=ID_MAX).contains(&id.len()) && id.to_str().is_ok();
            let id = given.filter(is_fit).cloned();
            (name, id.unwrap_or_else(|| value(&digits(2))))
        });
        let trace = settings.trace_context.then(|| Trace::find(headers));
        Some(Box::new(Self { id, trace }))
    }

    /// Puts them on the request for the backend.
    pub(crate) fn mark(&self, headers: &mut HeaderMap) {
        self.mark_answer(headers);
        if let Some(trace) = &self.trace {
            let Trace {
                id, span, flags, ..
            } = trace;
            headers.insert(TRACEPARENT, value(&format!("00-{id}-{span}-{flags}")));
            if trace.parent.is_none() {
                headers.remove(TRACESTATE);
            }
        }
    }

    /// Puts the id on the answer, so that a client can say which request it asks about.
    pub(crate) fn mark_answer(&self, headers: &mut HeaderMap) {
        if let Some((name, id)) = &self.id {
            headers.insert(name.clone(), id.clone());
        }
    }

    /// The id of the request.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_ref()?.1.to_str().ok()
    }

    /// Where in a trace it is.
    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}

impl Trace {
    /// The part of a trace that begins here: of the one that the request is of, or of a new one.
    fn find(headers: &HeaderMap) -> Self {
        let mut lines = headers.get_all(TRACEPARENT).iter();
        let given = lines.next().filter(|_| lines.next().is_none());
        let given = given.and_then(|line| parts(line.to_str().ok()?));
        let span = digits(1);
        match given {
            Some([trace, parent, flags]) => Self {
                id: trace.to_owned(),
                parent: Some(parent.to_owned()),
                span,
                flags: flags.to_owned(),
            },
            // Nobody has asked for it to be recorded.
            None => Self {
                id: digits(2),
                parent: None,
                span,
                flags: "00".to_owned(),
            },
        }
    }
}

/// Trace, parent and flags of a `traceparent`; `None` if it is none.
fn parts(line: &str) -> Option<[&str; 3]> {
    let mut fields = line.trim().split('-');
    let [version, trace, parent, flags] = [(); 4].map(|()| fields.next().unwrap_or_default());
    let is = |text: &str, length: usize| {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        text.len() == length && text.bytes().all(is_digit)
    };
    let is_something = |text: &str| text.bytes().any(|byte| byte != b'0');
    // Version 00 has these four alone; later ones may have more, and ff is none.
    let is_whole = version != "00" || fields.next().is_none();
    let is_one = is(version, 2) && version != "ff" && is(flags, 2) && is_whole;
    let is_somewhere =
        is(trace, 32) && is_something(trace) && is(parent, 16) && is_something(parent);
    (is_one && is_somewhere).then_some([trace, parent, flags])
}

/// So many times 16 digits that nobody has had and nobody can tell beforehand.
fn digits(count: usize) -> String {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut text = String::with_capacity(16 * count);
    for _ in 0..count {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // A mark of nothing but zeros is none.
        let drawn = KEYS.hash_one(number).max(1);
        // Writing into a text does not fail.
        let _ = write!(text, "{drawn:016x}");
    }
    text
}

fn value(plain: &str) -> HeaderValue {
    HeaderValue::from_str(plain).expect("digits and dashes can be seen")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn trace(lines: &[&str]) -> Trace {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(TRACEPARENT, line.parse().unwrap());
        }
        Trace::find(&headers)
    }

    #[test]
    fn a_trace_goes_on_with_a_part_of_its_own() {
        let found = trace(&[GIVEN]);
        assert_eq!(found.id, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(found.parent.as_deref(), Some("00f067aa0ba902b7"));
        assert_eq!((found.span.len(), found.flags.as_str()), (16, "01"));
        assert_ne!(found.span, "00f067aa0ba902b7");
        let later = trace(&["01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"]);
        assert!(later.parent.is_some(), "a later version may have more");
    }

    #[test]
    fn what_is_no_trace_begins_a_new_one() {
        for lines in [
            &[][..],
            &[GIVEN, GIVEN],
            &["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"],
            &["ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
            &["00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"],
            &["00-00000000000000000000000000000000-00f067aa0ba902b7-01"],
            &["00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"],
            &["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"],
            &["somewhere"],
        ] {
            let new = trace(lines);
            assert_eq!(new.parent, None, "{lines:?}");
            assert_eq!((new.id.len(), new.span.len()), (32, 16));
            assert_eq!(new.flags, "00");
        }
    }

    #[test]
    fn ids_of_others_count_if_they_are_trusted() {
        let name = HeaderName::from_static("x-request-id");
        let settings = LogSettings {
            request_id: Some(name.clone()),
            ..LogSettings::default()
        };
        let id = |given: &str, is_trusted| {
            let mut headers = HeaderMap::new();
            headers.insert(name.clone(), given.parse().unwrap());
            let marks = Marks::find(&headers, &settings, is_trusted).unwrap();
            let mut marked = headers;
            marks.mark(&mut marked);
            assert_eq!(marked[&name].to_str().ok(), marks.id());
            marks.id().unwrap().to_owned()
        };
        assert_eq!(id("theirs", true), "theirs");
        assert_eq!(id("theirs", false).len(), 32);
        assert_ne!(id("theirs", false), id("theirs", false));
        assert_eq!(id(&"long".repeat(100), true).len(), 32);
    }
}
