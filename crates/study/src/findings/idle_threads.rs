//! Threads without a request that wake up while the CPU is full.

use weir_record::{CPU_FULL, Finding, IdleThreads, TrialRecord, names};

use super::{Evidence, most, name};

/// Much of the CPU goes into waking them up.
pub(super) fn wake(evidence: &Evidence<'_>) -> Vec<Finding> {
    let per_request = |trial: &TrialRecord| Some(shows(trial)?.per_request());
    most(evidence, per_request)
        .and_then(|(trial, _, ids)| Some((trial, shows(trial)?, ids)))
        .map(|(trial, shows, ids)| {
            let threads = trial.signals.get("target.threads").copied();
            let says = format!(
                "Threads without a request take the CPU in {} (trial {}). {:.0} of the server's {:.0} threads ran in a \
                 second, {:.0} for each request answered; the kernel had {:.0} % of the server's CPU time.",
                name(trial),
                trial.id,
                shows.ran,
                threads.unwrap_or(shows.ran),
                shows.per_request(),
                shows.kernel * 100.0
            );
            Finding::new("idle-threads-wake", says, &ids)
                .with("target.threads.ran", shows.ran)
                .with("throughput", shows.throughput_per_s)
                .change(
                    "fewer threads: a restart after a peak, or a smaller maximum of the pool that they are of",
                )
        })
        .into_iter()
        .collect()
}

/// What a trial shows, where threads wake up and the CPU is full.
fn shows(trial: &TrialRecord) -> Option<IdleThreads> {
    let signal = |name: &str| trial.signals.get(name).copied();
    let (user, system) = (signal("target.cpu.user")?, signal("target.cpu.system")?);
    let by_law = trial.throughput_per_s * trial.response_time_ms.mean / 1e3;
    let shows = IdleThreads {
        ran: signal("target.threads.ran")?,
        in_flight: signal(names::IN_FLIGHT).unwrap_or(by_law),
        throughput_per_s: trial.throughput_per_s,
        kernel: system / (user + system),
    };
    let full = trial.cpu.is_some_and(|cpu| cpu.total >= CPU_FULL);
    (full && shows.wake()).then_some(shows)
}

#[cfg(test)]
mod tests {
    use weir_record::CpuRecord;

    use super::*;
    use crate::findings::made::{facts, trial};

    #[test]
    fn threads_that_wake_up_beside_few_requests_are_told() {
        let facts = facts(&[]);
        let found = |ran: f64, cpu: f64| {
            let signals = [
                ("target.threads", 10_041.0),
                ("target.threads.ran", ran),
                ("target.cpu.user", 0.58),
                ("target.cpu.system", 0.42),
            ];
            let mut trial = trial(2, 332.0, &signals);
            trial.cpu = Some(CpuRecord {
                total: cpu,
                ..CpuRecord::default()
            });
            let evidence = Evidence {
                trials: vec![&trial],
                facts: &facts,
                fit: None,
            };
            wake(&evidence).pop()
        };
        let told = found(10_029.0, 1.0).map(|found| found.says);
        let told = told.unwrap_or_default();
        assert!(
            told.contains("10029 of the server's 10041 threads"),
            "{told}"
        );
        assert_eq!(found(10_029.0, 0.6), None, "there is CPU left");
        assert_eq!(found(60.0, 1.0), None, "each has its work");
    }
}
