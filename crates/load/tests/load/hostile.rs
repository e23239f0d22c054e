//! 112 servers that misbehave, and what JMeter 5.6.3 makes of each.
//!
//! Code, message and `bytes` of every row were recorded by running JMeter against a server that
//! sends the same; `{place}` is host and port. Where the engine differs on purpose, the row says
//! both, and docs/reference/servers-that-misbehave.md gives the reason.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_plan::{Assertion, DurationAssertion, Position, SampleScope, Sampler};
use weir_record::SampleRow;

use crate::server::{Reply, Server};
use crate::support::{get, group, request_of, run, settings, text};

/// What a server does, and what becomes of the sample.
struct Case {
    name: &'static str,
    does: Does,
    /// Code, message and bytes; of a failure, the exception's class and message.
    jmeter: Outcome,
    /// What becomes of it here, where it is not the same.
    weir: Option<Outcome>,
}

enum Does {
    /// Sends this, then closes.
    Send(Vec<u8>),
    /// Sends this in pieces, then closes.
    Drip(Vec<&'static str>),
    /// Sends this, then nothing more.
    Stall(Vec<u8>),
    /// Sends this, then resets the connection.
    Reset(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Answered(String, String, u64),
    Failed(String, String),
}

fn answered(code: &str, message: &str, bytes: u64) -> Outcome {
    Outcome::Answered(code.to_owned(), message.to_owned(), bytes)
}

fn failed(class: &str, message: &str) -> Outcome {
    Outcome::Failed(class.to_owned(), message.to_owned())
}

const CHUNKS: &str = "org.apache.http.MalformedChunkCodingException";
const CLOSED: &str = "org.apache.http.ConnectionClosedException";
const NOTHING: &str = "org.apache.http.NoHttpResponseException";
const PROTOCOL: &str = "org.apache.http.client.ClientProtocolException";
const SHORT_CHUNK: &str = "org.apache.http.TruncatedChunkException";
const SOCKET: &str = "java.net.SocketException";
const TOO_LONG: &str = "org.apache.http.MessageConstraintException";
const ZIP: &str = "java.util.zip.ZipException";

/// A response of five bytes.
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// "hello, hello, hello" as gzip writes it.
const GZIP: [u8; 29] = [
    0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51, 0xc8, 0x40, 0xa2,
    0, 0x9f, 0xa1, 0xca, 9, 19, 0, 0, 0,
];
/// "hello" as zlib writes it.
const ZLIB: [u8; 13] = [
    0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 6, 0x2c, 2, 0x15,
];
/// "hello" as Brotli's own encoder writes it.
const BROTLI: [u8; 9] = [0x0b, 2, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 3];

/// A good first line, then this.
fn after_status(rest: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{rest}").into_bytes()
}

fn chunks(body: &str) -> Vec<u8> {
    after_status(&format!("Transfer-Encoding: chunked\r\n\r\n{body}"))
}

/// A body that is said to be coded in this way.
fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("Content-Encoding: {coding}\r\nContent-Length: {length}\r\n\r\n");
    [&after_status(&head), body].concat()
}

fn flipped(mut bytes: Vec<u8>, at: usize, mask: u8) -> Vec<u8> {
    bytes[at] ^= mask;
    bytes
}

fn case(name: &'static str, sends: impl Into<Vec<u8>>, jmeter: Outcome) -> Case {
    Case {
        name,
        does: Does::Send(sends.into()),
        jmeter,
        weir: None,
    }
}

impl Case {
    /// Weir makes something else of it.
    fn here(self, weir: Outcome) -> Self {
        Self {
            weir: Some(weir),
            ..self
        }
    }
}

fn heads() -> Vec<Case> {
    let long = |length: usize| {
        after_status(&format!(
            "X: {}\r\nContent-Length: 0\r\n\r\n",
            "v".repeat(length)
        ))
    };
    let many: String = (0..5000).fold(String::new(), |fields, n| fields + &format!("X-{n}: y\r\n"));
    let no_http = || failed(PROTOCOL, "null");
    vec![
        case("huge field", long(200_000), answered("200", "OK", 200_043)),
        case(
            "many fields",
            after_status(&format!("{many}Content-Length: 0\r\n\r\n")),
            answered("200", "OK", 53_928),
        ),
        case(
            "field of a megabyte",
            long(1_200_000),
            answered("200", "OK", 1_200_043),
        )
        .here(failed(TOO_LONG, "Maximum line length limit exceeded")),
        case("empty", "", failed(NOTHING, "{place} failed to respond")),
        case("half a status line", "HTTP/1.1 20", no_http()),
        case("half a head", after_status("Content-Le"), no_http()),
        case(
            "head without end",
            after_status("Content-Length: 0\r\n"),
            answered("200", "OK", 36),
        ),
    ]
}

fn first_lines() -> Vec<Case> {
    let no_http = || failed(PROTOCOL, "null");
    let starting = |line: &str| format!("{line}\r\nContent-Length: 5\r\n\r\nhello");
    vec![
        case(
            "version 9",
            starting("HTTP/9.9 200 OK"),
            answered("200", "OK", 43),
        ),
        case("version 2", starting("HTTP/2 200 OK"), no_http()),
        case("small letters", starting("http/1.1 200 OK"), no_http()),
        case("shoutcast", starting("ICY 200 OK"), no_http()),
        case(
            "blank lines before",
            format!("\r\n\r\n{OK}"),
            answered("200", "OK", 47),
        ),
        case(
            "lines before",
            format!("junk line\r\nmore junk\r\n{OK}"),
            answered("200", "OK", 65),
        ),
        case(
            "many lines before",
            format!("{}{OK}", "junk line\r\n".repeat(200)),
            answered("200", "OK", 2243),
        ),
        case("junk before", format!("junk{OK}"), no_http()),
        case("ssh", "SSH-2.0-OpenSSH_9.2\r\n", no_http()),
        case("smtp", "220 mail.example ESMTP\r\n", no_http()),
        case(
            "binary",
            [
                b"\x16\x03\x01\x00\x05".to_vec(),
                b"\x00\x01\x02\x03\xff\xfe".repeat(10),
            ]
            .concat(),
            no_http(),
        ),
        case("code 99", starting("HTTP/1.1 99 Low"), no_http()),
        case("code 099", starting("HTTP/1.1 099 Low"), no_http()),
        case(
            "code 1000",
            starting("HTTP/1.1 1000 High"),
            answered("1000", "High", 46),
        ),
        case(
            "code 999",
            starting("HTTP/1.1 999 High"),
            answered("999", "High", 45),
        ),
        case("code abc", starting("HTTP/1.1 abc OK"), no_http()),
        case("no code", starting("HTTP/1.1"), no_http()),
        case(
            "no reason",
            starting("HTTP/1.1 200"),
            answered("200", "", 40),
        ),
        case("code -200", starting("HTTP/1.1 -200 OK"), no_http()),
        case("code 0", starting("HTTP/1.1 0 OK"), no_http()),
        case("code 20", starting("HTTP/1.1 20 OK"), no_http()),
    ]
}

fn fields() -> Vec<Case> {
    let no_http = || failed(PROTOCOL, "null");
    let holding = |line: &str| after_status(&format!("{line}\r\nContent-Length: 5\r\n\r\nhello"));
    vec![
        case("no colon", holding("no colon"), no_http()),
        case("no name", holding(": v"), no_http()),
        case("nul", holding("X: a\0b"), answered("200", "OK", 51)),
        case(
            "control in a name",
            holding("X\u{1}Y: a"),
            answered("200", "OK", 51),
        ),
        case(
            "blank in a name",
            holding("X Y: a"),
            answered("200", "OK", 51),
        ),
        case("folded", holding("X: a\r\n b"), answered("200", "OK", 53)),
        case(
            "folded at the start",
            holding(" X: a"),
            answered("200", "OK", 50),
        ),
        case(
            "carriage returns alone",
            "HTTP/1.1 200 OK\rContent-Length: 5\r\rhello",
            answered("200", "OK\rContent-Length: 5\r\rhello", 40),
        ),
        case(
            "latin",
            b"HTTP/1.1 200 caf\xe9\r\nX: \xff\xfe\r\nContent-Length: 5\r\n\r\nhello".as_slice(),
            answered("200", "caf\u{e9}", 52),
        ),
        case(
            "empty redirect",
            "HTTP/1.1 302 F\r\nLocation: \r\nContent-Length: 0\r\n\r\n",
            answered("302", "F", 49),
        ),
    ]
}

fn interim() -> Vec<Case> {
    let before = |text: &str| format!("{text}{OK}");
    vec![
        case(
            "100",
            before("HTTP/1.1 100 Continue\r\n\r\n"),
            answered("200", "OK", 68),
        ),
        case(
            "103 and 102",
            before("HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 102 P\r\n\r\n"),
            answered("200", "OK", 92),
        ),
        case(
            "101",
            before("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
            answered("200", "OK", 91),
        ),
        case(
            "100 for long",
            before(&"HTTP/1.1 100 Continue\r\n\r\n".repeat(5000)),
            answered("200", "OK", 125_043),
        ),
        case(
            "100 alone",
            "HTTP/1.1 100 Continue\r\n\r\n",
            failed(NOTHING, "{place} failed to respond"),
        ),
        case(
            "199",
            before("HTTP/1.1 199 Odd\r\n\r\n"),
            answered("200", "OK", 63),
        ),
    ]
}

fn lengths() -> Vec<Case> {
    let with = |fields: &str| after_status(&format!("{fields}\r\n\r\nhello"));
    let short = |expected: &str| {
        let says = format!(
            "Premature end of Content-Length delimited message body (expected: {expected}; received: 5)"
        );
        failed(CLOSED, &says)
    };
    let ok = |bytes| answered("200", "OK", bytes);
    vec![
        case("long", with("Content-Length: 100"), short("100")),
        case("short", with("Content-Length: 2"), ok(43)),
        case("negative", with("Content-Length: -5"), ok(44)),
        case("no number", with("Content-Length: abc"), ok(45)),
        case("plus", with("Content-Length: +5"), ok(44)),
        case(
            "too big",
            with("Content-Length: 99999999999999999999"),
            ok(62),
        ),
        case(
            "big",
            with("Content-Length: 9000000000"),
            short("9,000,000,000"),
        ),
        case(
            "two",
            with("Content-Length: 9\r\nContent-Length: 5"),
            ok(62),
        ),
        case("list", with("Content-Length: 5, 5"), ok(46)),
        case(
            "length and chunks",
            after_status(
                "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            ),
            ok(81),
        ),
        case(
            "odd coding",
            with("Transfer-Encoding: chunked, gzip"),
            ok(58),
        ),
        case(
            "identity",
            with("Transfer-Encoding: identity\r\nContent-Length: 3"),
            ok(72),
        ),
        case(
            "204 with a body",
            "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello",
            answered("204", "No", 43),
        ),
        case(
            "304 with a length",
            "HTTP/1.1 304 Not\r\nContent-Length: 5\r\n\r\n",
            answered("304", "Not", 39),
        ),
        case(
            "205 with a body",
            "HTTP/1.1 205 R\r\nContent-Length: 5\r\n\r\nhello",
            answered("205", "R", 42),
        ),
        case(
            "pipelined",
            format!("{OK}HTTP/1.1 404 Not\r\nContent-Length: 0\r\n\r\n"),
            ok(82),
        ),
    ]
}

fn in_chunks() -> Vec<Case> {
    let bad = |line: &str| failed(CHUNKS, &format!("Bad chunk header: {line}"));
    let cut = |expected: &str, actual: u32| {
        failed(
            SHORT_CHUNK,
            &format!("Truncated chunk (expected size: {expected}; actual size: {actual})"),
        )
    };
    let ok = |bytes| answered("200", "OK", bytes);
    vec![
        case("chunk xyz", chunks("xyz\r\nhello\r\n0\r\n\r\n"), bad("xyz")),
        case(
            "chunk -5",
            chunks("-5\r\nhello\r\n0\r\n\r\n"),
            failed(CHUNKS, "Negative chunk size"),
        ),
        case(
            "chunk huge",
            chunks("7fffffffffffffff\r\nhello"),
            cut("9,223,372,036,854,775,807", 5),
        ),
        case(
            "chunk too huge",
            chunks("ffffffffffffffff\r\nhello"),
            bad("ffffffffffffffff"),
        ),
        case(
            "chunk far too huge",
            chunks("fffffffffffffffff\r\nhello"),
            bad("fffffffffffffffff"),
        ),
        case("chunk 0x5", chunks("0x5\r\nhello\r\n0\r\n\r\n"), bad("0x5")),
        case(
            "chunk too long",
            chunks("5\r\nhelloworld\r\n0\r\n\r\n"),
            failed(CHUNKS, "Unexpected content at the end of chunk"),
        ),
        case("chunk with line feeds", chunks("5\nhello\n0\n\n"), ok(58)),
        case(
            "chunk and no more",
            chunks("5\r\nhello\r\n"),
            failed(
                CLOSED,
                "Premature end of chunk coded message body: closing chunk expected",
            ),
        ),
        case("chunk cut", chunks("5\r\nhe"), cut("5", 2)),
        case(
            "chunk without line end",
            chunks("5\r\nhello"),
            failed(CHUNKS, "CRLF expected at end of chunk"),
        ),
        case("chunk cut in its size", chunks("5"), cut("5", 0)),
        case(
            "trailers cut",
            chunks("5\r\nhello\r\n0\r\nX: y\r\n"),
            ok(66),
        ),
        case(
            "trailer without colon",
            chunks("5\r\nhello\r\n0\r\nno colon\r\n\r\n"),
            failed(CHUNKS, "Invalid footer: Invalid header: no colon"),
        ),
        case(
            "chunk with zeros",
            chunks(&format!("{}5\r\nhello\r\n0\r\n\r\n", "0".repeat(5000))),
            ok(5062),
        ),
        case(
            "chunk with a long extension",
            chunks(&format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(100_000))),
            ok(100_063),
        ),
        case(
            "chunk without size",
            chunks("\r\nhello\r\n0\r\n\r\n"),
            bad(""),
        ),
    ]
}

fn gzip() -> Vec<Case> {
    let gzip = GZIP.as_slice();
    let ok = |bytes| answered("200", "OK", bytes);
    let eof = "java.io.EOFException";
    let short = || failed(eof, "Unexpected end of ZLIB input stream");
    vec![
        case("gzip", coded("gzip", gzip), ok(92)),
        case(
            "gzip that is text",
            coded("gzip", b"this is not gzip at all"),
            failed(ZIP, "Not in GZIP format"),
        ),
        case("gzip cut in its data", coded("gzip", &gzip[..17]), short()),
        case(
            "gzip cut in its tail",
            coded("gzip", &gzip[..25]),
            failed(eof, "null"),
        ),
        case(
            "gzip with another checksum",
            coded("gzip", &flipped(gzip.to_vec(), 23, 1)),
            failed(ZIP, "Corrupt GZIP trailer"),
        ),
        case(
            "gzip with other data",
            coded("gzip", &flipped(gzip.to_vec(), 12, 0xff)),
            failed(ZIP, "Corrupt GZIP trailer"),
        ),
        case(
            "gzip with a tail",
            coded("gzip", &[gzip, b"junk"].concat()),
            ok(96),
        ),
        case("gzip twice", coded("gzip", &[gzip, gzip].concat()), ok(121)),
        case("gzip of nothing", coded("gzip", b""), ok(62)),
        case(
            "gzip of a byte",
            coded("gzip", b"\x1f"),
            failed(eof, "null"),
        ),
        case("gzip's head", coded("gzip", &gzip[..10]), short()),
    ]
}

fn other_codings() -> Vec<Case> {
    let gzip = GZIP.as_slice();
    let ok = |bytes| answered("200", "OK", bytes);
    let short = || {
        failed(
            "java.io.EOFException",
            "Unexpected end of ZLIB input stream",
        )
    };
    let brotli = || failed("java.io.IOException", "Brotli stream decoding failed");
    let gzip_of_zlib = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xab, 0x98, 0x73, 0xda, 0xe3, 0xec, 0xc9, 0x93, 0xec,
        0x0c, 0x6c, 0x3a, 0x4c, 0xa2, 0, 0x44, 0xfe, 0x85, 0xaa, 13, 0, 0, 0,
    ];
    let two_fields = format!(
        "Content-Encoding: gzip\r\nContent-Encoding: deflate\r\nContent-Length: {}\r\n\r\n",
        gzip.len()
    );
    vec![
        case("deflate", coded("deflate", &ZLIB), ok(79)),
        case("deflate, bare", coded("deflate", &ZLIB[2..9]), ok(72)),
        case(
            "deflate, bad",
            coded("deflate", b"\xff\xff\xff\xff"),
            failed(ZIP, "invalid block type"),
        ),
        case(
            "deflate, cut",
            coded(
                "deflate",
                &[0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0],
            ),
            short(),
        ),
        case(
            "deflate with another checksum",
            coded("deflate", &flipped(ZLIB.to_vec(), 12, 0x15)),
            failed(ZIP, "incorrect data check"),
        ),
        case(
            "deflate that is text",
            coded("deflate", b"this is text"),
            failed(ZIP, "invalid code lengths set"),
        ),
        case("brotli", coded("br", &BROTLI), ok(69)),
        case("brotli, bad", coded("br", b"\xff\xff\xff\xff"), brotli()),
        case("brotli, cut", coded("br", &BROTLI[..5]), brotli()),
        case("zstd", coded("zstd", b"hello"), ok(67)),
        case(
            "deflate in gzip",
            coded("gzip, deflate", &gzip_of_zlib),
            ok(105),
        ),
        case(
            "the other way round",
            coded("deflate, gzip", &gzip_of_zlib),
            failed(ZIP, "invalid block type"),
        ),
        case(
            "two fields",
            [after_status(&two_fields), gzip.to_vec()].concat(),
            ok(119),
        ),
        case(
            "gzip to the end",
            [
                after_status("Content-Encoding: gzip\r\n\r\n"),
                gzip.to_vec(),
            ]
            .concat(),
            ok(72),
        ),
        case(
            "gzip in chunks, bad",
            after_status(
                "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            ),
            failed(ZIP, "Not in GZIP format"),
        ),
    ]
}

fn endings() -> Vec<Case> {
    let does = |name, does, jmeter| Case {
        name,
        does,
        jmeter,
        weir: None,
    };
    let partial = || after_status("Content-Length: 100\r\n\r\nhello");
    let reset = || failed(SOCKET, "Connection reset");
    let silent = || failed("java.net.SocketTimeoutException", "Read timed out");
    let drip = Does::Drip(vec![
        "HTTP/1.1 2",
        "00 OK\r",
        "\nContent-",
        "Length: 5\r\n\r",
        "\nhe",
        "llo",
    ]);
    vec![
        does("slow head", drip, answered("200", "OK", 43)),
        does("stalled head", Does::Stall(after_status("")), silent()),
        does("stalled body", Does::Stall(partial()), silent()),
        does("reset", Does::Reset(Vec::new()), reset()),
        does(
            "reset in the head",
            Does::Reset(after_status("Content")),
            reset(),
        ),
        does("reset in the body", Does::Reset(partial()), reset()),
        does(
            "reset of an endless body",
            Does::Reset(after_status("\r\nhello")),
            reset(),
        ),
        does("reset in a chunk", Does::Reset(chunks("5\r\nhe")), reset()),
        does(
            "reset after 100",
            Does::Reset(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            reset(),
        ),
    ]
}

/// Somebody looks at the response: only then is its coding undone.
fn looked_into(mut step: Sampler) -> Sampler {
    step.assertions.push(Assertion::Duration(DurationAssertion {
        name: text("patient"),
        scope: SampleScope::Main,
        duration_ms: text(60_000),
        at: Position::default(),
    }));
    step
}

#[test]
fn each_server_becomes_jmeters_outcome() {
    let families = [
        heads(),
        first_lines(),
        fields(),
        interim(),
        lengths(),
        in_chunks(),
        gzip(),
        other_codings(),
        endings(),
    ];
    let cases: Vec<Case> = families.into_iter().flatten().collect();
    let replies: BTreeMap<String, usize> =
        (0..cases.len()).map(|at| (format!("/{at}"), at)).collect();
    let steps = cases.iter().enumerate().map(|(at, case)| {
        let mut step = looked_into(get(&format!("/{at}")));
        request_of(&mut step).keep_alive = false;
        if matches!(case.does, Does::Stall(_)) {
            request_of(&mut step).response_timeout_ms = text(300);
        }
        step
    });
    let steps: Vec<Sampler> = steps.collect();
    let expected: Vec<(&str, Outcome)> = cases
        .iter()
        .map(|case| {
            (
                case.name,
                case.weir.clone().unwrap_or_else(|| case.jmeter.clone()),
            )
        })
        .collect();
    let server = Server::start(move |seen| match &cases[replies[seen.path()]].does {
        Does::Send(bytes) => Reply::SendAndClose(bytes.clone()),
        Does::Drip(pieces) => Reply::Pieces(Duration::from_millis(5), pieces.clone()),
        Does::Stall(bytes) => Reply::SendAndHang(bytes.clone()),
        Does::Reset(bytes) => Reply::SendAndReset(bytes.clone()),
    });
    let place = server.address.to_string();
    let done = run(settings(&server, vec![group(1, steps)]));
    assert_eq!(done.rows.len(), expected.len());
    let wrong: Vec<String> = done
        .rows
        .iter()
        .zip(expected)
        .filter_map(|(row, (name, expect))| {
            let is = outcome(row, &place);
            (is != expect).then(|| format!("{name}: {is:?} instead of {expect:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn outcome(row: &SampleRow, place: &str) -> Outcome {
    let code = row.response_code.strip_prefix("Non HTTP response code: ");
    let message = row
        .response_message
        .strip_prefix("Non HTTP response message: ");
    match (code, message) {
        (Some(class), Some(message)) => failed(class, &message.replace(place, "{place}")),
        _ => answered(
            &row.response_code,
            &row.response_message,
            row.received_bytes,
        ),
    }
}
