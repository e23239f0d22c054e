//! A limit by response times: the share of requests that are answered within a time.
//!
//! Stochastic approximation of a quantile (Robbins and Monro 1951): a request that was too late
//! takes 5 % of the limit, one that was in time adds 5 % · (1 − share)/share, so that the limit
//! rests where exactly that share is in time. It adds only while somebody waits, and never goes far
//! above the limit that really holds.
//!
//! That is slow on the way up: after a bad time in which all were late, a bound of a tenth would
//! need 4,600 requests in time. So it is remembered where the bound has rested, as the mean over
//! about a thousand requests in time. Below four fifths of that, it adds 1 % with each once 50 in a
//! row have been in time. Where 10 % are late, that is a chance of 0.5 %.

/// What one request that was too late takes.
const STEP: f64 = 0.05;
/// How far above the limit that holds.
const HEADROOM: f64 = 1.25;
/// Weight of a request in time in where the bound has rested.
const WEIGHT: f64 = 0.001;
/// Below this part of that, the bound goes back.
const FAR: f64 = 0.8;
/// By how much with each request in time, and after how many of them in a row.
const STEP_BACK: f64 = 0.01;
const IN_A_ROW: u32 = 50;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ResponseBound(Option<Bound>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    limit: f64,
    /// Where it has rested.
    rested: f64,
    /// Requests in time since the last that was late.
    in_a_row: u32,
}

impl ResponseBound {
    /// The lower of the two.
    pub(crate) fn within(self, limit: f64) -> f64 {
        self.0.map_or(limit, |bound| bound.limit.min(limit))
    }

    /// It goes no lower than this.
    pub(crate) fn keep_above(&mut self, least: f64) {
        if let Some(bound) = &mut self.0 {
            bound.limit = bound.limit.max(least);
        }
    }

    /// A request was in time or not, at this limit.
    pub(crate) fn answered(&mut self, in_time: bool, share: f64, limit: f64, pressed: bool) {
        let most = limit * HEADROOM;
        if !in_time {
            let bound = self.0.get_or_insert(Bound::at(most));
            bound.limit = bound.limit.min(most) * (1.0 - STEP);
            bound.in_a_row = 0;
        } else if let Some(bound) = &mut self.0
            && pressed
        {
            bound.in_a_row = bound.in_a_row.saturating_add(1);
            let step = if bound.goes_back() {
                STEP_BACK
            } else {
                bound.rested += WEIGHT * (bound.limit - bound.rested);
                STEP * (1.0 - share) / share
            };
            if bound.limit < most {
                bound.limit = most.min(bound.limit * (1.0 + step));
            }
        }
    }
}

impl Bound {
    fn at(limit: f64) -> Self {
        Self {
            limit,
            rested: limit,
            in_a_row: 0,
        }
    }

    /// Whether it is on its way back from a bad time, and not where it rests.
    fn goes_back(&self) -> bool {
        self.limit < FAR * self.rested && self.in_a_row >= IN_A_ROW
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

    /// A minute of nothing but late requests, and then none any more.
    #[test]
    fn it_is_back_soon_after_a_bad_time() {
        let mut bound = ResponseBound::default();
        let answer = |bound: &mut ResponseBound, in_time| {
            let limit = bound.within(16.0);
            bound.answered(in_time, 0.99, limit, true);
            limit
        };
        for _ in 0..80 {
            answer(&mut bound, false);
        }
        assert!(bound.within(16.0) < 0.5, "{bound:?}");
        let needed = (0..1000).find(|_| answer(&mut bound, true) > 6.0);
        assert!(needed.is_some_and(|needed| needed < 400), "{needed:?}");
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
