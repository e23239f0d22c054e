//! The seam between a trial and what sends its load: Weir's own engine, or a real JMeter.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant, SystemTime};

use weir_jmeter::{JmeterSummary, Launch, Launched, RunningJmeter};
use weir_load::{
    ArrivalCounts, LoadError, LoadSettings, LoadSummary, RunningLoad, SentFigures, UnreadFile,
};
use weir_reach::Refusal;
use weir_record::{
    Adjustment, AdjustmentKind, InvalidReason, LoadSecond, Reading, TrialError, failed_to,
};
use weir_script::ResolvedPlan;

/// What sends the load.
#[derive(Debug)]
pub enum Engine {
    /// Weir's own engine, with a plan that is ready to run.
    Native(Box<ResolvedPlan>),
    /// A JMeter, with everything that it is started with.
    Jmeter(Box<Launch>),
}

/// A JMeter that has come as far as the beginning of its test; nothing for Weir's own engine, which
/// begins when it is told to.
///
/// Starting a JVM takes seconds. They are over before a trial's time origin, so that they are no
/// part of it.
pub(crate) fn launch(engine: Engine, interrupted: &AtomicBool) -> Result<ReadyEngine, TrialError> {
    match engine {
        Engine::Native(plan) => Ok(ReadyEngine::Native(plan)),
        Engine::Jmeter(launch) => weir_jmeter::start(*launch, interrupted)
            .map(|launched| ReadyEngine::Jmeter(Box::new(launched)))
            .map_err(|error| jmeter_failed(&error)),
    }
}

/// What can send a load from now on.
pub(crate) enum ReadyEngine {
    Native(Box<ResolvedPlan>),
    Jmeter(Box<Launched>),
}

impl ReadyEngine {
    /// Processes beside this one that send the load.
    pub(crate) fn pids(&self) -> Vec<u32> {
        match self {
            Self::Native(_) => Vec::new(),
            Self::Jmeter(launched) => vec![launched.pid()],
        }
    }

    /// Begins. `native` makes the settings of Weir's own engine.
    pub(crate) fn begin(
        self,
        origin: Instant,
        started: SystemTime,
        native: impl FnOnce(ResolvedPlan) -> LoadSettings,
    ) -> Result<RunningEngine, TrialError> {
        match self {
            Self::Native(plan) => weir_load::start(native(*plan))
                .map(RunningEngine::Native)
                .map_err(|error| native_failed(&error)),
            Self::Jmeter(launched) => launched
                .begin(origin, started)
                .map(RunningEngine::Jmeter)
                .map_err(|error| jmeter_failed(&error)),
        }
    }
}

/// What the plan says can be wrong, or the machine can lack something.
fn native_failed(error: &LoadError) -> TrialError {
    let says = failed_to(error);
    match error {
        LoadError::NoUsers | LoadError::Hosts(_) | LoadError::NotAllowed(_) => {
            TrialError::Input(says)
        }
        _ => TrialError::Environment(says),
    }
}

/// What sends a load.
pub(crate) enum RunningEngine {
    Native(RunningLoad),
    Jmeter(RunningJmeter),
}

impl RunningEngine {
    /// The next second, and what the engine says of itself in it.
    pub(crate) fn next_second(
        &self,
        patience: Duration,
    ) -> Result<(LoadSecond, Reading), RecvTimeoutError> {
        match self {
            Self::Native(load) => {
                let second = load.seconds().recv_timeout(patience)?;
                Ok((second, Reading::new()))
            }
            Self::Jmeter(jmeter) => {
                let second = jmeter.seconds().recv_timeout(patience)?;
                Ok((second.load, second.own))
            }
        }
    }

    /// When the load ends by itself, from the time origin, if that is known.
    pub(crate) fn planned_end(&self) -> Option<Duration> {
        match self {
            Self::Native(load) => load.planned_end(),
            Self::Jmeter(jmeter) => jmeter.planned_end(),
        }
    }

    /// No new samples.
    pub(crate) fn stop(&self) {
        match self {
            Self::Native(load) => load.stop(),
            Self::Jmeter(jmeter) => jmeter.stop(),
        }
    }

    /// Waits for its end, and cuts off what still runs then.
    pub(crate) fn join(self, patience: Duration) -> LoadEnd {
        match self {
            Self::Native(load) => LoadEnd::Native(Box::new(load.join(patience))),
            Self::Jmeter(jmeter) => LoadEnd::Jmeter(Box::new(jmeter.join(patience))),
        }
    }
}

/// What an engine says at its end.
#[derive(Debug)]
pub enum LoadEnd {
    /// Weir's own engine.
    Native(Box<LoadSummary>),
    /// JMeter.
    Jmeter(Box<JmeterSummary>),
}

impl LoadEnd {
    /// Why the load was ended early, or why something that was measured is lost.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Native(summary) => summary.problem.as_deref(),
            Self::Jmeter(summary) => summary.problem.as_deref(),
        }
    }

    /// Samples that ended.
    pub fn samples(&self) -> u64 {
        match self {
            Self::Native(summary) => summary.samples,
            Self::Jmeter(summary) => summary.samples,
        }
    }

    /// When the load ended by itself, from the time origin, if it says so.
    pub(crate) fn ended(&self) -> Option<Duration> {
        match self {
            Self::Native(_) => None,
            Self::Jmeter(summary) => summary.ended,
        }
    }

    /// Most users that ran at a time, for plans that do not say how many they have.
    pub fn users_most(&self) -> Option<u32> {
        match self {
            Self::Native(_) => None,
            Self::Jmeter(summary) => Some(summary.users_most),
        }
    }

    /// What became of the arrivals of an open workload, where the engine tells.
    pub fn arrivals(&self) -> Option<ArrivalCounts> {
        match self {
            Self::Native(summary) => summary.arrivals,
            Self::Jmeter(_) => None,
        }
    }

    /// Bytes received and sent in the whole load, where the engine tells.
    pub fn bytes(&self) -> Option<(u64, u64)> {
        match self {
            Self::Native(summary) => Some((summary.received_bytes, summary.sent_bytes)),
            Self::Jmeter(_) => None,
        }
    }

    /// Arrivals that were due in these seconds, where the engine tells.
    pub fn due(&self, window: Range<usize>) -> Option<u64> {
        let Self::Native(summary) = self else {
            return None;
        };
        let due = summary.due_by_second.as_ref()?.iter();
        Some(due.skip(window.start).take(window.len()).sum())
    }

    /// What was sent again, cut off or held up, in the whole load.
    pub fn adjustments(&self) -> Vec<Adjustment> {
        match self {
            Self::Native(summary) => of_native(summary),
            Self::Jmeter(summary) => {
                let late = summary.late;
                let late = Adjustment::counted(AdjustmentKind::RowsLate, late, || {
                    format!(
                        "{late} row(s) of JMeter came too late for their second and count in a later one"
                    )
                });
                late.into_iter().collect()
            }
        }
    }

    /// Files that the plan asked for and did not get.
    pub fn refused(&self) -> &[Refusal] {
        match self {
            Self::Native(summary) => &summary.refused,
            Self::Jmeter(_) => &[],
        }
    }

    /// Data files that could not be read, for want of which users ended.
    pub fn unread(&self) -> &[UnreadFile] {
        match self {
            Self::Native(summary) => &summary.unread,
            Self::Jmeter(_) => &[],
        }
    }

    /// What speaks against what was measured.
    pub(crate) fn against(&self) -> Vec<InvalidReason> {
        match self {
            Self::Native(summary) => {
                let connections = summary.local_failures;
                let local =
                    (connections > 0).then_some(InvalidReason::LoadToolNoPort { connections });
                let refused = summary
                    .refused
                    .first()
                    .map(|first| InvalidReason::FilesRefused {
                        files: summary.refused.len(),
                        first: first.to_string(),
                    });
                let unread = summary
                    .unread
                    .first()
                    .map(|first| InvalidReason::FilesUnread {
                        files: summary.unread.len(),
                        first: first.to_string(),
                    });
                local.into_iter().chain(refused).chain(unread).collect()
            }
            Self::Jmeter(summary) => {
                let (samples, rows) = (summary.late, summary.unreadable);
                let is_late = samples > LATE_SHARE_MAX * summary.samples / 100;
                let late = is_late.then_some(InvalidReason::LoadToolWroteLate { samples });
                let unreadable = (rows > 0).then_some(InvalidReason::RowsUnreadable { rows });
                late.into_iter().chain(unreadable).collect()
            }
        }
    }
}

fn of_native(summary: &LoadSummary) -> Vec<Adjustment> {
    let resent = summary.resent;
    let resent = Adjustment::counted(AdjustmentKind::Resent, resent, || {
        format!(
            "{resent} request(s) were sent on a second connection, because the server had closed the one that \
             was kept and nothing had been done yet. Each counts as one"
        )
    });
    let cut = summary.cut;
    let cut = Adjustment::counted(AdjustmentKind::CutOff, cut, || {
        format!(
            "{cut} sample(s) still ran when the load ended and were cut off. Their response times, which may be the \
             longest, are in no figure"
        )
    });
    let lost = Adjustment::counted(AdjustmentKind::SamplesLost, summary.lost, || {
        let by = summary.lost_by.as_deref();
        let by = by.map_or(String::new(), |by| format!(" ({by})"));
        format!(
            "{} sample(s) were given up as in JMeter, because what stands after the sampler failed{by}. They are in no \
             figure and no row",
            summary.lost
        )
    });
    let ignored = Adjustment::counted(AdjustmentKind::SamplesIgnored, summary.ignored, || {
        format!(
            "{} sample(s) are in no figure and no row, because scripts of the plan had nobody hear of them (setIgnore). \
             Their requests were sent",
            summary.ignored
        )
    });
    let waited_ms = u64::try_from(summary.waited_for_rows.as_millis()).unwrap_or(u64::MAX);
    let waited = Adjustment::counted(AdjustmentKind::RowsWaited, waited_ms, || {
        format!(
            "the load stood still for {waited_ms} ms in all, because rows could not be written fast enough"
        )
    });
    let unsent = summary.sent.iter().filter_map(lost_figures);
    let own = resent.into_iter().chain(cut).chain(lost).chain(ignored);
    let own = own.chain(waited);
    own.chain(unsent).collect()
}

/// What a Backend Listener could not send.
fn lost_figures(sent: &SentFigures) -> Option<Adjustment> {
    let SentFigures {
        name,
        to,
        writes,
        lost_writes,
        lost_samples,
        why,
    } = sent;
    let count = lost_writes + lost_samples;
    Adjustment::counted(AdjustmentKind::FiguresLost, count, || {
        let why = why
            .as_deref()
            .map_or(String::new(), |why| format!(" ({why})"));
        format!(
            "the Backend Listener \"{name}\" lost {lost_writes} of its {writes} write(s) to {to}{why} and \
             {lost_samples} sample(s) that came faster than they could be added up. The figures here \
             have all of them"
        )
    })
}

/// At most this percentage of a JMeter's rows may come too late for their second: what Weir allows
/// itself for late starts.
const LATE_SHARE_MAX: u64 = 1;

fn jmeter_failed(error: &weir_jmeter::JmeterError) -> TrialError {
    use weir_jmeter::JmeterError;
    match error {
        JmeterError::Interrupted => TrialError::Interrupted,
        JmeterError::Refused { .. } | JmeterError::Plan { .. } => {
            TrialError::Input(failed_to(error))
        }
        _ => TrialError::Environment(failed_to(error)),
    }
}
