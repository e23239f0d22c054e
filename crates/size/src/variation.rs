//! How much the times of requests differ: what a model of means does not say.

use schemars::JsonSchema;
use serde::Serialize;
use weir_sim::Distribution;

/// How a time varies from request to request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// Not at all.
    Constant,
    /// A sum of 16 exponential parts: a quarter of the mean to both sides.
    #[serde(rename = "erlang-16")]
    Erlang16,
    /// A sum of 4 exponential parts: half of the mean.
    #[serde(rename = "erlang-4")]
    Erlang4,
    /// As much as the mean.
    Exponential,
    /// Lognormal, twice the mean: most are quick, few take very long.
    HeavyTailed,
}

/// Variations of the two kinds of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pair {
    /// Of the CPU time of a request.
    pub cpu: Variation,
    /// Of the times that it spends without CPU: in its thread, with a connection, on the way.
    pub delay: Variation,
}

impl Variation {
    /// The distribution with this mean.
    pub(crate) fn of_mean(self, mean_s: f64) -> Distribution {
        if mean_s <= 0.0 {
            return Distribution::ZERO;
        }
        match self {
            Self::Constant => Distribution::constant(mean_s),
            Self::Erlang16 => Distribution::erlang(mean_s, 16),
            Self::Erlang4 => Distribution::erlang(mean_s, 4),
            Self::Exponential => Distribution::exponential(mean_s),
            Self::HeavyTailed => Distribution::lognormal(mean_s, 4.0),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Erlang16 => "Erlang-16",
            Self::Erlang4 => "Erlang-4",
            Self::Exponential => "exponential",
            Self::HeavyTailed => "heavy-tailed",
        }
    }
}

impl Pair {
    /// All that are tried. A CPU shared by all shows little of how the CPU time varies, so three do
    /// for it.
    pub(crate) fn all() -> Vec<Self> {
        use Variation::{Constant, Erlang4, Erlang16, Exponential, HeavyTailed};
        let delays = [Constant, Erlang16, Erlang4, Exponential, HeavyTailed];
        let cpus = [Constant, Exponential, HeavyTailed];
        delays
            .into_iter()
            .flat_map(|delay| cpus.map(|cpu| Self { cpu, delay }))
            .collect()
    }
}

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} CPU times, {} times without CPU",
            self.cpu.word(),
            self.delay.word()
        )
    }
}
