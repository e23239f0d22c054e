//! One case: solved, simulated, judged.

use serde::Serialize;
use serde_json::Value;

use crate::compare::{Comparison, Side};
use crate::{Case, OracleError, Values, families, simulated};

/// What became of a case: one entry of `cases`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseResult {
    /// Name of the case.
    pub name: String,
    /// Everything compared was within its tolerance.
    pub passed: bool,
    /// Nothing was compared, or the case does not count.
    pub skipped: bool,
    /// As in the file.
    pub expected: Values,
    /// The same values as solved; below `simulated` those of the simulator.
    pub got: Values,
    /// The family, for summaries.
    #[serde(skip)]
    pub family: String,
    /// What is off, or why the case was skipped.
    #[serde(skip)]
    pub because: Vec<String>,
    /// The largest relative difference of a solved value.
    #[serde(skip)]
    pub worst: f64,
    /// Values of the simulator that were compared.
    #[serde(skip)]
    pub simulated: usize,
}

/// Whether the simulator is asked too: it takes seconds a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halves {
    /// Closed forms and chains only, and the simulator where there are none.
    Solved,
    /// Both.
    Both,
}

/// Solves and simulates a case, and compares.
pub fn run(case: &Case, halves: Halves) -> CaseResult {
    let mut result = CaseResult {
        name: case.name.clone(),
        passed: false,
        skipped: false,
        expected: case.expected.clone(),
        got: Values::new(),
        family: case.family.clone(),
        because: Vec::new(),
        worst: 0.0,
        simulated: 0,
    };
    let solved = families::solve(case);
    let wanted = halves == Halves::Both || matches!(solved, Ok(None));
    let mut compared = 0;
    if let Some(comparison) = taken(&mut result, case, solved, Side::Solved) {
        compared += comparison.compared;
        result.worst = comparison.worst;
    }
    if wanted
        && let Some(comparison) = taken(
            &mut result,
            case,
            simulated::simulate(case),
            Side::Simulated,
        )
    {
        compared += comparison.compared;
        result.simulated = comparison.compared;
    }
    if result.because.is_empty() && compared == 0 {
        result
            .because
            .push("nothing here can be computed".to_owned());
        result.skipped = true;
    } else if !case.counts() {
        result
            .because
            .push("observed, without a tolerance: reported only".to_owned());
        result.skipped = true;
    } else {
        result.passed = result.because.is_empty();
    }
    result
}

/// Takes the values of one half into the result and compares them; `None` without values.
fn taken(
    result: &mut CaseResult,
    case: &Case,
    values: Result<Option<Values>, OracleError>,
    side: Side,
) -> Option<Comparison> {
    let half = match side {
        Side::Solved => "",
        Side::Simulated => "simulated: ",
    };
    match values {
        Ok(None) => None,
        Ok(Some(values)) => {
            let mut comparison = Comparison::of(&case.expected, &values, case.tolerance, side);
            let off = comparison.off.drain(..);
            result.because.extend(off.map(|off| format!("{half}{off}")));
            match side {
                Side::Solved => result.got.extend(values),
                Side::Simulated => {
                    result
                        .got
                        .insert("simulated".to_owned(), Value::Object(values));
                }
            }
            Some(comparison)
        }
        Err(error) => {
            result.because.push(format!("{half}failed to {error}"));
            None
        }
    }
}
