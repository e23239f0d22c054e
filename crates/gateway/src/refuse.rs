//! What a client is told that gets no answer from a backend: a problem as RFC 9457 describes it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde::Serialize;
use weir_limit::{KeyWhy, Refusal, Why};

use crate::body::ResponseBody;
use crate::keys::Over;
use crate::vet::Unfit;

/// No backend is up.
pub(crate) const NO_BACKEND: Reason = Reason::Other("no_backend");
/// When to come again for what ends nobody knows when.
const AGAIN: Duration = Duration::from_secs(1);

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

#[derive(Debug, Serialize)]
struct Problem<'a> {
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    /// The key whose share is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Reason>,
}

/// Why a request is rejected, in one word.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Reason {
    /// As the admission has decided.
    Admission(Why),
    /// Something in front of it or behind it has.
    Other(&'static str),
}

/// The answer to a request that was rejected: 429 for a rate, 503 for anything else.
pub(crate) fn turned_away(refusal: &Refusal, class: &Arc<str>) -> Response<ResponseBody> {
    let (status, detail) = match refusal.why {
        Why::Rate => (
            StatusCode::TOO_MANY_REQUESTS,
            "more requests come than are let through in a second",
        ),
        Why::Concurrency => (
            StatusCode::SERVICE_UNAVAILABLE,
            "as many requests are being worked on as may be",
        ),
        Why::QueueFull => (
            StatusCode::SERVICE_UNAVAILABLE,
            "as many requests wait for their turn as may wait",
        ),
        Why::WaitTooLong | Why::Expired => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the request's turn did not come in time",
        ),
    };
    let problem = Problem {
        title: title(status),
        status: status.as_u16(),
        detail,
        class: Some(class),
        key: None,
        why: Some(Reason::Admission(refusal.why)),
    };
    answer_later(status, &problem, refusal.retry_after)
}

/// The answer to a request of a client that has more than its share.
pub(crate) fn over_its_share(over: &Over, class: &str) -> Response<ResponseBody> {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let detail = match over.refusal.why {
        KeyWhy::Rate => "more requests come from this client than it may send",
        KeyWhy::Concurrency => "as many requests of this client are here as it may have at once",
        KeyWhy::Queue => "as many requests of this client wait for their turn as may wait",
    };
    let problem = Problem {
        title: title(status),
        status: status.as_u16(),
        detail,
        class: Some(class),
        key: Some(&over.table.settings.name),
        why: Some(over.reason()),
    };
    answer_later(status, &problem, over.refusal.retry_after)
}

/// The answer while no backend is up, which is looked for again after this time.
pub(crate) fn no_backend(class: &str, every: Duration) -> Response<ResponseBody> {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let problem = Problem {
        title: title(status),
        status: status.as_u16(),
        detail: "no backend is up",
        class: Some(class),
        key: None,
        why: Some(NO_BACKEND),
    };
    answer_later(status, &problem, every)
}

/// The answer to who would have a connection or a stream that lasts, when there are as many as may.
pub(crate) fn too_many_last() -> Response<ResponseBody> {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let problem = Problem {
        title: title(status),
        status: status.as_u16(),
        detail: "as many connections and streams are open as may be",
        class: None,
        key: None,
        why: Some(Reason::Other("long_lived")),
    };
    answer_later(status, &problem, AGAIN)
}

/// An answer that says when to come again.
fn answer_later(
    status: StatusCode,
    problem: &Problem<'_>,
    retry_after: Duration,
) -> Response<ResponseBody> {
    let mut response = answer(status, problem);
    let seconds = HeaderValue::from(whole_seconds(retry_after));
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

/// Rounded up, so that whoever waits so long is let through; at least 1, as 0 would mean at once.
fn whole_seconds(time: Duration) -> u64 {
    let whole = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    whole.max(1)
}

/// The answer of the gateway itself to who asks how it is.
pub(crate) fn monitored(any_is_up: bool, drains: bool) -> Response<ResponseBody> {
    let (status, says) = if drains {
        (StatusCode::SERVICE_UNAVAILABLE, "draining\n")
    } else if any_is_up {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "no backend is up\n")
    };
    let mut response = Response::new(ResponseBody::Own(Some(Bytes::from_static(says.as_bytes()))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to a request that is not passed on.
pub(crate) fn unfit(unfit: &Unfit) -> Response<ResponseBody> {
    failed(unfit.status, unfit.says)
}

/// The answer when there is none from a backend.
pub(crate) fn failed(status: StatusCode, detail: &str) -> Response<ResponseBody> {
    let problem = Problem {
        title: title(status),
        status: status.as_u16(),
        detail,
        class: None,
        key: None,
        why: None,
    };
    answer(status, &problem)
}

fn title(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or_default()
}

fn answer(status: StatusCode, problem: &Problem<'_>) -> Response<ResponseBody> {
    let text = serde_json::to_vec(problem).expect("plain data serialises");
    let mut response = Response::new(ResponseBody::Own(Some(Bytes::from(text))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_never_too_early() {
        for (milliseconds, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (59_999, 60)] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!(whole_seconds(time), seconds, "{milliseconds}");
        }
    }
}
