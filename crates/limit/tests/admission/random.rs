//! Pseudo-random numbers from a seed, by a Weyl sequence and a finalizer (`SplitMix64`, Steele et
//! al. 2014).

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Exponential with this mean, in whole nanoseconds.
    pub(crate) fn exponential_ns(&mut self, mean_ns: u64) -> u64 {
        let uniform = ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        (-uniform.ln() * mean_ns as f64) as u64
    }
}
