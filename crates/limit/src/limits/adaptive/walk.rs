//! The way to a limit in small steps.
//!
//! Who lets people's requests be learnt from says how far the limit may go at a time. What is gone
//! in such steps cannot be judged step by step: what 5 % more slots bring drowns in the noise. So a
//! change that is to be judged keeps its aim while it is walked, and is judged when it has been.

/// What of an aim counts as reached.
const REACHED: f64 = 1e-9;

/// How far at a time, and where to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Walk {
    /// The largest change at a time as a share; `None`: any.
    step: Option<f64>,
    /// Where the present change leads, as long as it is not there.
    aim: Option<f64>,
}

impl Walk {
    pub(super) fn new(step: Option<f64>) -> Self {
        Self { step, aim: None }
    }

    /// Whether there is a largest change at a time.
    pub(super) fn is_bounded(self) -> bool {
        self.step.is_some()
    }

    /// As near to what is wanted as one step leads.
    pub(super) fn step(self, from: f64, wanted: f64) -> f64 {
        let least = self.least(from).unwrap_or(0.0);
        let most = self.step.map_or(f64::INFINITY, |step| from * (1.0 + step));
        wanted.clamp(least, most)
    }

    /// The least that one step leads to.
    pub(super) fn least(self, from: f64) -> Option<f64> {
        self.step.map(|step| from * (1.0 - step))
    }

    /// One step, with more to come until this is reached.
    pub(super) fn set_out(&mut self, from: f64, aim: f64) -> f64 {
        let next = self.step(from, aim);
        self.aim = ((aim - next).abs() > REACHED).then_some(aim);
        next
    }

    /// Where it is on its way to.
    pub(super) fn aim(self) -> Option<f64> {
        self.aim
    }

    /// It stays where it is.
    pub(super) fn end(&mut self) {
        self.aim = None;
    }
}
