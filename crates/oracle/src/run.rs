//! One case: solved, simulated, judged.

use serde::Serialize;

use crate::compare::Comparison;
use crate::simulated::{Effort, Simulated, simulate};
use crate::{Case, Values, families};

/// What became of a case: one entry of `cases`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseResult {
    /// Name of the case.
    pub name: String,
    /// Everything compared was within its tolerance, solved and simulated.
    pub passed: bool,
    /// Nothing was compared, or the case does not count.
    pub skipped: bool,
    /// As in the file.
    pub expected: Values,
    /// The values as solved; as simulated, where nothing solves them.
    pub got: Values,
    /// The values as simulated.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub simulated: Values,
    /// Half-widths of the 95 % intervals of the simulated values.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub half_width: Values,
    /// Why nothing was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_simulated: Option<String>,
    /// Simulated values that are neither within their tolerance nor off, because their intervals
    /// are too wide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
    /// The family, for summaries.
    #[serde(skip)]
    pub family: String,
    /// What is off, or why the case was skipped.
    #[serde(skip)]
    pub because: Vec<String>,
    /// The largest relative difference of a solved value.
    #[serde(skip)]
    pub worst: f64,
    /// Simulated values that are within their tolerance.
    #[serde(skip)]
    pub within: usize,
}

/// Solves and simulates a case, and compares both with what is expected.
pub fn run(case: &Case, effort: &Effort<'_>) -> CaseResult {
    let mut result = CaseResult {
        name: case.name.clone(),
        passed: false,
        skipped: false,
        expected: case.expected.clone(),
        got: Values::new(),
        simulated: Values::new(),
        half_width: Values::new(),
        not_simulated: None,
        undecided: Vec::new(),
        family: case.family.clone(),
        because: Vec::new(),
        worst: 0.0,
        within: 0,
    };
    let mut compared = solve(&mut result, case);
    if result.because.is_empty() {
        compared += play(&mut result, case, effort);
    } else {
        result.not_simulated = Some("the solution is wrong already".to_owned());
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

/// The closed form or chain; says how many values were compared.
fn solve(result: &mut CaseResult, case: &Case) -> usize {
    match families::solve(case) {
        Ok(None) => 0,
        Ok(Some(values)) => {
            let comparison = Comparison::of(&case.expected, &values, case.tolerance);
            result.because.extend(comparison.off);
            result.worst = comparison.worst;
            result.got = values;
            comparison.compared
        }
        Err(error) => {
            result.because.push(format!("failed to {error}"));
            0
        }
    }
}

/// The simulator; says how many values were compared.
fn play(result: &mut CaseResult, case: &Case, effort: &Effort<'_>) -> usize {
    match simulate(case, &result.got, effort) {
        Ok(Simulated::Not(because)) => {
            result.not_simulated = Some(because);
            0
        }
        Ok(Simulated::Found(found)) => {
            let judged = found.judge(case);
            let off = judged.off.iter();
            result
                .because
                .extend(off.map(|off| format!("simulated: {off}")));
            let compared = judged.within + judged.off.len();
            result.undecided = judged.undecided;
            result.within = judged.within;
            if result.got.is_empty() {
                result.got.clone_from(&found.values);
            }
            result.simulated = found.values;
            result.half_width = found.half_widths;
            compared
        }
        Err(error) => {
            result.because.push(format!("simulated: failed to {error}"));
            0
        }
    }
}
