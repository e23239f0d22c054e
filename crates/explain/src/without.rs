//! What the requests would get without one of their waits: bounds by Little's law and the
//! utilization law (Denning and Buzen, ACM Computing Surveys 10, 1978).
//!
//! U users of whom W wait for something have the throughput X = U / (R + Z). Without the wait it is
//! U · X / (U − W), if the other waits stay as they are. Nor is it more than the CPUs
//! can do, n · X / b with b of n busy with the server's work, as long as a request costs what it
//! costs now. Without a quota it is at most X / (1 − s), if the group stood still for the share s
//! of the time. Twice a limit lets at most twice as many through. An open workload has the same
//! throughput, and its mean is shorter by the wait.
//!
//! How sure the throughput is follows from the intervals of the figures in it, by the first term of
//! their errors' propagation; they count as independent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_record::names;

use crate::evidence::Evidence;
use crate::hypotheses::quota::stood_still;
use crate::hypothesis::Hypothesis;
use crate::threshold::MATTERS;
use crate::words::{number, time};

/// What counts as a wait that could be without; CPU time and a load generator's own faults do not.
const WAITS: [&str; 13] = [
    LIMIT,
    "connects",
    "network",
    "locks",
    "garbage-collection",
    "paging",
    "disk",
    "downstream",
    "name-lookup",
    "entropy",
    QUOTA,
    "neighbour",
    "scheduler",
];
const LIMIT: &str = "limit";
const QUOTA: &str = "quota";
/// More of the requests' time than this is all of it: nothing is left to reckon with.
const ALL: f64 = 0.99;

/// What the requests would get without a wait, if the other waits stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Without {
    /// Requests answered per second.
    pub throughput_per_s: f64,
    /// Mean time of a request in milliseconds.
    pub response_mean_ms: f64,
    /// What lets no more through then.
    pub ends: Ends,
    /// Between which rates the throughput lies at 95 %, as far as the figures that it is reckoned
    /// from have intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_per_s: Option<[f64; 2]>,
}

/// What ends the throughput without a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// Nothing that is known: users that ask again no sooner, arrivals that are no more.
    Load,
    /// The CPUs are full.
    Cpu,
    /// Twice the limit is full.
    TwiceTheLimit,
}

impl Without {
    /// Of a wait that is supported by the figures.
    pub(crate) fn of(found: &Hypothesis, evidence: &Evidence) -> Option<Self> {
        // What a server does in the time in which it does not stand still, it can do all the time.
        let share = if found.id == QUOTA {
            stood_still(evidence)
        } else {
            found.share
        };
        let share = share.filter(|share| (MATTERS..ALL).contains(share))?;
        let is_wait = found.is_supported() && WAITS.contains(&found.id.as_str());
        // Who is refused waits for nothing.
        if !is_wait || (found.id == LIMIT && evidence.refuses_anywhere()) {
            return None;
        }
        let (now, mean_s) = (evidence.throughput_per_s?, evidence.mean_s?);
        let (in_flight, elsewhere) = (evidence.in_flight?, evidence.elsewhere);
        // How long a queue gets that is served by fits and starts is not known.
        if elsewhere.is_infinite() && found.id == QUOTA {
            return None;
        }
        if elsewhere.is_infinite() {
            return Some(Self {
                throughput_per_s: now,
                response_mean_ms: mean_s * (1.0 - share) * 1e3,
                ends: Ends::Load,
                within_per_s: None,
            });
        }
        let users = in_flight + elsewhere;
        let load = if found.id == QUOTA {
            (now / (1.0 - share)).min(now * users / elsewhere)
        } else {
            now * users / (users - share * in_flight)
        };
        let load = (load, Ends::Load);
        // Without a quota there are more CPUs.
        let cpu = evidence.target_cpu().zip(evidence.cpus);
        let cpu = cpu.filter(|_| found.id != QUOTA);
        let cpu = cpu.map(|(busy, cpus)| (now * cpus / busy, Ends::Cpu));
        let limit = (found.id == LIMIT).then_some((2.0 * now, Ends::TwiceTheLimit));
        let (most, ends) = [Some(load), cpu, limit]
            .into_iter()
            .flatten()
            .filter(|(most, _)| most.is_finite())
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        // CPUs that are full already let no less through than they do.
        let throughput_per_s = most.max(now);
        let other = match ends {
            Ends::TwiceTheLimit => None,
            Ends::Cpu => error_of(evidence, &OF_CPU, evidence.target_cpu()?),
            Ends::Load if found.id == QUOTA => error_of(evidence, &OF_QUOTA, 1.0 - share),
            Ends::Load => {
                let waits = found.tests.first().map(|test| test.from.as_slice());
                error_of(
                    evidence,
                    waits.unwrap_or_default(),
                    users - share * in_flight,
                )
            }
        };
        let within_per_s = error_of(evidence, &[names::THROUGHPUT], now).map(|of_now| {
            let error = throughput_per_s * of_now.hypot(other.unwrap_or(0.0));
            [
                (throughput_per_s - error).max(0.0),
                throughput_per_s + error,
            ]
        });
        Some(Self {
            throughput_per_s,
            response_mean_ms: (users / throughput_per_s - elsewhere / now).max(0.0) * 1e3,
            ends,
            within_per_s,
        })
    }

    /// In a sentence, beside what is now.
    pub(crate) fn says(&self, found: &Hypothesis, evidence: &Evidence) -> String {
        let what = if found.id == LIMIT {
            "With twice the limit"
        } else {
            "Without it"
        };
        let mean_s = self.response_mean_ms / 1e3;
        if evidence.elsewhere.is_infinite() {
            return format!(
                "{what} the mean would be about {}, if the other waits stay as they are.",
                time(mean_s)
            );
        }
        let within = self.within_per_s.map_or_else(String::new, |[low, high]| {
            format!(" ({}–{})", number(low), number(high))
        });
        let rate = format!("{}{within}", number(self.throughput_per_s));
        let ends = match self.ends {
            // A queue that stands behind this wait gets shorter with it.
            Ends::Load if found.id != QUOTA => {
                return format!(
                    "{what} these users would get about {rate} answers a second, after {}, if the other waits stay as they \
                     are.",
                    time(mean_s)
                );
            }
            Ends::Load => "",
            Ends::Cpu => "; then the CPUs are full",
            Ends::TwiceTheLimit => ", twice as many as now",
        };
        format!(
            "{what} these users would get about {rate} answers a second at most, after {} at least{ends}.",
            time(mean_s)
        )
    }
}

/// What the CPU time of the server is summed from.
const OF_CPU: [&str; 2] = ["target.cpu.user", "target.cpu.system"];
/// What tells how long a group stood still.
const OF_QUOTA: [&str; 1] = ["target.throttled.time"];

/// How far a figure may be off that is made from these signals, as a share of it; `None` where none
/// of them has an interval.
fn error_of(evidence: &Evidence, signals: &[impl AsRef<str>], figure: f64) -> Option<f64> {
    let signals: Vec<String> = signals
        .iter()
        .map(|name| name.as_ref().to_owned())
        .collect();
    Some(evidence.half_width(&signals)? / figure)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::evidence::made;
    use crate::hypothesis::{Test, Unit, Verdict};

    fn found(id: &str, share: f64) -> Hypothesis {
        Hypothesis::new(id, "it waits")
            .share(Some(share))
            .verdict(Verdict::Supported, "")
    }

    /// 100 a second of 100 ms by users who think as long, so that ten of twenty wait.
    fn closed(signals: &[(&str, f64)]) -> Evidence {
        let mut evidence = made::evidence(signals);
        evidence.elsewhere = 10.0;
        evidence
    }

    const BUSY: [(&str, f64); 2] = [("target.cpu.user", 0.5), ("target.cpu.system", 0.3)];

    #[test]
    fn users_that_do_not_wait_ask_again_sooner() {
        // 20 users in 40 + 100 ms.
        let without = Without::of(&found("locks", 0.6), &closed(&[])).unwrap();
        assert!((without.throughput_per_s - 20.0 / 0.14).abs() < 1e-9);
        assert!((without.response_mean_ms - 40.0).abs() < 1e-9);
        assert_eq!(without.ends, Ends::Load);
    }

    /// Six of twenty users wait, give or take one; the throughput is known to a twentieth.
    #[test]
    fn the_rate_without_a_wait_is_as_sure_as_what_it_is_reckoned_from() {
        let waiting = Test::figure("waits", Some(0.6), Unit::Share).from(&["pool.db.waiting"]);
        let limit = found("locks", 0.6).test(waiting);
        let known = made::known_to(
            closed(&[("pool.db.waiting", 6.0), ("throughput", 100.0)]),
            &[("pool.db.waiting", 1.0), ("throughput", 5.0)],
        );
        let without = Without::of(&limit, &known).unwrap();
        let [low, high] = without.within_per_s.unwrap();
        // 1 of 14 that do not wait, and 5 of 100: 8.7 % of 142.9.
        assert!(
            (high - without.throughput_per_s - 12.5).abs() < 0.1,
            "{low} {high}"
        );
        assert!((without.throughput_per_s - low - 12.5).abs() < 0.1);
        let says = without.says(&limit, &known);
        assert!(says.contains("about 143 (130–155) answers"), "{says}");
        assert_eq!(
            Without::of(&limit, &closed(&[])).unwrap().within_per_s,
            None
        );
    }

    #[test]
    fn the_cpus_and_twice_the_limit_let_no_more_through() {
        let almost_all = found("locks", 0.98);
        let full = [("target.cpu.user", 1.2), ("target.cpu.system", 0.0)];
        let without = Without::of(&almost_all, &closed(&full)).unwrap();
        assert_eq!(without.ends, Ends::Cpu);
        assert!((without.throughput_per_s - 100.0 / 0.6).abs() < 1e-9);
        // 20 users at 166.7/s of whom 100 ms are elsewhere.
        assert!((without.response_mean_ms - 20.0).abs() < 1e-9);
        let mut many = closed(&BUSY);
        many.elsewhere = 0.0;
        let twice = Without::of(&found("limit", 0.9), &many).unwrap();
        assert_eq!(twice.ends, Ends::TwiceTheLimit);
        assert!((twice.throughput_per_s - 200.0).abs() < 1e-9);
        assert!(
            twice
                .says(&found("limit", 0.9), &many)
                .contains("twice as many as now")
        );
    }

    #[test]
    fn without_a_quota_the_server_works_all_the_time() {
        // What its threads wait for a CPU says little of it: requests wait for threads as well.
        let quota = found("quota", 0.2);
        let stood_still = [("target.throttled.time", 0.4)];
        let without = Without::of(&quota, &closed(&stood_still)).unwrap();
        assert!((without.throughput_per_s - 100.0 / 0.6).abs() < 1e-9);
        // Twenty users of whom each thinks for 100 ms ask no more than 200 times a second.
        let nearly_always = [("target.throttled.time", 0.8)];
        let without = Without::of(&quota, &closed(&nearly_always)).unwrap();
        assert!((without.throughput_per_s - 200.0).abs() < 1e-9);
        assert_eq!(Without::of(&quota, &closed(&[])), None, "not recorded");
        let open = made::evidence(&stood_still);
        assert_eq!(Without::of(&quota, &open), None);
    }

    #[test]
    fn arrivals_are_as_many_as_before() {
        let without = Without::of(&found("disk", 0.7), &made::evidence(&[])).unwrap();
        assert!((without.throughput_per_s - 100.0).abs() < 1e-9);
        assert!((without.response_mean_ms - 30.0).abs() < 1e-9);
    }

    #[test]
    fn of_what_is_no_wait_nothing_is_said() {
        let evidence = closed(&BUSY);
        assert_eq!(Without::of(&found("cpu", 0.6), &evidence), None);
        assert_eq!(Without::of(&found("locks", 1.0), &evidence), None);
        let not = found("locks", 0.6).verdict(Verdict::NotSupported, "");
        assert_eq!(Without::of(&not, &evidence), None);
    }
}
