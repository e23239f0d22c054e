//! What an access log says of a server's traffic: which endpoints, how often, at what rate.
//!
//! [`read`] goes through a log in the *common* or *combined* format of Apache httpd (Tomcat's
//! `AccessLogValve`, nginx and most others write it too), in `HAProxy`'s or in JSON, plain or
//! packed with gzip, line by line: logs have gigabytes. [`Traffic`] is what is kept.
//!
//! Why not an existing analyser: those count pages for people; a load needs the mix of endpoints
//! with what varies in them, requests that can be sent again, and the busiest second.
//!
//! Invariants: a broken line is counted, never an error; memory is bounded whatever the log holds
//! (so many endpoints, parameters and values are told apart, see [`tally`]; what is beyond counts
//! together); the same log gives the same result.

mod fold;
mod frequent;
mod json;
mod line;
mod rates;
pub mod tally;
mod time;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

pub use fold::pattern;
pub use line::{Missing, Request, request};
pub use rates::Rates;
pub use tally::{Endpoint, Numbers, Parameter, Traffic};

use tally::Tally;

/// A line longer than this is broken.
const LONGEST_LINE: u64 = 64 * 1024;
/// How many lines there are between two calls of `progress`.
const PROGRESS_EVERY: u64 = 4096;

/// Reads a log. `progress` is told how many bytes of the file have been read.
///
/// # Errors
/// The file cannot be read.
pub fn read(path: &Path, progress: &mut dyn FnMut(u64)) -> io::Result<Traffic> {
    let mut file = BufReader::new(File::open(path)?);
    let packed = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let counted = Counted { file, bytes: 0 };
    if packed {
        let text = BufReader::new(flate2::bufread::MultiGzDecoder::new(counted));
        lines(text, &mut |text| progress(text.get_ref().get_ref().bytes))
    } else {
        lines(counted, &mut |text| progress(text.bytes))
    }
}

/// Reads a log from anywhere.
///
/// # Errors
/// The text cannot be read.
pub fn read_from(text: impl BufRead) -> io::Result<Traffic> {
    lines(text, &mut |_| {})
}

fn lines<R: BufRead>(mut text: R, progress: &mut dyn FnMut(&R)) -> io::Result<Traffic> {
    let mut tally = Tally::default();
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let read = text
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        number += 1;
        let is_whole = line.ends_with(b"\n") || (read as u64) < LONGEST_LINE;
        if !is_whole {
            text.skip_until(b'\n')?;
        }
        let request = if is_whole {
            request(&line)
        } else {
            Err(Missing::Request)
        };
        tally.add(number, request);
        if number % PROGRESS_EVERY == 0 {
            progress(&text);
        }
    }
    progress(&text);
    Ok(tally.finish())
}

/// Counts what has been read of a file.
struct Counted<R> {
    file: R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.bytes += count as u64;
        self.file.consume(count);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::io::Write as _;

    use super::*;

    const LOG: &str = "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /posts?page=2 HTTP/1.0\" 200 2326\n\
                       not a line\n\
                       127.0.0.1 - - [10/Oct/2000:13:55:37 -0700] \"GET /posts?page=9 HTTP/1.0\" 200 2326\n";

    #[test]
    fn plain_and_packed_logs_say_the_same() {
        let place = tempfile::tempdir().unwrap();
        let plain = place.path().join("access.log");
        std::fs::write(&plain, LOG).unwrap();
        let packed = place.path().join("access.log.gz");
        // Rotated logs are often packed in pieces.
        for piece in LOG.split_inclusive('\n') {
            let file = File::options()
                .create(true)
                .append(true)
                .open(&packed)
                .unwrap();
            let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            gz.write_all(piece.as_bytes()).unwrap();
            gz.finish().unwrap();
        }
        let mut seen = 0;
        let traffic = read(&plain, &mut |bytes| seen = bytes).unwrap();
        assert_eq!(seen, LOG.len() as u64);
        assert_eq!((traffic.lines, traffic.requests), (3, 2));
        assert_eq!(traffic.broken_first, [2]);
        let unpacked = read(&packed, &mut |bytes| seen = bytes).unwrap();
        assert_eq!(unpacked, traffic);
        assert_eq!(seen, std::fs::metadata(&packed).unwrap().len());
    }

    #[test]
    fn a_line_without_end_is_one_broken_line() {
        let long = format!("{}\n{LOG}", "x".repeat(3 * LONGEST_LINE as usize));
        let traffic = read_from(long.as_bytes()).unwrap();
        assert_eq!((traffic.lines, traffic.broken), (4, 2));
        assert_eq!(traffic.broken_first, [1, 3]);
    }

    #[test]
    fn fuzz_access_log() {
        let target = weir_fuzz::Target {
            name: "access log",
            seeds: &[LOG.as_bytes()],
            words: &[
                b"\"",
                b"{\"time\":\"2024-05-14T13:00:00Z\",\"method\":\"GET\",\"path\":\"/\",\"status\":200}",
                b"[",
                b"]",
                b" ",
                b"\\",
                b"?",
                b"&",
                b"=",
                b"\n",
                b"99999999999999999999",
            ],
            length_max: 4000,
        };
        target.run(|bytes| {
            let traffic = read_from(bytes).unwrap();
            assert!(traffic.broken + traffic.requests == traffic.lines);
        });
    }
}
