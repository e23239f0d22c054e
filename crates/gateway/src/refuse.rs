//! What a client is told that gets no answer from a backend: a problem as RFC 9457 describes it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde::Serialize;
use weir_limit::{Refusal, Why};

use crate::body::ResponseBody;
use crate::vet::Unfit;

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

#[derive(Debug, Serialize)]
struct Problem<'a> {
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
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
        why: Some(refusal.why),
    };
    let mut response = answer(status, &problem);
    let seconds = HeaderValue::from(whole_seconds(refusal.retry_after));
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
