//! Content codings: a body that is kept is decoded when it is complete.
//!
//! As in JMeter: the first `Content-Encoding` field counts, its codings are undone in the order in
//! which they stand, one that is not known leaves the body as it is. A body that nobody looks into
//! is not decoded at all; that one is broken shows only where it is kept.

use std::io::{self, ErrorKind, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

use super::kept::Kept;
use crate::outcome::{BadCoding, Failure};

/// A coding that can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
}

/// Codings of one response; servers use one.
const CODINGS_MAX: usize = 4;
/// Bytes that the Brotli decoder takes at once.
const BROTLI_BUFFER_BYTES: usize = 4096;

/// The codings of a body, in the order in which they are undone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Codings([Option<Coding>; CODINGS_MAX]);

impl Codings {
    /// What a header field names.
    pub(super) fn of(field: &[u8]) -> Self {
        let mut codings = Self::default();
        let known = field.split(|byte| *byte == b',').filter_map(Coding::of);
        for (place, coding) in codings.0.iter_mut().zip(known) {
            *place = Some(coding);
        }
        codings
    }

    /// Undoes the codings of a body; the result is kept up to the same limit. A body that was cut
    /// is decoded as far as it goes.
    pub(crate) fn undo(self, kept: &mut Kept, scratch: &mut Kept) -> Result<(), Failure> {
        for coding in self.0.into_iter().flatten() {
            if !kept.body.is_empty() {
                coding.undo(kept, &mut scratch.body)?;
            }
        }
        Ok(())
    }
}

impl Coding {
    fn of(element: &[u8]) -> Option<Self> {
        let name = element.split(|byte| *byte == b';').next()?.trim_ascii();
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is("gzip") || is("x-gzip") => Some(Self::Gzip),
            () if is("deflate") => Some(Self::Deflate),
            () if is("br") => Some(Self::Brotli),
            () => None,
        }
    }

    fn undo(self, kept: &mut Kept, decoded: &mut Vec<u8>) -> Result<(), Failure> {
        decoded.clear();
        // One byte more than may be kept tells whether there is more.
        let limit = (kept.body_max as u64).saturating_add(1);
        let coded = kept.body.as_slice();
        let read = match self {
            Self::Gzip => gunzip(coded, limit, decoded),
            Self::Deflate if is_zlib(coded) => read(ZlibDecoder::new(coded), limit, decoded),
            Self::Deflate => read(DeflateDecoder::new(coded), limit, decoded),
            Self::Brotli => read(
                Decompressor::new(coded, BROTLI_BUFFER_BYTES),
                limit,
                decoded,
            ),
        };
        if !kept.is_cut {
            read.map_err(|problem| self.failure(&problem))?;
        }
        if decoded.len() > kept.body_max {
            decoded.truncate(kept.body_max);
            kept.is_cut = true;
        }
        std::mem::swap(&mut kept.body, decoded);
        Ok(())
    }

    fn failure(self, problem: &io::Error) -> Failure {
        Failure::BadCoding(match (self, problem.kind()) {
            (Self::Brotli, _) => BadCoding::Brotli,
            (_, ErrorKind::UnexpectedEof) => BadCoding::Short,
            (Self::Gzip, _) if problem.to_string().contains("header") => BadCoding::NotGzip,
            (Self::Gzip, _) if problem.to_string().contains("checksum") => BadCoding::Checksum,
            _ => BadCoding::Deflate,
        })
    }
}

/// Like Java's, takes several members one after the other and ignores what follows them.
fn gunzip(mut coded: &[u8], limit: u64, decoded: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut member = GzDecoder::new(coded);
        read(&mut member, limit - decoded.len() as u64, decoded)?;
        coded = member.into_inner();
        if decoded.len() as u64 >= limit || !coded.starts_with(&[0x1f, 0x8b]) {
            return Ok(());
        }
    }
}

fn read(decoder: impl Read, limit: u64, decoded: &mut Vec<u8>) -> io::Result<()> {
    decoder.take(limit).read_to_end(decoded).map(drop)
}

/// `deflate` means the zlib format (RFC 9110, section 8.4.1.2); some servers send it bare.
fn is_zlib(coded: &[u8]) -> bool {
    match coded {
        // RFC 1950, section 2.2: compression method 8, and a check of the first two bytes.
        [method, flags, ..] => {
            method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)).is_multiple_of(31)
        }
        _ => false,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    /// "hello" as the reference encoder of Brotli writes it at quality 11.
    const BROTLI: &[u8] = &[0x0b, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x03];

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn bare(text: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn undone(field: &str, coded: &[u8], body_max: usize) -> Result<(Vec<u8>, bool), Failure> {
        let mut kept = Kept {
            body_max,
            ..Kept::default()
        };
        kept.took_body(coded);
        Codings::of(field.as_bytes()).undo(&mut kept, &mut Kept::default())?;
        Ok((kept.body, kept.is_cut))
    }

    #[test]
    fn known_codings_are_undone_and_others_left() {
        for (field, coded) in [
            ("gzip", gzip(b"hello")),
            (" X-GZIP ;q=1", gzip(b"hello")),
            ("deflate", zlib(b"hello")),
            ("deflate", bare(b"hello")),
            ("br", BROTLI.to_vec()),
            ("identity", b"hello".to_vec()),
            ("zstd", b"hello".to_vec()),
            ("gzip, deflate", gzip(&zlib(b"hello"))),
            ("gzip", [gzip(b"he"), gzip(b"llo")].concat()),
            ("gzip", [gzip(b"hello"), b"junk".to_vec()].concat()),
        ] {
            let done = undone(field, &coded, 1000);
            assert_eq!(done, Ok((b"hello".to_vec(), false)), "{field}");
        }
        assert_eq!(undone("gzip", b"", 1000), Ok((Vec::new(), false)));
    }

    #[test]
    fn what_grows_is_cut_at_the_limit() {
        let bomb = gzip(&vec![b'0'; 10_000_000]);
        let (body, is_cut) = undone("gzip", &bomb, 100_000).unwrap();
        assert_eq!((body.len(), is_cut), (100_000, true));
        let (body, is_cut) = undone("gzip", &gzip(&[b'0'; 100]), 100).unwrap();
        assert_eq!((body.len(), is_cut), (100, false));
    }

    #[test]
    fn what_was_cut_is_decoded_as_far_as_it_goes() {
        let noise: Vec<u8> = (0..10_000_u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes())
            .collect();
        let (body, is_cut) = undone("gzip", &gzip(&noise), 1_000).unwrap();
        assert!(is_cut && !body.is_empty() && noise.starts_with(&body));
    }

    #[test]
    fn broken_bodies_are_failures() {
        let short = gzip(b"hello, hello, hello");
        let short = &short[..short.len() - 10];
        let mut wrong_sum = gzip(b"hello");
        let at = wrong_sum.len() - 6;
        wrong_sum[at] ^= 1;
        for (field, coded, problem) in [
            ("gzip", b"this is no gzip".as_slice(), BadCoding::NotGzip),
            ("gzip", short, BadCoding::Short),
            ("gzip", &wrong_sum, BadCoding::Checksum),
            ("deflate", b"\xff\xff\xff\xff", BadCoding::Deflate),
            ("br", b"\xff\xff\xff\xff", BadCoding::Brotli),
        ] {
            let failed = undone(field, coded, 1000);
            assert_eq!(failed, Err(Failure::BadCoding(problem)), "{field}");
        }
    }
}
