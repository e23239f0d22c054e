//! Why files cannot be taken in.

use weir_record::{EvaluateError, HistogramError, JtlError};
use weir_stats::StatsError;

/// Why files cannot be taken in. Each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// A result file cannot be read at all, or not to its end.
    #[error("read {file}")]
    Jtl {
        /// The file.
        file: String,
        /// The cause.
        #[source]
        source: JtlError,
    },
    /// A result file has no sample.
    #[error("find a sample in {file}: {says}")]
    NoSample {
        /// The file.
        file: String,
        /// What it has instead.
        says: String,
    },
    /// Too many lines cannot be read.
    #[error(
        "read {file}: {broken} of its {lines} lines cannot be read, which is more than 1 %: {first}"
    )]
    Broken {
        /// The file.
        file: String,
        /// How many lines.
        broken: u64,
        /// Of how many.
        lines: u64,
        /// The first of them.
        first: String,
    },
    /// The samples of a file lie too far apart for one load test.
    #[error(
        "take {file} for one load test: its samples go from {from} to {until}, which is more than {days} days; cut the \
         file, or mend the clock that wrote it"
    )]
    TooLong {
        /// The file.
        file: String,
        /// The first sample.
        from: String,
        /// The end of the last.
        until: String,
        /// Most that is taken.
        days: u64,
    },
    /// A result file has no part of this number.
    #[error("take part {number} of {file}: it holds {parts} test(s)")]
    NoPart {
        /// The file.
        file: String,
        /// The part that was asked for, from 1.
        number: usize,
        /// How many there are.
        parts: usize,
    },
    /// A file is not what any monitor writes.
    #[error("read {file} as what a monitor wrote: {says}")]
    NotAMonitor {
        /// The file.
        file: String,
        /// What is missing or unexpected.
        says: String,
    },
    /// What a monitor wrote and the load have no second in common.
    #[error("lay {file} beside the load: {says}")]
    NoOverlap {
        /// The monitor's file.
        file: String,
        /// When each was, and what to try.
        says: String,
    },
    /// The load has no second left to measure.
    #[error("measure {file}: {says}")]
    NoWindow {
        /// The result file.
        file: String,
        /// Why.
        says: String,
    },
    /// The response times cannot be counted.
    #[error("count the response times")]
    Histogram(#[from] HistogramError),
    /// The seconds make no record.
    #[error("sum up the seconds")]
    Evaluate(#[from] EvaluateError),
    /// The seconds make no estimate.
    #[error("look for the steady part of the load")]
    Stats(#[from] StatsError),
}
