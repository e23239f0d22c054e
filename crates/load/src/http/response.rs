//! Reads an HTTP/1 response piece by piece, and keeps of it what the caller wants.
//!
//! The bytes come from wherever the caller has them; nothing here waits or allocates, except for a
//! head that arrives in more than one piece and for what is kept. Where servers break the rules,
//! this follows what JMeter's HTTP library does, because users compare the two: of several body
//! lengths the last that can be read counts, a transfer coding that is not `chunked` runs to the
//! end of the connection, every 1xx response is skipped, and so are lines in front of the first
//! line; a head that the end of the connection cuts off after a whole line counts, and heads that
//! break further rules are read as far as they can be ([`tolerant`]). `tests/load/hostile.rs` holds
//! what JMeter made of 113 servers; it differs in this: it reads heads of any length, and takes
//! bytes behind a response for the next one.

use crate::http::outcome::{BadChunk, Failure};
use crate::http::status_texts::StatusTexts;

mod chunked;
mod coding;
mod head;
mod kept;
mod tolerant;

use chunked::Chunked;
pub(crate) use coding::Codings;
pub(crate) use head::{Asked, Head};
use head::{Body, HEAD_MAX, Parsed, parse_head};
pub(crate) use kept::{Kept, KeptStore};

/// Room for the beginning of a head that a reader keeps for the next one.
const PARTIAL_USUAL: usize = 4 * 1024;

/// Reads one response.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    asked: Asked,
    state: State,
    /// The beginning of a head that has not ended yet.
    partial: Vec<u8>,
    skipped_heads: usize,
    received: u64,
    body: u64,
    surplus: bool,
    head: Option<Head>,
    kept: Option<Box<Kept>>,
}

#[derive(Debug)]
enum State {
    Head,
    Length { expected: u64, left: u64 },
    Chunks(Chunked),
    UntilClose,
    Done,
}

impl State {
    /// Before the first byte of a body.
    fn of(body: Body) -> Self {
        match body {
            Body::Nothing => Self::Done,
            Body::Length(expected) => Self::Length {
                expected,
                left: expected,
            },
            Body::Chunks => Self::Chunks(Chunked::default()),
            Body::UntilClose => Self::UntilClose,
        }
    }
}

impl ResponseReader {
    /// A reader for the response to one request; what is to be kept goes into `kept`.
    pub(crate) fn new(asked: Asked, kept: Option<Box<Kept>>) -> Self {
        Self {
            asked,
            state: State::Head,
            partial: Vec::new(),
            skipped_heads: 0,
            received: 0,
            body: 0,
            surplus: false,
            head: None,
            kept,
        }
    }

    /// Whether the response is complete.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Bytes of the response so far, as they were on the wire.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Whether a byte of the body has come.
    pub(crate) fn has_body(&self) -> bool {
        self.body > 0
    }

    /// What the head says and what was kept, once the response is over.
    pub(crate) fn take_parts(&mut self) -> (Option<Head>, Option<Box<Kept>>) {
        (self.head.take(), self.kept.take())
    }

    /// Makes a reader that is done with one response read another.
    pub(crate) fn begin(&mut self, asked: Asked, kept: Option<Box<Kept>>) {
        let mut partial = std::mem::take(&mut self.partial);
        partial.clear();
        partial.shrink_to(PARTIAL_USUAL);
        self.asked = asked;
        self.state = State::Head;
        self.partial = partial;
        self.skipped_heads = 0;
        self.received = 0;
        self.body = 0;
        self.surplus = false;
        self.head = None;
        self.kept = kept;
    }

    /// Whether another request can follow on the connection.
    pub(crate) fn leaves_connection_usable(&self) -> bool {
        self.is_done()
            && !self.surplus
            && self.head.as_ref().is_some_and(|head| head.keeps_connection)
    }

    /// Takes the bytes that came next.
    pub(crate) fn feed(&mut self, bytes: &[u8], texts: &mut StatusTexts) -> Result<(), Failure> {
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_done() {
            let taken = match &mut self.state {
                State::Head => self.feed_head(rest, texts)?,
                State::Length { left, .. } => {
                    let taken = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= taken as u64;
                    if *left == 0 {
                        self.state = State::Done;
                    }
                    keep(&mut self.kept, &rest[..taken]);
                    self.took_body(taken)
                }
                State::Chunks(chunks) => {
                    let taken = chunks.feed(rest, |data| keep(&mut self.kept, data));
                    if chunks.is_done() {
                        self.state = State::Done;
                    }
                    self.took_body(taken?)
                }
                State::UntilClose => {
                    keep(&mut self.kept, rest);
                    self.took_body(rest.len())
                }
                State::Done => 0,
            };
            rest = &rest[taken..];
        }
        // JMeter counts what has come, also what nobody asked for.
        self.received += rest.len() as u64;
        self.surplus |= !rest.is_empty();
        Ok(())
    }

    /// The connection has ended.
    pub(crate) fn end(&mut self, texts: &mut StatusTexts) -> Result<(), Failure> {
        if matches!(self.state, State::Head) {
            self.end_head(texts)?;
        }
        match &self.state {
            State::Done => {}
            State::UntilClose => self.state = State::Done,
            State::Head => return Err(Failure::NoResponse),
            State::Length { expected, left } => {
                return Err(Failure::ShortBody {
                    expected: *expected,
                    received: expected - left,
                });
            }
            State::Chunks(chunks) => {
                chunks.end()?;
                self.state = State::Done;
            }
        }
        if let Some(head) = &mut self.head {
            head.keeps_connection = false;
        }
        Ok(())
    }

    /// The end of the connection is the end of the head's last line, and of the head (JMeter).
    fn end_head(&mut self, texts: &mut StatusTexts) -> Result<(), Failure> {
        if self.partial.is_empty() {
            return Ok(());
        }
        let mut partial = std::mem::take(&mut self.partial);
        self.received -= partial.len() as u64;
        let received = partial.len() as u64;
        if !partial.ends_with(b"\n") {
            partial.extend_from_slice(b"\r\n");
        }
        partial.extend_from_slice(b"\r\n");
        let parsed = parse_head(&partial, self.asked, texts)?;
        let parsed = parsed.ok_or(Failure::NotHttp)?;
        let length = parsed.length as u64;
        self.took_head(parsed, &partial)?;
        self.received = self.received - length + received;
        Ok(())
    }

    fn took_body(&mut self, bytes: usize) -> usize {
        self.received += bytes as u64;
        self.body += bytes as u64;
        bytes
    }

    /// Reads a head that is whole, or keeps what there is of it; says how many bytes it took.
    fn feed_head(&mut self, bytes: &[u8], texts: &mut StatusTexts) -> Result<usize, Failure> {
        if self.partial.is_empty() {
            return match parse_head(bytes, self.asked, texts)? {
                Some(parsed) => self.took_head(parsed, bytes),
                None => self.keep_partial(bytes),
            };
        }
        let before = self.partial.len();
        self.keep_partial(bytes)?;
        // Without the end of the head the answer would be the same as before.
        if !has_empty_line(&self.partial, before) {
            return Ok(bytes.len());
        }
        match parse_head(&self.partial, self.asked, texts)? {
            Some(parsed) => {
                let taken = parsed.length - before;
                self.received -= bytes.len() as u64 + before as u64;
                let partial = std::mem::take(&mut self.partial);
                self.took_head(parsed, &partial)?;
                Ok(taken)
            }
            None => Ok(bytes.len()),
        }
    }

    fn keep_partial(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        self.received += bytes.len() as u64;
        if self.skipped_heads + self.partial.len() + bytes.len() > HEAD_MAX {
            return Err(Failure::LongHead);
        }
        self.partial.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn took_head(&mut self, parsed: Parsed, bytes: &[u8]) -> Result<usize, Failure> {
        self.received += parsed.length as u64;
        match parsed.head {
            Some((head, body)) => {
                if let Some(kept) = &mut self.kept {
                    kept.took_head(&bytes[parsed.skipped..parsed.length]);
                }
                self.head = Some(head);
                self.state = State::of(body);
            }
            None => self.skipped_heads += parsed.length,
        }
        if self.skipped_heads > HEAD_MAX {
            return Err(Failure::LongHead);
        }
        Ok(parsed.length)
    }
}

fn keep(kept: &mut Option<Box<Kept>>, body: &[u8]) {
    if let Some(kept) = kept {
        kept.took_body(body);
    }
}

/// Whether an empty line has come in the bytes from this place on.
fn has_empty_line(bytes: &[u8], from: usize) -> bool {
    let recent = &bytes[from.saturating_sub(2)..];
    recent.windows(2).any(|two| two == b"\n\n") || recent.windows(3).any(|three| three == b"\n\r\n")
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
