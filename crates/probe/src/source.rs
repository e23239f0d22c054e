//! Where a target's own figures of its stages are read.

use std::time::Instant;

use weir_exchange::MetricsUrl;

use crate::reading::Reading;
use crate::stages::{Asked, Stages};

/// A place where a target tells about its stages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A page in Prometheus's text format with Weir's own names (`weir_stage_…`).
    Prometheus(MetricsUrl),
}

/// A source while it is read: each time against the time before.
#[derive(Debug)]
pub(crate) enum SourceReader {
    Prometheus(Stages),
}

impl SourceReader {
    pub(crate) fn new(source: Source) -> Self {
        match source {
            Source::Prometheus(url) => Self::Prometheus(Stages::new(url)),
        }
    }

    /// Sends the question. Other things are read while the target answers.
    pub(crate) fn ask(&mut self) -> Asked {
        match self {
            Self::Prometheus(stages) => stages.ask(),
        }
    }

    /// Reads the answer to what was asked at `now`; without one its signals are absent.
    pub(crate) fn read(&mut self, asked: &Asked, now: Instant, reading: &mut Reading) {
        match self {
            Self::Prometheus(stages) => stages.read(asked, now, reading),
        }
    }
}
