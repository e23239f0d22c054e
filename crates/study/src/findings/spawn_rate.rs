//! A server that starts its workers more slowly than clients come.
//!
//! Where a process ends after a number of connections, the server can serve no more connections in
//! a second than it starts processes, times that number. Apache's prefork starts at most 32 in a
//! cycle of a second and what the work takes (`MAX_SPAWN_RATE` in `server/mpm/prefork/prefork.c`;
//! 1, 2, 4 … 32 in the cycles before), however few of its processes are busy.

use weir_record::{Finding, SpawnRate, TrialRecord};

use super::{Evidence, name};
use crate::settings::THREADS;

/// Twice the connections a process make twice the throughput, within this share.
const FOLLOWS: f64 = 0.25;
/// A factor whose levels differ and whose rates do not, by this share, is no cause.
const SAME: f64 = 0.1;
/// What one trial shows.
struct Held<'a> {
    trial: &'a TrialRecord,
    shows: SpawnRate,
    busy: f64,
    limit: f64,
}

/// Clients wait while the processes that there may be are not used.
pub(super) fn plateau(evidence: &Evidence<'_>) -> Vec<Finding> {
    let held: Vec<Held<'_>> = evidence
        .trials
        .iter()
        .filter_map(|trial| held(trial, evidence))
        .collect();
    let Some(clearest) = held
        .iter()
        .min_by(|a, b| a.shows.disagreement().total_cmp(&b.shows.disagreement()))
    else {
        return Vec::new();
    };
    let mut says = vec![format!(
        "The server is held by how fast it starts processes. In {} (trial {}) it started {:.1} a \
         second for {} connection(s) each, which makes {:.1}, and answered {:.1} a second, while {:.0} connections \
         waited.",
        name(clearest.trial),
        clearest.trial.id,
        clearest.shows.spawned,
        clearest.shows.lifetime,
        clearest.shows.capacity(),
        clearest.shows.rate,
        clearest.shows.waiting
    )];
    says.extend(follows(&held));
    let places = more_places(&held);
    let bound_by_places = places.is_some();
    says.extend(places);
    let ids: Vec<u32> = held.iter().map(|held| held.trial.id).collect();
    let found = Finding::new("spawn-rate-plateau", says.join(" "), &ids)
        .of_stage(THREADS)
        .change(if bound_by_places {
            "let a process serve more connections (native.MaxConnectionsPerChild; 0: it stays), or allow more processes; a \
             longer queue changes nothing"
        } else {
            "let a process serve more connections (native.MaxConnectionsPerChild; 0: it stays); more processes or a \
             longer queue change nothing"
        })
        .with("threads.spawned", clearest.shows.spawned)
        .with("threads.lifetime", clearest.shows.lifetime)
        .with("throughput", clearest.shows.rate)
        .with("threads.waiting", clearest.shows.waiting);
    let not = not(clearest, &held, evidence).into_iter();
    vec![not.fold(found, Finding::was_not)]
}

fn held<'a>(trial: &'a TrialRecord, evidence: &Evidence<'_>) -> Option<Held<'a>> {
    let signal = |name: &str| trial.signals.get(name).copied();
    let good = 1.0 - trial.errors.share;
    let (busy, limit) = (
        trial.occupancy(THREADS)?,
        trial.limit(THREADS, evidence.facts)?,
    );
    let shows = SpawnRate {
        rate: signal("throughput.steady").unwrap_or(trial.throughput_per_s) * good,
        spawned: signal("threads.spawned").filter(|spawned| *spawned > 0.0)?,
        lifetime: signal("threads.lifetime")?,
        waiting: trial.waiting(THREADS)?,
        taken: busy / limit,
        own_cpu: own_cpu(trial, evidence),
    };
    shows.holds().then_some(Held {
        trial,
        shows,
        busy,
        limit,
    })
}

/// Share of its CPUs that the server itself uses.
pub(super) fn own_cpu(trial: &TrialRecord, evidence: &Evidence<'_>) -> Option<f64> {
    let signal = |name: &str| trial.signals.get(name).copied();
    let used = signal("target.cpu.user")? + signal("target.cpu.system")?;
    let cpus = signal("target.cpus").filter(|cpus| *cpus > 0.0);
    Some(used / cpus.unwrap_or(f64::from(evidence.facts.cpus.max(1))))
}

/// That the rate follows the connections a process serves.
fn follows(held: &[Held<'_>]) -> Option<String> {
    let many = held
        .iter()
        .max_by(|a, b| a.shows.lifetime.total_cmp(&b.shows.lifetime))?;
    let few = held
        .iter()
        .filter(|few| same(few.limit, many.limit))
        .min_by(|a, b| a.shows.lifetime.total_cmp(&b.shows.lifetime))?;
    let (more, faster) = (
        many.shows.lifetime / few.shows.lifetime,
        many.shows.rate / few.shows.rate,
    );
    let follows = more > 1.0 && (faster / more - 1.0).abs() <= FOLLOWS;
    follows.then(|| {
        format!(
            "With {more} times the connections a process (trial {}) it answers {faster:.2} times as many as without (trial {}).",
            many.trial.id, few.trial.id
        )
    })
}

/// That a cycle can start no more processes than have places, from trials that differ in their
/// number.
fn more_places(held: &[Held<'_>]) -> Option<String> {
    let most = held.iter().max_by(|a, b| a.limit.total_cmp(&b.limit))?;
    let least = held
        .iter()
        .filter(|least| same(least.shows.lifetime, most.shows.lifetime) && least.limit < most.limit)
        .min_by(|a, b| a.limit.total_cmp(&b.limit))?;
    (most.shows.spawned > (1.0 + SAME) * least.shows.spawned).then(|| {
        format!(
            "With {} processes instead of {} (trials {} and {}) it starts {:.1} a second instead of {:.1}. With the fewer, a \
             cycle starts as many as have ended since the last.",
            most.limit, least.limit, most.trial.id, least.trial.id, most.shows.spawned, least.shows.spawned
        )
    })
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < f64::EPSILON
}

/// The other explanations, with what speaks against each.
fn not(clearest: &Held<'_>, held: &[Held<'_>], evidence: &Evidence<'_>) -> Vec<String> {
    let mut not = vec![format!(
        "the number of processes ({:.1} of {} busy)",
        clearest.busy, clearest.limit
    )];
    if let Some(cpu) = own_cpu(clearest.trial, evidence) {
        not.push(format!("the CPU (its processes use {:.0} %)", cpu * 100.0));
    }
    not.extend(network(clearest, held));
    not
}

/// That what is sent makes no difference, from trials that differ in it.
fn network(clearest: &Held<'_>, held: &[Held<'_>]) -> Option<String> {
    let alike: Vec<&Held<'_>> = held
        .iter()
        .filter(|other| same(other.shows.lifetime, clearest.shows.lifetime))
        .collect();
    let factor = clearest.trial.levels.keys().find(|factor| {
        let of_the_load = factor.starts_with("property.") || factor.starts_with("param.");
        of_the_load
            && alike
                .iter()
                .any(|other| other.trial.levels.get(*factor) != clearest.trial.levels.get(*factor))
    })?;
    let levels = alike.iter().filter_map(|other| other.trial.level(factor));
    let (least, most) = levels.fold((f64::INFINITY, 0.0_f64), |(least, most), level| {
        (least.min(level), most.max(level))
    });
    let rates = || alike.iter().map(|other| other.shows.rate);
    let spread = rates().fold(0.0, f64::max) / rates().fold(f64::INFINITY, f64::min) - 1.0;
    (spread <= SAME && most > least).then(|| {
        format!(
            "what is sent ({factor} from {least} to {most} changes it by at most {:.0} %)",
            spread * 100.0
        )
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::findings::made::{facts, trial};

    /// A trial of the published experiment: 50 processes, so many connections each, a file size.
    fn capped(id: u32, lifetime: f64, kib: f64) -> TrialRecord {
        let rate = 30.4 * lifetime;
        let mut trial = trial(
            id,
            rate - 4.0,
            &[
                ("throughput.steady", rate),
                ("threads.spawned", 30.2),
                ("threads.lifetime", lifetime),
                ("threads.waiting", 120.0),
                ("threads.occupancy", 0.4),
                ("threads.limit", 50.0),
                ("target.cpu.user", 0.01),
                ("target.cpu.system", 0.05),
            ],
        );
        trial.levels.insert("property.KIB".to_owned(), kib.into());
        trial
    }

    fn says(trials: &[TrialRecord]) -> Option<Finding> {
        let facts = facts(&[(THREADS, 50.0)]);
        let evidence = Evidence {
            trials: trials.iter().collect(),
            facts: &facts,
            fit: None,
        };
        plateau(&evidence).pop()
    }

    #[test]
    fn a_capped_server_is_recognised_and_the_rivals_are_named() {
        let trials = [
            capped(1, 1.0, 1.0),
            capped(2, 1.0, 16.0),
            capped(3, 2.0, 1.0),
        ];
        let found = says(&trials).unwrap();
        assert_eq!(found.id, "spawn-rate-plateau");
        assert_eq!(found.trials, [1, 2, 3]);
        for part in [
            "started 30.2 a second",
            "With 2 times the connections a process (trial 3) it answers 2.00 times as many as without (trial 1)",
            "was not the number of processes (0.4 of 50 busy)",
            "the CPU (its processes use 6 %)",
            "property.KIB from 1 to 16 changes it by at most 0 %",
            "native.MaxConnectionsPerChild",
        ] {
            assert!(
                found.in_full().contains(part),
                "{part}: {}",
                found.in_full()
            );
        }
        assert_eq!(found.stage.as_deref(), Some(THREADS));
    }

    #[test]
    fn more_places_for_processes_are_advised_where_they_were_seen_to_help() {
        let places = |id: u32, limit: f64, spawned: f64| {
            let mut trial = capped(id, 1.0, 1.0);
            for (signal, value) in [
                ("threads.limit", limit),
                ("threads.spawned", spawned),
                ("throughput.steady", spawned),
            ] {
                trial.signals.insert(signal.to_owned(), value);
            }
            trial
        };
        let advice = "or allow more processes";
        let found = says(&[places(1, 50.0, 42.0), places(2, 100.0, 57.0)]).unwrap();
        assert!(found.in_full().contains(advice), "{}", found.in_full());
        assert!(
            found
                .in_full()
                .contains("With 100 processes instead of 50 (trials 2 and 1)"),
            "{}",
            found.in_full()
        );
        let found = says(&[places(1, 50.0, 57.0), places(2, 100.0, 57.0)]).unwrap();
        assert!(!found.in_full().contains(advice), "{}", found.in_full());
    }

    #[test]
    fn what_is_held_by_something_else_is_no_spawn_rate() {
        let change = |signal: &str, value: f64| {
            let mut trial = capped(1, 1.0, 1.0);
            trial.signals.insert(signal.to_owned(), value);
            says(&[trial])
        };
        assert!(change("threads.waiting", 120.0).is_some());
        assert!(
            change("threads.waiting", 3.5).is_none(),
            "they only wait for the next cycle: the load asks for no more"
        );
        assert!(
            change("threads.occupancy", 49.0).is_none(),
            "the processes are all busy"
        );
        assert!(
            change("target.cpu.system", 0.95).is_none(),
            "the CPU is full"
        );
        assert!(
            change("throughput.steady", 20.0).is_none(),
            "it serves less than it starts"
        );
        let mut stays = capped(1, 1.0, 1.0);
        stays.signals.remove("threads.lifetime");
        assert!(
            says(&[stays]).is_none(),
            "processes that stay need not be started"
        );
    }

    #[test]
    fn a_difference_by_what_is_sent_is_not_talked_away() {
        let mut large = capped(2, 1.0, 16.0);
        large.signals.insert("throughput.steady".to_owned(), 27.0);
        let found = says(&[capped(1, 1.0, 1.0), large]).unwrap();
        assert!(
            !found.in_full().contains("what is sent"),
            "{}",
            found.in_full()
        );
    }
}
