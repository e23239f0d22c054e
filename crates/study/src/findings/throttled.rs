//! A CPU quota that is used up: the server's threads stand still until its next period.

use weir_record::{CpuUse, Finding, THROTTLED_MIN, TrialRecord};

use super::{Evidence, most, name};

/// Others of the group used this share of the quota, from which on they are named.
const OTHERS_MIN: f64 = 0.1;
const THROTTLED: &str = "target.throttled";

/// The control group was stopped in many of its periods.
pub(super) fn by_quota(evidence: &Evidence<'_>) -> Vec<Finding> {
    let much = |trial: &TrialRecord| {
        let share = trial.signals.get(THROTTLED).copied()?;
        Some(share).filter(|share| *share >= THROTTLED_MIN)
    };
    most(evidence, much)
        .map(|(trial, share, ids)| {
            let signal = |name: &str| trial.signals.get(name).copied();
            let quota = signal("target.cpus");
            let of = quota.map_or_else(String::new, |cpus| format!(" of {cpus:.2} CPUs"));
            let parts = [
                others(trial, quota),
                signal("jvm.processors").zip(quota).and_then(too_many),
            ];
            let beside: String = parts.into_iter().flatten().collect();
            let says = format!(
                "The CPU quota{of} of the server's control group was used up in {:.0} % of its periods in {} (trial \
                 {}): its threads stood still then, however idle the machine is.{beside}",
                share * 100.0,
                name(trial),
                trial.id
            );
            let found = Finding::new("cpu-throttled", says, &ids).with(THROTTLED, share);
            let still = signal("target.throttled.time").into_iter();
            still
                .fold(found, |found, time| {
                    found.with("target.throttled.time", time)
                })
                .change(
                    "a larger quota (`cpu.max`, a container's CPU limit), or fewer threads and requests at a time",
                )
        })
        .into_iter()
        .collect()
}

/// What other processes of the group used of its quota.
fn others(trial: &TrialRecord, quota: Option<f64>) -> Option<String> {
    let signal = |name: &str| trial.signals.get(name).copied();
    let others = CpuUse::of(signal, false)?.group_beside_server()?;
    (others >= OTHERS_MIN * quota?)
        .then(|| format!(" Other processes of the group used {others:.2} CPUs of it."))
}

/// A virtual machine that was told of more processors than the quota can run.
fn too_many((processors, quota): (f64, f64)) -> Option<String> {
    (processors > quota.ceil()).then(|| {
        format!(
            " The virtual machine reckons with {processors:.0} processors, and sizes its pools for these."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::{facts, trial};

    fn told(signals: &[(&str, f64)]) -> Option<String> {
        let (facts, trial) = (facts(&[]), trial(3, 40.0, signals));
        let evidence = Evidence {
            trials: vec![&trial],
            facts: &facts,
            fit: None,
        };
        by_quota(&evidence).pop().map(|finding| finding.says)
    }

    #[test]
    fn a_quota_that_is_used_up_is_told_and_who_used_it() {
        let alone = [
            ("target.throttled", 0.84),
            ("target.cpus", 0.5),
            ("target.cpu.user", 0.4),
            ("target.cpu.system", 0.1),
            ("target.group.cpu", 0.5),
            ("jvm.processors", 1.0),
        ];
        let says = told(&alone).unwrap_or_default();
        assert!(says.contains("quota of 0.50 CPUs"), "{says}");
        assert!(says.contains("84 % of its periods"), "{says}");
        assert!(says.ends_with("the machine is."), "{says}");
        let shared = [&alone[..], &[("target.cpu.user", 0.2)]].concat();
        let says = told(&shared).unwrap_or_default();
        assert!(
            says.contains("Other processes of the group used 0.20 CPUs"),
            "{says}"
        );
        let host = [&alone[..], &[("jvm.processors", 64.0)]].concat();
        let says = told(&host).unwrap_or_default();
        assert!(says.contains("reckons with 64 processors"), "{says}");
        let rarely = [&alone[..], &[("target.throttled", 0.05)]].concat();
        assert_eq!(told(&rarely), None);
        assert_eq!(told(&[]), None);
    }
}
