//! What was found against what was expected.

use serde_json::Value;

use crate::{Tolerance, Values};

/// One side of a case that was compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Comparison {
    /// Values that were compared.
    pub(crate) compared: usize,
    /// What is off, each with name, values and how far it may be.
    pub(crate) off: Vec<String>,
    /// The largest relative difference.
    pub(crate) worst: f64,
}

/// How far a value of this name may be off.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    /// Closed forms and chains.
    Solved,
    /// The simulator.
    Simulated,
}

/// Names of queue lengths and of waits in them: a simulation knows them less well.
const QUEUES: &[&str] = &[
    "L",
    "Lq",
    "Q",
    "Wq",
    "mean_number",
    "mean_at_2",
    "thread_queue",
    "conn_waiting",
    "conn_wait_time",
    "backlog_at_ready",
    "wait_at_ready",
];

/// A simulation knows a share no better than to this many: events of less than a thousandth of the requests are too few to count.
const SHARE_IN_SIMULATION: f64 = 1e-3;

impl Side {
    fn allowed(self, tolerance: Tolerance, name: &str, expected: f64) -> f64 {
        let (relative, absolute) = match self {
            Self::Solved => (tolerance.rel.unwrap_or(0.0), tolerance.abs.unwrap_or(0.0)),
            Self::Simulated => {
                let plain = tolerance.sim_rel.or(tolerance.rel).unwrap_or(0.0);
                let queue = name.starts_with("Wq") || QUEUES.contains(&name);
                let relative = if queue {
                    tolerance.sim_rel_queue_lengths.unwrap_or(plain)
                } else {
                    plain
                };
                (
                    relative,
                    tolerance.abs.unwrap_or(0.0).max(SHARE_IN_SIMULATION),
                )
            }
        };
        absolute + relative * expected.abs()
    }
}

impl Comparison {
    /// Compares every expected value; words explain and are not compared. The simulator answers for what it gives.
    pub(crate) fn of(expected: &Values, got: &Values, tolerance: Tolerance, side: Side) -> Self {
        let mut comparison = Self::default();
        for (name, wanted) in expected {
            if matches!(wanted, Value::String(_) | Value::Object(_)) {
                continue;
            }
            match (got.get(name), side) {
                (Some(found), _) => comparison.value(name, name, wanted, found, tolerance, side),
                (None, Side::Simulated) => {}
                (None, Side::Solved) if *wanted == Value::Array(Vec::new()) => {}
                (None, Side::Solved) => comparison
                    .off
                    .push(format!("{name}: nothing was found, {wanted} is expected")),
            }
        }
        comparison
    }

    fn value(
        &mut self,
        name: &str,
        place: &str,
        wanted: &Value,
        found: &Value,
        tolerance: Tolerance,
        side: Side,
    ) {
        if let (Value::Array(wanted), Value::Array(found)) = (wanted, found)
            && wanted.len() == found.len()
        {
            for (index, (wanted, found)) in wanted.iter().zip(found).enumerate() {
                let place = format!("{place}[{index}]");
                self.value(name, &place, wanted, found, tolerance, side);
            }
            return;
        }
        self.compared += 1;
        let (Some(number), Some(got)) = (wanted.as_f64(), found.as_f64()) else {
            if wanted != found {
                self.off
                    .push(format!("{place}: {found} instead of {wanted}"));
            }
            return;
        };
        let difference = (got - number).abs();
        if number != 0.0 {
            self.worst = self.worst.max(difference / number.abs());
        }
        let allowed = side.allowed(tolerance, name, number);
        if difference > allowed {
            self.off.push(format!(
                "{place}: {got} instead of {number}, {difference:.1e} off where {allowed:.1e} is allowed"
            ));
        }
    }
}
