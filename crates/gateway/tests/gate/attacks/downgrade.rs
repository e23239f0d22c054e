//! Requests in HTTP/2 that would be two, or others, in HTTP/1.1 ("HTTP/2 desync"), and what reaches
//! a server of HTTP/1.1 of each.

use super::frames::{END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, frame, next, preface};
use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, status};

const DATA: u8 = 0;

/// What becomes of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It is answered with this status.
    Status(u16),
    /// Its stream is reset, or the connection ends (RFC 9113, 8.1.1 allows both).
    Broken,
}
use Told::{Broken, Status};

/// A request: what its head says that others do not (a name that is there already is replaced),
/// its body, what it is told, and what reaches the server (request line and body).
pub(super) type Attack = (
    &'static [(&'static str, &'static str)],
    Option<&'static str>,
    Told,
    Option<(&'static str, &'static str)>,
);

const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";

pub(super) const ATTACKS: &[Attack] = &[
    (&[], None, Status(200), Some(("GET /a HTTP/1.1", ""))),
    // Ends of lines within names and values.
    (&[("x", "b\r\nx-hidden: 1")], None, Broken, None),
    (&[("x", "b\nx-hidden: 1")], None, Broken, None),
    (
        &[("x", "b\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a")],
        None,
        Broken,
        None,
    ),
    (&[("x\r\nx-hidden", "1")], None, Broken, None),
    (&[("x: 1\r\ny", "1")], None, Broken, None),
    (&[("x", "b\0c")], None, Broken, None),
    (
        &[(":path", "/a HTTP/1.1\r\nx-hidden: 1\r\n\r\n")],
        None,
        Broken,
        None,
    ),
    (&[(":path", "/a HTTP/1.1")], None, Broken, None),
    (&[(":path", "a")], None, Broken, None),
    (&[(":path", "")], None, Broken, None),
    (
        &[(":path", "/\u{e4}")],
        None,
        Status(200),
        Some(("GET /\u{e4} HTTP/1.1", "")),
    ),
    (
        &[(":method", "GET /hidden HTTP/1.1\r\nx: ")],
        None,
        Broken,
        None,
    ),
    (&[(":method", "GET /hidden")], None, Broken, None),
    (&[(":authority", "a\r\nx-hidden: 1")], None, Broken, None),
    (&[(":authority", "a b")], None, Broken, None),
    (&[(":authority", "user@a")], None, Status(400), None),
    (&[(":scheme", "http://a/hidden?")], None, Broken, None),
    // Where the body ends.
    (
        &[("transfer-encoding", "chunked")],
        Some("0\r\n\r\n"),
        Broken,
        None,
    ),
    (&[("transfer-encoding", "chunked")], None, Broken, None),
    (&[("content-length", "0")], Some(HIDDEN), Broken, None),
    (&[("content-length", "5")], Some("abc"), Broken, None),
    (&[("content-length", "5")], None, Broken, None),
    (&[("content-length", "+3")], Some("abc"), Broken, None),
    (
        &[("content-length", "3"), ("content-length ", "0")],
        Some("abc"),
        Broken,
        None,
    ),
    (
        &[(":method", "POST"), ("content-length", "3")],
        Some("abc"),
        Status(200),
        Some(("POST /a HTTP/1.1", "abc")),
    ),
    (
        &[(":method", "POST")],
        Some(HIDDEN),
        Status(200),
        Some(("POST /a HTTP/1.1", HIDDEN)),
    ),
    // Fields of a connection of HTTP/1.1, and two names for one server.
    (&[("connection", "close")], None, Broken, None),
    (&[("upgrade", "h2c")], None, Broken, None),
    (&[("te", "gzip")], None, Broken, None),
    (&[("host", "b")], None, Status(400), None),
    (
        &[("host", "A")],
        None,
        Status(200),
        Some(("GET /a HTTP/1.1", "")),
    ),
    (&[("X-Upper", "1")], None, Broken, None),
    (&[(":other", "1")], None, Broken, None),
    (&[(":method", "CONNECT")], None, Broken, None),
];

/// A head in HPACK (RFC 7541): each field with its name and value as they are.
fn head(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in fields {
        bytes.push(0x00);
        for text in [name, value] {
            bytes.push(u8::try_from(text.len()).unwrap());
            assert!(text.len() < 0x7f);
            bytes.extend(text.as_bytes());
        }
    }
    bytes
}

/// What a client is told about its only request.
fn told(client: &mut Client) -> Told {
    let about_it = std::iter::from_fn(|| next(client))
        .find(|(kind, ..)| matches!(*kind, HEADERS | RST_STREAM | GOAWAY));
    match about_it {
        Some((HEADERS, _, head)) => Status(match head[0] {
            0x88 => 200,
            0x8c => 400,
            _ => panic!("a status that is in no table: {head:?}"),
        }),
        _ => Broken,
    }
}

#[test]
fn what_reaches_a_server_of_http1_is_what_was_meant() {
    let mut wrong = Vec::new();
    for (says, body, expected, reaches) in ATTACKS {
        let backend = Recorder::ok();
        let gate = gate(&backend, "");
        let mut fields = vec![
            (":method", "GET"),
            (":scheme", "http"),
            (":authority", "a"),
            (":path", "/a"),
        ];
        for (name, value) in *says {
            match fields.iter_mut().find(|(known, _)| known == name) {
                Some(known) => known.1 = value,
                None => fields.push((name, value)),
            }
        }
        let mut bytes = preface();
        let ends = if body.is_some() { 0 } else { END_STREAM };
        bytes.extend(frame(HEADERS, ends | END_HEADERS, 1, &head(&fields)));
        if let Some(body) = body {
            bytes.extend(frame(DATA, END_STREAM, 1, body.as_bytes()));
        }
        let mut client = Client::with(front(&gate), bytes);
        let told = told(&mut client);
        drop(client);
        let next = Client::connect(front(&gate)).get("/next");
        assert_eq!(next.status, 200, "{says:?}");
        let arrived: Vec<(String, String)> = backend
            .arrived()
            .into_iter()
            .filter(|one| one.target() != "/next")
            .map(|one| {
                assert!(one.fields("x-hidden").is_empty(), "{says:?}");
                (one.head.lines().next().unwrap().to_owned(), one.body)
            })
            .collect();
        let reached: Vec<(String, String)> = reaches
            .iter()
            .map(|(line, body)| ((*line).to_owned(), (*body).to_owned()))
            .collect();
        if (told, &arrived) != (*expected, &reached) {
            wrong.push(format!("{says:?} {body:?}: {told:?} {arrived:?}"));
        }
        assert_eq!(status(&gate).all.in_flight, 0, "{says:?}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
