//! What the users of a closed load can ask for at most.
//!
//! Little's law: N users, each of whom waits R for every answer, get at most N / R answers a
//! second, however quick the load generator is. A load that is to keep a rate breaks there, whether
//! or not the server is busy.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, name, not_the_cpu};

/// A throughput this close to the ceiling is at it: the users hardly ever pause.
const AT_CEILING: f64 = 0.97;
/// A rate that is missed by less than this is kept: a window cuts off a few requests at its ends.
const KEPT: f64 = 0.98;

/// Requests per second that the users of a closed load can ask for at most, at the response time of
/// the trial.
pub(crate) fn of_users(trial: &TrialRecord) -> Option<f64> {
    let mean_s = trial.response_time_ms.mean / 1e3;
    let closed = trial.open.is_none() && trial.population > 0 && mean_s > 0.0;
    closed.then(|| f64::from(trial.population) / mean_s)
}

/// A trial in which so many users were to keep a rate.
struct Asked<'a> {
    trial: &'a TrialRecord,
    rate_per_s: f64,
    ceiling_per_s: f64,
}

impl Asked<'_> {
    /// The users ask as often as they can, or could not ask for the rate if they did.
    fn is_held(&self) -> bool {
        let got = self.trial.throughput_per_s;
        let missed = got < KEPT * self.rate_per_s;
        missed && (self.is_at_ceiling() || self.ceiling_per_s < KEPT * self.rate_per_s)
    }

    fn is_at_ceiling(&self) -> bool {
        self.trial.throughput_per_s >= AT_CEILING * self.ceiling_per_s
    }

    fn users_and_time(&self) -> String {
        format!(
            "{} users who wait {:.1} ms for each answer",
            self.trial.population, self.trial.response_time_ms.mean
        )
    }
}

/// Says in which trials the users could not keep the rate, or how far from it they were.
pub(super) fn of_rate(evidence: &Evidence<'_>) -> Vec<Finding> {
    let asked = evidence.trials.iter().filter_map(|trial| {
        Some(Asked {
            trial,
            rate_per_s: trial.level("rate")?,
            ceiling_per_s: of_users(trial)?,
        })
    });
    let asked: Vec<Asked<'_>> = asked.collect();
    let room = |asked: &Asked<'_>| asked.ceiling_per_s / asked.rate_per_s;
    let Some(worst) = asked.iter().min_by(|a, b| room(a).total_cmp(&room(b))) else {
        return Vec::new();
    };
    let held: Vec<&Asked<'_>> = asked.iter().filter(|asked| asked.is_held()).collect();
    if held.is_empty() {
        let ids: Vec<u32> = asked.iter().map(|asked| asked.trial.id).collect();
        return vec![enough(worst, &ids)];
    }
    let ids: Vec<u32> = held.iter().map(|asked| asked.trial.id).collect();
    vec![holds(worst, &ids)]
}

fn holds(worst: &Asked<'_>, ids: &[u32]) -> Finding {
    let trial = worst.trial;
    let limits = if worst.is_at_ceiling() {
        "The number of users limits the flow"
    } else {
        "So many users cannot ask for the rate, whatever else holds them back,"
    };
    let says = format!(
        "{limits} in {} (trial {}). By Little's law {} can ask {:.0} times a second; {:.0} were to be asked, and {:.0} were \
         answered.",
        name(trial),
        trial.id,
        worst.users_and_time(),
        worst.ceiling_per_s,
        worst.rate_per_s,
        trial.throughput_per_s
    );
    let found = Finding::new("users-hold-the-rate", says, ids).change(
        "more users, or what makes the response times long: a higher rate cannot be asked for",
    );
    not_the_cpu(found, trial)
}

fn enough(worst: &Asked<'_>, ids: &[u32]) -> Finding {
    let trial = worst.trial;
    let says = format!(
        "The users suffice for the rate by Little's law. It is nearest in {} (trial {}): {} can ask {:.0} times a second, \
         {:.0} were to be asked, and {:.0} were answered.",
        name(trial),
        trial.id,
        worst.users_and_time(),
        worst.ceiling_per_s,
        worst.rate_per_s,
        trial.throughput_per_s
    );
    Finding::new("users-suffice", says, ids)
}

#[cfg(test)]
mod tests {
    use weir_record::{CpuRecord, Level, OpenRecord};

    use super::*;
    use crate::findings::made::{findings, trial};

    /// Ten users who were to ask 500 times a second.
    fn asked(id: u32, mean_ms: f64, throughput_per_s: f64) -> TrialRecord {
        let mut trial = trial(id, throughput_per_s, &[]);
        trial.population = 10;
        trial.response_time_ms.mean = mean_ms;
        let rate = Level::Number(500.0);
        trial.levels.insert("rate".to_owned(), rate);
        trial.cpu = Some(CpuRecord {
            user: 0.7,
            system: 0.1,
            steal: 0.0,
            total: 0.8,
        });
        trial
    }

    fn says(trials: &[TrialRecord]) -> Vec<(String, String)> {
        let found = findings(of_rate, &[], trials);
        let told = |finding: weir_record::Finding| (finding.id, finding.says);
        found.into_iter().map(told).collect()
    }

    #[test]
    fn users_over_response_time_is_where_a_rate_breaks() {
        assert_eq!(of_users(&asked(1, 20.0, 500.0)), Some(500.0));
        let [(id, text)] = &says(&[asked(1, 9.2, 500.0), asked(2, 20.8, 480.0)])[..] else {
            panic!("one finding");
        };
        assert_eq!(id, "users-hold-the-rate");
        assert!(
            text.contains("case 2 (trial 2)") && text.contains("481 times"),
            "{text}"
        );
    }

    #[test]
    fn room_is_told_where_the_rate_is_kept() {
        let [(id, text)] = &says(&[asked(1, 9.2, 500.0), asked(2, 18.0, 499.0)])[..] else {
            panic!("one finding");
        };
        assert_eq!(id, "users-suffice");
        assert!(text.contains("556 times"), "{text}");
        // Missed for another reason: the users were not busy all the time.
        assert_eq!(says(&[asked(1, 9.2, 300.0)])[0].0, "users-suffice");
    }

    #[test]
    fn users_who_cannot_ask_for_the_rate_do_not_suffice() {
        // 26 ms each: 381 times a second; the plan lets them pause on top of it.
        let [(id, text)] = &says(&[asked(1, 26.2, 320.0)])[..] else {
            panic!("one finding");
        };
        assert_eq!(id, "users-hold-the-rate");
        assert!(
            text.starts_with("So many users cannot ask for the rate") && text.contains("382 times"),
            "{text}"
        );
    }

    #[test]
    fn an_open_load_has_no_such_bound() {
        let mut open = asked(1, 20.0, 480.0);
        open.open = Some(OpenRecord::default());
        assert_eq!(of_users(&open), None);
        assert_eq!(says(&[open]), []);
        assert_eq!(says(&[trial(1, 480.0, &[])]), [], "no rate was asked");
    }
}
