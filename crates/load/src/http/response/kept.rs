//! What is kept of a response for whoever looks into it: extractors, assertions, redirects.
//!
//! Most samples need neither head nor body, and nothing is kept of them. Where something is kept,
//! its buffers come from a store that the whole runtime shares and go back to it, so that a plan
//! with extractors does not allocate for each response once it has warmed up.

/// Buffers that wait for the next response.
const SPARE_MAX: usize = 64;
/// The largest buffer that waits; larger ones are freed when they come back.
const SPARE_BYTES_MAX: usize = 64 * 1024;

/// A response's head and body.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// First line and header fields as they were received, without 1xx responses before them.
    pub(crate) head: Vec<u8>,
    /// The body up to the limit; decoded, once the response is complete.
    pub(crate) body: Vec<u8>,
    /// The body is longer than the limit.
    pub(crate) is_cut: bool,
    pub(super) body_max: usize,
}

impl Kept {
    /// A body without a head.
    pub(crate) fn of_body(body: Vec<u8>) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// The head as text: each byte is a character, as in JMeter.
    #[allow(
        dead_code,
        reason = "the plan interpreter is what looks into responses"
    )]
    pub(crate) fn head_text(&self) -> String {
        self.head.iter().map(|byte| char::from(*byte)).collect()
    }

    pub(crate) fn took_head(&mut self, head: &[u8]) {
        self.head.clear();
        self.head.extend_from_slice(head);
    }

    /// The body was decoded: fields of what was on the wire stand last, as JMeter shows them.
    pub(super) fn note_decoded(&mut self) {
        const LAST: [&[u8]; 3] = [b"content-length:", b"content-encoding:", b"content-md5:"];
        let is = |line: &[u8], name: &[u8]| {
            line.get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let Some(fields) = self.head.strip_suffix(b"\r\n") else {
            return;
        };
        let lines: Vec<&[u8]> = fields.split_inclusive(|byte| *byte == b'\n').collect();
        let first = lines
            .iter()
            .filter(|line| !LAST.iter().any(|name| is(line, name)));
        let last = LAST
            .iter()
            .flat_map(|name| lines.iter().filter(move |line| is(line, name)));
        let mut head: Vec<u8> = first.chain(last).copied().flatten().copied().collect();
        head.extend_from_slice(b"\r\n");
        self.head = head;
    }

    pub(crate) fn took_body(&mut self, bytes: &[u8]) {
        let room = self.body_max.saturating_sub(self.body.len());
        self.is_cut |= bytes.len() > room;
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// Buffers for responses that are kept.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "a user has room for a pointer")]
pub(crate) struct KeptStore(Vec<Box<Kept>>);

impl KeptStore {
    #[expect(clippy::unnecessary_box_returns, reason = "it came in one")]
    /// Empty buffers for a response whose body is kept up to this many bytes.
    pub(crate) fn take(&mut self, body_max: usize) -> Box<Kept> {
        let mut kept = self.0.pop().unwrap_or_default();
        kept.body_max = body_max;
        kept
    }

    /// Takes buffers back.
    pub(crate) fn put(&mut self, mut kept: Box<Kept>) {
        let largest = kept.head.capacity().max(kept.body.capacity());
        if self.0.len() < SPARE_MAX && largest <= SPARE_BYTES_MAX {
            kept.head.clear();
            kept.body.clear();
            kept.is_cut = false;
            self.0.push(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_wire_stand_last_when_decoded() {
        let mut kept = Kept::default();
        kept.took_head(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nA: 1\r\ncontent-length: 9\r\nB: 2\r\n\r\n");
        kept.note_decoded();
        let expect = "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\ncontent-length: 9\r\nContent-Encoding: gzip\r\n\r\n";
        assert_eq!(kept.head_text(), expect);
    }

    #[test]
    fn buffers_come_back_empty_and_large_ones_are_freed() {
        let mut store = KeptStore::default();
        let mut small = store.take(3);
        small.took_head(b"HTTP/1.1 200 caf\xe9\r\n\r\n");
        small.took_body(b"ab");
        small.took_body(b"cd");
        assert_eq!(small.head_text(), "HTTP/1.1 200 caf\u{e9}\r\n\r\n");
        assert_eq!((&*small.body, small.is_cut), (&b"abc"[..], true));
        let mut large = store.take(usize::MAX);
        large.took_body(&vec![0; SPARE_BYTES_MAX + 1]);
        store.put(small);
        store.put(large);
        assert_eq!(store.0.len(), 1);
        let again = store.take(10);
        assert!(again.head.is_empty() && again.body.is_empty() && !again.is_cut);
        assert!(again.body.capacity() >= 3);
    }
}
