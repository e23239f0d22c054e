//! Choices that look random and are the same each time.

/// Numbers by xorshift.
pub(crate) struct Choices(u64);

impl Choices {
    /// Those of a number.
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    pub(crate) fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// One of `bound` times.
    pub(crate) fn once_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// How many compositions are compared: few in each test run, more where the environment says so.
pub(crate) fn compositions(few: usize) -> usize {
    let asked = std::env::var("WEIR_TEST_COMPOSITIONS").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(few)
}
