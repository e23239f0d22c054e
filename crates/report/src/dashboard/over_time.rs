//! Sums over stretches of time, whatever the length of the test.
//!
//! How long a test is, is known at its end only, and memory has a bound: a stretch begins as one
//! second, and whenever there would be too many of them, each two become one.

/// Stretches that are kept at most.
const STRETCHES_MAX: u64 = 1_200;

/// Something that adds up.
pub(super) trait Sum: Default {
    /// Adds what was counted in another stretch.
    fn merge(&mut self, other: Self);
}

/// One sum for each stretch of time.
#[derive(Debug)]
pub(super) struct OverTime<S> {
    width_ms: u64,
    /// Number of the first stretch, counted from 1970.
    first: u64,
    stretches: Vec<S>,
}

impl<S: Sum> OverTime<S> {
    pub(super) fn new(width_ms: u64) -> Self {
        Self {
            width_ms: width_ms.max(1_000),
            first: 0,
            stretches: Vec::new(),
        }
    }

    /// The sum of the stretch that holds a moment.
    pub(super) fn at(&mut self, epoch_ms: u64) -> &mut S {
        let mut number = epoch_ms / self.width_ms;
        if self.stretches.is_empty() {
            self.first = number;
            self.stretches.push(S::default());
        }
        while !self.fits(number) {
            self.widen();
            number = epoch_ms / self.width_ms;
        }
        if number < self.first {
            let missing = self.first - number;
            let earlier = (0..missing).map(|_| S::default());
            self.stretches.splice(0..0, earlier);
            self.first = number;
        }
        let at = (number - self.first) as usize;
        if at >= self.stretches.len() {
            self.stretches.resize_with(at + 1, S::default);
        }
        &mut self.stretches[at]
    }

    fn fits(&self, number: u64) -> bool {
        let last = self.first + self.stretches.len() as u64 - 1;
        last.max(number) - self.first.min(number) < STRETCHES_MAX
    }

    fn widen(&mut self) {
        let first = self.first / 2;
        let mut wider: Vec<S> = Vec::with_capacity(self.stretches.len() / 2 + 1);
        for (at, stretch) in self.stretches.drain(..).enumerate() {
            let number = self.first + at as u64;
            let to = (number / 2 - first) as usize;
            if to == wider.len() {
                wider.push(stretch);
            } else {
                wider[to].merge(stretch);
            }
        }
        self.stretches = wider;
        self.first = first;
        self.width_ms *= 2;
    }

    /// Length of a stretch, in seconds.
    pub(super) fn width_s(&self) -> f64 {
        self.width_ms as f64 / 1e3
    }

    /// All stretches from the first to the last, with their starts in seconds since 1970.
    pub(super) fn stretches(&self) -> impl Iterator<Item = (u64, &S)> {
        let start = |at: usize| (self.first + at as u64) * self.width_ms / 1_000;
        self.stretches
            .iter()
            .enumerate()
            .map(move |(at, stretch)| (start(at), stretch))
    }

    /// Puts stretches together until there are no more than this.
    pub(super) fn coarsen(&mut self, points_max: usize) {
        while self.stretches.len() > points_max {
            self.widen();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default)]
    struct Count(u64);

    impl Sum for Count {
        fn merge(&mut self, other: Self) {
            self.0 += other.0;
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_memory_is_bounded(moments in proptest::collection::vec(0_u64..4_000_000_000, 1..200)) {
            let mut sums: OverTime<Count> = OverTime::new(1_000);
            for moment in &moments {
                sums.at(*moment).0 += 1;
            }
            prop_assert!(sums.stretches.len() as u64 <= STRETCHES_MAX);
            let counted: u64 = sums.stretches().map(|(_, count)| count.0).sum();
            prop_assert_eq!(counted, moments.len() as u64);
            let first = moments.iter().min().copied().unwrap_or(0);
            let (start, count) = sums.stretches().next().map(|(at, count)| (at, count.0)).unwrap_or_default();
            prop_assert!(start * 1_000 <= first && count > 0);
        }
    }
}
