//! A body in chunks (RFC 9112, section 7.1).

use super::{BadChunk, Failure};

/// The longest line before or after a chunk: a size with its extensions, a trailer field.
const LINE_MAX: usize = 4096;
/// The longest that all trailer fields together may be.
const TRAILERS_MAX: usize = super::HEAD_MAX;
/// Bytes of a size line that are kept: 16 digits are the largest size, some servers pad with
/// blanks, and messages show the line.
const SIZE_KEPT: usize = 32;

/// Where in the body the reader is.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    state: State,
    line: SizeLine,
    chunk: u64,
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
    /// In a line behind the last chunk that has this many bytes so far.
    Trailer(usize),
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
            State::Trailer(_) | State::Done => Ok(()),
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
                    0 => State::Trailer(0),
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
            State::Trailer(0) if byte == b'\n' => Ok(State::Done),
            State::Trailer(length) => self.trailer(byte, length),
            State::Data(_) | State::Done => Ok(self.state),
        }
    }

    fn trailer(&mut self, byte: u8, length: usize) -> Result<State, Failure> {
        self.trailers += 1;
        if length > LINE_MAX || self.trailers > TRAILERS_MAX {
            return Err(Failure::LongHead);
        }
        Ok(State::Trailer(match byte {
            b'\n' => 0,
            // The carriage return of an empty line does not count as its content.
            b'\r' => length,
            _ => length + 1,
        }))
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
