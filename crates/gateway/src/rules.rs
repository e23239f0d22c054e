//! The rules of the admission, from the settings.

use std::time::Duration;

use weir_limit::{
    Adaptive, Aimd, ClassRules, Concurrency, Goal, Gradient2, Promise, Rate, Rules, Vegas,
};
use weir_metric::{Metric, Requirement};

use crate::error::GatewayError;
use crate::settings::{AdaptiveSettings, Algorithm, ClassSettings, OTHER_CLASS, Settings};

/// The least limit of Vegas, which cannot be set.
const VEGAS_MIN: f64 = 1.0;

impl Settings {
    /// Says what of the settings cannot be held.
    pub fn check(&self) -> Result<(), GatewayError> {
        rules(self).map(drop)
    }
}

/// What the admission holds.
pub(crate) fn rules(settings: &Settings) -> Result<Rules, GatewayError> {
    let limit = &settings.limit;
    let concurrency = match (&limit.adaptive, limit.concurrency) {
        (Some(wanted), _) => Some(found(wanted)?),
        (None, concurrency) => concurrency.map(Concurrency::Fixed),
    };
    let mut classes = Vec::new();
    for class in &settings.classes {
        classes.push(class_rules(class)?);
    }
    // What matches no class is one of its own, without rules but those of all.
    if settings.class_names().len() > classes.len() {
        classes.push(ClassRules {
            name: OTHER_CLASS.to_owned(),
            ..ClassRules::default()
        });
    }
    let rules = Rules {
        rate: limit.rate_per_s.map(Rate::per_second).transpose()?,
        concurrency,
        max_wait: limit.max_wait,
        max_queue: limit.max_queue,
        classes,
    };
    rules.check()?;
    Ok(rules)
}

fn class_rules(class: &ClassSettings) -> Result<ClassRules, GatewayError> {
    Ok(ClassRules {
        name: class.name.clone(),
        rate: class.rate_per_s.map(Rate::per_second).transpose()?,
        concurrency: class.concurrency.map(Concurrency::Fixed),
        promise: class.promise.as_ref().map(promise).transpose()?,
        ..ClassRules::default()
    })
}

fn promise(promise: &Requirement) -> Result<Promise, GatewayError> {
    match promise.metric {
        Metric::Percentile(percent) => Ok(Promise {
            share: percent / 100.0,
            within: Duration::from_secs_f64(promise.bound_base()),
        }),
        _ => Err(GatewayError::NotBuilt(format!(
            "only a percentile can be promised, such as `p99 <= 50 ms`, not `{promise}`"
        ))),
    }
}

/// A limit that is found; bounds that are not said are the algorithm's own.
fn found(wanted: &AdaptiveSettings) -> Result<Concurrency, GatewayError> {
    let bounds = |min: f64, max: f64, start: f64| {
        let max = wanted.max.unwrap_or(max).max(wanted.min.unwrap_or(0.0));
        let min = wanted.min.unwrap_or(min).min(max);
        (min, max, wanted.start.unwrap_or(start).clamp(min, max))
    };
    Ok(match wanted.algorithm {
        Algorithm::Weir => Concurrency::Adaptive(adaptive(wanted)?),
        Algorithm::Aimd => {
            let own = Aimd::default();
            let (min, max, start) = bounds(own.min, own.max, own.start);
            Concurrency::Aimd(Aimd {
                min,
                max,
                start,
                ..own
            })
        }
        Algorithm::Vegas => {
            let own = Vegas::default();
            let (_, max, start) = bounds(VEGAS_MIN, own.max, own.start);
            Concurrency::Vegas(Vegas { max, start })
        }
        Algorithm::Gradient2 => {
            let own = Gradient2::default();
            let (min, max, start) = bounds(own.min, own.max, own.start);
            Concurrency::Gradient2(Gradient2 { min, max, start })
        }
    })
}

fn adaptive(wanted: &AdaptiveSettings) -> Result<Adaptive, GatewayError> {
    let mut goal = Goal::default();
    if let Some(wanted) = &wanted.goal {
        match wanted.metric {
            Metric::Cpu => goal.cpu = Some(wanted.bound_base()),
            Metric::Percentile(99.0) => {
                goal.p99 = Some(Duration::from_secs_f64(wanted.bound_base()));
            }
            _ => {
                return Err(GatewayError::NotBuilt(format!(
                    "a goal is a bound on `cpu` or on `p99`, not `{wanted}`"
                )));
            }
        }
    }
    Ok(Adaptive {
        goal,
        min: wanted.min,
        max: wanted.max,
        start: wanted.start,
        step: wanted.step,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_are_not_said_are_those_of_the_algorithm() {
        let least = "listen = \"127.0.0.1:0\"\nbackends = [\"http://127.0.0.1:1\"]\n";
        for (limit, expected) in [
            (
                "algorithm = \"aimd\", max = 10",
                Concurrency::Aimd(Aimd {
                    start: 10.0,
                    min: 10.0,
                    max: 10.0,
                    ..Aimd::default()
                }),
            ),
            (
                "algorithm = \"vegas\", start = 5",
                Concurrency::Vegas(Vegas {
                    start: 5.0,
                    ..Vegas::default()
                }),
            ),
            (
                "algorithm = \"gradient2\", min = 2",
                Concurrency::Gradient2(Gradient2 {
                    min: 2.0,
                    ..Gradient2::default()
                }),
            ),
            (
                "algorithm = \"gradient\", min = 900",
                Concurrency::Gradient2(Gradient2 {
                    start: 900.0,
                    min: 900.0,
                    max: 900.0,
                }),
            ),
        ] {
            let text = format!("{least}limit.adaptive = {{ {limit} }}\n");
            let rules = rules(&Settings::parse(&text).unwrap()).unwrap();
            assert_eq!(rules.concurrency, Some(expected), "{limit}");
        }
    }
}
