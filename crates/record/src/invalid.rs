//! Why the figures of a trial may not be used: as data, and as the sentence that is shown.
//!
//! Whoever has to know what kind of reason it is asks [`InvalidReason`], never the sentence.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_stats::NotSteady;

/// One reason, with its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Invalid {
    /// The reason in a sentence, with its figures.
    pub says: String,
    /// Which it is, and its figures.
    #[serde(flatten)]
    pub reason: InvalidReason,
}

impl From<InvalidReason> for Invalid {
    fn from(reason: InvalidReason) -> Self {
        Self {
            says: reason.to_string(),
            reason,
        }
    }
}

/// What makes a trial invalid; `id` names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "id", rename_all = "kebab-case")]
pub enum InvalidReason {
    /// The load generator used more of its CPUs than it may.
    LoadToolCpu {
        /// Share of its CPUs that it used, of one.
        used: f64,
        /// How many CPUs it had.
        cpus: u32,
        /// Share from which it counts as the limit.
        at_most: f64,
    },
    /// The load generator started requests after their time.
    LoadToolLate {
        /// Share of the requests, of one.
        share: f64,
        /// Share from which it counts.
        at_most: f64,
        /// Milliseconds after which a start is late.
        late_ms: f64,
    },
    /// The load generator wrote samples too late for their second.
    LoadToolWroteLate {
        /// How many samples.
        samples: u64,
    },
    /// The load generator's machine had no port or file left for its connections.
    LoadToolNoPort {
        /// How many connections were not made.
        connections: u64,
    },
    /// The load generator wrote rows of samples that cannot be read.
    RowsUnreadable {
        /// How many rows.
        rows: u64,
    },
    /// The plan was refused files that it asked for.
    FilesRefused {
        /// How many files.
        files: usize,
        /// What was refused of the first.
        first: String,
    },
    /// Data files could not be read, and users ended for want of them.
    FilesUnread {
        /// How many files.
        files: usize,
        /// The first, with the reason and how many users ended.
        first: String,
    },
    /// The measured window is not steady.
    NotSteady {
        /// What speaks against it.
        why: NotSteady,
    },
    /// The watch missed seconds.
    SecondsMissed {
        /// How many.
        missed: usize,
        /// Of how many.
        of: usize,
    },
    /// Another machine told nothing of seconds.
    SecondsUnseen {
        /// How many.
        unseen: usize,
        /// Of how many.
        of: usize,
        /// The machine.
        host: String,
    },
    /// Somebody else changed a setting while the trial ran.
    SettingChanged {
        /// Which: a stage, or `native.WORD`.
        setting: String,
        /// What it was set to.
        set: f64,
        /// What it was at the end.
        now: f64,
    },
    /// Each connection was refused from some second to the end of the window.
    NobodyAnswers {
        /// The first such second of the trial.
        since_s: u64,
        /// How many samples were refused from then on.
        refused: u64,
    },
    /// Nothing was answered in the window.
    NothingAnswered,
    /// The run is of a version that told its reasons in words only.
    Untold,
}

impl InvalidReason {
    /// Whether it is that the load generator could not do its work; `None` where nobody can tell.
    pub fn is_load_tool(&self) -> Option<bool> {
        match self {
            Self::LoadToolCpu { .. }
            | Self::LoadToolLate { .. }
            | Self::LoadToolWroteLate { .. }
            | Self::LoadToolNoPort { .. } => Some(true),
            Self::RowsUnreadable { .. }
            | Self::FilesRefused { .. }
            | Self::FilesUnread { .. }
            | Self::NotSteady { .. }
            | Self::SecondsMissed { .. }
            | Self::SecondsUnseen { .. }
            | Self::SettingChanged { .. }
            | Self::NobodyAnswers { .. }
            | Self::NothingAnswered => Some(false),
            Self::Untold => None,
        }
    }
}

impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoadToolCpu {
                used,
                cpus,
                at_most,
            } => write!(
                f,
                "the load generator was the limit: it used {:.0} % of its {cpus} CPU(s), more than {:.0} %; \
                 give it more CPUs or less to send",
                used * 100.0,
                at_most * 100.0
            ),
            Self::LoadToolLate { share, late_ms, .. } => write!(
                f,
                "the load generator was late: {:.1} % of its requests started more than {late_ms} ms after their time",
                share * 100.0
            ),
            Self::LoadToolWroteLate { samples } => write!(
                f,
                "the load generator, JMeter, wrote {samples} sample(s) too late for their second"
            ),
            Self::LoadToolNoPort { connections } => write!(
                f,
                "this machine had no port or file left for {connections} connection(s) of the load generator"
            ),
            Self::RowsUnreadable { rows } => {
                write!(f, "JMeter wrote {rows} row(s) that cannot be read")
            }
            Self::FilesRefused { files, first } => {
                write!(f, "the plan was refused {files} file(s): {first}")
            }
            Self::FilesUnread { files, first } => {
                write!(f, "{files} data file(s) could not be read: {first}")
            }
            Self::NotSteady { why } => write!(f, "not steady: {why}"),
            Self::SecondsMissed { missed, of } => {
                write!(f, "{missed} of {of} seconds were missed by the watch")
            }
            Self::SecondsUnseen { unseen, of, host } => write!(
                f,
                "{unseen} of {of} seconds could not be read from {host} over ssh (the connection was \
                 lost or too slow)"
            ),
            Self::SettingChanged { setting, set, now } => write!(
                f,
                "{setting} was set to {set} and is {now} at the end of the trial: somebody else has changed it"
            ),
            Self::NobodyAnswers { since_s, refused } => write!(
                f,
                "nobody has answered from second {since_s} on: each of {refused} connection(s) was refused"
            ),
            Self::NothingAnswered => f.write_str("nothing was answered in the measured window"),
            Self::Untold => f.write_str("the run does not say why"),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_written_with_its_figures_beside_its_sentence() {
        let invalid = Invalid::from(InvalidReason::LoadToolCpu {
            used: 0.96,
            cpus: 2,
            at_most: 0.8,
        });
        let json = serde_json::to_value(&invalid).unwrap();
        let expected = serde_json::json!({
            "id": "load-tool-cpu", "used": 0.96, "cpus": 2, "at_most": 0.8,
            "says": "the load generator was the limit: it used 96 % of its 2 CPU(s), more than 80 %; \
                     give it more CPUs or less to send",
        });
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Invalid>(json).unwrap(), invalid);

        let why = NotSteady::TooShort {
            bins: 3,
            needed: 12,
        };
        let invalid = Invalid::from(InvalidReason::NotSteady { why });
        let json = serde_json::to_value(&invalid).unwrap();
        assert_eq!(json["why"]["too-short"]["needed"], 12);
        assert_eq!(serde_json::from_value::<Invalid>(json).unwrap(), invalid);
    }
}
