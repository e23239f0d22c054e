//! Answers that need not be asked for again, as JMeter's Cache Manager sees them.
//!
//! Nothing of an answer is kept but its validators and its end. JMeter's rules are not those of RFC
//! 9111: what was kept of a URL first stays, also when a later answer has other validators, until
//! the cache is cleared; without any sign of its end an answer is fresh for a tenth of its age or,
//! when that is not known either, for a year; validators go along with requests of every method.
//!
//! A full cache takes nothing new. JMeter's, which compares how often things are asked for, does
//! the same with all that is asked for as rarely as what it has.

use std::collections::{BTreeMap, HashMap};

use crate::date::any_ms;
use crate::fields::{self, Field};

const YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;

/// What one user has kept under one Cache Manager.
#[derive(Debug, Clone)]
pub struct Cache {
    uses_ends: bool,
    entries_max: usize,
    entries: HashMap<Box<str>, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    last_modified: Option<Box<str>>,
    etag: Option<Box<str>>,
    end_ms: Option<i64>,
    /// The answer depends on these request headers: the entry stands elsewhere.
    varies: Option<Box<str>>,
}

/// What a response says about keeping it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer<'a> {
    last_modified: Option<&'a str>,
    etag: Option<&'a str>,
    expires: Option<&'a str>,
    cache_control: Option<&'a str>,
    date: Option<&'a str>,
    vary: Option<&'a str>,
}

impl<'a> Answer<'a> {
    /// Reads header fields; of several of a name the last counts.
    pub fn of(response_fields: &[Field<'a>]) -> Self {
        let field = |name: &str| fields::last(response_fields, name);
        Self {
            last_modified: field("Last-Modified"),
            etag: field("ETag"),
            expires: field("Expires"),
            cache_control: field("Cache-Control"),
            date: field("Date"),
            vary: field("Vary"),
        }
    }

    fn says_anything(&self) -> bool {
        let says = [
            self.last_modified,
            self.expires,
            self.etag,
            self.cache_control,
        ];
        says.iter().flatten().any(|text| !text.trim().is_empty())
    }

    fn controls(&self, directive: &str) -> bool {
        self.cache_control
            .is_some_and(|control| control.contains(directive))
    }

    /// Until when the answer is fresh.
    fn end_ms(&self, now_ms: i64) -> Option<i64> {
        let by_date = self.expires.and_then(any_ms);
        if self.controls("no-cache") {
            return by_date;
        }
        if let Some((_, age)) = self.cache_control.and_then(|c| c.split_once("max-age=")) {
            let age = age.split([',', ' ']).next().unwrap_or_default();
            let age_s: i64 = age.parse().ok()?;
            return Some(now_ms.saturating_add(age_s.saturating_mul(1000)));
        }
        if self.expires.is_some() {
            return by_date;
        }
        let not_empty = |text: &&str| !text.is_empty();
        match (
            self.last_modified.filter(not_empty),
            self.date.filter(not_empty),
        ) {
            (Some(changed), Some(date)) => {
                let age_ms = any_ms(date)?.saturating_sub(any_ms(changed)?);
                Some(now_ms.saturating_add((age_ms as f64 * 0.1).round() as i64))
            }
            _ => Some(now_ms + YEAR_MS),
        }
    }
}

/// What a request asks for on condition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// Value of `If-Modified-Since`.
    pub if_modified_since: Option<&'a str>,
    /// Value of `If-None-Match`.
    pub if_none_match: Option<&'a str>,
}

impl Cache {
    /// An empty cache for so many entries; with `uses_ends`, answers that are fresh are not asked
    /// for again.
    pub fn new(uses_ends: bool, entries_max: usize) -> Self {
        Self {
            uses_ends,
            entries_max,
            entries: HashMap::new(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The conditions that go along with a request with these fields.
    pub fn conditions(&self, url: &str, request_fields: &[Field<'_>]) -> Conditions<'_> {
        match self.entry(url, request_fields) {
            Some(entry) => Conditions {
                if_modified_since: entry.last_modified.as_deref(),
                if_none_match: entry.etag.as_deref(),
            },
            None => Conditions::default(),
        }
    }

    /// Whether a GET with these fields need not be sent.
    pub fn is_fresh(&self, url: &str, request_fields: &[Field<'_>], now_ms: i64) -> bool {
        let end_ms = self.entry(url, request_fields).and_then(|e| e.end_ms);
        end_ms.is_some_and(|end_ms| end_ms > now_ms)
    }

    /// Keeps what the response to a GET says; the request's fields are all that were sent, except
    /// `Cookie`.
    pub fn keep(
        &mut self,
        url: &str,
        status: u16,
        answer: &Answer<'_>,
        request_fields: &[Field<'_>],
        now_ms: i64,
    ) {
        let is_whole = (200..300).contains(&status) || status == 304;
        if !is_whole || answer.vary == Some("*") || !answer.says_anything() {
            return;
        }
        if self.uses_ends && answer.controls("no-store") {
            return;
        }
        let end_ms = if self.uses_ends {
            answer.end_ms(now_ms)
        } else {
            None
        };
        let entry = Entry {
            last_modified: answer.last_modified.map(Into::into),
            etag: answer.etag.map(Into::into),
            end_ms,
            varies: None,
        };
        match answer.vary {
            Some(names) => {
                let key = varied(url, names, request_fields);
                let pointer = Entry {
                    varies: Some(names.into()),
                    ..entry.clone()
                };
                self.put(url, pointer);
                self.put(&key, entry);
            }
            None if self.entries.contains_key(url) => {}
            None => self.put(url, entry),
        }
    }

    fn entry(&self, url: &str, request_fields: &[Field<'_>]) -> Option<&Entry> {
        let entry = self.entries.get(url)?;
        match &entry.varies {
            Some(names) => {
                let entry = self
                    .entries
                    .get(varied(url, names, request_fields).as_str())?;
                Some(entry).filter(|entry| entry.varies.is_none())
            }
            None => Some(entry),
        }
    }

    fn put(&mut self, key: &str, entry: Entry) {
        if let Some(known) = self.entries.get_mut(key) {
            *known = entry;
        } else if self.entries.len() < self.entries_max {
            self.entries.insert(key.into(), entry);
        }
    }
}

/// The key of an answer that depends on request headers. Their names are compared as they are
/// written, as in JMeter.
fn varied(url: &str, names: &str, request_fields: &[Field<'_>]) -> String {
    let names_and_values: BTreeMap<&str, Vec<&str>> = names
        .split(',')
        .map(str::trim_start)
        .map(|name| {
            let values = request_fields.iter().filter(|(known, _)| *known == name);
            (name, values.map(|(_, value)| *value).collect())
        })
        .collect();
    format!("vary-{names}-{names_and_values:?}-{url}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_000;
    const URL: &str = "http://h/x?y";

    fn kept(uses_ends: bool, status: u16, response: &[Field<'_>]) -> Cache {
        let mut cache = Cache::new(uses_ends, 5_000);
        cache.keep(URL, status, &Answer::of(response), &[], NOW);
        cache
    }

    /// How long, in seconds, an answer is fresh.
    fn life_s(response: &[Field<'_>]) -> Option<i64> {
        let cache = kept(true, 200, response);
        let end_ms = cache.entries.get(URL)?.end_ms?;
        Some((end_ms - NOW) / 1000)
    }

    #[test]
    fn validators_go_along_with_the_next_request() {
        let response = [
            ("ETag", "\"a\""),
            ("last-modified", "then"),
            ("etag", "\"b\""),
        ];
        let cache = kept(false, 200, &response);
        let conditions = cache.conditions(URL, &[]);
        assert_eq!(conditions.if_none_match, Some("\"b\""));
        assert_eq!(conditions.if_modified_since, Some("then"));
        assert_eq!(cache.conditions("http://h/x", &[]), Conditions::default());
        assert!(!cache.is_fresh(URL, &[], NOW));
    }

    #[test]
    fn what_came_first_stays() {
        let mut cache = kept(false, 200, &[("ETag", "1")]);
        cache.keep(URL, 200, &Answer::of(&[("ETag", "2")]), &[], NOW);
        assert_eq!(cache.conditions(URL, &[]).if_none_match, Some("1"));
        cache.clear();
        cache.keep(URL, 304, &Answer::of(&[("ETag", "2")]), &[], NOW);
        assert_eq!(cache.conditions(URL, &[]).if_none_match, Some("2"));
    }

    #[test]
    fn only_answers_that_say_something_are_kept() {
        for status in [199, 300, 302, 404, 500] {
            assert!(kept(true, status, &[("ETag", "1")]).entries.is_empty());
        }
        assert!(
            kept(true, 200, &[("Content-Type", "text/html")])
                .entries
                .is_empty()
        );
        assert!(
            kept(true, 200, &[("ETag", "1"), ("Vary", "*")])
                .entries
                .is_empty()
        );
        assert!(
            kept(true, 200, &[("ETag", "1"), ("Cache-Control", "no-store")])
                .entries
                .is_empty()
        );
        // Without looking at ends, "no-store" is not looked at either.
        assert_eq!(
            kept(false, 200, &[("Cache-Control", "no-store")])
                .entries
                .len(),
            1
        );
    }

    #[test]
    fn answers_have_an_end() {
        let expires = "Wed, 15 Nov 2023 22:13:20 GMT";
        let date = "Tue, 14 Nov 2023 22:13:20 GMT";
        let changed = "Tue, 14 Nov 2023 22:11:40 GMT";
        let day = Some(24 * 60 * 60);
        assert_eq!(
            life_s(&[("Cache-Control", "public, max-age=60, x")]),
            Some(60)
        );
        assert_eq!(
            life_s(&[("Cache-Control", "max-age=60"), ("Expires", expires)]),
            Some(60)
        );
        assert_eq!(life_s(&[("Expires", expires)]), day);
        assert_eq!(life_s(&[("Cache-Control", "no-cache, max-age=60")]), None);
        assert_eq!(
            life_s(&[("Cache-Control", "no-cache"), ("Expires", expires)]),
            day
        );
        assert_eq!(life_s(&[("Expires", "0")]), None);
        assert_eq!(
            life_s(&[("Date", date), ("Last-Modified", changed)]),
            Some(10)
        );
        assert_eq!(life_s(&[("ETag", "1")]), Some(365 * 24 * 60 * 60));
        assert_eq!(
            life_s(&[("Cache-Control", "max-age=99999999999999999999")]),
            None
        );
    }

    #[test]
    fn fresh_answers_end() {
        let cache = kept(true, 200, &[("Cache-Control", "max-age=60")]);
        assert!(cache.is_fresh(URL, &[], NOW + 59_999));
        assert!(!cache.is_fresh(URL, &[], NOW + 60_000));
        assert!(!kept(false, 200, &[("Cache-Control", "max-age=60")]).is_fresh(URL, &[], NOW));
    }

    fn response(etag: &str) -> Answer<'_> {
        Answer::of(&[("ETag", etag), ("Vary", "Accept-Language, Accept")])
    }

    #[test]
    fn answers_depend_on_the_request() {
        let mut cache = Cache::new(true, 5_000);
        let english = [("Accept-Language", "en"), ("Host", "h")];
        let german = [("Accept-Language", "de")];
        cache.keep(URL, 200, &response("1"), &english, NOW);
        cache.keep(URL, 200, &response("2"), &german, NOW);
        assert_eq!(
            cache.conditions(URL, &english[..1]).if_none_match,
            Some("1")
        );
        assert_eq!(cache.conditions(URL, &german).if_none_match, Some("2"));
        assert_eq!(cache.conditions(URL, &[]).if_none_match, None);
        assert!(cache.is_fresh(URL, &german, NOW));
    }

    /// JMeter, with room for one.
    #[test]
    fn a_full_cache_takes_nothing_new() {
        let mut cache = Cache::new(false, 1);
        for url in ["a", "b"] {
            cache.keep(url, 200, &Answer::of(&[("ETag", url)]), &[], NOW);
        }
        assert_eq!(cache.conditions("a", &[]).if_none_match, Some("a"));
        assert_eq!(cache.conditions("b", &[]).if_none_match, None);
        let mut none = Cache::new(false, 0);
        none.keep("a", 200, &Answer::of(&[("ETag", "1")]), &[], NOW);
        assert!(none.entries.is_empty());
    }
}
