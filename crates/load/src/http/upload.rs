//! Files that are sent: read piece by piece, so that their size does not matter.
//!
//! Reading blocks the runtime for as long as one piece takes, which for a file in the page cache is
//! some ten microseconds; files that many users send are there.

use std::fs::File;
use std::io::Read as _;

use weir_script::Upload;

use crate::http::outcome::Failure;

/// How much of a file is read and sent at once.
pub(crate) const UPLOAD_PIECE_BYTES: usize = 64 * 1024;

/// A file that is being sent.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    upload: &'a Upload,
    file: File,
    left: u64,
}

impl<'a> Pieces<'a> {
    /// Opens the file.
    pub(crate) fn open(upload: &'a Upload) -> Result<Self, Failure> {
        let opened = upload.open();
        let file = opened.map_err(|error| Self::failure(upload, &Upload::says(&error)))?;
        Ok(Self {
            upload,
            file,
            left: upload.length,
        })
    }

    /// The next piece; `None` after the last.
    pub(crate) fn next<'b>(&mut self, buffer: &'b mut [u8]) -> Result<Option<&'b [u8]>, Failure> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        if most == 0 {
            return Ok(None);
        }
        let read = self.file.read(&mut buffer[..most]);
        match read.map_err(|_| Self::failure(self.upload, "cannot be read"))? {
            // The length has been announced: the request cannot be finished.
            0 => Err(Self::failure(
                self.upload,
                "became shorter while it was sent",
            )),
            read => {
                self.left -= read as u64;
                Ok(Some(&buffer[..read]))
            }
        }
    }

    fn failure(upload: &Upload, says: &str) -> Failure {
        Failure::Upload(format!("{} ({says})", upload.path.display()))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use weir_reach::Reach;

    use super::*;

    fn sent(content: &[u8], length: u64) -> Result<Vec<u8>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, content).unwrap();
        let upload = Upload {
            length,
            after: Vec::new(),
            reach: Reach::default().allow(&path),
            path,
        };
        let mut pieces = Pieces::open(&upload)?;
        let mut all = Vec::new();
        while let Some(piece) = pieces.next(&mut [0; 3])? {
            all.extend_from_slice(piece);
        }
        Ok(all)
    }

    #[test]
    fn as_much_is_sent_as_was_announced() {
        assert_eq!(sent(b"abcdefgh", 8).unwrap(), b"abcdefgh");
        assert_eq!(sent(b"abcdefgh", 4).unwrap(), b"abcd");
        assert_eq!(sent(b"", 0).unwrap(), b"");
        let Err(Failure::Upload(says)) = sent(b"abc", 8) else {
            panic!("a file that is too short was sent");
        };
        assert!(
            says.ends_with("(became shorter while it was sent)"),
            "{says}"
        );
    }
}
