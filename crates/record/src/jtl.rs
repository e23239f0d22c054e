//! JMeter's result files, written and read: CSV with one row a sample, XML with one element.
//!
//! What is written of each sample, and how, is a [`SaveConfiguration`]: JMeter's
//! `jmeter.save.saveservice.*` properties, or the `saveConfig` of a listener in a plan. Columns,
//! order, quoting and escapes are those of JMeter 5.6.3, so that whatever reads JMeter's files
//! reads these.

mod configuration;
mod csv;
mod file;
mod parts;
mod reader;
mod timestamp;
mod xml;
mod xml_reader;

use std::io;
use std::path::PathBuf;

pub use configuration::{Field, JtlFormat, SaveConfiguration};
pub use file::{JtlWriter, continue_jtl, open_jtl};
pub use parts::Parts;
pub use reader::JtlReader;
pub use timestamp::TimestampFormat;

/// Why a result file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JtlError {
    /// Writing failed.
    #[error("write a result file")]
    Write(#[source] io::Error),
    /// The file cannot be opened for writing.
    #[error("open {} for results", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Reading failed; nothing more can be read.
    #[error("read a result file")]
    Read(#[source] io::Error),
    /// A column that must be there is not.
    #[error("find the column `{0}` in the header of a result file")]
    Column(&'static str),
    /// There is no header, and the first lines are no samples with the columns that a file without
    /// one has.
    #[error(
        "find JMeter's header or a sample of {cells} columns in a result file: it begins with `{begin}`"
    )]
    NoHeader {
        /// How many columns a file without a header has.
        cells: usize,
        /// The first line.
        begin: String,
    },
    /// A row has fewer cells than the file has columns. The rows after it can be read.
    #[error(
        "read line {line} of a result file: it has {cells} of {of} columns, and begins with `{begin}`"
    )]
    Short {
        /// The line of the file.
        line: u64,
        /// How many cells it has.
        cells: usize,
        /// How many columns there are.
        of: usize,
        /// Its first cell.
        begin: String,
    },
    /// A cell does not hold what its column is for. The rows after it can be read.
    #[error("read `{cell}` in line {line}, column `{column}`, of a result file")]
    Cell {
        /// The line of the file.
        line: u64,
        /// The column.
        column: &'static str,
        /// What stands there.
        cell: String,
    },
    /// The XML is not well-formed or goes too deep; nothing more can be read.
    #[error("read a result file at byte {at}: {says}")]
    Xml {
        /// Where.
        at: u64,
        /// What is wrong.
        says: String,
    },
    /// The XML ends inside a sample: its writer was killed, or still writes. What was whole has
    /// been read.
    #[error("read a result file at byte {at}: the file ends inside {inside}")]
    CutOff {
        /// Where.
        at: u64,
        /// In what: the sample, by its label where it is known.
        inside: String,
    },
    /// A setting has a value that it cannot have.
    #[error("use `{value}` as {setting}: {must}")]
    Setting {
        /// The property.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        must: &'static str,
    },
}

impl JtlError {
    /// Whether the samples after it can be read all the same.
    pub fn is_one_row(&self) -> bool {
        matches!(self, Self::Cell { .. } | Self::Short { .. })
    }

    /// Whether it is the time of a sample that cannot be read.
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Cell { column, .. } if *column == csv::TIMESTAMP)
    }
}

#[cfg(test)]
mod tests;
