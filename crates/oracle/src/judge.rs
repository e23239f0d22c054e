//! What the simulator found against what was expected: within, off, or not known well enough.

use serde_json::Value;

use crate::{Case, Values};

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

/// What happens to less than a thousandth of the requests happens too rarely to be known to a share
/// of itself.
const RARE: f64 = 1e-3;

/// A number among the expected values, and where it stands in them: `U[1][0]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) indices: Vec<usize>,
}

/// The simulated half of a case, compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Judgement {
    /// Values that are within their tolerance, and whose interval is not wider than it.
    pub(crate) within: usize,
    /// What is off, each with name, values and how far it may be.
    pub(crate) off: Vec<String>,
    /// What the simulation does not know well enough to say.
    pub(crate) undecided: Vec<String>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}", self.name)?;
        self.indices
            .iter()
            .try_for_each(|index| write!(to, "[{index}]"))
    }
}

impl Place {
    pub(crate) fn new(name: &str, indices: &[usize]) -> Self {
        Self {
            name: name.to_owned(),
            indices: indices.to_vec(),
        }
    }

    /// The number that stands there.
    pub(crate) fn number_in(&self, values: &Values) -> Option<f64> {
        let mut at = values.get(&self.name)?;
        for index in &self.indices {
            at = at.get(index)?;
        }
        at.as_f64()
    }

    /// Puts a number there; the places of a list come in their order.
    pub(crate) fn put_into(&self, values: &mut Values, number: f64) {
        let mut at = values.entry(self.name.clone()).or_insert(Value::Null);
        for index in &self.indices {
            if !at.is_array() {
                *at = Value::Array(Vec::new());
            }
            let Value::Array(list) = at else {
                unreachable!("it was made a list just now");
            };
            while list.len() <= *index {
                list.push(Value::Null);
            }
            at = &mut list[*index];
        }
        *at = serde_json::json!(number);
    }

    /// How far a simulated value may be off here, as the case says; `None` where it does not say.
    pub(crate) fn allowed(&self, case: &Case) -> Option<f64> {
        let tolerance = case.tolerance;
        let observed = || tolerance.rel.filter(|_| case.is_observed());
        let plain = tolerance.sim_rel.or_else(observed)?;
        let queue = self.name.starts_with("Wq") || QUEUES.contains(&self.name.as_str());
        let relative = if queue {
            tolerance.sim_rel_queue_lengths.unwrap_or(plain)
        } else {
            plain
        };
        let expected = self.number_in(&case.expected)?;
        let absolute = tolerance.abs.unwrap_or(0.0).max(self.rare(case));
        Some(absolute + relative * expected.abs())
    }

    /// What does not count here: of shares and waiting requests a thousandth, of waits and refusals
    /// a thousandth of the response time and throughput.
    fn rare(&self, case: &Case) -> f64 {
        let of = |names: [&str; 2]| {
            let value = |name: &str| case.expected.get(name).and_then(Value::as_f64);
            RARE * names.into_iter().find_map(value).unwrap_or(0.0)
        };
        match self.name.as_str() {
            "p0" | "reject_fraction" | "Lq" | "thread_queue" | "conn_waiting" => RARE,
            "conn_wait_time" => of(["R", "W"]),
            "reject_rate" => of(["X", "attempt_rate"]),
            name if name.starts_with("p_") => RARE,
            name if name.starts_with("Wq") => of(["W", "R"]),
            _ => 0.0,
        }
    }
}

impl Judgement {
    /// Judges one value with the half-width of its 95 % interval.
    ///
    /// Two half-widths are about four standard errors: what is further off than that and than the
    /// tolerance is no chance in a few hundred values. What is nearer, with an interval wider
    /// than the tolerance, says nothing.
    pub(crate) fn add(&mut self, case: &Case, place: &Place, found: f64, half_width: f64) {
        let (Some(expected), Some(allowed)) =
            (place.number_in(&case.expected), place.allowed(case))
        else {
            return;
        };
        let difference = (found - expected).abs();
        let says = || format!("{place}: {found:.6} ± {half_width:.1e} instead of {expected:.6}");
        if !difference.is_finite() || difference > allowed.max(2.0 * half_width) {
            self.off
                .push(format!("{}, where {allowed:.1e} is allowed", says()));
        } else if difference <= allowed && half_width <= allowed {
            self.within += 1;
        } else {
            self.undecided.push(format!(
                "{}: the interval is too wide for a tolerance of {allowed:.1e}",
                says()
            ));
        }
    }
}
