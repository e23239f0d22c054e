//! A request as the connection wants it that it goes over: heads of HTTP/1.1 and of HTTP/2 differ.
//!
//! Which one it is shows only when a connection is there, and may change with each try.

use http::header::{HOST, HeaderValue, TE, TRANSFER_ENCODING};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Method, Request, Version};
use hyper::body::Body as _;

use crate::backend::Backend;
use crate::body::RequestBody;

/// What of a request does not stand in its head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    /// Whether the client has said for which host it is.
    pub(crate) names_host: bool,
    /// Whether the client takes fields that come after the body; only in HTTP/2 they arrive.
    pub(crate) takes_trailers: bool,
    /// Whether the client would switch to another protocol, which is possible in HTTP/1.1 alone.
    pub(crate) switches: bool,
}

/// Makes a request one for a backend.
pub(crate) fn fit(
    request: &mut Request<RequestBody>,
    backend: &Backend,
    is_http2: bool,
    about: About,
) {
    to_http1(request);
    if !about.names_host {
        request.headers_mut().insert(HOST, host_of(backend));
    }
    if is_http2 {
        to_http2(request, backend, about.takes_trailers);
    } else {
        say_that_it_has_a_body(request);
    }
}

/// hyper takes a body without a length for none where the method is GET or HEAD.
fn say_that_it_has_a_body(request: &mut Request<RequestBody>) {
    let is_taken_for_none = matches!(*request.method(), Method::GET | Method::HEAD);
    let body = request.body();
    if is_taken_for_none && !body.is_end_stream() && body.size_hint().exact().is_none() {
        let chunked = HeaderValue::from_static("chunked");
        request.headers_mut().insert(TRANSFER_ENCODING, chunked);
    }
}

fn to_http2(request: &mut Request<RequestBody>, backend: &Backend, takes_trailers: bool) {
    let secure = backend.address.is_secure();
    let host = request.headers_mut().remove(HOST);
    let authority = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let authority = authority.or_else(|| backend.address.authority().parse().ok());
    let headers = request.headers_mut();
    headers.remove(TRANSFER_ENCODING);
    if takes_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.scheme = Some(if secure { Scheme::HTTPS } else { Scheme::HTTP });
    parts.authority = authority;
    *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    *request.version_mut() = Version::HTTP_2;
}

/// Takes back what [`to_http2`] has made of it.
fn to_http1(request: &mut Request<RequestBody>) {
    if request.version() != Version::HTTP_2 {
        return;
    }
    let parts = std::mem::take(request.uri_mut()).into_parts();
    let target = parts.path_and_query;
    *request.uri_mut() = Uri::from(target.unwrap_or_else(|| PathAndQuery::from_static("/")));
    let headers = request.headers_mut();
    headers.remove(TE);
    let host = parts.authority.map(|host| host.as_str().to_owned());
    if let Some(Ok(host)) = host.map(HeaderValue::try_from) {
        headers.insert(HOST, host);
    }
    *request.version_mut() = Version::HTTP_11;
}

/// The `Host` for a client that names none.
fn host_of(backend: &Backend) -> HeaderValue {
    let host = backend.address.authority();
    HeaderValue::from_str(&host).unwrap_or(HeaderValue::from_static("localhost"))
}
