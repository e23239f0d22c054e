//! When the users of a group start and end, where that is not one ramp: the plugins' thread groups
//! and groups with an arrival process.
//!
//! The arithmetic of the Ultimate and the Stepping Thread Group was read from the plugins' sources
//! (jmeter-plugins, `casutg`); it works in whole milliseconds, and so does this.

use std::time::Duration;

use crate::Template;
use crate::rate::{RatePiece, RateProfile};
use crate::timer::ShapingRow;

/// When users start.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Starts<T = Template> {
    /// Along the group's ramp-up, each with the group's iterations and schedule.
    #[default]
    Ramp,
    /// Rows of users (jp@gc Ultimate Thread Group).
    Rows(Vec<UserRow<T>>),
    /// In steps up and down (jp@gc Stepping Thread Group); the group says how many users.
    Steps(Box<UserSteps<T>>),
    /// As many as are needed to have so many at a time (bzm Concurrency Thread Group).
    Level(Box<UserLevel<T>>),
    /// One iteration for each arrival: an open workload.
    Arrivals(Box<Arrivals<T>>),
}

/// One row of an Ultimate Thread Group; times in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRow<T = Template> {
    /// Users.
    pub users: T,
    /// Before the first of them starts.
    pub delay_s: T,
    /// Over which they start.
    pub startup_s: T,
    /// From the last start to the first end.
    pub hold_s: T,
    /// Over which they end.
    pub shutdown_s: T,
}

/// A Stepping Thread Group; times in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSteps<T = Template> {
    /// Before anything.
    pub delay_s: T,
    /// Users of the first step; 0: as in the others.
    pub burst: T,
    /// Users of each further step.
    pub step_users: T,
    /// From the end of one step's ramp to the next step.
    pub step_s: T,
    /// Ramp inside a step.
    pub ramp_s: T,
    /// From the last step to the first end.
    pub hold_s: T,
    /// Users that end together.
    pub stop_users: T,
    /// From one end to the next.
    pub stop_s: T,
}

/// A Concurrency Thread Group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserLevel<T = Template> {
    /// Users at a time; may change while the test runs.
    pub users: T,
    /// Ramp-up, in units.
    pub ramp_up: T,
    /// Steps of the ramp-up; 0 or empty: linear.
    pub steps: T,
    /// How long the level is held, in units.
    pub hold: T,
    /// `M`: the unit is the minute, else the second.
    pub unit: T,
    /// Iterations of each user; 0 or empty: no bound.
    pub iterations_max: T,
}

/// An arrival process and what it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals<T = Template> {
    /// When iterations start.
    pub schedule: ArrivalSchedule<T>,
    /// Users at a time; 0 or empty: as many as Weir allows.
    pub users_max: T,
    /// Arrivals in all; 0 or empty: no bound.
    pub arrivals_max: T,
    /// Iterations of each user; 0 or empty: no bound.
    pub iterations_max: T,
    /// What becomes of an arrival while all users are busy.
    pub when_full: WhenFull,
    /// Each arrival is a new user; else users go on with the next arrival.
    pub new_users: bool,
}

/// What becomes of an arrival while there are as many users as there may be and all are busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// It waits for the next user that is free; its response time counts from when it was due.
    #[default]
    Wait,
    /// It does not happen, as in the plugin's Arrivals Thread Group.
    Skip,
}

/// When arrivals are, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrivalSchedule<T = Template> {
    /// Weir's own.
    Profile {
        /// The rate over time.
        rate: RateProfile,
        /// How arrivals lie in it.
        process: ArrivalProcess,
    },
    /// The language of JMeter's Open Model Thread Group.
    OpenModel {
        /// `rate(1/s) random_arrivals(1 min) …`.
        text: T,
        /// Seed; 0 or empty: the run's.
        seed: T,
    },
    /// bzm Arrivals Thread Group.
    Ramp {
        /// Arrivals a unit.
        level: T,
        /// Ramp-up, in units.
        ramp_up: T,
        /// Steps of the ramp-up; 0 or empty: linear.
        steps: T,
        /// How long the level is held, in units.
        hold: T,
        /// `M`: the unit is the minute, else the second.
        unit: T,
        /// How arrivals lie in it; the plugin's are even.
        process: ArrivalProcess,
    },
    /// bzm Free-Form Arrivals Thread Group.
    Rows {
        /// One after the other; rates a unit, lengths in units.
        rows: Vec<ShapingRow<T>>,
        /// `M`: the unit is the minute, else the second.
        unit: T,
    },
}

/// How arrivals lie in the rate that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArrivalProcess {
    /// Arrival n is at Λ⁻¹(n), the first at 0: evenly where the rate is constant.
    #[default]
    Constant,
    /// A Poisson process with this rate: independent, exponential gaps where the rate is constant.
    Poisson,
    /// In each stretch as many as are expected in it, cut to a whole number, each at a moment of
    /// its own drawn by the rate: a Poisson process of which the number is known. JMeter's
    /// `random_arrivals`.
    FixedRandom,
    /// In each stretch as many as are expected in it, cut to a whole number: arrival n at Λ⁻¹(n) of
    /// the stretch. JMeter's `even_arrivals`.
    FixedEven,
}

impl ArrivalProcess {
    /// These starts without an end: a number that is known needs one.
    #[must_use]
    pub fn endless(self) -> Self {
        match self {
            Self::Constant | Self::FixedEven => Self::Constant,
            Self::Poisson | Self::FixedRandom => Self::Poisson,
        }
    }
}

/// A stretch of an arrival process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrivalStep {
    /// The rate.
    pub rate: RatePiece,
    /// How arrivals lie in it.
    pub process: ArrivalProcess,
}

/// From when to when a user lives, from the start of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserLife {
    /// Its start.
    pub start: Duration,
    /// Its end.
    pub end: Duration,
}

impl UserLife {
    fn ms(start: i64, end: i64) -> Self {
        let time = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
        Self {
            start: time(start),
            end: time(end),
        }
    }
}

impl UserRow<i64> {
    /// Its users in the order of their numbers: the first starts last and ends last.
    pub fn lives(&self) -> impl Iterator<Item = UserLife> {
        let row = self.clone();
        let users = row.users.max(0);
        (1..=users).rev().map(move |left| {
            let share = |seconds: i64| (1_000.0 * (seconds * left) as f64 / users as f64).floor();
            let start = 1_000 * row.delay_s + share(row.startup_s) as i64;
            let descent = 1_000 * (row.delay_s + row.startup_s + row.hold_s);
            UserLife::ms(start, descent + share(row.shutdown_s) as i64)
        })
    }
}

impl UserSteps<i64> {
    /// So many users in the order of their numbers.
    pub fn lives(&self, users: u32) -> impl Iterator<Item = UserLife> {
        let steps = self.clone();
        let users = i64::from(users);
        let or_all = |count: i64| if count <= 0 { users.max(1) } else { count };
        let (step, stop) = (or_all(steps.step_users), or_all(steps.stop_users));
        let burst = match steps.burst.min(users) {
            burst if burst <= 0 => step,
            burst => burst,
        };
        let ramp_ms = 1_000 * steps.ramp_s;
        let step_ms = 1_000 * steps.step_s + ramp_ms;
        let ascent = 1_000 * steps.delay_s;
        let further = (users - burst).max(0);
        let full_steps = if users < burst {
            1
        } else {
            further.div_euclid(step) + i64::from(further % step != 0)
        };
        // The remainder of Java, which keeps the sign.
        let last_step = match (users - burst) % step {
            0 => step,
            last => last,
        };
        let descent =
            ascent + full_steps * step_ms + ramp_ms / step * last_step + 1_000 * steps.hold_s;
        (0..users).map(move |user| {
            let (bucket, place, size) = if user < burst {
                (0, user, burst)
            } else {
                let after = user - burst;
                (1 + after / step, after % step, step)
            };
            let start = ascent + bucket * step_ms + place * (ramp_ms / size);
            UserLife::ms(start, descent + 1_000 * steps.stop_s * (user / stop))
        })
    }
}

impl<T> Starts<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Starts<U> {
        match self {
            Self::Ramp => Starts::Ramp,
            Self::Rows(rows) => Starts::Rows(rows.iter().map(|row| row.map(f)).collect()),
            Self::Steps(steps) => Starts::Steps(Box::new(steps.map(f))),
            Self::Level(level) => Starts::Level(Box::new(UserLevel {
                users: f(&level.users),
                ramp_up: f(&level.ramp_up),
                steps: f(&level.steps),
                hold: f(&level.hold),
                unit: f(&level.unit),
                iterations_max: f(&level.iterations_max),
            })),
            Self::Arrivals(arrivals) => Starts::Arrivals(Box::new(Arrivals {
                schedule: arrivals.schedule.map(f),
                users_max: f(&arrivals.users_max),
                arrivals_max: f(&arrivals.arrivals_max),
                iterations_max: f(&arrivals.iterations_max),
                when_full: arrivals.when_full,
                new_users: arrivals.new_users,
            })),
        }
    }
}

impl<T> UserRow<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> UserRow<U> {
        UserRow {
            users: f(&self.users),
            delay_s: f(&self.delay_s),
            startup_s: f(&self.startup_s),
            hold_s: f(&self.hold_s),
            shutdown_s: f(&self.shutdown_s),
        }
    }
}

impl<T> UserSteps<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> UserSteps<U> {
        UserSteps {
            delay_s: f(&self.delay_s),
            burst: f(&self.burst),
            step_users: f(&self.step_users),
            step_s: f(&self.step_s),
            ramp_s: f(&self.ramp_s),
            hold_s: f(&self.hold_s),
            stop_users: f(&self.stop_users),
            stop_s: f(&self.stop_s),
        }
    }
}

impl<T> ArrivalSchedule<T> {
    fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> ArrivalSchedule<U> {
        match self {
            Self::Profile { rate, process } => ArrivalSchedule::Profile {
                rate: rate.clone(),
                process: *process,
            },
            Self::OpenModel { text, seed } => ArrivalSchedule::OpenModel {
                text: f(text),
                seed: f(seed),
            },
            Self::Ramp {
                level,
                ramp_up,
                steps,
                hold,
                unit,
                process,
            } => ArrivalSchedule::Ramp {
                level: f(level),
                ramp_up: f(ramp_up),
                steps: f(steps),
                hold: f(hold),
                unit: f(unit),
                process: *process,
            },
            Self::Rows { rows, unit } => ArrivalSchedule::Rows {
                rows: rows.iter().map(|row| row.map(f)).collect(),
                unit: f(unit),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(lives: impl Iterator<Item = UserLife>) -> Vec<(u128, u128)> {
        lives
            .map(|life| (life.start.as_millis(), life.end.as_millis()))
            .collect()
    }

    /// By hand from the plugin's formula.
    #[test]
    fn a_row_starts_and_ends_its_users() {
        let row = UserRow {
            users: 4,
            delay_s: 10,
            startup_s: 2,
            hold_s: 5,
            shutdown_s: 1,
        };
        let expected = [
            (12_000, 18_000),
            (11_500, 17_750),
            (11_000, 17_500),
            (10_500, 17_250),
        ];
        assert_eq!(millis(row.lives()), expected);
        let nobody = UserRow { users: 0, ..row };
        assert_eq!(nobody.lives().count(), 0);
    }

    /// By hand from the plugin's formula: 5 users, first 1, then 2 each 3 s with a ramp of 1 s.
    #[test]
    fn steps_go_up_and_down() {
        let steps = UserSteps {
            delay_s: 2,
            burst: 1,
            step_users: 2,
            step_s: 3,
            ramp_s: 1,
            hold_s: 10,
            stop_users: 3,
            stop_s: 1,
        };
        // The descent begins at 2 + 2 steps of 4 + the last step's ramp of 1 + 10 = 21 s.
        let expected = [
            (2_000, 21_000),
            (6_000, 21_000),
            (6_500, 21_000),
            (10_000, 22_000),
            (10_500, 22_000),
        ];
        assert_eq!(millis(steps.lives(5)), expected);
        assert_eq!(steps.lives(0).count(), 0);
    }

    #[test]
    fn nothing_divides_by_zero() {
        let steps = UserSteps {
            delay_s: 0,
            burst: 0,
            step_users: 0,
            step_s: 0,
            ramp_s: 0,
            hold_s: 1,
            stop_users: 0,
            stop_s: 0,
        };
        assert_eq!(millis(steps.lives(2)), [(0, 1_000), (0, 1_000)]);
    }
}
