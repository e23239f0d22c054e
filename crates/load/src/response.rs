//! Reads an HTTP/1 response piece by piece, and keeps of it what the caller wants.
//!
//! The bytes come from wherever the caller has them; nothing here waits or allocates, except for a
//! head that arrives in more than one piece and for what is kept. Where servers break the rules, this follows what
//! JMeter's HTTP library does, because users compare the two: of several body lengths the last that
//! can be read counts, a transfer coding that is not `chunked` runs to the end of the connection,
//! every 1xx response is skipped. Measured side by side, JMeter differs in this: it reads heads of
//! any length, takes other versions than 1.0 and 1.1, and skips lines in front of the first line.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig};
use weir_record::DataType;

use crate::outcome::{BadChunk, Failure};
use crate::status_texts::{Status, StatusTexts};

mod chunked;
mod coding;
mod kept;

use chunked::Chunked;
pub(crate) use coding::Codings;
pub(crate) use kept::{Kept, KeptStore};

/// The longest head that is read, with all 1xx responses before it. Servers limit theirs to 8 to
/// 64 KiB.
pub(crate) const HEAD_MAX: usize = 64 * 1024;
/// The most header fields that are read.
const FIELDS_MAX: usize = 512;

/// Reads one response.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    to_head_request: bool,
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

/// What the head says.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The first line.
    pub(crate) status: Status,
    /// What the body is, by its content type.
    pub(crate) data_type: DataType,
    /// Whether the server keeps the connection.
    pub(crate) keeps_connection: bool,
    /// Seconds after which the server closes the idle connection, if it says so.
    pub(crate) keep_alive_s: Option<u64>,
    /// How the body is coded.
    pub(crate) codings: Codings,
}

#[derive(Debug)]
enum State {
    Head,
    Length { expected: u64, left: u64 },
    Chunks(Chunked),
    UntilClose,
    Done,
}

impl ResponseReader {
    /// A reader for the response to one request; what is to be kept goes into `kept`.
    pub(crate) fn new(to_head_request: bool, kept: Option<Box<Kept>>) -> Self {
        Self {
            to_head_request,
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
    pub(crate) fn into_parts(self) -> (Option<Head>, Option<Box<Kept>>) {
        (self.head, self.kept)
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
        self.surplus |= !rest.is_empty();
        Ok(())
    }

    /// The connection has ended.
    pub(crate) fn end(&mut self) -> Result<(), Failure> {
        match &self.state {
            State::Done => {}
            State::UntilClose => self.state = State::Done,
            State::Head if self.received == 0 => return Err(Failure::NoResponse),
            State::Head => return Err(Failure::NotHttp),
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

    fn took_body(&mut self, bytes: usize) -> usize {
        self.received += bytes as u64;
        self.body += bytes as u64;
        bytes
    }

    /// Reads a head that is whole, or keeps what there is of it; says how many bytes it took.
    fn feed_head(&mut self, bytes: &[u8], texts: &mut StatusTexts) -> Result<usize, Failure> {
        if self.partial.is_empty() {
            return match parse_head(bytes, self.to_head_request, texts)? {
                Some(parsed) => self.took_head(parsed, bytes),
                None => self.keep_partial(bytes),
            };
        }
        let before = self.partial.len();
        self.keep_partial(bytes)?;
        // Without the end of a line the answer would be the same as before.
        if !bytes.contains(&b'\n') {
            return Ok(bytes.len());
        }
        match parse_head(&self.partial, self.to_head_request, texts)? {
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
                    kept.took_head(&bytes[..parsed.length]);
                }
                self.head = Some(head);
                self.state = body;
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

/// A head that was read; without content if it is a 1xx response.
struct Parsed {
    length: usize,
    head: Option<(Head, State)>,
}

fn parse_head(
    bytes: &[u8],
    to_head_request: bool,
    texts: &mut StatusTexts,
) -> Result<Option<Parsed>, Failure> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS_MAX];
    let mut response = httparse::Response::new(&mut []);
    let mut config = ParserConfig::default();
    config
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut fields);
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) if length <= HEAD_MAX => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => {
            return Err(Failure::LongHead);
        }
        Err(_) => return Err(Failure::NotHttp),
    };
    let number = response.code.unwrap_or(0);
    if number < 100 {
        return Err(Failure::NotHttp);
    }
    let head = (number >= 200).then(|| {
        let fields = Fields(response.headers);
        let body = fields.body(number, to_head_request);
        let head = Head {
            status: match response.reason {
                Some(reason) if !reason.is_empty() => texts.status(number, reason),
                _ => texts.status(number, &latin_reason(bytes)),
            },
            data_type: fields.data_type(),
            keeps_connection: fields.keep_connection(number, response.version == Some(1), &body),
            keep_alive_s: fields.keep_alive_s(),
            codings: fields.codings(),
        };
        (head, body)
    });
    Ok(Some(Parsed { length, head }))
}

/// The reason phrase of a head that was read, when it is not ASCII: each byte is a character, as in
/// JMeter. Empty, without allocating, when there is none.
fn latin_reason(head: &[u8]) -> String {
    let line = head.trim_ascii_start().split(|byte| *byte == b'\n').next();
    let reason = line.and_then(|line| line.splitn(3, |byte| *byte == b' ').nth(2));
    let reason = reason.unwrap_or_default().trim_ascii();
    reason.iter().map(|byte| char::from(*byte)).collect()
}

/// The header fields of a response.
struct Fields<'a>(&'a [Header<'a>]);

impl Fields<'_> {
    fn all(&self, name: &'static str) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0
            .iter()
            .filter(move |field| field.name.eq_ignore_ascii_case(name))
            .map(|field| field.value)
    }

    fn body(&self, status: u16, to_head_request: bool) -> State {
        if to_head_request || matches!(status, 204 | 205 | 304) {
            return State::Done;
        }
        if let Some(coding) = self.all("transfer-encoding").next_back() {
            let last = coding.rsplit(|byte| *byte == b',').next().unwrap_or(coding);
            return if last.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                State::Chunks(Chunked::default())
            } else {
                State::UntilClose
            };
        }
        match self.all("content-length").rev().find_map(length) {
            Some(0) => State::Done,
            Some(expected) => State::Length {
                expected,
                left: expected,
            },
            None => State::UntilClose,
        }
    }

    fn keep_connection(&self, status: u16, is_http_1_1: bool, body: &State) -> bool {
        // A body where none may be would be read as the next response.
        let forbidden_body = status == 204
            && (self.all("transfer-encoding").next().is_some()
                || self.all("content-length").filter_map(length).any(|l| l > 0));
        if forbidden_body || matches!(body, State::UntilClose) {
            return false;
        }
        let says = |option: &[u8]| {
            self.all("connection")
                .flat_map(|value| value.split(|byte| *byte == b','))
                .any(|token| token.trim_ascii().eq_ignore_ascii_case(option))
        };
        !says(b"close") && (is_http_1_1 || says(b"keep-alive"))
    }

    fn codings(&self) -> Codings {
        let first = self.all("content-encoding").next();
        first.map(Codings::of).unwrap_or_default()
    }

    fn keep_alive_s(&self) -> Option<u64> {
        self.all("keep-alive")
            .flat_map(|value| value.split(|byte| *byte == b','))
            .filter_map(|part| str::from_utf8(part).ok()?.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))
            .and_then(|(_, seconds)| seconds.trim().parse().ok())
    }

    /// JMeter takes everything for text that does not name a picture, sound or film.
    fn data_type(&self) -> DataType {
        const BINARY: [&str; 3] = ["image/", "audio/", "video/"];
        const TEXT: [&str; 4] = [
            "audio/x-mpegurl",
            "audio/mpegurl",
            "video/f4m",
            "image/svg+xml",
        ];
        let Some(value) = self.all("content-type").next_back() else {
            return DataType::Empty;
        };
        let starts = |prefix: &&str| {
            let start = value.get(..prefix.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
        };
        match value {
            [] => DataType::Empty,
            _ if BINARY.iter().any(starts) && !TEXT.iter().any(starts) => DataType::Binary,
            _ => DataType::Text,
        }
    }
}

fn length(value: &[u8]) -> Option<u64> {
    let digits = str::from_utf8(value.trim_ascii()).ok()?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(())?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests;
