//! What a closed form or a chain found against what was expected.

use serde_json::Value;

use crate::{Tolerance, Values};

/// The solved half of a case, compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Comparison {
    /// Values that were compared.
    pub(crate) compared: usize,
    /// What is off, each with name, values and how far it may be.
    pub(crate) off: Vec<String>,
    /// The largest relative difference.
    pub(crate) worst: f64,
}

impl Comparison {
    /// Compares every expected value; words explain and are not compared.
    pub(crate) fn of(expected: &Values, got: &Values, tolerance: Tolerance) -> Self {
        let mut comparison = Self::default();
        for (name, wanted) in expected {
            if matches!(wanted, Value::String(_) | Value::Object(_)) {
                continue;
            }
            match got.get(name) {
                Some(found) => comparison.value(name, wanted, found, tolerance),
                None if *wanted == Value::Array(Vec::new()) => {}
                None => comparison
                    .off
                    .push(format!("{name}: nothing was found, {wanted} is expected")),
            }
        }
        comparison
    }

    fn value(&mut self, place: &str, wanted: &Value, found: &Value, tolerance: Tolerance) {
        if let (Value::Array(wanted), Value::Array(found)) = (wanted, found)
            && wanted.len() == found.len()
        {
            for (index, (wanted, found)) in wanted.iter().zip(found).enumerate() {
                let place = format!("{place}[{index}]");
                self.value(&place, wanted, found, tolerance);
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
        let (relative, absolute) = (tolerance.rel.unwrap_or(0.0), tolerance.abs.unwrap_or(0.0));
        let allowed = absolute + relative * number.abs();
        if difference > allowed {
            self.off.push(format!(
                "{place}: {got} instead of {number}, {difference:.1e} off where {allowed:.1e} is allowed"
            ));
        }
    }
}
