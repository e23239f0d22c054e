//! Cases as they stand in a file, and their parameters one by one.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Named values, as in `expected`.
pub type Values = Map<String, Value>;

/// A case with its known answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Case {
    /// Its name, unique in the file.
    pub name: String,
    /// Which solver it is for.
    pub family: String,
    /// `exact`, or `reality` and the like for what was observed.
    #[serde(default)]
    pub kind: String,
    /// What is given.
    pub parameters: Values,
    /// What is to come out.
    pub expected: Values,
    /// How far off it may be.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// Where the expected values come from.
    #[serde(default)]
    pub source: String,
}

/// How far off a value may be: `abs + rel * |expected|`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
pub struct Tolerance {
    /// Relative, for solvers.
    pub rel: Option<f64>,
    /// Absolute, for solvers.
    pub abs: Option<f64>,
    /// Relative, for the simulator: throughput, response time, utilisation.
    pub sim_rel: Option<f64>,
    /// Relative, for the simulator: queue lengths and waits.
    pub sim_rel_queue_lengths: Option<f64>,
}

/// Why a file or a case cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The text is not such a file.
    #[error("read the cases: {0}")]
    Format(#[from] serde_json::Error),
    /// A parameter is missing or of the wrong kind.
    #[error("take parameter `{name}`: it is {found}, and has to be {needed}")]
    Parameter {
        /// The parameter.
        name: String,
        /// What stands there.
        found: String,
        /// What it should be.
        needed: &'static str,
    },
    /// A model has no solution.
    #[error(transparent)]
    Model(#[from] weir_queueing::ModelError),
    /// A series has no such figure.
    #[error("compute the figure: {0}")]
    Statistics(#[from] weir_stats::StatsError),
    /// Whoever waits for the simulation has had it stopped.
    #[error("finish the simulation: it was stopped")]
    Stopped,
    /// The case asks for something that its family does not have.
    #[error("solve the case: {0}")]
    Other(String),
}

/// Takes the text of a file apart; an object with `cases`, or the list alone.
pub fn read(text: &str) -> Result<Vec<Case>, OracleError> {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<Case>,
    }
    // The list alone starts with a bracket; telling the two apart here keeps the place in the
    // message of an error.
    if text.trim_start().starts_with('[') {
        return Ok(serde_json::from_str(text)?);
    }
    Ok(serde_json::from_str::<File>(text)?.cases)
}

impl Case {
    /// Whether its result counts; what was observed counts only where it says how near one has to
    /// come.
    pub(crate) fn counts(&self) -> bool {
        !self.is_observed() || self.tolerance.rel.is_some()
    }

    /// Whether the expected values were observed rather than computed.
    pub(crate) fn is_observed(&self) -> bool {
        self.kind.contains("reality")
    }

    fn parameter(&self, name: &str) -> &Value {
        self.parameters.get(name).unwrap_or(&Value::Null)
    }

    fn wrong(&self, name: &str, needed: &'static str) -> OracleError {
        let found = match self.parameters.get(name) {
            None => "missing".to_owned(),
            Some(value) => value.to_string(),
        };
        OracleError::Parameter {
            name: name.to_owned(),
            found,
            needed,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        !self.parameter(name).is_null()
    }

    pub(crate) fn number(&self, name: &str) -> Result<f64, OracleError> {
        let value = self.parameter(name).as_f64();
        value.ok_or_else(|| self.wrong(name, "a number"))
    }

    pub(crate) fn number_or(&self, name: &str, otherwise: f64) -> Result<f64, OracleError> {
        if self.has(name) {
            self.number(name)
        } else {
            Ok(otherwise)
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.parameter(name).as_str()
    }

    pub(crate) fn count(&self, name: &str) -> Result<u32, OracleError> {
        count_of(self.parameter(name)).ok_or_else(|| self.wrong(name, "a whole number"))
    }

    /// `None` where it is not given: no limit.
    pub(crate) fn limit(&self, name: &str) -> Result<Option<u32>, OracleError> {
        if self.has(name) {
            self.count(name).map(Some)
        } else {
            Ok(None)
        }
    }

    fn list(&self, name: &str, needed: &'static str) -> Result<&[Value], OracleError> {
        let list = self.parameter(name).as_array();
        list.map(Vec::as_slice)
            .ok_or_else(|| self.wrong(name, needed))
    }

    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>, OracleError> {
        const NEEDED: &str = "a list of numbers";
        let numbers = self.list(name, NEEDED)?.iter().map(Value::as_f64);
        let numbers: Option<Vec<f64>> = numbers.collect();
        numbers.ok_or_else(|| self.wrong(name, NEEDED))
    }

    pub(crate) fn counts_of(&self, name: &str) -> Result<Vec<u32>, OracleError> {
        const NEEDED: &str = "a list of whole numbers";
        let counts: Option<Vec<u32>> = self.list(name, NEEDED)?.iter().map(count_of).collect();
        counts.ok_or_else(|| self.wrong(name, NEEDED))
    }

    pub(crate) fn rows(&self, name: &str) -> Result<Vec<Vec<f64>>, OracleError> {
        const NEEDED: &str = "a list of lists of numbers";
        let row = |row: &Value| -> Option<Vec<f64>> {
            row.as_array()?.iter().map(Value::as_f64).collect()
        };
        let rows: Option<Vec<Vec<f64>>> = self.list(name, NEEDED)?.iter().map(row).collect();
        rows.ok_or_else(|| self.wrong(name, NEEDED))
    }

    /// Stations as `{D, servers}`; no servers means that nobody waits.
    pub(crate) fn stations(&self, name: &str) -> Result<Vec<(f64, u32)>, OracleError> {
        const NEEDED: &str = "a list of stations with D and servers";
        let station = |station: &Value| -> Option<(f64, u32)> {
            let servers = match &station["servers"] {
                Value::Null => u32::MAX,
                servers => count_of(servers)?,
            };
            Some((station["D"].as_f64()?, servers))
        };
        let stations: Option<Vec<_>> = self.list(name, NEEDED)?.iter().map(station).collect();
        stations.ok_or_else(|| self.wrong(name, NEEDED))
    }
}

/// A count may be written as 4, 4.0 or, where nothing limits, as a very large number.
fn count_of(value: &Value) -> Option<u32> {
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u32)
}
