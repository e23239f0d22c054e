//! Where a requirement stops to hold, and how sure that is.

/// The level up to which a requirement holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Root {
    /// The best guess; infinite while nothing speaks against any level.
    pub(crate) level: f64,
    /// Lower end of the 95 % interval.
    pub(crate) low: f64,
    /// Upper end of the 95 % interval; may be infinite.
    pub(crate) high: f64,
    /// Half-width of the 90 % interval, by which the search stops.
    pub(crate) doubt: f64,
    /// The largest level at which a trial held below the smallest at which one did not, and the
    /// level before that one; the interval where no single trials decide.
    pub(crate) between: (f64, f64),
    /// How it was found.
    pub(crate) by: By,
    /// Relative spread between trials near by, as far as it is known; else 0.
    pub(crate) noise: f64,
    /// Half-width of the 95 % interval of the CPU at the level, as a share of the CPUs; 0 where it
    /// is not known.
    pub(crate) cpu_doubt: f64,
}

impl Root {
    /// Whether it lies between two neighbours of which one holds and the other does not.
    pub(crate) fn is_between_neighbours(&self) -> bool {
        self.doubt <= 0.0 && self.high <= self.low
    }

    /// The level as an answer: where nothing tells how far it is to the break, that at which it
    /// held.
    pub(crate) fn answer(self) -> Self {
        let held = self.between.0;
        let level = if self.by == By::Step && held > 0.0 {
            held
        } else {
            self.level
        };
        Self { level, ..self }
    }
}

/// How a root was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// A line through trials on both sides: worth an answer.
    Line,
    /// The largest level at which it held and the smallest at which it did not.
    Bracket,
    /// Like [`Self::Bracket`], of a figure that is nothing up to some level: no curve leads there.
    Step,
    /// From a model or from few trials: worth another trial.
    Guess,
}

impl By {
    /// Whether single trials say where it breaks.
    pub(crate) fn is_between(self) -> bool {
        matches!(self, Self::Bracket | Self::Step)
    }
}

impl Root {
    /// Nothing speaks against any level that was tried.
    pub(crate) fn unbounded() -> Self {
        Self {
            level: f64::INFINITY,
            low: f64::INFINITY,
            high: f64::INFINITY,
            doubt: f64::INFINITY,
            between: (f64::INFINITY, f64::INFINITY),
            by: By::Guess,
            noise: 0.0,
            cpu_doubt: 0.0,
        }
    }
}

/// Confidence of the interval that is reported.
pub(crate) const CONFIDENCE: f64 = 0.95;
/// Confidence of the interval by which the search stops.
pub(crate) const STOP_CONFIDENCE: f64 = 0.90;
/// Levels from 0.7 to 1.35 times the root are near it.
pub(crate) const NEAR: std::ops::RangeInclusive<f64> = weir_stats::NEAR;
