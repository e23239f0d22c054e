//! What is full: threads with a queue in front of them, the CPU, the database, and a virtual
//! machine that collects garbage instead of working.

use weir_record::{
    CPU_SATURATED, Doing, Finding, STAGE_FULL, TrialRecord, are_most, compilers_cpu,
    requests_doing, used_by_others,
};

use super::{Evidence, most, name, not_the_cpu};
use crate::settings::{REQUEST_QUEUE, THREADS};

/// Waiting counts from half a request on average: below it is the odd moment.
const WAITING_MIN: f64 = 0.5;
/// Garbage collection is a cause worth looking at from this share of the time.
const GC_MUCH: f64 = 0.1;
/// Share of the server's CPU time from which on its compilers are worth a word: requests on full
/// CPUs are slower by a tenth for it, and will not be later.
const COMPILING_MUCH: f64 = 0.1;
/// A virtual machine with so many threads …
const MANY_THREADS: f64 = 1000.0;
/// … and so many times as many as in another trial …
const MORE_THREADS: f64 = 4.0;
/// … whose collections take so many times as long, is held up by looking through their stacks.
const LONGER: f64 = 4.0;
const GC_TIME: &str = "gc.time";
const GC_COUNT: &str = "gc.count";
const DATABASE: &str = "database";

/// All threads are busy and requests wait in front of them.
pub(super) fn threads_full(evidence: &Evidence<'_>) -> Vec<Finding> {
    let full = |trial: &TrialRecord| {
        let share = trial.taken(THREADS, evidence.facts)?;
        let waiting = trial.waiting(REQUEST_QUEUE)?;
        (share >= STAGE_FULL && waiting >= WAITING_MIN).then_some(waiting)
    };
    most(evidence, full)
        .map(|(trial, waiting, ids)| {
            let stage_limit = trial.limit(THREADS, evidence.facts).unwrap_or_default();
            let says = format!(
                "All {stage_limit} threads are busy and {waiting:.1} requests wait for one on average in \
                 {} (trial {}).",
                name(trial),
                trial.id
            );
            let found = Finding::new("threads-saturated", says, &ids)
                .of_stage(THREADS)
                .with("threads.occupancy", trial.occupancy(THREADS).unwrap_or(0.0))
                .with("request-queue.waiting", waiting);
            let found = not_the_cpu(found, trial);
            let pools = waiting_pools(trial, evidence);
            let cpu_full = trial.cpu.is_some_and(|cpu| cpu.total >= CPU_SATURATED);
            if pools.is_empty() && cpu_full {
                found.change(
                    "no higher thread limit: the CPU is full, and more threads would only wait for it",
                )
            } else if let Some(waiting) = waits_for_lock(trial) {
                found.change(more_would_wait_for(&format!(
                    "a lock, {waiting:.1} of them on average (thread dumps)"
                )))
            } else if pools.is_empty() {
                found.change(
                    "a higher thread limit, if the CPU is to be used further; none, if the limit is \
                     what should hold the flow",
                )
            } else {
                found.change(more_would_wait_for(&pools.join(", ")))
            }
        })
        .into_iter()
        .collect()
}

fn more_would_wait_for(what: &str) -> String {
    format!("first what the threads wait for: {what}; more threads would only wait there too")
}

/// Threads that wait for a lock in a trial, when those are most of them.
fn waits_for_lock(trial: &TrialRecord) -> Option<f64> {
    let signal = |name: &str| trial.signals.get(name).copied();
    let waiting = requests_doing(signal, Doing::WaitsForLock)?;
    Some(waiting).filter(|waiting| {
        trial
            .occupancy(THREADS)
            .is_some_and(|taken| are_most(*waiting, taken))
    })
}

/// Pools that threads wait for in a trial.
fn waiting_pools(trial: &TrialRecord, evidence: &Evidence<'_>) -> Vec<String> {
    let stages = evidence.facts.stages.iter().map(|stage| stage.name.clone());
    stages
        .filter(|stage| stage.starts_with("pool."))
        .filter(|pool| {
            trial
                .waiting(pool)
                .is_some_and(|waiting| waiting >= WAITING_MIN)
        })
        .collect()
}

/// The target's CPUs have nothing left, and not because others use most of what is used.
pub(super) fn cpu(evidence: &Evidence<'_>) -> Vec<Finding> {
    let busy = |trial: &TrialRecord| {
        let busy = Some(trial.cpu?.total).filter(|busy| *busy >= CPU_SATURATED)?;
        let others = used_by_others(trial, evidence.facts.cpus).unwrap_or(0.0);
        Some(busy).filter(|busy| others < busy / 2.0)
    };
    // One that still compiles says little of the others.
    let is_warm =
        |trial: &TrialRecord| compilers_part(trial).is_none_or(|part| part < COMPILING_MUCH);
    let warm = |trial: &TrialRecord| busy(trial).filter(|_| is_warm(trial));
    most(evidence, warm)
        .or_else(|| most(evidence, busy))
        .map(|(trial, busy, ids)| {
            let (name, id, percent) = (name(trial), trial.id, busy * 100.0);
            let collector = trial.signals.get(GC_TIME).filter(|gc| **gc >= GC_MUCH);
            let compilers = compilers_part(trial).filter(|_| !is_warm(trial));
            let says = match (collector, compilers) {
                (Some(gc), _) => format!(
                    "The CPU is full in {name} (trial {id}): {percent:.0} % busy, while the collector stops the \
                     application for {:.0} % of the time.",
                    gc * 100.0
                ),
                (None, Some(part)) => format!(
                    "The CPU is full in {name} (trial {id}): {percent:.0} % busy, {:.0} % of that with the compilers of \
                     the virtual machine. The server was not warm, so that a later trial can answer more.",
                    part * 100.0
                ),
                (None, None) => format!(
                    "The CPU is what holds the flow in {name} (trial {id}): {percent:.0} % busy."
                ),
            };
            let found = Finding::new("cpu-saturated", says, &ids).with("cpu", busy);
            if let (None, Some(part)) = (collector, compilers) {
                return found
                    .with("compilers", part)
                    .change("a longer warm-up (`warm-up` in the study), until the compilers are done");
            }
            match trial.signals.get(GC_TIME) {
                Some(gc) if *gc < GC_MUCH => found.was_not(format!(
                    "garbage collection ({:.1} % of the time)",
                    gc * 100.0
                )),
                _ => found,
            }
            .change("fewer requests at a time, less work per request, or more CPUs")
        })
        .into_iter()
        .collect()
}

/// Of the busy time of the target's processes, the part of a virtual machine's compilers.
fn compilers_part(trial: &TrialRecord) -> Option<f64> {
    let signal = |name: &str| trial.signals.get(name);
    let all = signal("target.cpu.user")? + signal("target.cpu.system")?;
    (all > 0.0).then(|| compilers_cpu(&trial.signals) / all)
}

/// A virtual machine that stops its application to collect garbage for much of the time.
pub(super) fn garbage(evidence: &Evidence<'_>) -> Vec<Finding> {
    let much = |trial: &TrialRecord| {
        let share = trial.signals.get(GC_TIME).copied()?;
        Some(share).filter(|share| *share >= GC_MUCH)
    };
    most(evidence, much)
        .map(|(trial, share, ids)| {
            let pauses = trial.signals.get(GC_COUNT).filter(|count| **count > 0.0);
            let pauses = pauses.map_or_else(String::new, |count| {
                format!(", in {count:.1} pauses a second of {:.0} ms", share / count * 1e3)
            });
            let says = format!(
                "Garbage collection stops the application for {:.0} % of the time in {} (trial {}){pauses}.",
                share * 100.0,
                name(trial),
                trial.id
            );
            let found = Finding::new("gc-pressure", says, &ids).with(GC_TIME, share);
            match fewer_threads(trial, evidence) {
                Some(other) => found.change(format!(
                    "fewer threads ({:.0} here, {:.0} in trial {}, where a collection takes {:.0} ms): the collector looks \
                     through the stack of each; a larger heap makes collections rarer, not shorter",
                    threads(trial).unwrap_or_default(),
                    threads(other).unwrap_or_default(),
                    other.id,
                    pause_s(other).unwrap_or_default() * 1e3
                )),
                None if threads(trial).is_some_and(|threads| threads >= MANY_THREADS) => found.change(
                    "a larger heap (-Xmx), less garbage per request, or fewer threads: the collector looks through the \
                     stack of each",
                ),
                None => found.change(
                    "a larger heap (-Xmx), or less garbage per request; not the threads or the pools",
                ),
            }
        })
        .into_iter()
        .collect()
}

/// A trial with far fewer threads, in which a collection takes far less time.
fn fewer_threads<'t>(trial: &TrialRecord, evidence: &Evidence<'t>) -> Option<&'t TrialRecord> {
    let (many, long) = (threads(trial)?, pause_s(trial)?);
    let others = evidence.trials.iter().copied();
    let fewer = others.filter(|other| {
        let (threads, pause) = (threads(other), pause_s(other));
        many >= MANY_THREADS
            && threads.is_some_and(|threads| many >= MORE_THREADS * threads)
            && pause.is_some_and(|pause| long >= LONGER * pause)
    });
    fewer.min_by(|a, b| {
        threads(a)
            .unwrap_or(0.0)
            .total_cmp(&threads(b).unwrap_or(0.0))
    })
}

fn threads(trial: &TrialRecord) -> Option<f64> {
    trial.signals.get("target.threads").copied()
}

/// Mean length of a collection.
fn pause_s(trial: &TrialRecord) -> Option<f64> {
    let count = trial.signals.get(GC_COUNT).filter(|count| **count > 0.0)?;
    Some(trial.signals.get(GC_TIME)? / count)
}

/// The database has no connection left.
pub(super) fn database(evidence: &Evidence<'_>) -> Vec<Finding> {
    let full = |trial: &TrialRecord| {
        let taken = trial.taken(DATABASE, evidence.facts);
        taken.filter(|share| *share >= STAGE_FULL)
    };
    most(evidence, full)
        .map(|(trial, share, ids)| {
            let stage_limit = trial.limit(DATABASE, evidence.facts).unwrap_or_default();
            let says = format!(
                "The database has {:.0} of its {stage_limit} connections in use in {} (trial {}): who asks \
                 for another is refused.",
                share * stage_limit,
                name(trial),
                trial.id
            );
            Finding::new("database-full", says, &ids)
                .of_stage(DATABASE)
                .with("database.occupancy", share * stage_limit)
                .change("the pools in front of it, so that they fit together, or max_connections")
        })
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use weir_record::{CpuRecord, TargetFacts};

    use super::super::made::{facts, trial};
    use super::*;

    fn found(
        rule: fn(&Evidence<'_>) -> Vec<Finding>,
        trial: &TrialRecord,
        facts: &TargetFacts,
    ) -> Option<Finding> {
        let evidence = Evidence {
            trials: vec![trial],
            facts,
            fit: None,
        };
        rule(&evidence).pop()
    }

    fn busy(trial: TrialRecord, total: f64) -> TrialRecord {
        let cpu = CpuRecord {
            user: total,
            system: 0.0,
            steal: 0.0,
            total,
        };
        TrialRecord {
            cpu: Some(cpu),
            ..trial
        }
    }

    #[test]
    fn full_threads_with_a_queue_are_named_and_what_they_wait_for() {
        let facts = facts(&[("threads", 40.0), ("pool.db", 10.0)]);
        let full = [("threads.occupancy", 39.8), ("request-queue.waiting", 12.0)];
        let finding = found(threads_full, &busy(trial(1, 20.0, &full), 0.7), &facts);
        let finding = finding.expect("they are full");
        assert_eq!(finding.stage.as_deref(), Some("threads"));
        assert_eq!(finding.was_not, ["the CPU (70 % utilized)"]);
        assert!(
            finding
                .change
                .is_some_and(|change| change.contains("higher thread limit"))
        );
        let overloaded = found(threads_full, &busy(trial(1, 20.0, &full), 1.0), &facts);
        let change = overloaded.expect("full too").change.expect("it has one");
        assert!(change.starts_with("no higher thread limit"), "{change}");
        let seen = ["seen", "monitor", "lock"].map(|what| format!("request-threads.{what}"));
        let locked = [(seen[0].as_str(), 40.0), (&seen[1], 38.0), (&seen[2], 0.0)];
        let locked = [&full[..], &locked].concat();
        let finding = found(threads_full, &trial(1, 20.0, &locked), &facts).expect("full too");
        let change = finding.change.unwrap_or_default();
        assert!(change.contains("a lock, 37.8 of them"), "{change}");
        let starved = [&full[..], &[("pool.db.waiting", 30.0)]].concat();
        let finding = found(threads_full, &trial(1, 20.0, &starved), &facts).expect("full too");
        assert!(
            finding
                .change
                .is_some_and(|change| change.contains("pool.db"))
        );
        for free in [
            [("threads.occupancy", 30.0), ("request-queue.waiting", 12.0)],
            [("threads.occupancy", 39.8), ("request-queue.waiting", 0.1)],
        ] {
            assert_eq!(found(threads_full, &trial(1, 20.0, &free), &facts), None);
        }
    }

    #[test]
    fn a_full_cpu_is_the_cause_and_garbage_is_not() {
        let facts = facts(&[]);
        let trial = trial(1, 20.0, &[("gc.time", 0.01)]);
        let finding = found(cpu, &busy(trial.clone(), 0.99), &facts).expect("it is full");
        assert_eq!(finding.was_not, ["garbage collection (1.0 % of the time)"]);
        assert_eq!(found(cpu, &busy(trial.clone(), 0.8), &facts), None);
        let mut beside = trial;
        for (name, used) in [("target.cpu.user", 0.3), ("target.cpu.system", 0.1)] {
            beside
                .signals
                .insert(name.into(), used * f64::from(facts.cpus));
        }
        assert_eq!(
            found(cpu, &busy(beside, 0.99), &facts),
            None,
            "others use most of it"
        );
    }

    /// A server two seconds after its start: half of its CPU time goes into compilers.
    #[test]
    fn a_server_that_still_compiles_does_not_say_what_holds_the_flow() {
        let facts = facts(&[]);
        let with_compilers = |id: u32, compilers: f64, total: f64| {
            let signals = [
                ("target.cpu.user", 0.9 * f64::from(facts.cpus)),
                ("target.cpu.system", 0.1 * f64::from(facts.cpus)),
                (
                    "census.C2-CompilerThre.cpu",
                    compilers * f64::from(facts.cpus),
                ),
            ];
            busy(trial(id, 20.0, &signals), total)
        };
        let cold = with_compilers(1, 0.5, 1.0);
        let finding = found(cpu, &cold, &facts).expect("it is full");
        assert!(
            finding
                .says
                .contains("50 % of that with the compilers of the virtual machine"),
            "{}",
            finding.says
        );
        assert!(
            finding
                .change
                .is_some_and(|change| change.contains("longer warm-up"))
        );
        let warm = with_compilers(2, 0.02, 0.97);
        let evidence = Evidence {
            trials: vec![&cold, &warm],
            facts: &facts,
            fit: None,
        };
        let finding = cpu(&evidence).pop().expect("it is full");
        assert!(
            finding.trials == [2] && finding.says.contains("holds the flow"),
            "{finding:?}"
        );
    }

    #[test]
    fn garbage_counts_from_a_tenth_of_the_time() {
        let facts = facts(&[]);
        let much = trial(1, 20.0, &[("gc.time", 0.3), ("gc.count", 10.0)]);
        let finding = found(garbage, &much, &facts).expect("it is much");
        assert!(
            finding.says.contains("30 %") && finding.says.contains("of 30 ms"),
            "{}",
            finding.says
        );
        assert_eq!(
            found(garbage, &trial(1, 20.0, &[("gc.time", 0.03)]), &facts),
            None
        );
    }

    /// The published experiment: 10,000 threads that only wait, and none.
    #[test]
    fn collections_that_look_through_idle_threads_want_no_larger_heap() {
        let facts = facts(&[]);
        let many = [
            ("gc.time", 0.215),
            ("gc.count", 0.333),
            ("target.threads", 10_050.0),
        ];
        let none = [
            ("gc.time", 0.002),
            ("gc.count", 0.5),
            ("target.threads", 60.0),
        ];
        let (many, none) = (trial(2, 217.0, &many), trial(1, 366.0, &none));
        let change = |trials: Vec<&TrialRecord>| {
            let evidence = Evidence {
                trials,
                facts: &facts,
                fit: None,
            };
            let finding = garbage(&evidence).pop().expect("it is much");
            finding.change.expect("it has one")
        };
        let beside = change(vec![&none, &many]);
        assert!(
            beside.starts_with("fewer threads (10050 here, 60 in trial 1"),
            "{beside}"
        );
        let alone = change(vec![&many]);
        assert!(alone.contains("or fewer threads"), "{alone}");
    }

    #[test]
    fn a_database_without_connections_left_is_named() {
        let facts = facts(&[("database", 50.0)]);
        let finding = found(
            database,
            &trial(1, 20.0, &[("database.occupancy", 50.0)]),
            &facts,
        );
        assert_eq!(finding.expect("it is full").id, "database-full");
        let half = trial(1, 20.0, &[("database.occupancy", 25.0)]);
        assert_eq!(found(database, &half, &facts), None);
    }
}
