//! A throughput that grows no further, and nothing that was read says why.
//!
//! Saying so is worth a sentence: whoever reads a flat curve takes it for the server's limit, and
//! changes settings that do not hold it. A lock, a rate limit, a service behind the server that
//! nobody watches, or the load generator itself look like this.

use std::collections::BTreeMap;

use weir_record::{Finding, TrialRecord};

use super::{Evidence, name, spawn_rate};

/// So much more load …
const MORE_LOAD: f64 = 1.5;
/// … made so little more throughput.
const MORE_THROUGHPUT: f64 = 1.05;
/// From here on the CPU explains it.
const CPU_NEARLY_FULL: f64 = 0.8;
/// A stage this full on average explains it.
const STAGE_NEARLY_FULL: f64 = 0.9;
/// Waiting for a pool or at a gate explains it from half a request on average.
const WAITING: f64 = 0.5;
/// What the load consists of.
const LOADS: [&str; 2] = ["users", "rate"];

/// Two trials that differ in their load only.
struct Pair<'a> {
    load: &'static str,
    less: &'a TrialRecord,
    more: &'a TrialRecord,
}

pub(super) fn plateau(evidence: &Evidence<'_>) -> Vec<Finding> {
    if !spawn_rate::plateau(evidence).is_empty() {
        return Vec::new();
    }
    let pair = pairs(evidence).find_map(|pair| Some((innocent(pair.more, evidence)?, pair)));
    let Some((innocent, pair)) = pair else {
        return Vec::new();
    };
    let level = |trial: &TrialRecord| trial.level(pair.load).unwrap_or_default();
    let says = format!(
        "The throughput stays at {:.1} /s from {} {} to {} (trials {} and {}), and no measured resource explains \
         it ({}). What was not measured may: a lock, a rate limit, something behind the server, or the load generator \
         itself.",
        pair.more.throughput_per_s,
        level(pair.less),
        pair.load,
        level(pair.more),
        pair.less.id,
        pair.more.id,
        name(pair.more),
    );
    let ids = [pair.less.id, pair.more.id];
    let found = Finding::new("unexplained-plateau", says, &ids)
        .change("no limit yet: find out first what the server waits for");
    vec![innocent.into_iter().fold(found, Finding::was_not)]
}

/// Neighbours in load, everything else being the same, of which the one with more load does no
/// more.
fn pairs<'a>(evidence: &'a Evidence<'_>) -> impl Iterator<Item = Pair<'a>> {
    LOADS.into_iter().flat_map(|load| {
        let mut alike: BTreeMap<String, Vec<&TrialRecord>> = BTreeMap::new();
        for trial in evidence
            .trials
            .iter()
            .filter(|trial| trial.level(load).is_some())
        {
            let mut others = trial.levels.clone();
            others.remove(load);
            alike.entry(format!("{others:?}")).or_default().push(trial);
        }
        let level = move |trial: &TrialRecord| trial.level(load).unwrap_or_default();
        alike.into_values().flat_map(move |mut trials| {
            trials.sort_by(|a, b| level(a).total_cmp(&level(b)));
            let mut flat = Vec::new();
            for (at, less) in trials.iter().enumerate() {
                let more = trials[at + 1..].iter().find(|more| {
                    level(more) >= MORE_LOAD * level(less)
                        && more.throughput_per_s <= MORE_THROUGHPUT * less.throughput_per_s
                });
                flat.extend(more.map(|more| Pair { load, less, more }));
            }
            flat
        })
    })
}

/// What was read of a trial, when none of it explains a plateau; `None` when something does, or
/// when not even the CPU is known.
fn innocent(trial: &TrialRecord, evidence: &Evidence<'_>) -> Option<Vec<String>> {
    let of_cpus = trial.cpu.map(|cpu| cpu.total);
    let cpu = of_cpus.or_else(|| spawn_rate::own_cpu(trial, evidence))?;
    if cpu >= CPU_NEARLY_FULL {
        return None;
    }
    // A gate lets nobody wait but for its caps, those of all and those of each class.
    if trial.waiting("gate").unwrap_or(0.0) >= WAITING {
        return None;
    }
    let mut innocent = vec![format!("the CPU ({:.0} %)", cpu * 100.0)];
    for stage in &evidence.facts.stages {
        let stage = stage.name.as_str();
        if stage.starts_with("pool.") && trial.waiting(stage).unwrap_or(0.0) >= WAITING {
            return None;
        }
        let (Some(occupied), Some(limit)) =
            (trial.occupancy(stage), trial.limit(stage, evidence.facts))
        else {
            continue;
        };
        if occupied >= STAGE_NEARLY_FULL * limit {
            return None;
        }
        innocent.push(format!("{stage} ({occupied:.1} of {limit})"));
    }
    let turned_away = [
        "connections.refused",
        "tcp.listen-overflows",
        "tcp.listen-drops",
    ];
    if turned_away
        .iter()
        .any(|signal| trial.signals.get(*signal).is_some_and(|count| *count > 0.0))
    {
        return None;
    }
    Some(innocent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::{facts, trial};

    fn loaded(id: u32, users: f64, throughput: f64, signals: &[(&str, f64)]) -> TrialRecord {
        let idle = [
            ("target.cpu.user", 0.2),
            ("target.cpu.system", 0.1),
            ("threads.occupancy", 20.0),
            ("threads.limit", 200.0),
        ];
        let mut trial = trial(id, throughput, &idle);
        for (name, value) in signals {
            trial.signals.insert((*name).to_owned(), *value);
        }
        trial.levels.insert("users".to_owned(), users.into());
        trial
    }

    fn says(trials: &[TrialRecord]) -> Option<Finding> {
        let facts = facts(&[
            ("connections", 1000.0),
            ("threads", 200.0),
            ("pool.db", 10.0),
        ]);
        let evidence = Evidence {
            trials: trials.iter().collect(),
            facts: &facts,
            fit: None,
        };
        plateau(&evidence).pop()
    }

    #[test]
    fn a_flat_curve_over_an_idle_machine_is_told() {
        let found = says(&[loaded(1, 20.0, 50.0, &[]), loaded(2, 40.0, 50.5, &[])]);
        let found = found.map(|finding| (finding.in_full(), finding.trials));
        let Some((says, trials)) = found else {
            panic!("nothing was found");
        };
        assert_eq!(trials, [1, 2]);
        assert!(says.contains("from 20 users to 40"), "{says}");
        assert!(
            says.contains("the CPU (30 %), nor threads (20.0 of 200)"),
            "{says}"
        );
    }

    #[test]
    fn what_grows_or_has_a_reason_is_not() {
        let first = || loaded(1, 20.0, 50.0, &[]);
        assert_eq!(
            says(&[first(), loaded(2, 40.0, 90.0, &[])]),
            None,
            "it grows"
        );
        assert_eq!(
            says(&[first(), loaded(2, 25.0, 50.0, &[])]),
            None,
            "hardly more load"
        );
        for reason in [
            ("target.cpu.user", 0.9),
            ("threads.occupancy", 195.0),
            ("pool.db.waiting", 8.0),
            ("gate.waiting", 26.3),
            ("tcp.listen-overflows", 3.0),
            ("connections.refused", 1.0),
        ] {
            assert_eq!(
                says(&[first(), loaded(2, 40.0, 50.0, &[reason])]),
                None,
                "{reason:?}"
            );
        }
        let mut unread = loaded(2, 40.0, 50.0, &[]);
        unread.signals.remove("target.cpu.user");
        assert_eq!(says(&[first(), unread]), None, "the CPU was not read");
    }

    #[test]
    fn trials_with_other_settings_are_not_compared() {
        let mut other = loaded(2, 40.0, 50.0, &[]);
        other.levels.insert("threads".to_owned(), 5.0.into());
        assert_eq!(says(&[loaded(1, 20.0, 50.0, &[]), other]), None);
    }
}
