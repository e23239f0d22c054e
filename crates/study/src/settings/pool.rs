//! How many connections a pool needs so that no thread waits for one.

use super::demand::PoolDemand;

/// Share of the time in which more connections may be wanted than there are: once in a thousand, so
/// that the mean number of waiters stays in the thousandths.
const WANTED_MORE: f64 = 0.001;

/// The limit, and why.
///
/// With all T threads busy, each holds a connection for a share p of its time, about independently
/// of the others: the number held is binomial(T, p) (machine-repair model with enough servers;
/// Feller 1968, volume 1, XVII.7). The limit is the smallest that is exceeded at most 0.1 % of the
/// time.
pub(super) fn limit(pool: &PoolDemand, threads: u32, throughput_per_s: f64) -> (f64, String) {
    let held = pool.hold_s * throughput_per_s;
    let share = (held / f64::from(threads)).min(1.0);
    let by_rule = quantile(threads, share, WANTED_MORE).max(1);
    let limit = (by_rule + pool.missing).min(threads);
    let because = format!(
        "a request holds a connection for {:.1} ms, so {threads} busy threads hold {held:.1} on \
         average. They want more than {by_rule} at most 0.1 % of the time (binomial){}",
        pool.hold_s * 1e3,
        missing(pool.missing)
    );
    (f64::from(limit), because)
}

fn missing(count: u32) -> String {
    match count {
        0 => String::new(),
        count => format!("; {count} more because some waited in the check"),
    }
}

/// The smallest k with P(binomial(n, p) > k) at most `tail`.
pub(crate) fn quantile(n: u32, p: f64, tail: f64) -> u32 {
    if p >= 1.0 {
        return n;
    }
    if p <= 0.0 {
        return 0;
    }
    // Upwards by the ratio of neighbouring probabilities, in logarithms for the start.
    let (n_f, odds) = (f64::from(n), p / (1.0 - p));
    let mut log_probability = n_f * (1.0 - p).ln();
    let mut below = log_probability.exp();
    let mut k = 0;
    while 1.0 - below > tail && k < n {
        k += 1;
        log_probability += ((n_f - f64::from(k) + 1.0) / f64::from(k) * odds).ln();
        below += log_probability.exp();
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_that_of_the_binomial_tables() {
        // binomial(20, 0.1): P(X <= 6) = 0.9976, P(X <= 7) = 0.9996 (standard tables).
        assert_eq!(quantile(20, 0.1, 0.001), 7);
        assert_eq!(quantile(20, 0.1, 0.003), 6);
        // binomial(10, 0.5): P(X <= 8) = 0.9893, P(X <= 9) = 0.9990.
        assert_eq!(quantile(10, 0.5, 0.011), 8);
        assert_eq!(quantile(10, 0.5, 0.0009), 10);
        assert_eq!(quantile(10, 0.0, 0.001), 0);
        assert_eq!(quantile(10, 1.0, 0.001), 10);
    }
}
