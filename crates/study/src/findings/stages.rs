//! Stages that are too small, and stages that never act.

use weir_metric::is_pool;
use weir_record::{Finding, Role, STAGE_FULL, TrialRecord};

use super::{Evidence, cpu_is_full, name, not_the_cpu};
use crate::settings::THREADS;

/// Waiting counts from half a request on average: below it is the odd moment.
const WAITING_MIN: f64 = 0.5;

/// What helps those that wait for a pool …
const LARGER_POOL: &str = "a larger pool, as far as what is behind it can take more, or shorter holds; more threads would only \
     wait there too";
/// … and where those that have a connection wait for a CPU.
const BEHIND_FULL_CPU: &str = "less CPU a request, or more CPUs: they are full, so that a larger pool would only move the wait there";

/// Threads wait for a connection of a pool while they hold all they have.
pub(super) fn pool_waits(evidence: &Evidence<'_>) -> Vec<Finding> {
    let pools = evidence
        .facts
        .stages
        .iter()
        .filter(|stage| is_pool(&stage.name));
    pools
        .filter_map(|pool| waits_for(&pool.name, evidence))
        .collect()
}

fn waits_for(pool: &str, evidence: &Evidence<'_>) -> Option<Finding> {
    let waiting = |trial: &&&TrialRecord| trial.waiting(pool).unwrap_or(0.0);
    let waited: Vec<&&TrialRecord> = evidence
        .trials
        .iter()
        .filter(|trial| waiting(trial) >= WAITING_MIN)
        .collect();
    let worst = waited
        .iter()
        .copied()
        .max_by(|a, b| waiting(a).total_cmp(&waiting(b)))?;
    let mut says = vec![format!(
        "Threads wait for {pool}: {:.1} of them on average in {} (trial {})",
        waiting(&worst),
        name(worst),
        worst.id
    )];
    if let Some(wait) = worst.wait_s(pool) {
        says.push(format!("{:.0} ms each time", wait * 1e3));
    }
    if let (Some(busy), Some(limit)) = (worst.occupancy(pool), worst.limit(pool, evidence.facts)) {
        says.push(format!("with {busy:.1} of {limit} connections in use"));
    }
    if let Some(threads) = worst.occupancy(THREADS) {
        says.push(format!("and {threads:.1} threads busy"));
    }
    let ids: Vec<u32> = waited.iter().map(|trial| trial.id).collect();
    let found = Finding::new("pool-waits", format!("{}.", says.join(", ")), &ids)
        .of_stage(pool)
        .with(&format!("{pool}.waiting"), waiting(&worst))
        .change(if cpu_is_full(worst) {
            BEHIND_FULL_CPU
        } else {
            LARGER_POOL
        });
    let found = not_the_cpu(found, worst);
    let threads = worst
        .occupancy(THREADS)
        .zip(worst.limit(THREADS, evidence.facts));
    Some(
        match threads.filter(|(busy, limit)| *busy < STAGE_FULL * limit) {
            Some((busy, limit)) => {
                found.was_not(format!("the threads ({busy:.1} of {limit} busy)"))
            }
            None => found,
        },
    )
}

/// A thread limit that no trial reached is no limit there.
pub(super) fn threads_never_full(evidence: &Evidence<'_>) -> Vec<Finding> {
    // In a search the limit as found need not act; in a check and in a designed case it should.
    let meant: Vec<&&TrialRecord> = evidence
        .trials
        .iter()
        .filter(|trial| trial.levels.contains_key(THREADS))
        .filter(|trial| trial.role != Role::Check || is_surplus(trial, evidence))
        .collect();
    let share = |trial: &TrialRecord| trial.taken(THREADS, evidence.facts);
    let fullest = meant
        .iter()
        .filter_map(|trial| Some((**trial, share(trial)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((trial, share)) = fullest.filter(|(_, share)| *share < STAGE_FULL) else {
        return Vec::new();
    };
    let says = format!(
        "The thread limit never acted: at most {:.1} of {} threads were busy on average ({:.0} %, {}, \
         trial {}).",
        trial.occupancy(THREADS).unwrap_or_default(),
        trial.limit(THREADS, evidence.facts).unwrap_or_default(),
        share * 100.0,
        name(trial),
        trial.id
    );
    let ids: Vec<u32> = meant.iter().map(|trial| trial.id).collect();
    let found = Finding::new("threads-never-full", says, &ids).of_stage(THREADS);
    vec![found.change(
        "nothing, unless the limit is to hold the flow: then it has to be below what is busy without it",
    )]
}

/// Whether a trial of the check has the most users of all checks: the last one is at the answer.
fn is_surplus(trial: &TrialRecord, evidence: &Evidence<'_>) -> bool {
    let checks = evidence
        .trials
        .iter()
        .filter(|other| other.role == Role::Check);
    let most = checks.map(|other| other.population).max().unwrap_or(0);
    trial.population == most
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::findings::made::{findings, trial};

    const LIMITS: [(&str, f64); 2] = [("threads", 50.0), ("pool.db", 10.0)];

    #[test]
    fn a_pool_that_starves_says_what_it_was_not() {
        let starved = [
            ("pool.db.waiting", 14.0),
            ("pool.db.wait", 2.5),
            ("pool.db.occupancy", 10.0),
            ("threads.occupancy", 25.0),
        ];
        let found = findings(pool_waits, &LIMITS, &[trial(1, 5.6, &starved)]);
        assert_eq!(found[0].stage.as_deref(), Some("pool.db"));
        assert!(found[0].says.contains("14.0 of them"), "{found:?}");
        assert!(found[0].change.as_ref().unwrap().contains("a larger pool"));
        assert_eq!(found[0].was_not, ["the threads (25.0 of 50 busy)"]);
    }

    #[test]
    fn a_pool_with_room_is_not_named() {
        let ample = [("pool.db.waiting", 0.1), ("pool.db.occupancy", 4.0)];
        assert_eq!(findings(pool_waits, &LIMITS, &[trial(1, 5.6, &ample)]), []);
    }

    #[test]
    fn a_larger_pool_helps_nobody_who_waits_for_a_cpu() {
        let advice = |busiest: f64| {
            let told = [("pool.db.waiting", 5.0), ("cpu.fullest", busiest)];
            let found = findings(pool_waits, &LIMITS, &[trial(1, 5.6, &told)]);
            found[0].change.clone().unwrap()
        };
        assert_eq!(advice(0.4), LARGER_POOL);
        assert_eq!(advice(1.0), BEHIND_FULL_CPU);
    }

    #[test]
    fn threads_that_are_never_all_busy_are_told_from_those_that_are() {
        let with = |busy| {
            let mut made = trial(1, 5.6, &[("threads.occupancy", busy)]);
            made.levels.insert("threads".to_owned(), 50.0.into());
            findings(threads_never_full, &LIMITS, &[made])
        };
        assert_eq!(with(20.0)[0].stage.as_deref(), Some("threads"));
        assert_eq!(with(49.9), []);
    }
}
