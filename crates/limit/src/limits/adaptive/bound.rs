//! A limit by response times: the share of requests that are answered within a time.
//!
//! Stochastic approximation of a quantile (Robbins and Monro 1951): a request that was too late
//! takes 5 % of the limit, one that was in time adds 5 % · (1 − share)/share, so that the limit
//! rests where exactly that share is in time. It adds only while somebody waits, and never goes far
//! above the limit that really holds.

/// What one request that was too late takes.
const STEP: f64 = 0.05;
/// How far above the limit that holds.
const HEADROOM: f64 = 1.25;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ResponseBound(Option<f64>);

impl ResponseBound {
    /// The lower of the two.
    pub(crate) fn within(self, limit: f64) -> f64 {
        self.0.map_or(limit, |bound| bound.min(limit))
    }

    /// It goes no lower than this.
    pub(crate) fn keep_above(&mut self, least: f64) {
        self.0 = self.0.map(|bound| bound.max(least));
    }

    /// A request was in time or not, at this limit.
    pub(crate) fn answered(&mut self, in_time: bool, share: f64, limit: f64, pressed: bool) {
        let most = limit * HEADROOM;
        if !in_time {
            let bound = self.0.map_or(most, |bound| bound.min(most));
            self.0 = Some(bound * (1.0 - STEP));
        } else if let Some(bound) = self.0
            && pressed
        {
            let raised = bound * (1.0 + STEP * (1.0 - share) / share);
            self.0 = Some(if bound < most {
                raised.min(most)
            } else {
                bound
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Late with a chance of a hundredth of the limit squared: at 99 % in time the limit is 1.
    #[test]
    fn it_rests_where_the_share_is_in_time() {
        let mut bound = ResponseBound::default();
        let mut weyl = 0_u64;
        let (mut sum, mut count) = (0.0, 0.0);
        for step in 0..200_000 {
            weyl = weyl.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let uniform = (weyl >> 11) as f64 / (1_u64 << 53) as f64;
            let limit = bound.within(4.0);
            bound.answered(uniform >= 0.01 * limit * limit, 0.99, limit, true);
            if step >= 20_000 {
                sum += limit;
                count += 1.0;
            }
        }
        let mean: f64 = sum / count;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn it_does_not_rise_while_nobody_waits() {
        let mut bound = ResponseBound::default();
        bound.answered(false, 0.99, 4.0, true);
        let before = bound.within(100.0);
        for _ in 0..1000 {
            bound.answered(true, 0.99, before, false);
        }
        assert!((bound.within(100.0) - before).abs() < 1e-12);
    }
}
