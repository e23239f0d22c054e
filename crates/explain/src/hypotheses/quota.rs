//! The quota of the server's control group is used up.

use weir_record::CpuUse;

use crate::evidence::Evidence;
use crate::hypothesis::{Hypothesis, Test, Unit, any_of};
use crate::threads::requests_for_cpu;
use crate::threshold::{MATTERS, THROTTLED, THROTTLED_BECAUSE};
use crate::words::{number, percent};

const LARGER: &str = "the same run with a larger quota (`cpu.max`, a container's CPU limit); or with no more threads than the quota can run";

/// Share of its periods in which a group is stopped, from which on it is stopped as a rule.
const MOST_PERIODS: f64 = 0.5;

pub(crate) fn quota(evidence: &Evidence) -> Hypothesis {
    let throttled = evidence.signal("target.throttled");
    let stopped = Test::at_least(
        "share of the periods in which the server's control group was stopped",
        throttled,
        Unit::Share,
        (THROTTLED, THROTTLED_BECAUSE),
    )
    .from(&["target.throttled", "target.throttled.time"]);
    let verdict = any_of(&[stopped.speaks_for]);
    let waits = evidence.share_of_requests(requests_for_cpu(evidence));
    // Those that no thread has begun to serve wait as well while the server stands still.
    let share = throttled.filter(|share| *share >= THROTTLED).and_then(|_| {
        waits
            .into_iter()
            .chain(stood_still(evidence))
            .reduce(f64::max)
    });
    let says = match throttled {
        None => {
            "Whether the server's control group was stopped was not recorded: it takes its process."
                .to_owned()
        }
        Some(0.0) => {
            "The server's control group was never stopped because of a CPU quota.".to_owned()
        }
        Some(throttled) => {
            let of = evidence
                .cpus
                .map_or_else(String::new, |cpus| format!(" of {} CPUs", number(cpus)));
            let others = others(evidence).map_or_else(String::new, |others| {
                format!(
                    " Other processes of the group used {} CPUs of it.",
                    number(others)
                )
            });
            format!(
                "The quota{of} of the server's control group was used up in {} of its periods: then its threads stand \
                 still until the next one, however idle the machine is{}.{others}",
                percent(throttled),
                stood_still(evidence).map_or_else(String::new, |time| format!(
                    ", here {} of the time",
                    percent(time)
                ))
            )
        }
    };
    Hypothesis::new(
        "quota",
        "The server's control group has used up its CPU quota (throttling)",
    )
    .share(share)
    .test(stopped)
    .idea("larger-quota", LARGER)
    .verdict(verdict, says)
}

/// All of the time, where the quota is used up in most of its periods: that the CPUs are full is
/// the quota's doing then, the work on them included.
pub(crate) fn held_by_quota(evidence: &Evidence) -> Option<f64> {
    let throttled = evidence.signal("target.throttled")?;
    (throttled >= MOST_PERIODS).then_some(1.0)
}

/// Share of the time in which the group stood still.
pub(crate) fn stood_still(evidence: &Evidence) -> Option<f64> {
    evidence.signal("target.throttled.time")
}

/// CPUs that other processes of the group used, where that is not little.
fn others(evidence: &Evidence) -> Option<f64> {
    let others = CpuUse::of(|name| evidence.signal(name), false)?.group_beside_server()?;
    (others >= MATTERS * evidence.cpus?).then_some(others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;
    use crate::hypothesis::Verdict;

    #[test]
    fn a_group_that_is_stopped_waits_for_its_next_period() {
        let of = |throttled: &[(&str, f64)]| quota(&evidence(throttled));
        let stopped = of(&[("target.throttled", 0.8), ("target.cpus", 0.5)]);
        assert_eq!(stopped.verdict, Verdict::Supported, "{stopped:#?}");
        assert!(
            stopped.says.contains("80 % of its periods"),
            "{}",
            stopped.says
        );
        let still = of(&[("target.throttled", 0.9), ("target.throttled.time", 0.78)]);
        assert_eq!(still.share, Some(0.78), "{still:#?}");
        assert!(still.says.contains("here 78 % of the time"), "{still:#?}");
        let mut shared = evidence(&[
            ("target.throttled", 0.8),
            ("target.cpu.user", 0.3),
            ("target.cpu.system", 0.0),
            ("target.group.cpu", 0.5),
        ]);
        shared.cpus = Some(0.5);
        let says = quota(&shared).says;
        assert!(
            says.contains("Other processes of the group used 0.20 CPUs"),
            "{says}"
        );
        assert_eq!(
            of(&[("target.throttled", 0.02)]).verdict,
            Verdict::NotSupported
        );
        assert_eq!(
            of(&[("target.throttled", 0.0)]).verdict,
            Verdict::NotSupported
        );
        assert_eq!(of(&[]).verdict, Verdict::NotMeasured);
    }
}
