//! What a gateway in front of the server holds back, and what it rejects.

use weir_record::{Finding, Role, TrialRecord};

use super::{Evidence, most, name, not_the_cpu};
use crate::settings::GATE;

/// Waiting counts from half a request on average: below it is the odd moment.
const WAITING_MIN: f64 = 0.5;

/// Requests wait in the gateway: the queue that is otherwise spread over a server's stages, or not
/// seen at all.
pub(super) fn holds(evidence: &Evidence<'_>) -> Vec<Finding> {
    let waiting = |trial: &TrialRecord| {
        let waiting = trial.waiting(GATE)?;
        (waiting >= WAITING_MIN).then_some(waiting)
    };
    // Where the study has an answer, its check is what is going to be held.
    let mut latest_first = evidence.trials.iter().rev();
    let checked = latest_first
        .find(|trial| trial.role == Role::Check)
        .and_then(|trial| Some((*trial, waiting(trial)?, vec![trial.id])));
    let Some((trial, waiting, ids)) = checked.or_else(|| most(evidence, waiting)) else {
        return Vec::new();
    };
    let mut says = vec![format!(
        "The gate holds {waiting:.1} requests back on average in {} (trial {})",
        name(trial),
        trial.id
    )];
    if let Some(wait_s) = trial.wait_s(GATE) {
        says.push(format!("{:.0} ms each", wait_s * 1e3));
    }
    if let Some(in_flight) = trial.occupancy(GATE) {
        let most = trial.limit(GATE, evidence.facts);
        let most = most.map_or_else(String::new, |most| format!(" of {most}"));
        says.push(format!("while {in_flight:.1}{most} are in the server"));
    }
    if trial.open.is_none() {
        says.push(format!("of the requests of {} users", trial.population));
    }
    let found = Finding::new("gate-holds", format!("{}.", says.join(", ")), &ids)
        .of_stage(GATE)
        .with("gate.waiting", waiting)
        .change("nothing, if this is the flow that is to be held; a higher cap lets more of them into the server");
    vec![not_the_cpu(found, trial)]
}

/// Requests that would have waited longer than they may.
pub(super) fn turns_away(evidence: &Evidence<'_>) -> Vec<Finding> {
    let refused = |trial: &TrialRecord| {
        let refused = trial.signals.get("gate.refused").copied()?;
        (refused > 0.0).then_some(refused)
    };
    let Some((trial, refused, ids)) = most(evidence, refused) else {
        return Vec::new();
    };
    let admitted = trial.signals.get("gate.entries").copied().unwrap_or(0.0);
    let says = format!(
        "The gate rejected {refused:.1} requests a second in {} (trial {}) and let in {admitted:.1}: the turn of the \
         others would have come too late.",
        name(trial),
        trial.id
    );
    let found = Finding::new("gate-turns-away", says, &ids)
        .of_stage(GATE)
        .with("gate.refused", refused)
        .with("gate.entries", admitted)
        .change(
            "nothing, if more is not to be let in; a longer `max-wait` in [gate] lets them wait instead of being rejected",
        );
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::{findings, trial};

    #[test]
    fn what_waits_in_the_gate_is_told_with_its_wait() {
        let full = [
            ("gate.waiting", 14.2),
            ("gate.wait", 0.85),
            ("gate.occupancy", 39.9),
        ];
        let found = findings(holds, &[("gate", 40.0)], &[trial(1, 16.0, &full)]);
        let says = &found[0].says;
        for part in ["14.2 requests", "850 ms each", "39.9 of 40"] {
            assert!(says.contains(part), "{part}: {says}");
        }
        let empty = [("gate.waiting", 0.1), ("gate.occupancy", 12.0)];
        assert_eq!(
            findings(holds, &[("gate", 40.0)], &[trial(1, 16.0, &empty)]),
            []
        );
    }

    #[test]
    fn the_check_goes_before_a_trial_with_more_waiting() {
        let low = trial(1, 4.0, &[("gate.waiting", 50.0)]);
        let mut check = trial(2, 16.0, &[("gate.waiting", 14.0)]);
        check.role = Role::Check;
        let found = findings(holds, &[], &[low, check]);
        assert!(found[0].says.contains("14.0"), "{found:?}");
    }

    #[test]
    fn who_is_turned_away_is_counted() {
        let refusing = [("gate.refused", 70.0), ("gate.entries", 50.0)];
        let found = findings(turns_away, &[], &[trial(1, 120.0, &refusing)]);
        assert!(
            found[0].says.contains("70.0 requests a second"),
            "{found:?}"
        );
        let open = [("gate.refused", 0.0), ("gate.entries", 50.0)];
        assert_eq!(findings(turns_away, &[], &[trial(1, 50.0, &open)]), []);
    }
}
