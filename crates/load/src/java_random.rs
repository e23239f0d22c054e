//! `java.util.Random`: a plan that gives a seed gets the numbers that JMeter draws.
//!
//! The generator is the 48-bit linear congruential one of Knuth, The Art of Computer Programming,
//! volume 2, 3.2.1, with the constants of Java's documentation.

/// A row of numbers.
#[derive(Debug)]
pub(crate) struct JavaRandom(u64);

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    /// The row of this seed.
    pub(crate) fn new(seed: i64) -> Self {
        Self((seed.cast_unsigned() ^ Self::MULTIPLIER) & Self::MASK)
    }

    fn bits(&mut self, count: u32) -> u64 {
        self.0 = self.0.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        self.0 >> (48 - count)
    }

    /// Java's `nextInt(bound)`; 0 without a bound.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        let bound = u64::from(bound.min(i32::MAX.cast_unsigned()));
        if bound == 0 {
            return 0;
        }
        if bound.is_power_of_two() {
            return ((bound * self.bits(31)) >> 31) as u32;
        }
        loop {
            let drawn = self.bits(31);
            let value = drawn % bound;
            // Java draws again where its sum of 32 bits overflows.
            if drawn - value + (bound - 1) < 1 << 31 {
                return value as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by Java 17: `new Random(42)`, then `nextInt` of these bounds.
    #[test]
    fn seeds_give_javas_numbers() {
        let mut random = JavaRandom::new(42);
        let drawn = [1000, 1000, 16, 1, i32::MAX.cast_unsigned()].map(|bound| random.below(bound));
        assert_eq!(drawn, JAVA);
    }

    const JAVA: [u32; 5] = [130, 763, 10, 0, 662_969_970];
}
