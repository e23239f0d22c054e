//! Responses that nobody should send: no panic, no endless loop, and the same answer in whatever
//! pieces they come.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use weir_fuzz::Target;

use super::tests::read_in_pieces;
use super::*;

const SEEDS: [&[u8]; 8] = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0a\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5, max=9\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab",
    b"HTTP/1.1 200\nX: a\n b\nContent-Encoding: gzip\n\n\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\x40\xa2\0\x9f\xa1\xca\x09\x13\0\0\0",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 13\r\n\r\n\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 9\r\n\r\n\x0b\x02\x80\x68\x65\x6c\x6c\x6f\x03",
    b"junk\r\nHTTP/9.9 1000 caf\xe9\r\nX Y: \0\r\n: z\r\nno colon\r\n\r\n",
];

const WORDS: [&[u8]; 14] = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 100 \r\n\r\n",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip, deflate, br\r\n",
    b"Connection: close\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"0\r\n\r\n",
    b"ffffffffffffffff",
    b"99999999999999999999",
    b"-",
    b";",
    b"\0",
];

#[test]
fn fuzz_responses() {
    let target = Target {
        name: "responses",
        seeds: &SEEDS,
        words: &WORDS,
        length_max: 16 * 1024,
    };
    target.run(check);
}

fn check(bytes: &[u8]) {
    for asked in [Asked::Body, Asked::Head, Asked::Tunnel] {
        let (mut whole, failure) = read_in_pieces(bytes, bytes.len(), asked);
        let piece = 1 + bytes.len() % 7;
        let (mut parts, failure_of_parts) = read_in_pieces(bytes, piece, asked);
        assert_eq!(
            failure.is_none(),
            failure_of_parts.is_none(),
            "{failure:?} or {failure_of_parts:?}"
        );
        assert!(whole.received() <= bytes.len() as u64);
        if failure.is_some() {
            continue;
        }
        assert!(whole.is_done() && parts.is_done());
        assert_eq!(whole.received(), parts.received());
        let (whole, parts) = (whole.take_parts(), parts.take_parts());
        let (head, head_of_parts) = (whole.0.unwrap(), parts.0.unwrap());
        assert_eq!(head.status, head_of_parts.status);
        let (mut kept, kept_of_parts) = (whole.1.unwrap(), parts.1.unwrap());
        assert_eq!(kept.head, kept_of_parts.head);
        assert_eq!(kept.body, kept_of_parts.body);
        // Any outcome will do, as long as it is one.
        let _ = head.codings.undo(&mut kept, &mut Kept::default());
        assert!(kept.body.len() <= super::tests::KEPT_MAX);
    }
}
