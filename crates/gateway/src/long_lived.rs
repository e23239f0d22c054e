//! Requests that last: connections that have switched to another protocol (WebSocket), and streams
//! of events. They have places of their own, if the file says so: hardly any of their time is work,
//! and each would keep a slot from those that are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};

/// What a server sends that has no end (HTML, 9.2.5).
const EVENTS: &[u8] = b"text/event-stream";

/// Those that there are.
#[derive(Debug, Default)]
pub(crate) struct LongLived {
    open: AtomicU32,
    refused: AtomicU64,
}

impl LongLived {
    /// One more, of at most so many.
    pub(crate) fn begin(self: &Arc<Self>, most: u32) -> Option<LongLivedPlace> {
        if self.open.fetch_add(1, Ordering::Relaxed) >= most {
            self.open.fetch_sub(1, Ordering::Relaxed);
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(LongLivedPlace(Arc::clone(self)))
    }

    /// How many there are.
    pub(crate) fn open(&self) -> u32 {
        self.open.load(Ordering::Relaxed)
    }

    /// How many were rejected since the start.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// The place of one, until this is dropped.
#[derive(Debug)]
pub(crate) struct LongLivedPlace(Arc<LongLived>);

impl Drop for LongLivedPlace {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether what begins with this head lasts.
pub(crate) fn lasts(status: StatusCode, headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let kind = kind.and_then(|kind| kind.split(|&byte| byte == b';').next());
    status == StatusCode::SWITCHING_PROTOCOLS
        || kind.is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(EVENTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_seen_in_the_head() {
        for (status, kind, expected) in [
            (101, None, true),
            (200, Some("text/event-stream"), true),
            (200, Some("Text/Event-Stream ; charset=utf-8"), true),
            (200, Some("text/event-streams"), false),
            (200, Some("text/html"), false),
            (200, None, false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(kind) = kind {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            let status = StatusCode::from_u16(status).unwrap_or_default();
            assert_eq!(lasts(status, &headers), expected, "{status} {kind:?}");
        }
    }

    #[test]
    fn a_place_is_free_again() {
        let all = Arc::new(LongLived::default());
        let places = [(); 3].map(|()| all.begin(2));
        assert!(places[1].is_some() && places[2].is_none());
        drop(places);
        assert_eq!((all.open(), all.refused()), (0, 1));
    }
}
