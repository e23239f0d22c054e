//! How long a user waits before a sample.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Poisson, StandardNormal};
use weir_plan::TimerKind;

use crate::{Scope, Text};

/// The next delay in milliseconds of a timer that needs no more than the user itself; `None` for
/// timers by which users wait for each other or for a schedule.
///
/// JMeter 5.6.3: a random draw is folded at zero and cut to whole milliseconds, not rounded;
/// `timer.factor` multiplies the cut delay of random timers, which is then rounded (halves up).
pub fn delay_ms(timer: &TimerKind<Text>, factor: f32, scope: &mut Scope) -> Option<i64> {
    let drawn = match timer {
        TimerKind::Constant { delay_ms } => return Some(whole(delay_ms, scope)),
        TimerKind::Uniform { delay_ms, range_ms } => {
            let delay = whole(delay_ms, scope) as f64;
            let range = number(range_ms, scope);
            scope.random.random::<f64>() * range + delay
        }
        TimerKind::Gaussian {
            delay_ms,
            deviation_ms,
        } => {
            let mean = whole(delay_ms, scope) as f64;
            let deviation = number(deviation_ms, scope);
            let normal: f64 = scope.random.sample(StandardNormal);
            normal * deviation + mean
        }
        TimerKind::Poisson {
            delay_ms,
            lambda_ms,
        } => {
            let delay = whole(delay_ms, scope) as f64;
            let lambda = number(lambda_ms, scope).round();
            // JMeter's generator answers 0 where there is no distribution.
            let events = Poisson::new(lambda).map_or(0.0, |d| d.sample(&mut scope.random));
            events + delay
        }
        TimerKind::Script(_)
        | TimerKind::ConstantThroughput { .. }
        | TimerKind::PreciseThroughput(_)
        | TimerKind::Synchronizing { .. }
        | TimerKind::Shaping { .. } => return None,
    };
    let cut = drawn.abs() as i64;
    if (factor - 1.0).abs() < f32::EPSILON {
        return Some(cut);
    }
    Some((cut as f64 * f64::from(factor) + 0.5).floor() as i64)
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
