//! Series with known truth for the tests and the example: first-order autoregressive noise from a
//! seed.

/// A stationary autoregressive series: unit lag correlation `phi`, standard deviation `deviation`.
pub(crate) struct Noise {
    state: u64,
    phi: f64,
    deviation: f64,
}

impl Noise {
    pub(crate) fn new(seed: u64, phi: f64, deviation: f64) -> Self {
        // Spreads neighbouring seeds over the whole state (Steele et al. 2014, SplitMix64's
        // finalizer).
        let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self {
            state: state ^ (state >> 31),
            phi,
            deviation,
        }
    }

    /// `bins` values about `centre`.
    pub(crate) fn series(mut self, bins: usize, centre: f64) -> Vec<f64> {
        let mut noise = self.normal();
        let innovation = (1.0 - self.phi.powi(2)).sqrt();
        (0..bins)
            .map(|_| {
                noise = self.phi * noise + innovation * self.normal();
                centre + self.deviation * noise
            })
            .collect()
    }

    /// A standard normal value by Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn uniform(&mut self) -> f64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 11) as f64 + 0.5) / 2_f64.powi(53)
    }
}
