//! What the figures of the trials say: as it was, and with one thing changed.
//!
//! Every rule compares a ratio, changed over as it was, with a threshold, and takes the whole
//! interval: an interval that reaches over the threshold leaves the hypothesis open. Trials of the
//! two cases run in turns in a random order; their noise may differ (Welch), and is about normal on
//! the logarithmic scale.

use weir_stats::{Estimate, Margin, Verdict};

use super::compared::{Compared, Outcome, in_ms, in_requests};
use super::figures::{TrialFigures, mean, stopped};
use crate::hypothesis::{Change, Hypothesis, StartChange};
use crate::threshold::{FAILURES, MATTERS, SATURATED};
use crate::words::{number, percent};

/// Part of the time that a hypothesis accounts for which has to go for it to be the cause. Half:
/// what held requests up there may hold some of them up in the next place.
const GONE: f64 = 0.5;
/// A part of the time that is claimed is never so large that nothing would be left.
const CLAIMED_MAX: f64 = 0.95;
/// Twice as many places take half of a time away at most, however much of it was the wait for one:
/// all of them work at twice the rate then.
const CLAIMED_MAX_OF_TWICE: f64 = 0.5;
/// Chance of an error that is allowed for all claims of one decision together.
const ERROR: f64 = 0.05;

/// What would be seen if the hypothesis held.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rule {
    /// The throughput stays, and the CPUs stay full.
    Kept,
    /// Half of the time goes that nothing else accounts for.
    UnaccountedFalls,
    /// Half of the claimed share of a time goes.
    Falls {
        /// Whether of the 99th percentile, not of the mean.
        of_p99: bool,
        claimed: f64,
        /// Whether the application has to be stopped for a shorter time for it, which the change
        /// may have failed to bring about.
        collector: bool,
        /// The class of requests whose time is meant, where the others do other work; `None`: all.
        class: Option<String>,
    },
    /// Some time changes, for all requests or for a class of them.
    Changes,
}

/// The rule for a trial of a hypothesis; `class`: of what kind of requests the time counts.
pub(super) fn rule(
    hypothesis: &Hypothesis,
    change: &Change,
    idea: &str,
    class: Option<&str>,
) -> Rule {
    let share = hypothesis.share.unwrap_or(MATTERS);
    // Where the share of the time is small and the pauses are what the slowest requests meet, those
    // are what has to change.
    let pauses = hypothesis
        .tests
        .iter()
        .find(|test| test.speaks() && test.from.iter().any(|from| from.ends_with("p99")));
    let of_p99 = pauses.and_then(|test| test.figure);
    // Of a class only the mean is known.
    let of_p99 = of_p99.filter(|_| share < MATTERS && class.is_none());
    let most = match change {
        Change::Level(_) => CLAIMED_MAX_OF_TWICE,
        Change::Start(_) | Change::Requests => CLAIMED_MAX,
    };
    match change {
        Change::Level(_) if idea == "fewer-users" => Rule::Kept,
        Change::Level(_) if idea == "one-user" => Rule::UnaccountedFalls,
        Change::Start(StartChange::Batch) => Rule::Changes,
        Change::Level(_) | Change::Start(_) | Change::Requests => Rule::Falls {
            of_p99: of_p99.is_some(),
            claimed: of_p99.unwrap_or(share).clamp(MATTERS, most),
            collector: matches!(
                change,
                Change::Start(StartChange::Serial | StartChange::Epsilon) | Change::Requests
            ),
            class: class.map(str::to_owned),
        },
    }
}

impl Rule {
    /// What the trials as it was and those with the change say.
    pub(super) fn judge(self, was: &[TrialFigures], changed: &[TrialFigures]) -> Outcome {
        let cases = [was, changed];
        let mut outcome = match self {
            Self::Kept => kept(cases),
            Self::UnaccountedFalls => unaccounted_falls(cases),
            Self::Falls {
                of_p99,
                claimed,
                collector,
                class,
            } => {
                let fallen = falls(cases, of_p99, claimed, class.as_deref());
                if collector {
                    let other_work = class.is_some();
                    with_pauses(not_longer(fallen, other_work), cases, other_work)
                } else {
                    fallen
                }
            }
            Self::Changes => changes(cases),
        };
        let failed =
            |trials: &[TrialFigures]| mean(trials.iter().map(|trial| trial.failed)).unwrap_or(0.0);
        if failed(changed) > failed(was) + FAILURES {
            outcome.holds = None;
            outcome.why = format!(
                "{} of the requests failed, so that their times tell nothing",
                percent(failed(changed))
            );
        }
        outcome
    }
}

fn kept(cases: [&[TrialFigures]; 2]) -> Outcome {
    let of = |trial: &TrialFigures| Some(trial.throughput_per_s);
    let compared = Compared::new("throughput_per_s", "there were", cases, of, in_requests);
    let ratio = compared.estimate(1.0 - ERROR);
    let least = 1.0 - MATTERS;
    let holds = ratio.and_then(|ratio| beyond(ratio.low >= least, ratio.high < least));
    let outcome = compared.outcome(ratio, holds, format!("{} times at least", number(least)));
    still_full(outcome, cases)
}

/// Whatever is full keeps its throughput with half the users, a pool as well: only where the CPUs
/// stay full it is they.
fn still_full(kept: Outcome, [_, changed]: [&[TrialFigures]; 2]) -> Outcome {
    if kept.holds != Some(true) {
        return kept;
    }
    let busy = mean(changed.iter().filter_map(|trial| trial.cpu));
    let (holds, told) = match busy {
        Some(busy) if busy >= SATURATED * (1.0 - MATTERS) => return kept,
        Some(busy) => (
            Some(false),
            format!("the CPUs were {} busy then: something else is full", percent(busy)),
        ),
        None => (
            None,
            "how busy the CPUs were then was not read, so that it can be something else that is full".to_owned(),
        ),
    };
    Outcome {
        holds,
        why: format!("{}; but {told}", kept.why),
        ..kept
    }
}

/// With one user a full CPU's queue goes as well as a lock's, so the whole time tells nothing.
fn unaccounted_falls(cases: [&[TrialFigures]; 2]) -> Outcome {
    let [was, _] = cases;
    // Nothing left over has no logarithm: a thousandth of the whole time is as good as nothing.
    let of = |trial: &TrialFigures| {
        let least = trial.mean_ms / 1e3;
        trial.unaccounted_ms.map(|left| left.max(least))
    };
    let what = "time that is neither work nor a wait that is counted came to";
    let compared = Compared::new("unaccounted_ms", what, cases, of, in_ms);
    let ratio = compared.estimate(1.0 - ERROR);
    let most = 1.0 - GONE;
    let holds = ratio.and_then(|ratio| beyond(ratio.high <= most, ratio.low > most));
    let outcome = compared.outcome(ratio, holds, format!("{} times at most", number(most)));
    let share = mean(
        was.iter()
            .filter_map(|trial| Some(trial.unaccounted_ms? / trial.mean_ms)),
    );
    match share {
        Some(share) if share < MATTERS => Outcome {
            holds: Some(false),
            why: format!(
                "only {} of the time was neither work nor a wait that is counted before, so that locks cannot take a tenth of it",
                percent(share)
            ),
            ..outcome
        },
        Some(_) => outcome,
        None => Outcome {
            holds: None,
            why: "how much of the time is neither work nor a wait that is counted was not recorded"
                .to_owned(),
            ..outcome
        },
    }
}

fn falls(cases: [&[TrialFigures]; 2], of_p99: bool, claimed: f64, class: Option<&str>) -> Outcome {
    let compared = if of_p99 {
        let of = |trial: &TrialFigures| Some(trial.p99_ms);
        Compared::new("p99_ms", "the 99th percentile was", cases, of, in_ms)
    } else {
        Compared::mean_time(class, cases)
    };
    let ratio = compared.estimate(1.0 - ERROR);
    let most = 1.0 - GONE * claimed;
    let holds = ratio.and_then(|ratio| beyond(ratio.high <= most, ratio.low > most));
    compared.outcome(ratio, holds, format!("{} times at most", number(most)))
}

/// Where the same work takes longer with another collector, or none, that costs time itself, which
/// hides what was saved: a heap that is used once is in no cache.
fn not_longer(fallen: Outcome, other_work: bool) -> Outcome {
    let longer = fallen.ratio.as_ref().is_some_and(|ratio| ratio.low > 1.0);
    if fallen.holds != Some(false) || !longer || other_work {
        return fallen;
    }
    Outcome {
        holds: None,
        why: format!(
            "{}. But the change costs time itself: memory that is used once is in no cache, and another collector may be a slower one. \
             So this does not speak against the collector",
            fallen.why
        ),
        ..fallen
    }
}

/// Where the application is stopped for as long as before, nothing was taken away, so that a time
/// that stays says nothing; and nor does one that falls, where other requests do `other_work`.
fn with_pauses(fallen: Outcome, [was, changed]: [&[TrialFigures]; 2], other_work: bool) -> Outcome {
    let Some((before, after)) = stopped(was).zip(stopped(changed)) else {
        return fallen;
    };
    let remains = after > before * (1.0 - GONE);
    if !remains || (fallen.holds == Some(true) && !other_work) {
        return fallen;
    }
    Outcome {
        holds: None,
        why: format!(
            "{}; but the application was still stopped for {} of the time ({} before), so that this says nothing of the collector",
            fallen.why,
            percent(after),
            percent(before)
        ),
        ..fallen
    }
}

/// The mean of all requests and of each class: a change of any of them counts, none of them when
/// all are shown to stay. The allowed error is divided among them (Bonferroni).
fn changes(cases: [&[TrialFigures]; 2]) -> Outcome {
    let [was, _] = cases;
    let labels: Vec<&String> = was
        .first()
        .map_or_else(Vec::new, |trial| trial.class_means_ms.keys().collect());
    let of_classes = labels.iter().filter(|_| labels.len() > 1);
    let compared: Vec<Compared> = std::iter::once(Compared::mean_time(None, cases))
        .chain(of_classes.map(|label| Compared::mean_time(Some(label), cases)))
        .collect();
    let level = ERROR / compared.len() as f64;
    let stays = |one: &Compared| -> Option<bool> {
        let margin = Margin::new(MATTERS).ok()?;
        let found = one.ratio.as_ref().ok()?.equivalence(margin, level).ok()?;
        Some(found.verdict == Verdict::Same)
    };
    let all_stay = compared.iter().all(|one| stays(one) == Some(true));
    let differ: Vec<bool> = compared
        .iter()
        .map(|one| one.estimate(1.0 - level).is_some_and(has_changed))
        .collect();
    let differs = |at: usize| differ[at];
    let holds = beyond(differ.contains(&true), all_stay);
    // What is told is the one that changed most, of those that are shown to have changed where
    // there are some.
    let size = |one: &Compared| one.ratio.as_ref().map_or(0.0, |ratio| ratio.log.abs());
    let told = compared
        .into_iter()
        .enumerate()
        .max_by(|(a, one), (b, other)| {
            let by_verdict = differs(*a).cmp(&differs(*b));
            by_verdict.then(size(one).total_cmp(&size(other)))
        });
    let (_, told) = told.expect("there is the mean of all requests");
    let ratio = told.estimate(1.0 - level);
    told.outcome(
        ratio,
        holds,
        format!("a change of {} at least", percent(MATTERS)),
    )
}

/// Whether the whole interval lies beyond a tenth, to one side or the other.
fn has_changed(ratio: Estimate) -> bool {
    ratio.low >= 1.0 + MATTERS || ratio.high <= 1.0 / (1.0 + MATTERS)
}

/// `Some(true)` and `Some(false)` where the whole interval lies on one side, `None` where it
/// reaches over the threshold.
fn beyond(for_it: bool, against_it: bool) -> Option<bool> {
    match (for_it, against_it) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn trial(mean_ms: f64) -> TrialFigures {
        TrialFigures {
            throughput_per_s: 1e4 / mean_ms,
            mean_ms,
            p99_ms: 3.0 * mean_ms,
            class_means_ms: BTreeMap::new(),
            stopped: None,
            unaccounted_ms: Some(0.6 * mean_ms),
            cpu: Some(0.97),
            failed: 0.0,
        }
    }

    /// Three trials around a mean time, 2 % apart.
    fn three(mean_ms: f64) -> Vec<TrialFigures> {
        [0.98, 1.0, 1.02].map(|part| trial(part * mean_ms)).to_vec()
    }

    fn with(trials: Vec<TrialFigures>, change: impl Fn(&mut TrialFigures)) -> Vec<TrialFigures> {
        let mut trials = trials;
        trials.iter_mut().for_each(change);
        trials
    }

    const FALLS: Rule = Rule::Falls {
        of_p99: false,
        claimed: 0.4,
        collector: false,
        class: None,
    };

    #[test]
    fn half_of_the_claimed_time_has_to_go_with_the_whole_interval() {
        let judged = |mean_ms| FALLS.judge(&three(100.0), &three(mean_ms)).holds;
        assert_eq!(judged(65.0), Some(true));
        assert_eq!(judged(95.0), Some(false));
        assert_eq!(judged(80.0), None, "the threshold itself");
        let open = FALLS.judge(&three(100.0), &three(79.0));
        assert!(open.why.contains("--replicates"), "{}", open.why);
        let one = FALLS.judge(&three(100.0)[..1], &three(50.0)[..1]);
        assert_eq!((one.holds, one.ratio), (None, None));
        assert!(one.why.contains("fewer than two trials"), "{}", one.why);
        let none = FALLS.judge(&three(100.0), &three(0.0));
        assert_eq!((none.holds, none.ratio), (None, None));
        assert!(none.why.contains("nothing of 0"), "{}", none.why);
    }

    #[test]
    fn twice_as_many_places_are_not_asked_for_more_than_they_can_do() {
        let change = Change::Level(crate::hypothesis::LevelChange {
            factor: "pool.db".to_owned(),
            times: 2.0,
        });
        let limit = Hypothesis::new("limit", "").share(Some(0.95));
        // Of two halves of the users one waits less; a little is left over.
        let judged = |mean_ms| {
            rule(&limit, &change, "twice", None)
                .judge(&three(100.0), &three(mean_ms))
                .holds
        };
        assert_eq!((judged(53.0), judged(90.0)), (Some(true), Some(false)));
    }

    #[test]
    fn a_full_cpu_keeps_its_throughput() {
        let judged = |rate: f64| {
            let half = with(three(50.0), |trial| trial.throughput_per_s *= rate / 200.0);
            Rule::Kept.judge(&three(100.0), &half).holds
        };
        assert_eq!((judged(98.0), judged(60.0)), (Some(true), Some(false)));
    }

    #[test]
    fn what_keeps_its_throughput_with_idle_cpus_is_not_the_cpu() {
        let judged = |cpu| {
            let half = with(three(50.0), |trial| {
                trial.throughput_per_s /= 2.0;
                trial.cpu = cpu;
            });
            Rule::Kept.judge(&three(100.0), &half)
        };
        let pool = judged(Some(0.05));
        assert_eq!(pool.holds, Some(false));
        assert!(pool.why.contains("5.0 % busy"), "{}", pool.why);
        assert_eq!(judged(Some(0.9)).holds, Some(true));
        assert_eq!(judged(None).holds, None);
    }

    #[test]
    fn a_queue_for_the_cpu_that_goes_with_the_users_is_no_lock() {
        let left = |mean_ms, left| with(three(mean_ms), |trial| trial.unaccounted_ms = left);
        let judged =
            |before, after| Rule::UnaccountedFalls.judge(&left(80.0, before), &left(10.0, after));
        let alone = Rule::UnaccountedFalls.judge(&three(100.0), &three(10.0));
        assert_eq!(alone.holds, Some(true), "{alone:?}");
        assert_eq!(alone.figure, "unaccounted_ms");
        let full = judged(Some(1.0), Some(0.0));
        assert_eq!(full.holds, Some(false));
        assert!(full.why.starts_with("only 1."), "{}", full.why);
        let untold = judged(None, None);
        assert_eq!(untold.holds, None);
        assert!(untold.why.contains("was not recorded"), "{}", untold.why);
    }

    #[test]
    fn a_collector_that_stops_as_long_takes_nothing_away() {
        let rule = Rule::Falls {
            of_p99: false,
            claimed: 0.4,
            collector: true,
            class: None,
        };
        let stopped = |mean_ms, share| with(three(mean_ms), |trial| trial.stopped = Some(share));
        let judged = |mean_ms, share| {
            rule.clone()
                .judge(&stopped(100.0, 0.4), &stopped(mean_ms, share))
        };
        assert_eq!(judged(99.0, 0.01).holds, Some(false));
        assert_eq!(
            judged(60.0, 0.35).holds,
            Some(true),
            "the time went all the same"
        );
        let same = judged(99.0, 0.35);
        assert_eq!(same.holds, None);
        assert!(
            same.why.contains("35 % of the time (40 % before)"),
            "{}",
            same.why
        );
        let none = rule.clone().judge(&stopped(100.0, 0.4), &three(99.0));
        assert_eq!(none.holds, Some(false), "no collector, no figure of one");
    }

    #[test]
    fn a_change_that_costs_time_itself_clears_no_collector() {
        let rule = Rule::Falls {
            of_p99: false,
            claimed: 0.4,
            collector: true,
            class: None,
        };
        let longer = rule.clone().judge(&three(100.0), &three(450.0));
        assert_eq!(longer.holds, None);
        assert!(longer.why.contains("costs time itself"), "{}", longer.why);
        assert_eq!(
            rule.judge(&three(100.0), &three(99.0)).holds,
            Some(false),
            "as long as before"
        );
    }

    /// The long requests do other work then, whatever becomes of their time.
    #[test]
    fn without_garbage_the_class_counts_whose_work_stays() {
        let trials = |light: f64, heavy: f64, share| {
            with(three(100.0), |trial| {
                let part = trial.mean_ms / 100.0;
                trial.mean_ms = part * (light + heavy) / 2.0;
                trial.class_means_ms = [("light", part * light), ("heavy", part * heavy)]
                    .map(|(l, m)| (l.to_owned(), m))
                    .into();
                trial.stopped = Some(share);
            })
        };
        let rule = Rule::Falls {
            of_p99: false,
            claimed: 0.4,
            collector: true,
            class: Some("light".to_owned()),
        };
        let judged = |light, share| {
            let before = trials(50.0, 150.0, 0.4);
            rule.clone().judge(&before, &trials(light, 20.0, share))
        };
        let stays = judged(49.0, 0.01);
        assert_eq!(
            (stays.holds, stays.figure.as_str()),
            (Some(false), "mean_ms(light)")
        );
        assert_eq!(judged(20.0, 0.01).holds, Some(true));
        for light in [49.0, 20.0] {
            assert_eq!(judged(light, 0.4).holds, None, "there was as much garbage");
        }
    }

    #[test]
    fn requests_that_fail_decide_nothing() {
        let failing = with(three(10.0), |trial| trial.failed = 0.2);
        let judged = FALLS.judge(&three(100.0), &failing);
        assert_eq!(judged.holds, None);
        assert!(
            judged.why.starts_with("20 % of the requests failed"),
            "{}",
            judged.why
        );
    }

    #[test]
    fn a_policy_has_a_part_when_a_class_changes_and_none_when_all_stay() {
        let classes = |light, heavy| {
            with(three(100.0), |trial| {
                let part = trial.mean_ms / 100.0;
                let means = [("light", light), ("heavy", heavy)];
                trial.class_means_ms = means
                    .map(|(label, mean)| (label.to_owned(), part * mean))
                    .into();
            })
        };
        let judged =
            |light, heavy| Rule::Changes.judge(&classes(20.0, 400.0), &classes(light, heavy));
        let light = judged(40.0, 380.0);
        assert_eq!(
            (light.holds, light.figure.as_str()),
            (Some(true), "mean_ms(light)")
        );
        // Three comparisons of three trials each with 2 % of noise: a tenth is far enough to be
        // told from nothing.
        assert_eq!(judged(20.2, 401.0).holds, Some(false));
        assert_eq!(judged(21.6, 400.0).holds, None);
        // Told from nothing, but not from a tenth.
        assert_eq!(judged(22.4, 400.0).holds, None);
        let one = [classes(20.0, 1.0), classes(90.0, 1.0)].map(|trials| {
            with(trials, |trial| {
                trial.class_means_ms.remove("heavy");
            })
        });
        let only = Rule::Changes.judge(&one[0], &one[1]);
        assert_eq!(only.figure, "mean_ms", "one class is all requests");
    }
}
