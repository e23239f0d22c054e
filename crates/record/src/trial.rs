//! The record of one trial: what `trial.json` holds.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_metric::names;
use weir_stats::Estimate;

use crate::adjustment::{Adjustment, AdjustmentKind};
use crate::invalid::{Invalid, InvalidReason};
use crate::runner::TargetFacts;
use crate::treatment::{Levels, Role};

/// Somebody waits for a stage at this share of the looks: it counts as always full.
const ALWAYS: f64 = 0.95;

/// Everything that is known about one trial; all figures are over its measured window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// Number of the trial in its run, from 1.
    pub id: u32,
    /// Why it was run.
    pub role: Role,
    /// The case of the design that it belongs to.
    pub case: Option<String>,
    /// The block in which it was run, from 1: what is compared within blocks belongs together.
    /// Absent outside of sweeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// The level of every factor that was set.
    pub levels: Levels,
    /// Virtual users of all thread groups together.
    pub population: u32,
    /// Seconds from the start of the load to the measured window.
    pub warm_up_s: f64,
    /// Length of the measured window in seconds.
    pub window_s: f64,
    /// How often the trial had been thrown away and run again before this attempt.
    pub repeats: u32,
    /// Whether its figures may be used.
    pub valid: bool,
    /// Why not, in sentences; empty when valid.
    pub invalid_because: Vec<String>,
    /// These reasons with their figures; absent when valid, and in runs of versions that told
    /// them in sentences only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid: Vec<Invalid>,
    /// What a reader should know although the trial is valid.
    pub notes: Vec<String>,
    /// Samples answered per second, failed ones included.
    pub throughput_per_s: f64,
    /// Response times in milliseconds.
    pub response_time_ms: ResponseTime,
    /// Samples that failed.
    pub errors: Errors,
    /// How many of those that did not fail had each response code; absent where nobody told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub succeeded_by_code: BTreeMap<String, u64>,
    /// CPU of the target's CPUs; absent when it could not be read.
    pub cpu: Option<CpuRecord>,
    /// Means over the window of every signal that was read, by name.
    pub signals: BTreeMap<String, f64>,
    /// Where each of these signals came from, for those that the watch read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub signal_origins: BTreeMap<String, String>,
    /// Units of the application's own figures (`app.NAME`) for which the study gives one: `s`,
    /// `/s`, `B`, `%`. Those of all other signals stand in the reference of signals.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub own_units: BTreeMap<String, String>,
    /// Signals that were asked for and could not be read, each with the reason and what to do
    /// about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_read: BTreeMap<String, String>,
    /// The figures for each sample label.
    pub classes: BTreeMap<String, ClassRecord>,
    /// What was sent again, left out or summed up, each with its count; absent where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<Adjustment>,
    /// What only an open workload has; absent when the load is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenRecord>,
    /// The interval of each figure that has one: `throughput_per_s`, `cpu`,
    /// `response_time_ms.mean`, `response_time_ms.p50` …
    pub intervals: BTreeMap<String, Estimate>,
}

impl TrialRecord {
    /// The level of a factor, when it is a number.
    pub fn level(&self, factor: &str) -> Option<f64> {
        self.levels.get(factor)?.number()
    }

    /// Takes down why its figures may not be used.
    pub(crate) fn invalidate(&mut self, reason: InvalidReason) {
        let invalid = Invalid::from(reason);
        self.valid = false;
        self.invalid_because.push(invalid.says.clone());
        self.invalid.push(invalid);
    }

    /// Why its figures may not be used. Of runs that told it in sentences only, the sentences.
    pub fn reasons(&self) -> Vec<Invalid> {
        if !self.invalid.is_empty() {
            return self.invalid.clone();
        }
        let untold = |says: &String| Invalid {
            says: says.clone(),
            reason: InvalidReason::Untold,
        };
        self.invalid_because.iter().map(untold).collect()
    }

    /// Takes down what was sent again, left out or summed up, also as a note.
    pub fn adjust(&mut self, adjustments: impl IntoIterator<Item = Adjustment>) {
        for adjustment in adjustments {
            self.notes.push(adjustment.says.clone());
            self.adjustments.push(adjustment);
        }
    }

    /// Takes down how many arrivals were due in the window, and with it the share that was missed.
    pub fn note_due(&mut self, due: u64) {
        let Some(open) = self.open.as_mut().filter(|_| due > 0) else {
            return;
        };
        open.due = Some(due);
        let behind = due.saturating_sub(open.samples) as f64;
        let in_flight = self.signals.get(names::IN_FLIGHT).copied();
        let missed = beyond_chance(behind, in_flight.unwrap_or_default()) / due as f64;
        self.signals.insert(names::MISSED.to_owned(), missed);
    }

    /// Takes down how many bytes the load received and sent a second.
    pub fn note_bytes(&mut self, received_per_s: f64, sent_per_s: f64) {
        for (name, rate) in [(names::RECEIVED, received_per_s), (names::SENT, sent_per_s)] {
            self.signals.insert(name.to_owned(), rate);
        }
    }

    /// A load that falls behind its rate is never steady. That alone does not make its trial
    /// invalid where the question is which rate is kept: it says that this one is not.
    pub fn count_as_fallen_behind(&mut self) {
        let not_steady =
            |invalid: &Invalid| matches!(invalid.reason, InvalidReason::NotSteady { .. });
        if self.invalid.is_empty() || !self.invalid.iter().all(not_steady) {
            return;
        }
        let missed = self.signals.get(names::MISSED).copied().unwrap_or_default();
        self.count_all_the_same(format!(
            "it fell behind its rate ({:.1} % of what was due was not answered): response times grow for as long as it \
             lasts",
            missed * 100.0
        ));
    }

    /// What spoke against it does not, with a note in its place.
    fn count_all_the_same(&mut self, note: String) {
        self.valid = true;
        self.invalid.clear();
        self.invalid_because.clear();
        self.notes.push(note);
    }

    /// Requests that fail at once keep the load generator busy. That alone does not make a trial
    /// invalid where the question is up to where they do not fail: here they do.
    pub fn count_as_failing(&mut self) {
        let is_busy = |invalid: &Invalid| {
            matches!(
                invalid.reason,
                InvalidReason::LoadToolCpu { .. }
                    | InvalidReason::LoadToolLate { .. }
                    | InvalidReason::NotSteady { .. }
            )
        };
        if self.invalid.is_empty() || !self.fails() || !self.invalid.iter().all(is_busy) {
            return;
        }
        self.count_all_the_same(format!(
            "{:.1} % of the requests failed, so quickly that they kept the load generator busy: that they fail is all that \
             this trial says",
            self.errors.share * 100.0
        ));
    }

    /// Whether most requests failed, so that its figures are not those of the work that was asked
    /// for.
    pub fn fails(&self) -> bool {
        self.errors.share > FAILING
    }

    /// Notes what became of arrivals that did not start, in the whole load.
    pub fn note_arrivals(&mut self, not_started: u64, skipped: u64) {
        let Some(open) = &mut self.open else {
            return;
        };
        (open.not_started, open.skipped) = (not_started, skipped);
        let not_started = Adjustment::counted(AdjustmentKind::NotStarted, not_started, || {
            format!(
                "{not_started} request(s) of the schedule had not started when the load ended, because all users \
                 were busy. Their response times, which would be the longest, are in no figure"
            )
        });
        let skipped = Adjustment::counted(AdjustmentKind::Skipped, skipped, || {
            format!(
                "{skipped} arrival(s) were skipped, because the group had reached its concurrency limit"
            )
        });
        self.adjust(not_started.into_iter().chain(skipped));
    }

    /// Samples of the window that were answered with a redirect or by way of one: their share of
    /// all, and about how many; `None` where nobody counted them.
    pub fn redirected(&self) -> Option<(f64, f64)> {
        let redirects = self.signals.get(names::REDIRECTS)?;
        // Of the same seconds: the last one of a run may be a part of a second.
        let samples = self.signals.get(names::THROUGHPUT);
        let samples = *samples.unwrap_or(&self.throughput_per_s);
        let share = redirects / samples;
        (samples > 0.0).then_some((share, share * self.throughput_per_s * self.window_s))
    }

    /// Answers a second, where samples count that had none: the throughput has refusals too. `None`
    /// where all had one.
    pub fn answered_per_s(&self) -> Option<f64> {
        let without = self.errors.unanswered_share();
        (without > 0.0).then_some(self.throughput_per_s * (1.0 - without))
    }

    /// Requests in flight that had no answer in the whole window, on average: those in flight less
    /// those that Little's law makes of the answered ones, L − X·R. `None` where that is no more
    /// than the window's edges make of it, for an open load, and where nobody counted.
    pub fn starved(&self) -> Option<f64> {
        let in_flight = *self.signals.get(names::IN_FLIGHT)?;
        if self.open.is_some() || self.throughput_per_s <= 0.0 {
            return None;
        }
        let mean_s = self.response_time_ms.mean / 1e3;
        let starved = in_flight - self.throughput_per_s * mean_s;
        // Users in step end their requests in bursts, of which a window has one more or less.
        let edges = STARVED_EDGES * in_flight * mean_s / self.window_s;
        // It is looked at once a second. Of N users that think, a number in flight has the variance
        // of a binomial distribution at most, L (1 − L/N); of those that do not, none.
        let thinking = 1.0 - in_flight / f64::from(self.population).max(in_flight);
        let looks = STARVED_LOOKS * (in_flight * thinking / self.window_s).sqrt();
        let least = STARVED_LEAST.max(STARVED_SHARE * in_flight);
        let least = least.max(edges).max(looks);
        (starved >= least).then_some(starved)
    }

    /// The mean response time over all requests in flight, those without an answer included, in
    /// milliseconds: Little's law, L / X. `None` where all had one.
    pub fn mean_of_all_ms(&self) -> Option<f64> {
        self.starved()?;
        Some(1e3 * self.signals.get(names::IN_FLIGHT)? / self.throughput_per_s)
    }

    /// What a quantile of the response time of all users is at least, in milliseconds: where more
    /// of them than it leaves out had no answer in the whole window, that window.
    pub fn quantile_of_all_ms(&self, quantile: f64) -> Option<f64> {
        let share = self.starved()? / self.signals.get(names::IN_FLIGHT)?;
        (share > 1.0 - quantile).then_some(1e3 * self.window_s)
    }

    /// Notes that users had no answer, of whom the response times say nothing.
    pub fn note_starved(&mut self) {
        let Some(starved) = self.starved() else {
            return;
        };
        let in_flight = self.signals.get(names::IN_FLIGHT).copied();
        let in_flight = in_flight.unwrap_or_default();
        let backlog = self.signals.get("backlog.occupancy").copied();
        let where_ = if backlog.is_some_and(|waiting| waiting > starved / 2.0) {
            ". They wait to be accepted, while connections that are kept have all there is to serve them"
        } else {
            ""
        };
        self.notes.push(format!(
            "{starved:.1} of {in_flight:.1} requests in flight had no answer in the whole window: the response times are \
             those of the others; over all of them the mean is {:.0} ms by Little's law{where_}",
            self.mean_of_all_ms().unwrap_or_default()
        ));
    }

    /// Notes that responses were redirects, when it is more than an exception.
    pub fn note_redirects(&mut self, share_min: f64) {
        let Some((share, count)) = self.redirected().filter(|(share, _)| *share >= share_min)
        else {
            return;
        };
        self.notes.push(format!(
            "{:.0} % of the responses (about {count:.0}) were redirects or came by way of one. Where they lead may be \
             quick and not what was meant, such as a login page",
            share * 100.0
        ));
    }

    /// Notes the rate at which a load of a fixed number of requests was answered once it had
    /// settled.
    pub fn note_steady_rate(&mut self, rate: Estimate) {
        let name = names::THROUGHPUT_STEADY;
        self.signals.insert(name.to_owned(), rate.value);
        self.intervals.insert(name.to_owned(), rate);
    }

    /// Time-averaged number of requests that waited to get into a stage.
    pub fn waiting(&self, stage: &str) -> Option<f64> {
        self.signals.get(&format!("{stage}.waiting")).copied()
    }

    /// Time-averaged occupancy of a stage.
    pub fn occupancy(&self, stage: &str) -> Option<f64> {
        self.signals.get(&format!("{stage}.occupancy")).copied()
    }

    /// The limit of a stage in it: as read, as set, as found.
    pub fn limit(&self, stage: &str, facts: &TargetFacts) -> Option<f64> {
        let read = self.signals.get(&format!("{stage}.limit")).copied();
        read.or_else(|| self.level(stage))
            .or_else(|| facts.stage(stage)?.limit)
    }

    /// The share of a stage's places that were taken on average.
    pub fn taken(&self, stage: &str, facts: &TargetFacts) -> Option<f64> {
        Some(self.occupancy(stage)? / self.limit(stage, facts)?)
    }

    /// Takes the places of stages as taken of which nothing but that is known, because at nearly
    /// every look somebody waited for one.
    pub fn take_full_stages(&mut self, facts: &TargetFacts) {
        let full: Vec<(String, f64)> = self
            .signals
            .iter()
            .filter(|(_, share)| **share >= ALWAYS)
            .filter_map(|(name, share)| {
                let stage = name.strip_suffix(".full")?;
                let limit = self.limit(stage, facts)?;
                Some((format!("{stage}.occupancy"), share * limit))
            })
            .collect();
        for (name, taken) in full {
            if !self.signals.contains_key(&name) {
                let origin = "derived: somebody waited for a place at nearly every look";
                self.signal_origins.insert(name.clone(), origin.to_owned());
                self.signals.insert(name, taken);
            }
        }
    }

    /// Mean wait to get into a stage, in seconds.
    pub fn wait_s(&self, stage: &str) -> Option<f64> {
        self.signals.get(&format!("{stage}.wait")).copied()
    }
}

/// Response times in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResponseTime {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Longest.
    pub max: f64,
}

/// Where more than this share of the requests fail, the others are the exception.
const FAILING: f64 = 0.5;
/// Fewer than this many requests without an answer are chance …
const STARVED_LEAST: f64 = 1.0;
/// … and so is less than this share of those in flight …
const STARVED_SHARE: f64 = 0.1;
/// … or less than so many response times of all of them in a window …
const STARVED_EDGES: f64 = 1.5;
/// … or less than so many standard deviations of their mean.
const STARVED_LOOKS: f64 = 4.0;

/// How many arrivals more are in flight at the end of a window than at its beginning, beyond what
/// chance makes of a load that keeps up: the difference of two numbers of a Poisson distribution,
/// twice its standard deviation. `in_flight` is their mean, half of what piled up included.
fn beyond_chance(behind: f64, in_flight: f64) -> f64 {
    let steady = (in_flight - behind / 2.0).max(0.0);
    (behind - 2.0 * (2.0 * steady).sqrt()).max(0.0)
}

/// Figures of an open workload: samples of which it was known before when they should start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpenRecord {
    /// Samples among those that ended in the window.
    pub samples: u64,
    /// Arrivals that were due in the window; absent where the load generator does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<u64>,
    /// From the actual start to the end: what the server and the network took. The response time
    /// counts from the intended start.
    pub service_time_ms: ResponseTime,
    /// From the intended to the actual start: waiting for a user to be free, and lateness.
    pub start_delay_ms: ResponseTime,
    /// How late the load generator itself was: users woke up this long after their time.
    pub lateness_ms: ResponseTime,
    /// Iterations that were due and had not started when the load ended, because all users were
    /// busy. Their response times are in no figure.
    pub not_started: u64,
    /// Arrivals that the plan's own element dropped, because all users were busy.
    pub skipped: u64,
}

/// Samples that failed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Errors {
    /// How many.
    pub count: u64,
    /// Share of all samples, from 0 to 1.
    pub share: f64,
    /// How many of each response code.
    pub by_code: BTreeMap<String, u64>,
}

/// How the code of a sample begins that had no answer: JMeter's words.
pub const NO_ANSWER: &str = "Non HTTP response code: ";

impl Errors {
    /// Samples that had no answer: refused, cut off, out of time.
    pub fn unanswered(&self) -> u64 {
        let without = self
            .by_code
            .iter()
            .filter(|(code, _)| code.starts_with(NO_ANSWER));
        without.map(|(_, count)| count).sum()
    }

    /// Share of all samples that had no answer.
    pub fn unanswered_share(&self) -> f64 {
        let unanswered = self.unanswered();
        if unanswered == 0 {
            return 0.0;
        }
        unanswered as f64 / self.count as f64 * self.share
    }
}

/// CPU of the CPUs that the target may use, as shares of one of all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CpuRecord {
    /// User code.
    pub user: f64,
    /// The kernel, interrupts included.
    pub system: f64,
    /// Time that the hypervisor gave to others, as a share of all time.
    pub steal: f64,
    /// Busy share: busy / (total − steal).
    pub total: f64,
}

/// Figures of one sample label.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClassRecord {
    /// Samples answered per second, failed ones included.
    pub throughput_per_s: f64,
    /// Response times in milliseconds.
    pub response_time_ms: ResponseTime,
    /// Samples that failed.
    pub errors: Errors,
    /// Intervals of `throughput_per_s`, `errors.share` and the percentiles, such as
    /// `response_time_ms.p99`; those of the first 50 labels only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, Estimate>,
}
