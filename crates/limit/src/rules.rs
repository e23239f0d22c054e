//! What is to be held, as data.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::{Adaptive, Aimd, Gradient2, Vegas};
use crate::moment::nanos;

/// How long a request waits at most where nothing else is said.
pub const MAX_WAIT_DEFAULT: Duration = Duration::from_millis(200);
/// How many requests wait at most where nothing else is said.
pub const MAX_QUEUE_DEFAULT: usize = 16_384;

/// All that an [`Admission`](crate::Admission) holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Most requests admitted per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Most requests in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// How long a request waits to be admitted; 0: it does not.
    #[serde(rename = "max_wait_ns", with = "as_nanos", default = "max_wait")]
    pub max_wait: Duration,
    /// How many requests wait; `None`: [`MAX_QUEUE_DEFAULT`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_queue: Option<usize>,
    /// The classes of requests; none: all are of one class without rules of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassRules>,
}

/// What is to be held of one class.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassRules {
    /// Its name; on a change of the rules, a class with the same name is the same class.
    pub name: String,
    /// Most requests of this class admitted per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Most requests of this class in flight, in absolute slots. `None` in a class without a
    /// promise beside one with a promise: what the promise leaves over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// What its clients may rely on. Those with a promise go first, and those without get what is
    /// left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<Promise>,
    /// How long a request of this class waits; `None`: as all.
    #[serde(
        rename = "max_wait_ns",
        with = "as_optional_nanos",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub max_wait: Option<Duration>,
    /// How many requests of this class wait; `None`: as many as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_queue: Option<usize>,
}

/// What the clients of a class may rely on: a share of their requests is answered within a time,
/// the wait for admission included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// The share, above 0 and below 1: 0.99 for a p99.
    pub share: f64,
    /// The time.
    #[serde(rename = "within_ns", with = "as_nanos")]
    pub within: Duration,
}

/// How the number of requests in flight is capped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concurrency {
    /// At this number, which may be a fraction: then the mean over time is at most that.
    Fixed(f64),
    /// Where the goals are reached, as Weir finds it.
    Adaptive(Adaptive),
    /// Additive increase, multiplicative decrease.
    Aimd(Aimd),
    /// By the number of requests queued at the server, after TCP Vegas.
    Vegas(Vegas),
    /// By the ratio of long-term to present response time.
    Gradient2(Gradient2),
}

/// Requests per second: above 0, up to [`Rate::MAX_PER_S`].
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Rate(f64);

impl Rate {
    /// The largest rate: one request per microsecond, so that the nanosecond to which intervals are
    /// rounded stays below a thousandth.
    pub const MAX_PER_S: f64 = 1e6;
    /// The smallest rate: one request in a bit more than eleven days.
    pub const MIN_PER_S: f64 = 1e-6;

    /// So many per second.
    pub fn per_second(per_s: f64) -> Result<Self, RulesError> {
        if (Self::MIN_PER_S..=Self::MAX_PER_S).contains(&per_s) {
            Ok(Self(per_s))
        } else {
            Err(RulesError::Rate(per_s))
        }
    }

    /// As a number per second.
    pub fn per_s(self) -> f64 {
        self.0
    }

    /// The time between two slots, rounded up to a nanosecond: never above the rate.
    pub fn interval(self) -> Duration {
        Duration::from_nanos((1e9 / self.0).ceil() as u64)
    }
}

impl TryFrom<f64> for Rate {
    type Error = RulesError;

    fn try_from(per_s: f64) -> Result<Self, RulesError> {
        Self::per_second(per_s)
    }
}

impl From<Rate> for f64 {
    fn from(rate: Rate) -> Self {
        rate.0
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            rate: None,
            concurrency: None,
            max_wait: MAX_WAIT_DEFAULT,
            max_queue: None,
            classes: Vec::new(),
        }
    }
}

impl Rules {
    /// Says what cannot be held: the first thing found.
    pub fn check(&self) -> Result<(), RulesError> {
        check_concurrency(self.concurrency.as_ref())?;
        for (index, class) in self.classes.iter().enumerate() {
            if self.classes[..index]
                .iter()
                .any(|other| other.name == class.name)
            {
                return Err(RulesError::ClassTwice(class.name.clone()));
            }
            check_concurrency(class.concurrency.as_ref())?;
            if let Some(promise) = class.promise
                && !(promise.share > 0.0 && promise.share < 1.0)
            {
                return Err(RulesError::Share(promise.share));
            }
        }
        Ok(())
    }
}

fn check_concurrency(concurrency: Option<&Concurrency>) -> Result<(), RulesError> {
    let within = |limit: f64| limit > 0.0 && limit.is_finite();
    match concurrency {
        Some(Concurrency::Fixed(limit)) if !within(*limit) => Err(RulesError::Limit(*limit)),
        Some(Concurrency::Adaptive(adaptive)) => adaptive.check(),
        _ => Ok(()),
    }
}

/// Why rules cannot be held.
#[derive(Debug, Clone, PartialEq)]
pub enum RulesError {
    /// Not a rate between [`Rate::MIN_PER_S`] and [`Rate::MAX_PER_S`].
    Rate(f64),
    /// Not a positive number of requests in flight.
    Limit(f64),
    /// The least limit is above the largest.
    Bounds {
        /// The least.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// Not a share above 0 and below 1.
    Share(f64),
    /// Two classes have this name.
    ClassTwice(String),
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(
                f,
                "a rate of {rate} per second is not between {} and {}",
                Rate::MIN_PER_S,
                Rate::MAX_PER_S
            ),
            Self::Limit(limit) => write!(f, "{limit} is not a number of requests above 0"),
            Self::Bounds { min, max } => {
                write!(f, "the least limit, {min}, is above the largest, {max}")
            }
            Self::Share(share) => write!(f, "{share} is not a share above 0 and below 1"),
            Self::ClassTwice(name) => write!(f, "two classes are named {name}"),
        }
    }
}

impl std::error::Error for RulesError {}

fn max_wait() -> Duration {
    MAX_WAIT_DEFAULT
}

/// A duration as a number of nanoseconds.
pub(crate) mod as_nanos {
    use super::{Duration, nanos};
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(of: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(nanos(*of))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_nanos)
    }
}

/// A duration as a number of nanoseconds, or nothing.
pub(crate) mod as_optional_nanos {
    use super::{Duration, nanos};
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(
        of: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        of.map(nanos).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_nanos))
    }
}
