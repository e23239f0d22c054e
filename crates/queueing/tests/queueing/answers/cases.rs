//! Reads `known-answers.json`: parameters, expected values and tolerances computed elsewhere.

use serde_json::Value;

/// One case.
pub(crate) struct Case(Value);

/// All cases of a family, at least one.
pub(crate) fn cases(family: &str) -> Vec<Case> {
    let all: Vec<Value> =
        serde_json::from_str(include_str!("known-answers.json")).expect("the file is JSON");
    let found: Vec<Case> = all
        .into_iter()
        .filter(|case| case["family"] == family)
        .map(Case)
        .collect();
    assert!(!found.is_empty(), "no case of {family}");
    found
}

impl Case {
    pub(crate) fn name(&self) -> &str {
        self.0["name"].as_str().expect("a case has a name")
    }

    pub(crate) fn parameters(&self) -> &Value {
        &self.0["parameters"]
    }

    pub(crate) fn expected(&self, name: &str) -> &Value {
        &self.0["expected"][name]
    }

    pub(crate) fn number(&self, parameter: &str) -> f64 {
        self.parameters()[parameter]
            .as_f64()
            .unwrap_or_else(|| panic!("{}: {parameter}", self.name()))
    }

    pub(crate) fn count(&self, parameter: &str) -> u32 {
        self.number(parameter) as u32
    }

    pub(crate) fn numbers(&self, parameter: &str) -> Vec<f64> {
        let values = self.parameters()[parameter]
            .as_array()
            .unwrap_or_else(|| panic!("{}: {parameter}", self.name()));
        values.iter().filter_map(Value::as_f64).collect()
    }

    /// Tolerances of the case: `rel`, `abs`, `sim_rel`, `sim_rel_queue_lengths`.
    pub(crate) fn tolerance(&self, name: &str) -> f64 {
        self.0["tolerance"][name]
            .as_f64()
            .unwrap_or_else(|| panic!("{}: tolerance {name}", self.name()))
    }

    /// Within the case's own tolerance for solvers.
    #[track_caller]
    pub(crate) fn check(&self, name: &str, found: f64) {
        self.check_within(name, found, self.tolerance("rel"));
    }

    #[track_caller]
    pub(crate) fn check_within(&self, name: &str, found: f64, relative: f64) {
        let expected = self
            .expected(name)
            .as_f64()
            .unwrap_or_else(|| panic!("{}: {name}", self.name()));
        self.compare(name, found, expected, relative);
    }

    #[track_caller]
    pub(crate) fn check_all(&self, name: &str, found: impl Iterator<Item = f64>) {
        let expected = self
            .expected(name)
            .as_array()
            .unwrap_or_else(|| panic!("{}: {name}", self.name()));
        let found: Vec<f64> = found.collect();
        assert_eq!(found.len(), expected.len(), "{} {name}", self.name());
        for (found, expected) in found.into_iter().zip(expected) {
            self.compare(
                name,
                found,
                expected.as_f64().expect("a number"),
                self.tolerance("rel"),
            );
        }
    }

    #[track_caller]
    fn compare(&self, name: &str, found: f64, expected: f64, relative: f64) {
        let allowed =
            self.0["tolerance"]["abs"].as_f64().unwrap_or(0.0) + relative * expected.abs();
        assert!(
            (found - expected).abs() <= allowed,
            "{} {name}: {found} against {expected}",
            self.name()
        );
    }
}
