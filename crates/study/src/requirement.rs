//! Whether one trial meets a requirement.

use weir_metric::{RelativeRequirement, Requirement, SignalUnit};
use weir_record::{RequirementCheck, TrialRecord};

use crate::figure::Figure;

/// Whether trials record at all what a requirement bounds: of the percentiles, only some.
pub fn is_recorded(requirement: &Requirement) -> bool {
    Figure::of(requirement).is_some()
}

/// As `is_recorded`, of a bound in shares of another run.
pub fn is_recorded_of(requirement: &RelativeRequirement) -> bool {
    Figure::of_metric(&requirement.metric, requirement.class.as_deref()).is_some()
}

/// What a trial says of a requirement, by its value alone: the interval is told, not used. `None`
/// when the figure was not read in this trial.
pub fn check_requirement(
    trial: &TrialRecord,
    requirement: &Requirement,
) -> Option<RequirementCheck> {
    let figure = Figure::of(requirement)?;
    let read = figure.read(trial)?;
    let factor = figure.to_base();
    let value = read.value * factor;
    let (low, high) = read.interval.map_or((value, value), |interval| {
        (interval.low * factor, interval.high * factor)
    });
    Some(RequirementCheck {
        says: requirement.to_string(),
        value,
        unit: SignalUnit::of_quantity(requirement.bound.unit)
            .symbol()
            .to_owned(),
        low,
        high,
        met: requirement.met_by(value),
        bounds: vec![requirement.bound_base()],
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::collections::BTreeMap;

    use weir_record::{ClassRecord, Errors, Levels, ResponseTime, Role};

    use super::*;

    fn trial() -> TrialRecord {
        let times = |p99| ResponseTime {
            p99,
            ..ResponseTime::default()
        };
        let light = ClassRecord {
            response_time_ms: times(10.0),
            ..ClassRecord::default()
        };
        TrialRecord {
            id: 1,
            role: Role::Case,
            case: None,
            block: None,
            levels: Levels::new(),
            population: 1,
            warm_up_s: 0.0,
            window_s: 1.0,
            repeats: 0,
            valid: true,
            invalid_because: Vec::new(),
            invalid: Vec::new(),
            notes: Vec::new(),
            adjustments: Vec::new(),
            throughput_per_s: 100.0,
            response_time_ms: times(301.0),
            errors: Errors {
                count: 1,
                share: 0.01,
                by_code: BTreeMap::new(),
            },
            succeeded_by_code: BTreeMap::new(),
            cpu: None,
            signals: BTreeMap::new(),
            signal_origins: BTreeMap::new(),
            own_units: BTreeMap::new(),
            not_read: BTreeMap::new(),
            classes: BTreeMap::from([("light".to_owned(), light)]),
            open: None,
            intervals: BTreeMap::new(),
        }
    }

    #[test]
    fn requirements_are_met_or_not_or_not_known() {
        let met = |text: &str| {
            let requirement: Requirement = text.parse().unwrap();
            check_requirement(&trial(), &requirement).map(|check| check.met)
        };
        assert_eq!(met("p99 <= 300 ms"), Some(false));
        assert_eq!(met("p99(light) <= 10 ms"), Some(true));
        assert_eq!(met("errors <= 1 %"), Some(true));
        assert_eq!(met("throughput > 100 /s"), Some(false));
        assert_eq!(met("cpu <= 80 %"), None);
        assert_eq!(met("p99(other) <= 10 ms"), None);
        assert!(!is_recorded(&"p75 <= 1 ms".parse().unwrap()));
    }
}
