//! Why a model has no solution, in words that say what to change.

/// The largest population, queue or room that a solver takes: a state needs up to 16 bytes, so this
/// is 160 MB.
pub const POPULATION_MAX: u32 = 10_000_000;

/// Why a model has no solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A parameter that no such system can have.
    #[error("solve {model}: {name} is {value}; it has to be {needed}")]
    Parameter {
        /// The model.
        model: &'static str,
        /// The parameter.
        name: String,
        /// Its value.
        value: f64,
        /// What it may be.
        needed: &'static str,
    },
    /// Work arrives faster than it can be done, and nothing bounds the queue.
    #[error(
        "solve {model}: {arrivals_per_s} arrivals/s meet a capacity of {capacity_per_s}/s, so the queue grows without \
         end; take fewer arrivals, more servers, or a model with a limited room"
    )]
    Unstable {
        /// The model.
        model: &'static str,
        /// Arrivals per second.
        arrivals_per_s: f64,
        /// What can be served per second at most.
        capacity_per_s: f64,
    },
    /// Users of a class need nothing of any station.
    #[error(
        "solve {model}: class {class} has users, but no demand at any station; leave the class out or give it one"
    )]
    NoDemand {
        /// The model.
        model: &'static str,
        /// The class, counted from 1.
        class: usize,
    },
    /// More states than are kept in memory.
    #[error(
        "solve {model}: it has {size:.3e} {what}, of which at most {limit} are kept in memory; take an approximation, \
         the simulator, or smaller numbers"
    )]
    TooLarge {
        /// The model.
        model: &'static str,
        /// What there is too much of.
        what: &'static str,
        /// How much.
        size: f64,
        /// How much may be.
        limit: u64,
    },
    /// An iteration did not come to rest.
    #[error("solve {model}: {rounds} rounds of iteration left a change of {change:.1e}")]
    NotConverged {
        /// The model.
        model: &'static str,
        /// How many rounds were made.
        rounds: u32,
        /// How much the last one changed.
        change: f64,
    },
}

/// Checks the parameters of one model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check(pub(crate) &'static str);

impl Check {
    pub(crate) fn positive(self, name: &str, value: f64) -> Result<(), ModelError> {
        self.holds(
            value > 0.0 && value.is_finite(),
            name,
            value,
            "a positive number",
        )
    }

    pub(crate) fn not_negative(self, name: &str, value: f64) -> Result<(), ModelError> {
        let holds = value >= 0.0 && value.is_finite();
        self.holds(holds, name, value, "a number of at least 0")
    }

    pub(crate) fn at_least_one(self, name: &str, value: u32) -> Result<(), ModelError> {
        self.holds(value > 0, name, f64::from(value), "at least 1")
    }

    /// A number of users, requests or places that fits in memory.
    pub(crate) fn population(self, what: &'static str, size: u32) -> Result<(), ModelError> {
        self.fits(what, f64::from(size), u64::from(POPULATION_MAX))
    }

    pub(crate) fn fits(self, what: &'static str, size: f64, limit: u64) -> Result<(), ModelError> {
        if size <= limit as f64 {
            return Ok(());
        }
        Err(ModelError::TooLarge {
            model: self.0,
            what,
            size,
            limit,
        })
    }

    /// Arrivals below the capacity.
    pub(crate) fn stable(self, arrivals_per_s: f64, capacity_per_s: f64) -> Result<(), ModelError> {
        if arrivals_per_s < capacity_per_s {
            return Ok(());
        }
        Err(ModelError::Unstable {
            model: self.0,
            arrivals_per_s,
            capacity_per_s,
        })
    }

    pub(crate) fn holds(
        self,
        holds: bool,
        name: &str,
        value: f64,
        needed: &'static str,
    ) -> Result<(), ModelError> {
        if holds {
            return Ok(());
        }
        Err(ModelError::Parameter {
            model: self.0,
            name: name.to_owned(),
            value,
            needed,
        })
    }
}
