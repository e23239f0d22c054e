//! How many backends a load wants: the utilization law, with the doubt about it.
//!
//! A request costs D seconds of CPU: the CPU time that all backends have spent, over the requests
//! that they have ended (Denning and Buzen 1978: U = X · D). At λ requests a second the work is λ
//! · D CPUs, of which a backend is to have `goal` · `cpus`. D is a ratio of two sums; its interval
//! comes from the batches in which both were counted (Cochran 1977, 6.4). λ is counted over the
//! last seconds, with the requests that were rejected, as they want to be answered too.

use weir_stats::student_quantile;

/// What one second has shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Second {
    /// Requests that came, rejected or not.
    pub(super) offered: f64,
    /// Requests that backends have ended.
    pub(super) ended: f64,
    /// CPU time that the backends have spent, in seconds.
    pub(super) busy_s: f64,
}

/// What the load wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    /// Backends, with fractions, and between which bounds that is with 95 %.
    pub(super) backends: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// CPU time of a request, in seconds.
    pub(super) demand_s: f64,
    pub(super) offered_per_s: f64,
}

/// Of each 95 %, two-sided.
const QUANTILE: f64 = 0.975;
/// Parts of the window, each long enough not to depend on the one before.
const BATCHES: usize = 10;
/// Seconds that say how much comes now.
const PRESENT: usize = 10;
/// Fewer requests say nothing of what one costs.
const ENDED_MIN: f64 = 100.0;

/// Seconds that are looked at.
pub(super) const WINDOW: usize = 60;

/// What these seconds, the last one last, want of backends that have so many CPUs each, of which
/// this share is to be busy; else why nobody can tell.
pub(super) fn wanted(seconds: &[Second], cpus: f64, goal: f64) -> Result<Wanted, &'static str> {
    if seconds.len() < 2 * BATCHES {
        return Err("it has been watched for too short a time");
    }
    let ended: f64 = seconds.iter().map(|one| one.ended).sum();
    let busy_s: f64 = seconds.iter().map(|one| one.busy_s).sum();
    if ended < ENDED_MIN {
        return Err("too few requests have ended to say what one costs");
    }
    if busy_s <= 0.0 {
        return Err("the backends have spent no CPU time that could be seen");
    }
    let demand_s = busy_s / ended;
    let length = seconds.len() / BATCHES;
    let batches = seconds.rchunks_exact(length).take(BATCHES);
    let rests: Vec<f64> = batches
        .map(|batch| {
            let of = |value: fn(&Second) -> f64| batch.iter().map(value).sum::<f64>();
            of(|one| one.busy_s) - demand_s * of(|one| one.ended)
        })
        .collect();
    let mean_ended = ended / seconds.len() as f64 * length as f64;
    let demand_error = error_of_mean(&rests, 0.0) / mean_ended / demand_s;
    let present = &seconds[seconds.len() - PRESENT.min(seconds.len())..];
    let offered: Vec<f64> = present.iter().map(|one| one.offered).collect();
    let offered_per_s = offered.iter().sum::<f64>() / offered.len() as f64;
    let offered_error = if offered_per_s > 0.0 {
        error_of_mean(&offered, offered_per_s) / offered_per_s
    } else {
        0.0
    };
    let backends = offered_per_s * demand_s / (goal * cpus);
    let doubt = backends * demand_error.hypot(offered_error);
    Ok(Wanted {
        backends,
        low: (backends - doubt).max(0.0),
        high: backends + doubt,
        demand_s,
        offered_per_s,
    })
}

/// Half of the interval of a mean of these.
fn error_of_mean(values: &[f64], mean: f64) -> f64 {
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    student_quantile(QUANTILE, count - 1.0) * (squares / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// A minute of 100 requests a second, of 20 ms each, some of them more and some less.
    fn minute(offered: f64) -> Vec<Second> {
        let wave = |second: usize| if second.is_multiple_of(2) { 1.1 } else { 0.9 };
        (0..WINDOW)
            .map(|second| Second {
                offered: offered * wave(second),
                ended: 100.0,
                busy_s: 2.0 * wave(second / 3),
            })
            .collect()
    }

    #[test]
    fn work_over_what_one_backend_is_to_do() {
        // 100/s of 20 ms are 2 CPUs; with 2 CPUs each, half of them busy, that is 2 backends.
        let found = wanted(&minute(100.0), 2.0, 0.5).unwrap();
        assert!((found.backends - 2.0).abs() < 1e-9, "{found:?}");
        assert!((found.demand_s - 0.02).abs() < 1e-12);
        assert!(
            found.low < 2.0 && found.high > 2.0 && found.high < 2.4,
            "{found:?}"
        );
        // What is rejected wants to be answered, too.
        let found = wanted(&minute(500.0), 2.0, 0.5).unwrap();
        assert!((found.backends - 10.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn without_a_doubt_the_bounds_are_the_figure() {
        let steady = [Second {
            offered: 50.0,
            ended: 50.0,
            busy_s: 0.5,
        }; WINDOW];
        let found = wanted(&steady, 1.0, 0.8).unwrap();
        assert!((found.backends - 0.625).abs() < 1e-9, "{found:?}");
        assert!(found.high - found.low < 1e-9, "{found:?}");
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        let second = |ended, busy_s| Second {
            offered: 1.0,
            ended,
            busy_s,
        };
        assert!(wanted(&[second(100.0, 1.0); 10], 1.0, 0.8).is_err());
        assert!(wanted(&[second(1.0, 1.0); WINDOW], 1.0, 0.8).is_err());
        assert!(wanted(&[second(100.0, 0.0); WINDOW], 1.0, 0.8).is_err());
    }
}
