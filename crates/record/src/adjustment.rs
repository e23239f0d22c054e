//! What Weir did to a load or a file without being asked: sent again, left out, summed up.
//!
//! Each is counted, and told in a sentence. What makes figures unusable is no adjustment but an
//! [`InvalidReason`](crate::InvalidReason).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Labels that are counted each on their own. A plan whose labels differ from sample to sample gets
/// one more class for all others.
pub const LABELS_MAX: usize = 1_000;
/// The class of samples whose labels are too many.
pub const OTHER_LABELS: &str = "(other labels)";

/// One kind, with how often it was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adjustment {
    /// Which it is.
    pub id: AdjustmentKind,
    /// How often, in the unit that the sentence names.
    pub count: u64,
    /// The sentence that is shown.
    pub says: String,
}

/// What can be done to a load or a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AdjustmentKind {
    /// Requests went out on a second connection, because the kept one took no byte of them.
    Resent,
    /// Samples that still ran at the end were cut off.
    CutOff,
    /// Samples were given up, because an extractor or a script failed.
    SamplesLost,
    /// Samples of which scripts of the plan had nobody hear.
    SamplesIgnored,
    /// Requests of a schedule had not started at the end.
    NotStarted,
    /// Arrivals were skipped, because a group had reached its limit.
    Skipped,
    /// The load stood still, in milliseconds, because rows could not be written fast enough.
    RowsWaited,
    /// Figures of a Backend Listener did not arrive where they were sent.
    FiguresLost,
    /// Samples whose labels are too many are counted under one.
    OtherLabels,
    /// Rows of JMeter came too late for their second.
    RowsLate,
    /// Rows or lines of a file could not be read.
    RowsUnreadable,
    /// Rows that stand twice in a file count once.
    RowsTwice,
    /// Rows of transaction controllers, whose samples are counted, are left out.
    RowsOfTransactions,
    /// Samples of other tests in the same file are left out.
    RowsOfOtherTests,
    /// Rows of a monitor's file lie outside of the load.
    RowsOutside,
    /// Columns of a monitor's file have no name in Weir.
    ColumnsLeftOut,
}

impl Adjustment {
    /// What was done, if it was.
    pub fn counted(id: AdjustmentKind, count: u64, says: impl FnOnce() -> String) -> Option<Self> {
        (count > 0).then(|| Self {
            id,
            count,
            says: says(),
        })
    }
}
