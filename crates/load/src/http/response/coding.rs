//! Content codings: a body that is kept is decoded when it is complete.
//!
//! As in JMeter: the first `Content-Encoding` field counts, its codings are undone in the order in
//! which they stand, one that is not known leaves the body as it is. A body that nobody looks into
//! is not decoded at all; that one is broken shows only where it is kept.

use std::io::{self, ErrorKind, Read};

use brotli_decompressor::Decompressor;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use super::kept::Kept;
use crate::http::outcome::{BadCoding, Failure};

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
/// Bytes of room for what is inflated at once.
const INFLATE_BYTES: usize = 16 * 1024;

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
            Self::Deflate => inflate(coded, is_zlib(coded), limit, decoded),
            Self::Brotli => read(
                Decompressor::new(coded, BROTLI_BUFFER_BYTES),
                limit,
                decoded,
            ),
        };
        if !kept.is_cut {
            read.map_err(|problem| self.failure(coded, limit, &problem))?;
        }
        if decoded.len() > kept.body_max {
            decoded.truncate(kept.body_max);
            kept.is_cut = true;
        }
        std::mem::swap(&mut kept.body, decoded);
        kept.note_decoded();
        Ok(())
    }

    fn failure(self, coded: &[u8], limit: u64, problem: &io::Error) -> Failure {
        let is_short = problem.kind() == ErrorKind::UnexpectedEof;
        let says = |word: &str| problem.to_string().contains(word);
        Failure::BadCoding(match self {
            Self::Brotli => BadCoding::Brotli,
            Self::Gzip if coded.len() > 1 && !coded.starts_with(&GZIP_MAGIC) => BadCoding::NotGzip,
            Self::Gzip if is_short && is_cut_outside_data(coded, limit) => BadCoding::Cut,
            Self::Gzip | Self::Deflate if is_short => BadCoding::Short,
            Self::Gzip if says("header") => BadCoding::NotGzip,
            Self::Gzip if says("checksum") => BadCoding::Checksum,
            Self::Gzip => first_block(coded.get(GZIP_HEAD_BYTES..).unwrap_or_default()),
            Self::Deflate if is_zlib(coded) => {
                match inflate(&coded[2..], false, limit, &mut Vec::new()) {
                    Ok(()) => BadCoding::ZlibChecksum,
                    Err(_) => first_block(&coded[2..]),
                }
            }
            Self::Deflate => first_block(coded),
        })
    }
}

/// How gzip begins.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Bytes in front of gzip's data when its head has no optional parts (RFC 1952, section 2.3).
const GZIP_HEAD_BYTES: usize = 10;
/// Bytes of checksum and length behind gzip's data.
const GZIP_TAIL_BYTES: usize = 8;

/// Whether gzip ends in its head, or in its tail: then a longer tail makes it whole, if wrong.
fn is_cut_outside_data(coded: &[u8], limit: u64) -> bool {
    let longer = [coded, &[0; GZIP_TAIL_BYTES]].concat();
    let in_tail = || {
        let problem = read_all(GzDecoder::new(longer.as_slice()).take(limit)).err();
        problem.is_none_or(|problem| problem.to_string().contains("checksum"))
    };
    coded.len() < GZIP_HEAD_BYTES || in_tail()
}

/// What Java says of deflated data that cannot be read, by the type of its first block (RFC 1951,
/// section 3.2.3): the decoder tells no more than that it cannot.
fn first_block(deflated: &[u8]) -> BadCoding {
    let first = deflated.first().copied().unwrap_or_default();
    match first >> 1 & 3 {
        0 => BadCoding::StoredLength,
        1 => BadCoding::Data,
        2 => BadCoding::CodeLengths,
        _ => BadCoding::BlockType,
    }
}

/// Decodes for nothing but the outcome.
fn read_all(mut decoder: impl Read) -> io::Result<u64> {
    io::copy(&mut decoder, &mut io::sink())
}

/// Like Java's, takes several members one after the other and ignores what follows them.
fn gunzip(mut coded: &[u8], limit: u64, decoded: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut member = GzDecoder::new(coded);
        read(&mut member, limit - decoded.len() as u64, decoded)?;
        coded = member.into_inner();
        if decoded.len() as u64 >= limit || !coded.starts_with(&GZIP_MAGIC) {
            return Ok(());
        }
    }
}

/// Deflated data, with zlib's head and tail or without. Unlike the library's readers, this tells
/// when the data ends too early.
fn inflate(coded: &[u8], is_zlib: bool, limit: u64, decoded: &mut Vec<u8>) -> io::Result<()> {
    let mut inflater = Decompress::new(is_zlib);
    loop {
        let before = (inflater.total_in(), inflater.total_out());
        let rest = &coded[usize::try_from(before.0).unwrap_or(coded.len())..];
        decoded.reserve(INFLATE_BYTES);
        let status = inflater.decompress_vec(rest, decoded, FlushDecompress::None)?;
        if status == Status::StreamEnd || inflater.total_out() >= limit {
            return Ok(());
        }
        if before == (inflater.total_in(), inflater.total_out()) {
            return Err(ErrorKind::UnexpectedEof.into());
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
    fn what_grows_is_cut_when_it_is_broken_too() {
        let zeros = vec![b'0'; 10_000_000];
        // Asks for a dictionary, which is an error before any data is looked at.
        let mut with_dictionary = zlib(&zeros);
        with_dictionary[..2].copy_from_slice(&[0x78, 0xbb]);
        let coded = with_dictionary.as_slice();
        let problem = inflate(coded, is_zlib(coded), 100_000, &mut Vec::new()).unwrap_err();
        let failure = Coding::Deflate.failure(coded, 100_000, &problem);
        assert_eq!(failure, Failure::BadCoding(BadCoding::ZlibChecksum));
        let mut inflated = Vec::new();
        inflate(&coded[2..], false, 100_000, &mut inflated).unwrap();
        assert!(inflated.len() < 200_000, "{} bytes", inflated.len());
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
        let whole = gzip(b"hello, hello, hello");
        let cut = &whole[..whole.len() - 4];
        let short = &whole[..whole.len() - 10];
        let mut short_zlib = zlib(b"hello hello");
        short_zlib.truncate(short_zlib.len() - 6);
        let mut wrong_adler = zlib(b"hello");
        *wrong_adler.last_mut().unwrap() ^= 1;
        let mut wrong_sum = gzip(b"hello");
        let at = wrong_sum.len() - 6;
        wrong_sum[at] ^= 1;
        for (field, coded, problem) in [
            ("gzip", b"this is no gzip".as_slice(), BadCoding::NotGzip),
            ("gzip", short, BadCoding::Short),
            ("gzip", &wrong_sum, BadCoding::Checksum),
            ("gzip", cut, BadCoding::Cut),
            ("gzip", b"\x1f", BadCoding::Cut),
            ("gzip", &short[..10], BadCoding::Short),
            ("deflate", b"\xff\xff\xff\xff", BadCoding::BlockType),
            ("deflate", b"this is text", BadCoding::CodeLengths),
            ("deflate", &wrong_adler, BadCoding::ZlibChecksum),
            ("deflate", &short_zlib, BadCoding::Short),
            ("br", b"\xff\xff\xff\xff", BadCoding::Brotli),
        ] {
            let failed = undone(field, coded, 1000);
            assert_eq!(failed, Err(Failure::BadCoding(problem)), "{field}");
        }
    }
}
