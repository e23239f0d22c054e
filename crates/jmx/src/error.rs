//! Why a file is no test plan at all.

use std::path::PathBuf;

use weir_plan::Position;

/// A file cannot be read as a test plan.
#[derive(Debug, thiserror::Error)]
pub enum JmxError {
    /// The file cannot be opened or read.
    #[error("read the test plan {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// A folder, a pipe or a device.
    #[error("read the test plan {}: it is no file; name a plan that was saved by JMeter", path.display())]
    NoFile {
        /// What was named.
        path: PathBuf,
    },
    /// The file is too large to be a test plan.
    #[error(
        "read the test plan {}: it has more than {most} bytes; is it a result file?",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
        most: u64,
    },
    /// The text is not XML that a test plan may be.
    #[error(
        "read the test plan {}:{}:{}: {found}; {instead}",
        path.display(), at.line, at.column
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where reading ended.
        at: Position,
        /// What stands there.
        found: String,
        /// What to do about it.
        instead: String,
    },
}
