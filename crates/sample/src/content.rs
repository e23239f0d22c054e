//! The files that requests read: the database, the XML of `/heavy`, and the static files.
//!
//! All are made at start from nothing but constants and the number of rows, so every server serves
//! the same bytes. A directory given by the user is kept, and what is already right in it is not
//! made again; a temporary one goes when the value is dropped.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

use crate::database;
use crate::error::SampleError;
use crate::options::Options;

/// Sizes of the static files, in KiB.
pub(crate) const STATIC_KIB: [usize; 5] = [1, 2, 4, 8, 16];
/// Items in the XML file; each is one element with four children, about 150 bytes.
const XML_ITEMS: u32 = 650;

/// Where the files are.
pub(crate) struct Content {
    directory: PathBuf,
}

/// The directory of one server; removed when dropped if it is temporary.
pub(crate) enum DataDirectory {
    Temporary(TempDir),
    Kept(PathBuf),
}

impl DataDirectory {
    /// Makes or finds the directory that the options ask for.
    pub(crate) fn open(options: &Options) -> Result<Self, SampleError> {
        match &options.data {
            Some(path) => match fs::create_dir_all(path) {
                Ok(()) => Ok(Self::Kept(path.clone())),
                Err(source) => Err(SampleError::Data {
                    path: path.clone(),
                    source,
                }),
            },
            None => tempfile::Builder::new()
                .prefix("weir-sample-")
                .tempdir()
                .map(Self::Temporary)
                .map_err(|source| SampleError::Data {
                    path: std::env::temp_dir(),
                    source,
                }),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Temporary(directory) => directory.path(),
            Self::Kept(path) => path,
        }
    }
}

impl Content {
    /// Fills the directory.
    pub(crate) fn prepare(directory: &DataDirectory, rows: u32) -> Result<Self, SampleError> {
        let content = Self {
            directory: directory.path().to_owned(),
        };
        content.prepare_database(rows)?;
        write(&content.xml(), &xml())?;
        for kib in STATIC_KIB {
            write(&content.static_file(kib), &static_text(kib))?;
        }
        Ok(content)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.directory.join("weir-sample.sqlite")
    }

    pub(crate) fn xml(&self) -> PathBuf {
        self.directory.join("weir-sample.xml")
    }

    pub(crate) fn static_file(&self, kib: usize) -> PathBuf {
        self.directory.join(format!("weir-sample-{kib}k.txt"))
    }

    fn prepare_database(&self, rows: u32) -> Result<(), SampleError> {
        let file = self.database();
        if file.exists() && database::is_built(&file, rows) {
            return Ok(());
        }
        // Under another name until it is whole, so that an interrupted build is never taken for a
        // database.
        let partial = self.directory.join("weir-sample.sqlite.partial");
        match fs::remove_file(&partial) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(SampleError::Data {
                    path: partial,
                    source,
                });
            }
            _ => {}
        }
        database::build(&partial, rows).map_err(|source| SampleError::Database {
            path: partial.clone(),
            source,
        })?;
        fs::rename(&partial, &file).map_err(|source| SampleError::Data { path: file, source })
    }
}

fn write(path: &Path, text: &str) -> Result<(), SampleError> {
    // Another server that uses the same directory may be reading what is right already.
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    fs::write(path, text).map_err(|source| SampleError::Data {
        path: path.to_owned(),
        source,
    })
}

/// About 100 KB of XML with elements, attributes and text.
fn xml() -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<catalogue>\n");
    for id in 1..=XML_ITEMS {
        writeln!(
            text,
            "<item id=\"{id}\" kind=\"k{}\"><name>Part number {id}</name><price currency=\"EUR\">{}.{:02}</price>\
             <stock>{}</stock><note>Kept on shelf {} of hall {}</note></item>",
            id % 7,
            id * 37 % 1_000,
            id % 100,
            id * 13 % 500,
            id % 40,
            id % 9,
        )
        .expect("writing to a string does not fail");
    }
    text.push_str("</catalogue>\n");
    text
}

/// Exactly `kib` KiB of text in lines of 64 bytes.
fn static_text(kib: usize) -> String {
    let lines: Vec<String> = (1..=kib * 1024 / 64)
        .map(|line| format!("{line:>8} {:-<54}\n", ""))
        .collect();
    lines.concat()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_sizes() {
        assert!((95_000..105_000).contains(&xml().len()), "{}", xml().len());
        for kib in STATIC_KIB {
            assert_eq!(static_text(kib).len(), kib * 1024);
        }
    }

    #[test]
    fn a_kept_directory_is_used_again_and_a_half_made_database_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let options = Options {
            data: Some(parent.path().join("data")),
            rows: 1_000,
            ..Options::default()
        };
        let directory = DataDirectory::open(&options).unwrap();
        fs::write(
            directory.path().join("weir-sample.sqlite.partial"),
            "left by a crash",
        )
        .unwrap();
        let file = Content::prepare(&directory, 1_000).unwrap().database();
        let made = fs::metadata(&file).unwrap().modified().unwrap();
        Content::prepare(&DataDirectory::open(&options).unwrap(), 1_000).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), made);
        fs::write(&file, "not a database").unwrap();
        Content::prepare(&directory, 1_000).unwrap();
        assert!(database::is_built(&file, 1_000));
    }

    #[test]
    fn a_temporary_directory_goes_and_a_kept_one_stays() {
        let temporary = DataDirectory::open(&Options::default()).unwrap();
        let path = temporary.path().to_owned();
        assert!(path.is_dir());
        drop(temporary);
        assert!(!path.exists());
    }
}
