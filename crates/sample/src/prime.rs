//! Probable primes: the computation that `/stress` spends its CPU time on.
//!
//! The published program asks Java for `BigInteger.probablePrime(bits, random)`. This does
//! comparable work: a random start, a window of odd candidates sieved by small primes, Miller–Rabin
//! on what is left. The number of rounds is that of the JDK's `BigInteger.primeToCertainty` for its
//! default certainty of 100 (it follows ANSI X9.80: random candidates need far fewer rounds than
//! the worst case, the fewer the larger they are). From 100 bits on the JDK adds one Lucas–Lehmer
//! test; it costs about as much as three rounds (Baillie and Wagstaff, "Lucas pseudoprimes",
//! Mathematics of Computation 35, 1980), so three more rounds stand for it.

use std::sync::LazyLock;

use num_bigint::BigUint;
use rand::Rng;

/// Fewest bits of a prime: every candidate must be larger than the primes that it is sieved with.
pub(crate) const BITS_MIN: u64 = 16;
/// Sieving primes lie below this: 2^14 is less than any candidate of 16 bits or more.
const SIEVE_BOUND: u32 = 1 << 14;

static SIEVING_PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| odd_primes_below(SIEVE_BOUND));

/// A random probable prime of exactly `bits` bits, at least [`BITS_MIN`].
pub(crate) fn probable_prime(bits: u64, random: &mut impl Rng) -> BigUint {
    assert!(
        bits >= BITS_MIN,
        "candidates must be larger than the sieving primes"
    );
    loop {
        if let Some(prime) = prime_after(&random_odd(bits, random), bits, random) {
            return prime;
        }
    }
}

/// The first probable prime in the window that begins at `start`, if there is one of `bits` bits.
fn prime_after(start: &BigUint, bits: u64, random: &mut impl Rng) -> Option<BigUint> {
    sieved(start, window(bits))
        .map(|step| start + 2 * step)
        .take_while(|candidate| candidate.bits() == bits)
        .find(|candidate| passes_miller_rabin(candidate, rounds(bits), random))
}

/// How many odd candidates a window has; about nine times the mean distance of primes, like the
/// JDK's sieve.
fn window(bits: u64) -> usize {
    (bits as usize / 20).max(1) * 64
}

/// The steps `k` below `length` for which `start + 2k` has no small factor.
fn sieved(start: &BigUint, length: usize) -> impl Iterator<Item = usize> {
    let mut composite = vec![false; length];
    for &prime in SIEVING_PRIMES.iter() {
        let remainder = u32::try_from(start % prime).expect("a remainder is less than its divisor");
        // start + 2k = 0 (mod p) where k = -start / 2 (mod p), and 1/2 = (p + 1)/2 (mod p).
        let first = u64::from(prime - remainder) * u64::from(prime.div_ceil(2)) % u64::from(prime);
        composite
            .iter_mut()
            .skip(first as usize)
            .step_by(prime as usize)
            .for_each(|mark| *mark = true);
    }
    (0..length).filter(move |step| !composite[*step])
}

fn rounds(bits: u64) -> u32 {
    match bits {
        ..100 => 50,
        100..256 => 27 + 3,
        256..512 => 15 + 3,
        512..768 => 8 + 3,
        768..1024 => 4 + 3,
        1024.. => 2 + 3,
    }
}

/// Miller–Rabin with random bases (M. O. Rabin, "Probabilistic algorithm for testing primality",
/// Journal of Number Theory 12, 1980); `candidate` is odd and larger than 3.
fn passes_miller_rabin(candidate: &BigUint, rounds: u32, random: &mut impl Rng) -> bool {
    let one = BigUint::from(1_u32);
    let minus_one = candidate - &one;
    let twos = minus_one
        .trailing_zeros()
        .expect("an odd number above 1, less one, is not zero");
    let odd_part = &minus_one >> twos;
    (0..rounds).all(|_| {
        let base = random_base(&minus_one, random);
        let mut power = base.modpow(&odd_part, candidate);
        if power == one || power == minus_one {
            return true;
        }
        for _ in 1..twos {
            power = &power * &power % candidate;
            if power == minus_one {
                return true;
            }
        }
        false
    })
}

/// A number from 2 to one less than `limit`, nearly uniform.
fn random_base(limit: &BigUint, random: &mut impl Rng) -> BigUint {
    // 64 bits more than needed make the bias of the remainder negligible.
    let wide = random_bits(limit.bits() + 64, random);
    wide % (limit - 2_u32) + 2_u32
}

/// A random number of exactly `bits` bits that is odd.
fn random_odd(bits: u64, random: &mut impl Rng) -> BigUint {
    let mut number = random_bits(bits, random);
    number.set_bit(0, true);
    number.set_bit(bits - 1, true);
    number
}

/// A random number of at most `bits` bits.
fn random_bits(bits: u64, random: &mut impl Rng) -> BigUint {
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    random.fill_bytes(&mut bytes);
    BigUint::from_bytes_le(&bytes) >> (bytes.len() as u64 * 8 - bits)
}

/// The sieve of Eratosthenes, without 2.
fn odd_primes_below(bound: u32) -> Vec<u32> {
    let mut composite = vec![false; bound as usize];
    let mut primes = Vec::new();
    for number in (3..bound).step_by(2) {
        if !composite[number as usize] {
            primes.push(number);
            composite
                .iter_mut()
                .skip(number as usize)
                .step_by(number as usize)
                .for_each(|mark| *mark = true);
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(4)
    }

    fn is_probable_prime(number: &BigUint) -> bool {
        passes_miller_rabin(number, 30, &mut random())
    }

    #[test]
    fn counts_of_small_primes() {
        // There are 1,900 primes below 2^14 (OEIS A007053), one of them even.
        assert_eq!(odd_primes_below(1 << 14).len(), 1_899);
        assert_eq!(odd_primes_below(30), [3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }

    #[test]
    fn known_primes_pass_and_known_composites_fail() {
        let mersenne = |exponent: u32| (BigUint::from(1_u32) << exponent) - 1_u32;
        // Exponents of Mersenne primes: OEIS A000043.
        for exponent in [13_u32, 31, 61, 89, 127, 521, 607] {
            assert!(is_probable_prime(&mersenne(exponent)), "2^{exponent} - 1");
        }
        for exponent in [11_u32, 67, 257, 101] {
            assert!(!is_probable_prime(&mersenne(exponent)), "2^{exponent} - 1");
        }
        // Carmichael numbers (OEIS A002997) and strong pseudoprimes to the bases 2, 3, 5 and 7
        // (OEIS A014233).
        for composite in [
            561_u64,
            41_041,
            825_265,
            2_047,
            1_373_653,
            25_326_001,
            3_215_031_751,
        ] {
            assert!(!is_probable_prime(&BigUint::from(composite)), "{composite}");
        }
    }

    #[test]
    fn sieving_strikes_out_exactly_what_has_a_small_factor() {
        let start = random_odd(40, &mut random());
        let left: Vec<usize> = sieved(&start, 500).collect();
        let expected: Vec<usize> = (0..500)
            .filter(|step| {
                let candidate = &start + 2 * *step;
                SIEVING_PRIMES
                    .iter()
                    .all(|prime| &candidate % *prime != BigUint::ZERO)
            })
            .collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn smallest_primes_agree_with_trial_division() {
        let mut random = random();
        for _ in 0..200 {
            let prime = u32::try_from(probable_prime(BITS_MIN, &mut random)).unwrap_or(0);
            assert!((1 << 15..1 << 16).contains(&prime));
            assert!((2..256).all(|divisor| prime % divisor != 0), "{prime}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn has_exactly_the_bits_asked_for(bits in BITS_MIN..400, seed in any::<u64>()) {
            let prime = probable_prime(bits, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            prop_assert_eq!(prime.bits(), bits);
            prop_assert!(is_probable_prime(&prime));
        }
    }
}
