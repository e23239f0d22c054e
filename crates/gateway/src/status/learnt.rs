//! What a limit that the gateway finds by itself has learnt of the traffic.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_limit::Learnt;

/// What the limit over all classes has learnt, from the time in which requests waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LearntStatus {
    /// The number that could stand in the limit's place: its mean, the last minute of waiting
    /// counting most.
    pub concurrency: f64,
    /// Standard deviation of the limit over the same time.
    pub spread: f64,
    /// The busy share of the backends' CPUs in that time; absent where it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<f64>,
    /// Seconds in which requests waited for the limit.
    pub pressed_s: f64,
    /// The least and the largest value that `concurrency` has had while it was at rest; absent as
    /// long as it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Whether it has come to rest: half a minute of waiting, and a spread of at most a tenth.
    pub settled: bool,
    /// Whether it stands at the largest limit that it may have, so that more was not tried.
    pub at_max: bool,
}

impl LearntStatus {
    pub(crate) fn of(learnt: Learnt) -> Self {
        Self {
            concurrency: learnt.limit,
            spread: learnt.spread,
            cpu: learnt.busy,
            pressed_s: learnt.pressed.as_secs_f64(),
            range: learnt.range,
            settled: learnt.is_settled(),
            at_max: learnt.is_at_max,
        }
    }
}

/// For a terminal.
impl fmt::Display for LearntStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "learnt: {:.1} ± {:.1} in flight, in {:.0} s in which requests waited",
            self.concurrency, self.spread, self.pressed_s
        )?;
        if let Some(cpu) = self.cpu {
            write!(f, "; CPU {:.1} % then", cpu * 100.0)?;
        }
        if !self.settled {
            write!(f, "; it has not come to rest yet")?;
        }
        if self.at_max {
            write!(f, "; it stands at `max`, more was not tried")?;
        }
        Ok(())
    }
}
