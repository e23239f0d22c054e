#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use proptest::prelude::*;

use weir_record::DataType;

use super::head::FIELDS_MAX;
use super::*;
use crate::http::outcome::Place;

/// More than any body here.
pub(super) const KEPT_MAX: usize = 1_000_000;

/// Feeds a response in pieces of one size, then ends the connection if the response needs it.
pub(super) fn read_in_pieces(
    bytes: &[u8],
    piece: usize,
    asked: Asked,
) -> (ResponseReader, Option<Failure>) {
    let mut reader = ResponseReader::new(asked, Some(KeptStore::default().take(KEPT_MAX)));
    let mut texts = StatusTexts::default();
    for part in bytes.chunks(piece.max(1)) {
        if let Err(failure) = reader.feed(part, &mut texts) {
            return (reader, Some(failure));
        }
    }
    if reader.is_done() {
        return (reader, None);
    }
    let failure = reader.end(&mut texts).err();
    (reader, failure)
}

/// What a good response reads as, whatever the pieces it comes in.
fn check(bytes: &str, status: u16, keeps: bool) {
    for piece in [1, 2, 3, 7, 64, bytes.len()] {
        let (mut reader, failure) = read_in_pieces(bytes.as_bytes(), piece, Asked::Body);
        assert_eq!(failure, None, "{bytes:?} in pieces of {piece}");
        assert_eq!(
            reader.received(),
            bytes.len() as u64,
            "{bytes:?} by {piece}"
        );
        assert_eq!(reader.leaves_connection_usable(), keeps, "{bytes:?}");
        assert_eq!(
            reader.take_parts().0.unwrap().status.number,
            status,
            "{bytes:?}"
        );
    }
}

/// What a bad response ends as, whatever the pieces it comes in.
fn check_failure(bytes: &str, class: &str, message: &str) {
    let place = Place {
        host: "h",
        port: 1,
        peer: ("h", 1),
        addresses: &[],
    };
    for piece in [1, 2, 5, bytes.len()] {
        let (_, failure) = read_in_pieces(bytes.as_bytes(), piece, Asked::Body);
        let failure = failure.unwrap_or_else(|| panic!("{bytes:?} is taken for good"));
        assert_eq!(failure.class(), class, "{bytes:?}");
        assert_eq!(failure.message(place), message, "{bytes:?}");
    }
}

#[test]
fn bodies_end_where_their_head_says() {
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        200,
        true,
    );
    check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, true);
    check("HTTP/1.1 204 No Content\r\n\r\n", 204, true);
    check(
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
        304,
        true,
    );
    check("HTTP/1.1 404 \r\nContent-Length: 1\r\n\r\nx", 404, true);
    check("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, false);
    check("HTTP/1.0 200 OK\r\n\r\n", 200, false);
    check("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, true);
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
        200,
        true,
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1  \r\nx\r\n00\r\nTrailer: 1\r\nOther: 2\r\n\r\n",
        200,
        true,
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nxx",
        200,
        false,
    );
}

#[test]
fn lengths_that_contradict_each_other_are_read_as_jmeter_reads_them() {
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 2\r\n\r\nok",
        200,
        true,
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: x\r\n\r\nok",
        200,
        true,
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        200,
        true,
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nrest",
        200,
        false,
    );
}

#[test]
fn the_last_head_and_the_body_are_kept_without_framing() {
    let interim = "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n";
    let check = |head: &str, body: &str, expect: &str| {
        let bytes = [interim, head, body].concat();
        for piece in [1, 2, 3, 7, 64, bytes.len()] {
            let (mut reader, failure) = read_in_pieces(bytes.as_bytes(), piece, Asked::Body);
            assert_eq!(failure, None);
            let kept = reader.take_parts().1.unwrap();
            assert_eq!(kept.head_text(), head);
            assert_eq!(kept.body, expect.as_bytes());
            assert!(!kept.is_cut);
        }
    };
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "hello",
        "hello",
    );
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
        "okjunk",
        "ok",
    );
    check("HTTP/1.1 200 OK\r\n\r\n", "to the end", "to the end");
    check("HTTP/1.1 204 No\r\n\r\n", "", "");
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "5;x\r\nhello\r\n6\r\n world\r\n0\r\nT: 1\r\n\r\n",
        "hello world",
    );
}

#[test]
fn reasons_are_read_byte_by_byte() {
    let head = b"HTTP/1.1 404 caf\xe9\r\nContent-Length: 0\r\n\r\n";
    let (mut reader, failure) = read_in_pieces(head, head.len(), Asked::Body);
    assert_eq!(failure, None);
    assert_eq!(&*reader.take_parts().0.unwrap().status.reason, "caf\u{e9}");
}

#[test]
fn fields_may_be_as_loose_as_jmeter_takes_them() {
    check("HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nx", 200, true);
    check(
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 1\r\n\r\nx",
        200,
        true,
    );
    let chunks = "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n";
    check(&format!("HTTP/1.1 200 OK\r\n{chunks}"), 200, true);
    check("HTTP/1.1 600 Odd\r\nContent-Length: 1\r\n\r\nx", 600, true);
}

#[test]
fn interim_responses_are_skipped_and_counted() {
    check(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        200,
        true,
    );
}

/// As JMeter 5.6.3 was seen to read them.
#[test]
fn what_stands_before_and_what_is_cut_off_is_read_as_jmeter_reads_it() {
    let good = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    check(&format!("\r\n\r\n{good}"), 200, true);
    check(&format!("junk line\r\n{good}"), 200, true);
    check(&format!("{}{good}", "junk line\r\n".repeat(200)), 200, true);
    check("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", 200, false);
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        200,
        true,
    );
    check(
        &format!("HTTP/1.1 101 Up\r\nUpgrade: x\r\n\r\n{good}"),
        200,
        true,
    );
    let (_, failure) = read_in_pieces(b"HTTP/1.1 100 Continue\r\n\r\n", 3, Asked::Body);
    assert_eq!(failure, Some(Failure::NoResponse));
    check_failure(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5",
        "org.apache.http.TruncatedChunkException",
        "Truncated chunk (expected size: 5; actual size: 0)",
    );
}

#[test]
fn a_head_response_has_no_body() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    for piece in [1, 9, head.len()] {
        let (reader, failure) = read_in_pieces(head, piece, Asked::Head);
        assert_eq!(failure, None);
        assert!(reader.leaves_connection_usable());
        assert!(!reader.has_body());
    }
}

#[test]
fn connections_are_kept_when_the_server_keeps_them() {
    let with = |version: &str, fields: &str| {
        format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\n{fields}\r\n")
    };
    check(&with("1.1", "Connection: close\r\n"), 200, false);
    check(&with("1.1", "Connection: Upgrade, Close\r\n"), 200, false);
    check(&with("1.1", "Connection: keep-alive\r\n"), 200, true);
    check(&with("1.0", ""), 200, false);
    check(&with("1.0", "Connection: Keep-Alive\r\n"), 200, true);
    check("HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n", 204, false);
    let text = with("1.1", "Keep-Alive: max=100, timeout=7\r\n");
    let (mut reader, _) = read_in_pieces(text.as_bytes(), 1000, Asked::Body);
    assert_eq!(reader.take_parts().0.unwrap().keep_alive_s, Some(7));
}

#[test]
fn bytes_after_the_response_spoil_the_connection() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK";
    let (reader, failure) = read_in_pieces(text, text.len(), Asked::Body);
    assert_eq!(failure, None);
    assert!(!reader.leaves_connection_usable());
    // JMeter's `bytes` of such a response.
    assert_eq!(reader.received(), text.len() as u64);
}

#[test]
fn data_types_are_jmeters() {
    for (content_type, data_type) in [
        ("", DataType::Empty),
        ("Content-Type: text/html; charset=utf-8\r\n", DataType::Text),
        ("Content-Type: application/octet-stream\r\n", DataType::Text),
        ("Content-Type: IMAGE/png\r\n", DataType::Binary),
        ("Content-Type: image/svg+xml\r\n", DataType::Text),
        ("Content-Type: video/mp4\r\n", DataType::Binary),
    ] {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{content_type}\r\n");
        let (mut reader, _) = read_in_pieces(text.as_bytes(), 1000, Asked::Body);
        assert_eq!(
            reader.take_parts().0.unwrap().data_type,
            data_type,
            "{content_type}"
        );
    }
}

#[test]
fn broken_responses_have_jmeters_names() {
    const CLOSED: &str = "org.apache.http.ConnectionClosedException";
    const CHUNKS: &str = "org.apache.http.MalformedChunkCodingException";
    const PROTOCOL: &str = "org.apache.http.client.ClientProtocolException";
    let chunked =
        |body: &str| format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
    let no_response = "org.apache.http.NoHttpResponseException";
    let (_, failure) = read_in_pieces(b"", 1, Asked::Body);
    assert_eq!(failure.unwrap().class(), no_response);
    check_failure(
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        CLOSED,
        "Premature end of Content-Length delimited message body (expected: 100; received: 5)",
    );
    check_failure(
        &chunked("5\r\nhe"),
        "org.apache.http.TruncatedChunkException",
        "Truncated chunk (expected size: 5; actual size: 2)",
    );
    check_failure(
        &chunked("5\r\nhello\r\n"),
        CLOSED,
        "Premature end of chunk coded message body: closing chunk expected",
    );
    check_failure(
        &chunked("5\r\nhello"),
        CHUNKS,
        "CRLF expected at end of chunk",
    );
    check_failure(
        &chunked("5\r\nhello world"),
        CHUNKS,
        "Unexpected content at the end of chunk",
    );
    for bad in ["xyz", "", "5 5", "fffffffffffffffff"] {
        check_failure(
            &chunked(&format!("{bad}\r\nhello\r\n")),
            CHUNKS,
            &format!("Bad chunk header: {bad}"),
        );
    }
    check_failure(&chunked("-5\r\nhello"), CHUNKS, "Negative chunk size");
    for text in [
        "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\u{16}\u{3}\u{1}",
        "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 20",
        "HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n",
        "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "junkHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: v\r\n\r\n",
    ] {
        check_failure(text, PROTOCOL, "null");
    }
}

#[test]
fn heads_are_bounded() {
    let long = |fields: usize, width: usize| {
        let field = format!("X: {}\r\n", "v".repeat(width));
        format!("HTTP/1.1 200 OK\r\n{}\r\n", field.repeat(fields))
    };
    let read = |text: &str, piece| read_in_pieces(text.as_bytes(), piece, Asked::Body).1;
    assert_eq!(read(&long(200, 200), 1000), None);
    assert_eq!(read(&long(5_000, 4), 1000), None);
    for piece in [1, 1000, 1_000_000] {
        assert_eq!(read(&long(1, HEAD_MAX), piece), Some(Failure::LongHead));
        assert_eq!(
            read(&long(FIELDS_MAX + 1, 1), piece),
            Some(Failure::LongHead)
        );
        let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(HEAD_MAX / 20);
        assert_eq!(read(&interim, piece), Some(Failure::LongHead), "by {piece}");
        let trailer = format!("X: {}\r\n", "t".repeat(100)).repeat(HEAD_MAX / 100);
        let trailers =
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailer}");
        assert_eq!(
            read(&trailers, piece),
            Some(Failure::LongHead),
            "by {piece}"
        );
    }
}

/// Bytes that look like a response more often than chance would have it.
fn like_a_response() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Just(b"HTTP/1.0 100 \r\n\r\n".to_vec()),
        Just(b"Content-Length: 7\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"Connection: close\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"5\r\nhello\r\n".to_vec()),
        Just(b"0\r\n\r\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..20),
    ];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_bytes_end_somehow_and_alike_in_any_pieces(
        bytes in like_a_response(),
        piece in 1_usize..40,
    ) {
        let (mut whole, whole_failure) = read_in_pieces(&bytes, bytes.len(), Asked::Body);
        let (mut parts, parts_failure) = read_in_pieces(&bytes, piece, Asked::Body);
        prop_assert!(whole.received() <= bytes.len() as u64);
        prop_assert_eq!(whole_failure.is_none(), parts_failure.is_none());
        if whole_failure.is_none() {
            prop_assert!(whole.is_done() && parts.is_done());
            prop_assert_eq!(whole.received(), parts.received());
            let (whole, parts) = (whole.take_parts(), parts.take_parts());
            prop_assert_eq!(whole.0.unwrap().status, parts.0.unwrap().status);
            let (whole, parts) = (whole.1.unwrap(), parts.1.unwrap());
            prop_assert_eq!(&whole.head, &parts.head);
            prop_assert_eq!(&whole.body, &parts.body);
        }
    }

    #[test]
    fn chunked_bodies_end_where_they_end(
        chunks in proptest::collection::vec(1_usize..5000, 0..8),
        piece in 1_usize..5000,
    ) {
        let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for size in &chunks {
            bytes.extend_from_slice(format!("{size:x}\r\n").as_bytes());
            bytes.extend(std::iter::repeat_n(b'\n', *size));
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        let (reader, failure) = read_in_pieces(&bytes, piece, Asked::Body);
        prop_assert_eq!(failure, None);
        prop_assert_eq!(reader.received(), bytes.len() as u64);
        prop_assert!(reader.leaves_connection_usable());
    }
}
