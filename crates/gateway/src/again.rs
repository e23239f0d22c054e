//! Requests that are sent once more, because their connection broke before anything was answered.
//!
//! A backend closes a connection that it has kept for long enough, and a request that is on its way
//! then dies with it. One that may be repeated (RFC 9110, 9.2.2) and has no body is sent again,
//! elsewhere if there is another backend. A budget keeps backends that break all connections from
//! getting every request twice.

use std::sync::atomic::{AtomicU32, Ordering};

use http::{Method, Request};
use hyper::body::Body as _;

use crate::body::RequestBody;

/// One request in so many may be sent again …
const ONE_IN: u32 = 5;
/// … and so many at once after a time without.
const SAVED_MAX: u32 = 20;

/// How many requests may be sent again.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU32);

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicU32::new(SAVED_MAX * ONE_IN))
    }
}

impl Budget {
    /// A request has come.
    pub(crate) fn earn(&self) {
        let saved = self.0.load(Ordering::Relaxed);
        if saved < SAVED_MAX * ONE_IN {
            // Two at the same time may count as one.
            self.0.store(saved + 1, Ordering::Relaxed);
        }
    }

    /// Whether one may be sent again now.
    pub(crate) fn spend(&self) -> bool {
        let spent = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |saved| {
                saved.checked_sub(ONE_IN)
            });
        spent.is_ok()
    }
}

/// The request as it can be sent again, if it may be.
pub(crate) fn copy(request: &Request<RequestBody>) -> Option<Request<RequestBody>> {
    let may = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if !may || !request.body().is_end_stream() {
        return None;
    }
    let mut copy = Request::new(request.body().none());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    copy.headers_mut().clone_from(request.headers());
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_in_five_may_be_repeated() {
        let budget = Budget::default();
        let begun = (0..100).filter(|_| budget.spend()).count();
        assert_eq!(begun, 20, "what was saved");
        let mut repeated = 0;
        for _ in 0..100 {
            budget.earn();
            repeated += u32::from(budget.spend());
        }
        assert_eq!(repeated, 20);
    }
}
