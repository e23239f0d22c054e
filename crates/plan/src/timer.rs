//! Pauses before a sample; all delays in milliseconds.

use crate::{ElementId, Script, Template};

/// A timer.
#[derive(Debug, Clone, PartialEq)]
pub struct Timer<T = Template> {
    /// Identity: timers that keep a schedule share it among the samplers in scope.
    pub id: ElementId,
    /// How long it waits.
    pub kind: TimerKind<T>,
}

/// How long a timer waits.
#[derive(Debug, Clone, PartialEq)]
pub enum TimerKind<T = Template> {
    /// Always the same.
    Constant {
        /// The delay.
        delay_ms: T,
    },
    /// |U[0,1) × range + delay|, cut to whole milliseconds.
    Uniform {
        /// The offset.
        delay_ms: T,
        /// The width.
        range_ms: T,
    },
    /// |N(0,1) × deviation + delay|, cut to whole milliseconds.
    Gaussian {
        /// The mean before folding.
        delay_ms: T,
        /// The standard deviation before folding.
        deviation_ms: T,
    },
    /// |Poisson(λ) + delay|.
    Poisson {
        /// The offset.
        delay_ms: T,
        /// λ, in milliseconds.
        lambda_ms: T,
    },
    /// Slows down to so many samples a minute.
    ConstantThroughput {
        /// Samples a minute.
        per_minute: T,
        /// Who shares them.
        shared: ThroughputShare,
    },
    /// Exactly so many arrivals at random times in each period.
    PreciseThroughput(Box<PreciseThroughput<T>>),
    /// Waits until so many users wait.
    Synchronizing {
        /// How many; 0: all of the group.
        users: T,
        /// Longest wait; 0: for ever.
        timeout_ms: T,
    },
    /// Requests a second as a profile over time (jp@gc Throughput Shaping Timer).
    Shaping {
        /// The timer's name, under which it publishes its state as properties.
        name: T,
        /// One row after another.
        rows: Vec<ShapingRow<T>>,
    },
    /// A script whose value is the delay.
    Script(Box<Script<T>>),
}

/// Who shares the throughput of a Constant Throughput Timer: JMeter's modes 0 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThroughputShare {
    /// Each user has it for itself.
    #[default]
    ThisUser,
    /// Spread over all users that are alive.
    AllUsers,
    /// Spread over the users of the group that are alive.
    GroupUsers,
    /// One schedule for all.
    AllShared,
    /// One schedule for the group.
    GroupShared,
}

/// A Precise Throughput Timer.
#[derive(Debug, Clone, PartialEq)]
pub struct PreciseThroughput<T = Template> {
    /// Samples in each throughput period.
    pub throughput: T,
    /// The throughput period in seconds.
    pub period_s: T,
    /// Length of a schedule in seconds.
    pub duration_s: T,
    /// Arrivals at the same time.
    pub batch: T,
    /// Milliseconds between the arrivals of a batch.
    pub batch_delay_ms: T,
    /// Seed; 0 or empty: the run's.
    pub seed: T,
}

/// One row of a shaping profile.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapingRow<T = Template> {
    /// Requests a second at its start.
    pub from_per_s: T,
    /// Requests a second at its end; linear in between.
    pub to_per_s: T,
    /// Its length in seconds.
    pub seconds: T,
}

impl<T> ShapingRow<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> ShapingRow<U> {
        ShapingRow {
            from_per_s: f(&self.from_per_s),
            to_per_s: f(&self.to_per_s),
            seconds: f(&self.seconds),
        }
    }
}

impl<T> Timer<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Timer<U> {
        let kind = match &self.kind {
            TimerKind::Constant { delay_ms } => TimerKind::Constant {
                delay_ms: f(delay_ms),
            },
            TimerKind::Uniform { delay_ms, range_ms } => TimerKind::Uniform {
                delay_ms: f(delay_ms),
                range_ms: f(range_ms),
            },
            TimerKind::Gaussian {
                delay_ms,
                deviation_ms,
            } => TimerKind::Gaussian {
                delay_ms: f(delay_ms),
                deviation_ms: f(deviation_ms),
            },
            TimerKind::Poisson {
                delay_ms,
                lambda_ms,
            } => TimerKind::Poisson {
                delay_ms: f(delay_ms),
                lambda_ms: f(lambda_ms),
            },
            TimerKind::ConstantThroughput { per_minute, shared } => TimerKind::ConstantThroughput {
                per_minute: f(per_minute),
                shared: *shared,
            },
            TimerKind::PreciseThroughput(precise) => {
                TimerKind::PreciseThroughput(Box::new(PreciseThroughput {
                    throughput: f(&precise.throughput),
                    period_s: f(&precise.period_s),
                    duration_s: f(&precise.duration_s),
                    batch: f(&precise.batch),
                    batch_delay_ms: f(&precise.batch_delay_ms),
                    seed: f(&precise.seed),
                }))
            }
            TimerKind::Synchronizing { users, timeout_ms } => TimerKind::Synchronizing {
                users: f(users),
                timeout_ms: f(timeout_ms),
            },
            TimerKind::Shaping { name, rows } => TimerKind::Shaping {
                name: f(name),
                rows: rows.iter().map(|row| row.map(f)).collect(),
            },
            TimerKind::Script(script) => TimerKind::Script(Box::new(script.map(f))),
        };
        Timer { id: self.id, kind }
    }
}
