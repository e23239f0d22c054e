//! Floods of HTTP/2: streams that are reset at once, heads that never end, heads that unfold.

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, stands, status};

pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
/// The error code of a peer that asks for too much (RFC 9113, 7).
const ENHANCE_YOUR_CALM: u32 = 11;
/// `GET http://a/` in HPACK (RFC 7541): from the static table, but for the authority.
const GET: &[u8] = &[0x82, 0x84, 0x86, 0x01, 1, b'a'];

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The preface with which every client begins, and its settings.
pub(super) fn preface() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(4, 0, 0, &[]));
    bytes
}

/// A frame: kind, stream, payload.
pub(super) type Frame = (u8, u32, Vec<u8>);

/// The next frame; `None` when the connection ends.
pub(super) fn next(client: &mut Client) -> Option<Frame> {
    let head = client.bytes(9)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    Some((head[3], stream, client.bytes(length)?))
}

/// All frames until the connection ends.
fn frames(client: &mut Client) -> Vec<Frame> {
    std::iter::from_fn(|| next(client)).collect()
}

fn why_it_ended(frames: &[Frame]) -> Option<u32> {
    let (.., payload) = frames.iter().rfind(|(kind, ..)| *kind == GOAWAY)?;
    let code = payload.get(4..8)?;
    Some(u32::from_be_bytes(code.try_into().ok()?))
}

/// CVE-2023-44487: each reset would cost the backend a request.
#[test]
fn rapid_resets_end_the_connection() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let mut bytes = preface();
    for number in 0..2000 {
        let stream = 2 * number + 1;
        bytes.extend(frame(HEADERS, END_STREAM | END_HEADERS, stream, GET));
        bytes.extend(frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()));
    }
    let mut client = Client::with(front(&gate), bytes);
    assert_eq!(why_it_ended(&frames(&mut client)), Some(ENHANCE_YOUR_CALM));
    stands(&gate, "no slot is left behind", |status| {
        status.all.in_flight == 0 && status.connections.open == 0
    });
    let reached = backend.arrived().len();
    assert!(
        reached < 200,
        "{reached} of 2,000 requests reached the backend"
    );
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
}

/// CVE-2024-27316 and its like: a head that never ends is not collected.
#[test]
fn a_head_that_never_ends_ends_the_connection() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let mut bytes = preface();
    bytes.extend(frame(HEADERS, END_STREAM, 1, GET));
    // A field without a name in the table: `x: ` and 16,000 bytes.
    let mut field = vec![0x00, 1, b'x', 0x7f];
    field.extend([0x81, 0x7c]);
    field.extend([b'a'; 16_000]);
    for _ in 0..400 {
        bytes.extend(frame(CONTINUATION, 0, 1, &field));
    }
    let mut client = Client::with(front(&gate), bytes);
    frames(&mut client);
    stands(&gate, "the connection is over", |status| {
        status.connections.open == 0
    });
    assert!(backend.arrived().is_empty());
    assert_eq!(status(&gate).all.offered, 0);
}

/// A field that the table holds once is named a thousand times: what unfolds is bounded, not what
/// is sent.
#[test]
fn a_head_that_unfolds_is_refused() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let mut head = GET.to_vec();
    // Into the dynamic table: `x: ` and 1,000 bytes; then its index, 62, again and again (the first
    // bit says that it is one).
    head.extend([0x40, 1, b'x', 0x7f, 0xe9, 0x06]);
    head.extend([b'a'; 1_000]);
    head.extend([0xbe; 1_000]);
    let mut bytes = preface();
    bytes.extend(frame(HEADERS, END_STREAM | END_HEADERS, 1, &head));
    let mut client = Client::with(front(&gate), bytes);
    // It is answered (431), reset, or the connection ends.
    let about_it = std::iter::from_fn(|| next(&mut client))
        .find(|(kind, stream, _)| *stream == 1 || *kind == GOAWAY);
    if let Some((HEADERS, _, head)) = about_it {
        // The first field of an answer is its status, as a literal of three digits.
        assert!(head.windows(3).any(|digits| digits == b"431"), "{head:?}");
    }
    assert!(backend.arrived().is_empty());
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
}
