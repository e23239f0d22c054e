//! The simulator's half: the same values by playing the case event by event.
//!
//! [`simulate`] gives the values that a simulation has, or none where the family has no simulation. They are compared with the
//! tolerances for simulations, each value only if it is given.

mod reality;

use crate::{Case, OracleError, Values};

/// The values of a case by simulation; `None` for a family without one.
pub fn simulate(case: &Case) -> Result<Option<Values>, OracleError> {
    match case.family.as_str() {
        "reality" => reality::simulate(case),
        _ => Ok(None),
    }
}
