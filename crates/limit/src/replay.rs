//! Vectors: times and outcomes in, decisions out, as data that any language can replay.
//!
//! A vector is a list of steps. Each says when something happens and what; and what an
//! implementation has to say to it. The format stands in `docs/reference/limit-vectors.md`; the
//! committed vectors in `crates/limit/vectors`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::admission::Admission;
use crate::decision::{Decision, Kind, Outcome, Permit, Refusal, Ticket, Waited, Why};
use crate::moment::{Moment, nanos};
use crate::pause::{PauseControl, PauseRules};
use crate::rules::Rules;

/// Limits are compared with this relative tolerance: languages differ in the last digit of what
/// they compute.
const TOLERANCE: f64 = 1e-9;

/// One vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// What it shows.
    pub about: String,
    /// What is replayed.
    pub script: Script,
}

/// What is replayed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Script {
    /// Requests at an admission.
    Admission {
        /// What is held.
        rules: Rules,
        /// What happens, in the order of time.
        steps: Vec<Step>,
    },
    /// Test points of work that pauses.
    Pause {
        /// How it pauses.
        rules: PauseRules,
        /// The test points, in the order of time.
        steps: Vec<TestPoint>,
    },
}

/// Something that happens at an admission, and what it says to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When, in nanoseconds.
    pub at: Moment,
    /// What.
    pub act: Act,
    /// Who is told what, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
    /// When it wants to be woken afterwards, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Moment>,
    /// The limit on requests in flight afterwards; none if it is infinite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// Something that happens at an admission. Requests are named by numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// One arrives.
    Arrive {
        /// Its number.
        request: u64,
        /// The index of its class.
        class: usize,
    },
    /// One that was admitted is over.
    Finish {
        /// Its number.
        request: u64,
        /// From admission to its end.
        response_ns: u64,
        /// How it ended.
        kind: Kind,
    },
    /// The client of one that waits has left.
    Abandon {
        /// Its number.
        request: u64,
    },
    /// Time has passed.
    Wake,
    /// The busy share of the CPUs is read.
    ReadCpu(f64),
}

/// What a request is told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// Its number.
    pub request: u64,
    /// What.
    pub is: Said,
}

/// What a request is told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Said {
    /// It goes on.
    Admitted,
    /// It waits.
    Queued,
    /// It is rejected.
    Refused {
        /// Why.
        why: Why,
        /// When it would be admitted.
        retry_after_ns: u64,
    },
}

/// A test point of work that pauses, and what it is told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestPoint {
    /// When, in nanoseconds.
    pub at: Moment,
    /// Progress since the last.
    pub done: f64,
    /// Time in which the work stood still on its own account.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paused_ns: u64,
    /// How long it is to pause; none if not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ns: Option<u64>,
}

/// A step at which something else was said than the vector has.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// The index of the step.
    pub step: usize,
    /// The step as the vector has it.
    pub expected: String,
    /// The step as it was.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            expected,
            found,
        } = self;
        write!(f, "step {step} is {found}, not {expected}")
    }
}

impl std::error::Error for Mismatch {}

impl Vector {
    /// Replays it and compares every step.
    pub fn replay(&self) -> Result<(), Mismatch> {
        let mismatch = |step: usize, expected: &dyn fmt::Debug, found: &dyn fmt::Debug| {
            Err(Mismatch {
                step,
                expected: format!("{expected:?}"),
                found: format!("{found:?}"),
            })
        };
        match (&self.script, &self.recorded().script) {
            (Script::Admission { steps, .. }, Script::Admission { steps: found, .. }) => {
                let mut pairs = steps.iter().zip(found);
                match pairs.position(|(expected, found)| !expected.agrees(found)) {
                    Some(step) => mismatch(step, &steps[step], &found[step]),
                    None => Ok(()),
                }
            }
            (Script::Pause { steps, .. }, Script::Pause { steps: found, .. }) => {
                match steps
                    .iter()
                    .zip(found)
                    .position(|(expected, found)| expected != found)
                {
                    Some(step) => mismatch(step, &steps[step], &found[step]),
                    None => Ok(()),
                }
            }
            _ => unreachable!("a recording is of the same kind"),
        }
    }

    /// The recorded happenings with what is said to them now.
    #[must_use]
    pub fn recorded(&self) -> Self {
        let script = match &self.script {
            Script::Admission { rules, steps } => {
                let mut player =
                    Player::new(rules, steps.first().map_or(Moment(0), |step| step.at));
                Script::Admission {
                    rules: rules.clone(),
                    steps: steps
                        .iter()
                        .map(|step| player.step(step.at, step.act))
                        .collect(),
                }
            }
            Script::Pause { rules, steps } => Script::Pause {
                rules: *rules,
                steps: record_pauses(*rules, steps),
            },
        };
        Self {
            about: self.about.clone(),
            script,
        }
    }
}

impl Step {
    fn agrees(&self, found: &Self) -> bool {
        let limits = match (self.limit, found.limit) {
            (Some(limit), Some(found)) => (limit - found).abs() <= TOLERANCE * limit.abs(),
            (limit, found) => limit.is_none() && found.is_none(),
        };
        limits && self.told == found.told && self.wake == found.wake
    }
}

fn record_pauses(rules: PauseRules, steps: &[TestPoint]) -> Vec<TestPoint> {
    let mut control = PauseControl::new(rules, Moment(0));
    let points = steps.iter().map(|point| {
        let paused = Duration::from_nanos(point.paused_ns);
        let pause = control.test_point(point.done, paused, point.at);
        TestPoint {
            pause_ns: pause.map(nanos),
            ..*point
        }
    });
    points.collect()
}

/// An admission with the numbers of the requests.
pub struct Player {
    admission: Admission,
    permits: BTreeMap<u64, Permit>,
    tickets: Vec<(Ticket, u64)>,
}

impl Player {
    /// With nobody in flight.
    pub fn new(rules: &Rules, now: Moment) -> Self {
        Self {
            admission: Admission::new(rules, now),
            permits: BTreeMap::new(),
            tickets: Vec::new(),
        }
    }

    /// The requests in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = u64> {
        self.permits.keys().copied()
    }

    /// Lets something happen, and says what comes of it. What is about a request that is not there
    /// does nothing.
    pub fn step(&mut self, at: Moment, act: Act) -> Step {
        let mut told = Vec::new();
        match act {
            Act::Arrive { request, class } => {
                let is = match self.admission.arrive(class, at) {
                    Decision::Admitted(permit) => {
                        self.permits.insert(request, permit);
                        Said::Admitted
                    }
                    Decision::Queued(ticket) => {
                        self.tickets.push((ticket, request));
                        Said::Queued
                    }
                    Decision::Refused(refusal) => refusal.into(),
                };
                told.push(Told { request, is });
            }
            Act::Finish {
                request,
                response_ns,
                kind,
            } => {
                if let Some(permit) = self.permits.remove(&request) {
                    let response_time = Duration::from_nanos(response_ns);
                    let outcome = Outcome {
                        response_time,
                        kind,
                    };
                    self.admission.finish(permit, outcome, at);
                }
            }
            Act::Abandon { request } => {
                if let Some(place) = self.tickets.iter().position(|(_, of)| *of == request) {
                    let (ticket, _) = self.tickets.remove(place);
                    self.admission.abandon(ticket, at);
                }
            }
            Act::Wake => {}
            Act::ReadCpu(busy) => self.admission.read_cpu(busy, at),
        }
        self.fetch(at, &mut told);
        let limit = self.admission.limit();
        Step {
            at,
            act,
            told,
            wake: self.admission.next_wake(),
            limit: limit.is_finite().then_some(limit),
        }
    }

    fn fetch(&mut self, at: Moment, told: &mut Vec<Told>) {
        while let Some(verdict) = self.admission.poll(at) {
            let place = self
                .tickets
                .iter()
                .position(|(ticket, _)| *ticket == verdict.ticket);
            let place = place.expect("only those who wait are told");
            let (_, request) = self.tickets.remove(place);
            let is = match verdict.decision {
                Waited::Granted(permit) => {
                    self.permits.insert(request, permit);
                    Said::Admitted
                }
                Waited::Refused(refusal) => refusal.into(),
            };
            told.push(Told { request, is });
        }
    }
}

impl From<Refusal> for Said {
    fn from(refusal: Refusal) -> Self {
        Self::Refused {
            why: refusal.why,
            retry_after_ns: nanos(refusal.retry_after),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
