//! How long a user waits before a sample.

use rand::RngExt as _;
use rand_distr::StandardNormal;

use crate::resolved::{ResolvedStep, ResolvedTimer};
use crate::{Scope, Text};

impl ResolvedStep {
    /// The sum of the step's timers in milliseconds; not above zero means no wait.
    pub fn delay_ms(&self, scope: &mut Scope) -> i64 {
        let timers = self.timers.iter();
        timers.fold(0, |sum, timer| sum.saturating_add(timer.delay_ms(scope)))
    }
}

impl ResolvedTimer {
    /// The next delay of this timer in milliseconds.
    ///
    /// JMeter 5.6.3, Gaussian random timer: `(long) |N(0,1) × range + delay|`; negative draws are
    /// folded, and the result is cut, not rounded. `timer.factor` multiplies the cut result, which
    /// is then rounded (halves up).
    pub fn delay_ms(&self, scope: &mut Scope) -> i64 {
        match self {
            Self::Constant { delay_ms } => whole(delay_ms, scope),
            Self::Gaussian {
                delay_ms,
                deviation_ms,
                factor,
            } => {
                let mean = whole(delay_ms, scope) as f64;
                let deviation = number(deviation_ms, scope);
                let normal: f64 = scope.random.sample(StandardNormal);
                let cut = (normal * deviation + mean).abs() as i64;
                if (*factor - 1.0).abs() < f32::EPSILON {
                    cut
                } else {
                    (cut as f64 * f64::from(*factor) + 0.5).floor() as i64
                }
            }
        }
    }
}

/// A number that does not parse reads as 0, as in JMeter.
fn whole(text: &Text, scope: &mut Scope) -> i64 {
    match text.constant() {
        Some(text) => text.parse().unwrap_or(0),
        None => text.rendered(scope).parse().unwrap_or(0),
    }
}

fn number(text: &Text, scope: &mut Scope) -> f64 {
    let parsed = match text.constant() {
        Some(text) => text.parse(),
        None => text.rendered(scope).parse(),
    };
    parsed.unwrap_or(0.0)
}
