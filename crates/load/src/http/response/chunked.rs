//! A body in chunks (RFC 9112, section 7.1).

use super::{BadChunk, Failure};

/// The longest line with a chunk's size. Nothing is kept of its extensions, and one digit of
/// leading zeros.
const LINE_MAX: usize = super::head::HEAD_MAX;
/// The longest that all trailer fields together may be.
const TRAILERS_MAX: usize = super::head::HEAD_MAX;
/// Bytes of a size line that are kept: 16 digits are the largest size, some servers pad with
/// blanks, and messages show the line.
const SIZE_KEPT: usize = 32;
/// Bytes of a trailer line that are kept, for messages.
const TRAILER_KEPT: usize = 128;

/// Where in the body the reader is.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    state: State,
    line: SizeLine,
    chunk: u64,
    /// Boxed: few servers send trailers, and every user has room for a reader.
    trailer: Option<Box<TrailerLine>>,
    trailers: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the line with a chunk's size.
    #[default]
    Size,
    /// In a chunk with this many bytes to come.
    Data(u64),
    /// Behind a chunk; true after a carriage return.
    AfterData(bool),
    /// In a line behind the last chunk.
    Trailer,
    Done,
}

impl Chunked {
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes bytes up to the end of the body at most, and says how many; what is inside of chunks
    /// goes to `data`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut data: impl FnMut(&[u8]),
    ) -> Result<usize, Failure> {
        let mut at = 0;
        while at < bytes.len() && !self.is_done() {
            if let State::Data(left) = self.state {
                let taken = (bytes.len() - at).min(usize::try_from(left).unwrap_or(usize::MAX));
                data(&bytes[at..at + taken]);
                at += taken;
                self.state = match left - taken as u64 {
                    0 => State::AfterData(false),
                    left => State::Data(left),
                };
            } else {
                self.state = self.after(bytes[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    /// The connection has ended.
    pub(super) fn end(&self) -> Result<(), Failure> {
        match self.state {
            // JMeter's library takes the end of the connection for the end of the trailers.
            State::Trailer => self.trailer.as_ref().map_or(Ok(()), |line| line.check()),
            State::Done => Ok(()),
            State::Size if self.line.length > 0 => match self.line.size()? {
                0 => Ok(()),
                expected => Err(Failure::ShortChunk {
                    expected,
                    received: 0,
                }),
            },
            State::Size => Err(Failure::NoClosingChunk),
            State::AfterData(_) => Err(Failure::BadChunk(BadChunk::NoLineEnd)),
            State::Data(left) => Err(Failure::ShortChunk {
                expected: self.chunk,
                received: self.chunk - left,
            }),
        }
    }

    /// The state after one byte of anything but a chunk's data.
    fn after(&mut self, byte: u8) -> Result<State, Failure> {
        match self.state {
            State::Size if byte == b'\n' => {
                self.chunk = std::mem::take(&mut self.line).size()?;
                Ok(match self.chunk {
                    0 => State::Trailer,
                    size => State::Data(size),
                })
            }
            State::Size => {
                self.line.push(byte)?;
                Ok(State::Size)
            }
            State::AfterData(_) if byte == b'\n' => Ok(State::Size),
            State::AfterData(false) if byte == b'\r' => Ok(State::AfterData(true)),
            State::AfterData(_) => Err(Failure::BadChunk(BadChunk::Surplus)),
            State::Trailer => self.trailer(byte),
            State::Data(_) | State::Done => Ok(self.state),
        }
    }

    fn trailer(&mut self, byte: u8) -> Result<State, Failure> {
        self.trailers += 1;
        if self.trailers > TRAILERS_MAX {
            return Err(Failure::LongHead);
        }
        match (byte, &mut self.trailer) {
            // The carriage return of an empty line does not count as its content.
            (b'\r', _) => Ok(State::Trailer),
            (b'\n', Some(line)) if line.length > 0 => {
                line.check()?;
                **line = TrailerLine {
                    is_after_field: true,
                    ..TrailerLine::default()
                };
                Ok(State::Trailer)
            }
            (b'\n', _) => Ok(State::Done),
            (byte, line) => {
                line.get_or_insert_default().push(byte);
                Ok(State::Trailer)
            }
        }
    }
}

/// A line behind the last chunk: whether it can be a field.
#[derive(Debug)]
struct TrailerLine {
    kept: [u8; TRAILER_KEPT],
    length: usize,
    /// Bytes in front of the first colon, blanks left out.
    name: usize,
    has_colon: bool,
    is_after_field: bool,
}

impl Default for TrailerLine {
    fn default() -> Self {
        Self {
            kept: [0; TRAILER_KEPT],
            length: 0,
            name: 0,
            has_colon: false,
            is_after_field: false,
        }
    }
}

impl TrailerLine {
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.kept.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
        self.has_colon |= byte == b':';
        self.name += usize::from(!self.has_colon && !byte.is_ascii_whitespace());
    }

    fn check(&self) -> Result<(), Failure> {
        let continues = self.is_after_field && matches!(self.kept[0], b' ' | b'\t');
        if self.length == 0 || continues || (self.has_colon && self.name > 0) {
            return Ok(());
        }
        let line = &self.kept[..self.length.min(TRAILER_KEPT)];
        let line = String::from_utf8_lossy(line).into_owned();
        Err(Failure::BadChunk(BadChunk::Trailer(line)))
    }
}

/// The line that holds a chunk's size: what counts of it.
#[derive(Debug, Default)]
struct SizeLine {
    kept: [u8; SIZE_KEPT],
    length: usize,
    in_extension: bool,
    total: usize,
}

impl SizeLine {
    fn push(&mut self, byte: u8) -> Result<(), Failure> {
        self.total += 1;
        self.in_extension |= byte == b';';
        if self.total > LINE_MAX {
            return Err(self.bad());
        }
        if !self.in_extension {
            if self.kept[..self.length] == [b'0'] && byte.is_ascii_hexdigit() {
                self.length = 0;
            }
            if self.length == SIZE_KEPT {
                return Err(self.bad());
            }
            self.kept[self.length] = byte;
            self.length += 1;
        }
        Ok(())
    }

    fn size(&self) -> Result<u64, Failure> {
        let digits = str::from_utf8(self.kept[..self.length].trim_ascii());
        let digits = digits.map_err(|_| self.bad())?;
        // A sign is allowed, as in Java.
        let size = i64::from_str_radix(digits, 16).map_err(|_| self.bad())?;
        u64::try_from(size).map_err(|_| Failure::BadChunk(BadChunk::Negative))
    }

    fn bad(&self) -> Failure {
        let line = String::from_utf8_lossy(self.kept[..self.length].trim_ascii());
        Failure::BadChunk(BadChunk::Size(line.into_owned()))
    }
}
