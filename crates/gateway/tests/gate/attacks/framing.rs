//! Requests whose end two servers could see in different places (request smuggling), and what
//! remains of each.

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, status};

/// What becomes of the connection after the attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// It is closed: nobody knows where the next request begins.
    Closed,
    /// It goes on with the next request.
    Open,
}
use Then::{Closed, Open};

/// Bytes, the answers that they get in order, what of them reaches the server (target and body),
/// and what comes then.
pub(super) type Attack = (
    &'static str,
    &'static [u16],
    &'static [(&'static str, &'static str)],
    Then,
);

/// Behind the first request of each attack that leaves room for one stands a second, hidden one.
pub(super) const ATTACKS: &[Attack] = &[
    // Both lengths: the chunks count, and the connection ends (RFC 9112, 6.1).
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n",
        &[200],
        &[("/a", "")],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n",
        &[200],
        &[("/a", "abc")],
        Closed,
    ),
    // Two lengths.
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        &[200],
        &[("/a", "abc")],
        Open,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    // Lengths that are none, and that some servers take for one.
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3 3\r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent_Length: 3\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    // Codings that only some servers take for `chunked` (TE.TE).
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        &[501],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &[501],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\x00\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nX: b\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tchunked \r\n\r\n1\r\nx\r\n0\r\n\r\n",
        &[200],
        &[("/a", "x")],
        Open,
    ),
    // Folded lines.
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "GET /a HTTP/1.1\r\nHost: a\r\nX: one\r\n two\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "GET /a HTTP/1.1\r\nHost: a\r\nX: one\r\n\ttwo\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    // Chunks: extensions go no further, and what is no size is none.
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n0;z\r\n\r\n",
        &[200],
        &[("/a", "abc")],
        Open,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: b\r\n\r\n",
        &[200],
        &[("/a", "")],
        Open,
    ),
    // A body without its end: the server never gets it whole.
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n0\r\n\r\n",
        &[400],
        &[],
        Closed,
    ),
    // Lines that end with LF alone arrive with CR LF.
    (
        "GET /a HTTP/1.1\nHost: a\n\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        &[200, 200],
        &[("/a", ""), ("/b", "")],
        Open,
    ),
    // Two requests in one piece are two, and only two.
    (
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        &[200, 200],
        &[("/a", ""), ("/b", "")],
        Open,
    ),
    (
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n",
        &[200],
        &[("/a", "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n")],
        Open,
    ),
    (
        "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        &[200],
        &[("/a", "abc")],
        Open,
    ),
    (
        "GET /a HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAAA\r\n\r\n",
        &[200],
        &[("/a", "")],
        Open,
    ),
];

#[test]
fn what_reaches_the_server_is_what_was_meant() {
    for (bytes, answers, reaches, then) in ATTACKS {
        let backend = Recorder::ok();
        let gate = gate(&backend, "");
        let mut client = Client::with(front(&gate), bytes);
        for expected in *answers {
            assert_eq!(client.answer().status, *expected, "{bytes:?}");
        }
        let mut expected: Vec<(&str, &str)> = reaches.to_vec();
        match then {
            Closed => assert_eq!(client.rest(), "", "{bytes:?} is answered once"),
            Open => {
                assert_eq!(client.get("/next").status, 200, "{bytes:?}");
                expected.push(("/next", ""));
            }
        }
        let arrived = backend.arrived();
        let arrived: Vec<(&str, &str)> = arrived
            .iter()
            .map(|one| (one.target(), one.body.as_str()))
            .collect();
        assert_eq!(arrived, expected, "{bytes:?}");
        for one in backend.arrived() {
            assert!(one.fields("upgrade").is_empty(), "{bytes:?}");
            assert!(one.fields("x-trailer").is_empty(), "{bytes:?}");
        }
        assert_eq!(status(&gate).all.in_flight, 0, "{bytes:?}");
    }
}
