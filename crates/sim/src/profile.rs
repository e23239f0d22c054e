//! A rate of arrivals over time, and when the next one is due.

/// A piecewise linear rate of arrivals: points of time and rate, the last of which holds for ever.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile(Vec<(f64, f64)>);

impl Profile {
    /// Always the same rate.
    pub fn constant(rate_per_s: f64) -> Self {
        Self::new(vec![(0.0, rate_per_s)]).expect("one point at 0 is a profile")
    }

    /// Through these points of seconds and rate, of which the first stands at 0; two points at one
    /// time are a step.
    ///
    /// Says what is wrong otherwise.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Self, String> {
        match points.first() {
            None => return Err("a profile needs a point".to_owned()),
            Some((at, _)) if *at != 0.0 => {
                return Err(format!("the first point stands at {at} s, not at 0 s"));
            }
            Some(_) => {}
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[1].0 < pair[0].0) {
            return Err(format!(
                "the point at {} s stands behind the one at {} s",
                pair[1].0, pair[0].0
            ));
        }
        if let Some((_, rate)) = points
            .iter()
            .find(|(at, rate)| !(at.is_finite() && rate.is_finite() && *rate >= 0.0))
        {
            return Err(format!("{rate} is not a rate"));
        }
        Ok(Self(points))
    }

    /// The rate that holds in the end.
    pub fn last_rate(&self) -> f64 {
        self.0.last().map_or(0.0, |point| point.1)
    }

    /// The largest rate.
    pub fn peak_rate(&self) -> f64 {
        self.0.iter().map(|point| point.1).fold(0.0, f64::max)
    }

    /// When `amount` arrivals more are expected than up to `from`; `None`: never.
    ///
    /// With `amount` exponential of mean 1 these are the times of a Poisson process with this rate
    /// (Lewis and Shedler 1979, by inversion), with `amount` 1 of evenly spaced arrivals.
    pub(crate) fn after(&self, from: f64, mut amount: f64) -> Option<f64> {
        let mut from = from;
        for pair in self.0.windows(2) {
            let ((start, first), (end, last)) = (pair[0], pair[1]);
            if end <= from {
                continue;
            }
            let slope = (last - first) / (end - start);
            let rate = first + slope * (from - start);
            let until_end = f64::midpoint(rate, last) * (end - from);
            if amount < until_end {
                return Some(from + time_for(amount, rate, slope));
            }
            amount -= until_end;
            from = end;
        }
        let rate = self.last_rate();
        (rate > 0.0).then(|| from + amount / rate)
    }
}

/// Solves rate t + slope t^2 / 2 = amount for its smaller positive root, in the form that does not
/// cancel.
fn time_for(amount: f64, rate: f64, slope: f64) -> f64 {
    let root = (rate * rate + 2.0 * slope * amount).max(0.0).sqrt();
    2.0 * amount / (rate + root)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn expected_arrivals_come_when_the_integral_says() {
        // 0 to 10/s over 10 s (50 arrivals), then 10/s up to 20 s (100), a step to 0 until 30 s,
        // then 5/s.
        let profile = Profile::new(vec![
            (0.0, 0.0),
            (10.0, 10.0),
            (20.0, 10.0),
            (20.0, 0.0),
            (30.0, 0.0),
            (30.0, 5.0),
        ])
        .unwrap();
        for (from, amount, at) in [
            (0.0, 12.5, 5.0),
            (0.0, 50.0, 10.0),
            (5.0, 37.5, 10.0),
            (0.0, 100.0, 15.0),
            (15.0, 60.0, 32.0),
            (31.0, 10.0, 33.0),
        ] {
            let found = profile.after(from, amount).unwrap();
            assert!((found - at).abs() < 1e-9, "{from} {amount}: {found}");
        }
        assert_eq!(Profile::constant(0.0).after(0.0, 1.0), None);
        assert!(Profile::new(vec![(1.0, 1.0)]).is_err());
        assert!(Profile::new(vec![(0.0, 1.0), (5.0, 1.0), (4.0, 1.0)]).is_err());
        assert!(Profile::new(vec![(0.0, -1.0)]).is_err());
    }
}
