//! A limit that changes which requests get through.

use std::collections::BTreeMap;

use weir_record::{ClassRecord, Finding, STAGE_FULL, TrialRecord};

use super::{Evidence, name};
use crate::settings::THREADS;

/// The limit does not act when its stage is at most this full.
const FREE: f64 = 0.85;
/// A shift of a class's share that matters, in points, and in standard deviations of counting.
const SHIFT_MIN: f64 = 0.03;
const SHIFT_SIGMAS: f64 = 3.0;
/// A difference of the CPU per request that is worth telling.
const CPU_DIFFERS: f64 = 0.05;

/// Compares the shares of the request classes with and without a thread limit that acts. Where
/// classes hold their threads for different times, a full limit favours none of them in order of
/// arrival, but the thinking of the users does: the mix shifts, and with it the CPU per request.
pub(super) fn shifted_by_limit(evidence: &Evidence<'_>) -> Vec<Finding> {
    let fullness = |trial: &TrialRecord| trial.taken(THREADS, evidence.facts);
    let with_classes = evidence
        .trials
        .iter()
        .copied()
        .filter(|trial| trial.classes.len() > 1);
    let (mut limited, mut free) = (Vec::new(), Vec::new());
    for trial in with_classes {
        match fullness(trial) {
            Some(share) if share >= STAGE_FULL => limited.push(trial),
            Some(share) if share <= FREE => free.push(trial),
            _ => {}
        }
    }
    // The free trial with the users nearest to the limited one: the mix also depends on them.
    let pairs = limited.iter().filter_map(|held| {
        let near = |trial: &&&TrialRecord| trial.population.abs_diff(held.population);
        let free = free.iter().min_by_key(near)?;
        largest_shift(held, free)
    });
    let largest = pairs.max_by(|a, b| a.by.total_cmp(&b.by));
    largest
        .into_iter()
        .map(|shift| {
            let trials = [shift.free.id, shift.held.id];
            let share = format!("share.{}", shift.class);
            Finding::new("mix-shifted", shift.says(), &trials)
                .of_stage(THREADS)
                .with(&share, shift.from + shift.by)
                .change(
                    "a cap for each class of requests instead of one limit for all: a `[[gate.class]]` for each in the study, \
                     and the search for users finds them. Else judge the limit by what each class gets, not by the CPU alone",
                )
        })
        .collect()
}

struct Shift<'a> {
    class: String,
    from: f64,
    by: f64,
    held: &'a TrialRecord,
    free: &'a TrialRecord,
}

/// The class whose share grows most, if it grows by more than counting explains.
fn largest_shift<'a>(held: &'a TrialRecord, free: &'a TrialRecord) -> Option<Shift<'a>> {
    let (before, after) = (shares(free), shares(held));
    let counts = |trial: &TrialRecord| answered_per_s(trial) * trial.window_s;
    let shifts = before.iter().filter_map(|(class, from)| {
        let to = after.get(class)?;
        let variance = from * (1.0 - from) / counts(free) + to * (1.0 - to) / counts(held);
        let matters = to - from >= SHIFT_MIN.max(SHIFT_SIGMAS * variance.sqrt());
        matters.then(|| Shift {
            class: class.clone(),
            from: *from,
            by: to - from,
            held,
            free,
        })
    });
    shifts.max_by(|a, b| a.by.total_cmp(&b.by))
}

/// Share of each class in the requests that were answered.
fn shares(trial: &TrialRecord) -> BTreeMap<String, f64> {
    let answered =
        |class: &ClassRecord| class.throughput_per_s * (1.0 - class.errors.unanswered_share());
    let all: f64 = trial.classes.values().map(answered).sum();
    trial
        .classes
        .iter()
        .map(|(name, class)| (name.clone(), answered(class) / all))
        .collect()
}

/// Requests of all classes that were answered, per second: one that was refused is of no class to
/// the server.
fn answered_per_s(trial: &TrialRecord) -> f64 {
    trial.answered_per_s().unwrap_or(trial.throughput_per_s)
}

impl Shift<'_> {
    fn says(&self) -> String {
        let shift = format!(
            "The thread limit changes the mix of requests. `{}` is {:.0} % of them in {} \
             (trial {}) and {:.0} % with the limit saturated, in {} (trial {})",
            self.class,
            self.from * 100.0,
            name(self.free),
            self.free.id,
            (self.from + self.by) * 100.0,
            name(self.held),
            self.held.id
        );
        match (cpu_ms(self.free), cpu_ms(self.held)) {
            (Some(free), Some(held)) if (held / free - 1.0).abs() > CPU_DIFFERS => format!(
                "{shift}; a request used {free:.1} and {held:.1} ms of the CPUs, so that as many in \
                 progress make another CPU figure."
            ),
            _ => format!("{shift}."),
        }
    }
}

/// Busy time per answered request as a share of all CPUs, in milliseconds.
fn cpu_ms(trial: &TrialRecord) -> Option<f64> {
    Some(trial.cpu?.total / answered_per_s(trial) * 1e3)
}

#[cfg(test)]
mod tests {
    use weir_record::{Errors, NO_ANSWER, ResponseTime};

    use super::*;
    use crate::findings::made::{facts, trial};

    /// Two classes of so many samples a second, of which so many of the first were refused.
    fn classes(mut trial: TrialRecord, rates: [f64; 2], refused: f64) -> TrialRecord {
        let class = |rate: f64, refused: f64| {
            let count = (refused * 30.0) as u64;
            let code = format!("{NO_ANSWER}java.net.ConnectException");
            ClassRecord {
                throughput_per_s: rate,
                response_time_ms: ResponseTime::default(),
                errors: Errors {
                    count,
                    share: refused / rate,
                    by_code: BTreeMap::from([(code, count)]),
                },
                intervals: BTreeMap::new(),
            }
        };
        trial.window_s = 30.0;
        trial.classes = BTreeMap::from([
            ("light".to_owned(), class(rates[0], refused)),
            ("heavy".to_owned(), class(rates[1], 0.0)),
        ]);
        trial
    }

    #[test]
    fn refused_requests_are_of_no_class() {
        let facts = facts(&[("threads", 10.0)]);
        let mix = |rates, refused| {
            let free = classes(
                trial(1, 200.0, &[("threads.occupancy", 5.0)]),
                [100.0, 100.0],
                0.0,
            );
            let held = trial(2, 300.0, &[("threads.occupancy", 10.0)]);
            let held = classes(held, rates, refused);
            let evidence = Evidence {
                trials: vec![&free, &held],
                facts: &facts,
                fit: None,
            };
            shifted_by_limit(&evidence)
        };
        assert_eq!(mix([200.0, 100.0], 100.0), [], "both as often as before");
        let shifted = mix([200.0, 100.0], 0.0);
        assert_eq!(shifted.len(), 1, "{shifted:#?}");
    }
}
