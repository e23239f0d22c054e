//! The head of a response: its first line, its fields, and how long its body is.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig};
use weir_record::DataType;

use super::coding::Codings;
use super::tolerant::TolerantHead;
use crate::http::outcome::Failure;
use crate::http::status_texts::{Status, StatusTexts};

/// The longest head that is read, with all 1xx responses before it. Servers limit theirs to 8 to
/// 64 KiB.
pub(crate) const HEAD_MAX: usize = 256 * 1024;
/// Header fields for which there is room on the stack.
const FIELDS_USUAL: usize = 64;
/// The most header fields that are read.
pub(super) const FIELDS_MAX: usize = 16 * 1024;

/// What was asked for: it decides what the answer may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A page, or whatever else has a body.
    Body,
    /// `HEAD`: a head alone.
    Head,
    /// `CONNECT`: if it is granted, what follows is not the proxy's.
    Tunnel,
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
    /// Where a redirect leads.
    pub(crate) location: Option<Box<str>>,
}

impl Head {
    /// Whether JMeter takes the response to a request with this method for a redirect.
    pub(crate) fn is_redirect(&self, method: &str) -> bool {
        match self.status.number {
            301 | 302 | 303 | 308 => true,
            307 => matches!(method, "GET" | "HEAD"),
            _ => false,
        }
    }
}

impl Head {
    /// The head of an HTTP/2 response, which has no reason phrase.
    pub(crate) fn of_http2(response: &http::Response<()>, texts: &mut StatusTexts) -> Self {
        let mut fields = Fields::default();
        for (name, value) in response.headers() {
            fields.take(name.as_str(), value.as_bytes());
        }
        let status = texts.status(response.status().as_u16(), "");
        fields.head(status, true, Asked::Body).0
    }
}

/// What follows a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Nothing.
    Nothing,
    /// So many bytes, at least one.
    Length(u64),
    /// Chunks.
    Chunks,
    /// Everything until the connection ends.
    UntilClose,
}

/// A head that was read; without content if it is a 1xx response.
pub(super) struct Parsed {
    /// Bytes in front of its first line.
    pub(super) skipped: usize,
    pub(super) length: usize,
    pub(super) head: Option<(Head, Body)>,
}

pub(super) fn parse_head(
    bytes: &[u8],
    asked: Asked,
    texts: &mut StatusTexts,
) -> Result<Option<Parsed>, Failure> {
    let mut fields = [const { MaybeUninit::uninit() }; FIELDS_USUAL];
    match parse_with(bytes, &mut fields, asked, texts) {
        Err(Unread::TooManyFields) => {
            let mut fields = vec![MaybeUninit::uninit(); FIELDS_MAX];
            parse_with(bytes, &mut fields, asked, texts)
        }
        parsed => parsed,
    }
    .map_err(|unread| match unread {
        Unread::TooManyFields => Failure::LongHead,
        Unread::Because(failure) => failure,
    })
}

/// Why a head cannot be read.
enum Unread {
    TooManyFields,
    Because(Failure),
}

fn parse_with<'a>(
    bytes: &'a [u8],
    fields: &mut [MaybeUninit<Header<'a>>],
    asked: Asked,
    texts: &mut StatusTexts,
) -> Result<Option<Parsed>, Unread> {
    let Some(skipped) = before_first_line(bytes) else {
        return Ok(None);
    };
    let bytes = &bytes[skipped..];
    let mut response = httparse::Response::new(&mut []);
    let mut config = ParserConfig::default();
    config
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, fields);
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) if skipped + length <= HEAD_MAX => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(_)) => return Err(Unread::Because(Failure::LongHead)),
        Err(httparse::Error::TooManyHeaders) => return Err(Unread::TooManyFields),
        Err(_) => return parse_tolerantly(bytes, skipped, asked, texts),
    };
    let number = response.code.unwrap_or(0);
    if number < 100 {
        return Err(Unread::Because(Failure::NotHttp));
    }
    let head = (number >= 200).then(|| {
        let status = match response.reason {
            Some(reason) if !reason.is_empty() => texts.status(number, reason),
            _ => texts.status(number, &latin_reason(bytes)),
        };
        let fields = Fields::of(response.headers);
        fields.head(status, response.version == Some(1), asked)
    });
    Ok(Some(Parsed {
        skipped,
        length: skipped + length,
        head,
    }))
}

/// Reads what follows the skipped bytes, which breaks the rules.
fn parse_tolerantly(
    bytes: &[u8],
    skipped: usize,
    asked: Asked,
    texts: &mut StatusTexts,
) -> Result<Option<Parsed>, Unread> {
    let read = TolerantHead::read(bytes).map_err(Unread::Because)?;
    let Some(read) = read else {
        return Ok(None);
    };
    if skipped + read.length > HEAD_MAX || read.fields.len() > FIELDS_MAX {
        return Err(Unread::Because(Failure::LongHead));
    }
    if read.number < 100 {
        return Err(Unread::Because(Failure::NotHttp));
    }
    let head = (read.number >= 200).then(|| {
        let status = texts.status(read.number, &latin(read.reason));
        let mut fields = Fields::default();
        for (name, value) in &read.fields {
            fields.take(str::from_utf8(name).unwrap_or_default(), value);
        }
        fields.head(status, read.is_http_1_1, asked)
    });
    Ok(Some(Parsed {
        skipped,
        length: skipped + read.length,
        head,
    }))
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// How many bytes stand in front of the first line that begins as HTTP does; `None` if it has not
/// come yet.
fn before_first_line(bytes: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"HTTP/";
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        if rest.starts_with(BEGIN) {
            return Some(at);
        }
        at += rest.iter().position(|byte| *byte == b'\n')? + 1;
    }
}

/// The reason phrase of a head that was read, when it is not ASCII: each byte is a character, as in
/// JMeter. Empty, without allocating, when there is none.
fn latin_reason(head: &[u8]) -> String {
    let line = head.trim_ascii_start().split(|byte| *byte == b'\n').next();
    let reason = line.and_then(|line| line.splitn(3, |byte| *byte == b' ').nth(2));
    latin(reason.unwrap_or_default().trim_ascii())
}

/// What the header fields of a response say, gathered in one pass.
#[derive(Debug, Default)]
struct Fields<'a> {
    transfer_coding: Option<&'a [u8]>,
    /// The last length that can be read.
    length: Option<u64>,
    has_length: bool,
    says_close: bool,
    says_keep_alive: bool,
    keep_alive_s: Option<u64>,
    content_type: Option<&'a [u8]>,
    codings: Option<Codings>,
    location: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn of(fields: &[Header<'a>]) -> Self {
        let mut found = Self::default();
        for field in fields {
            found.take(field.name, field.value);
        }
        found
    }

    fn take(&mut self, name: &str, value: &'a [u8]) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        // Lengths tell nearly all names apart; comparing is for the few that are left.
        match name.len() {
            8 if is("location") => self.location = Some(value),
            10 if is("connection") => {
                for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    self.says_close |= option.eq_ignore_ascii_case(b"close");
                    self.says_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            10 if is("keep-alive") => {
                self.keep_alive_s = self.keep_alive_s.or_else(|| keep_alive_s(value));
            }
            12 if is("content-type") => self.content_type = Some(value),
            14 if is("content-length") => {
                let length = length(value);
                self.has_length |= length.is_some_and(|length| length > 0);
                self.length = length.or(self.length);
            }
            16 if is("content-encoding") => {
                self.codings.get_or_insert_with(|| Codings::of(value));
            }
            17 if is("transfer-encoding") => self.transfer_coding = Some(value),
            _ => {}
        }
    }

    /// The head that has these fields, and how its body is read.
    fn head(&self, status: Status, is_http_1_1: bool, asked: Asked) -> (Head, Body) {
        let number = status.number;
        let body = self.body(number, asked);
        let is_granted = asked == Asked::Tunnel && is_success(number);
        let location = self.location.filter(|_| number / 100 == 3);
        let head = Head {
            status,
            location: location.map(|location| latin(location).into()),
            data_type: self.data_type(),
            // A tunnel stays open, whatever version the proxy speaks.
            keeps_connection: is_granted || self.keep_connection(number, is_http_1_1, &body),
            keep_alive_s: self.keep_alive_s,
            codings: self.codings.unwrap_or_default(),
        };
        (head, body)
    }

    fn body(&self, status: u16, asked: Asked) -> Body {
        let is_granted = asked == Asked::Tunnel && is_success(status);
        if asked == Asked::Head || is_granted || matches!(status, 204 | 205 | 304) {
            return Body::Nothing;
        }
        if let Some(coding) = self.transfer_coding {
            let last = coding.rsplit(|byte| *byte == b',').next().unwrap_or(coding);
            return if last.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                Body::Chunks
            } else {
                Body::UntilClose
            };
        }
        match self.length {
            Some(0) => Body::Nothing,
            Some(length) => Body::Length(length),
            None => Body::UntilClose,
        }
    }

    fn keep_connection(&self, status: u16, is_http_1_1: bool, body: &Body) -> bool {
        // A body where none may be would be read as the next response.
        let forbidden_body = status == 204 && (self.transfer_coding.is_some() || self.has_length);
        if forbidden_body || matches!(body, Body::UntilClose) {
            return false;
        }
        !self.says_close && (is_http_1_1 || self.says_keep_alive)
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
        let Some(value) = self.content_type else {
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

fn keep_alive_s(value: &[u8]) -> Option<u64> {
    value
        .split(|byte| *byte == b',')
        .filter_map(|part| str::from_utf8(part).ok()?.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))
        .and_then(|(_, seconds)| seconds.trim().parse().ok())
}

fn length(value: &[u8]) -> Option<u64> {
    let digits = str::from_utf8(value.trim_ascii()).ok()?;
    // A sign is allowed, as in Java.
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(())?;
    digits.parse().ok()
}
