//! Published experiments: groups of users whose requests go through phases written in words.

use serde_json::Value;
use weir_sim::{Center, CenterKind, Class, Distribution, Network, Source, Step};

use super::measure::{Measure, inside, wait, waiting};
use super::{Built, Experiment};
use crate::{Case, OracleError, Values};

const THREADS: usize = 0;
/// The only pool of such a case.
const POOL: usize = 1;
const CPU: usize = 2;
/// So many of the longest requests, and the start is forgotten: holds that always take the same
/// time keep users in step for long.
const MEMORY: f64 = 10.0;
/// A think time and the steps of a request.
const EVENTS_EACH: f64 = 8.0;

pub(super) fn experiment(case: &Case, _: &Values) -> Built {
    let users = case.count("users_per_group")?;
    let think = case
        .text("think")
        .ok_or_else(|| misunderstood("think time", ""))?;
    let think = think_time(think)?;
    let groups = case.parameters.get("groups").and_then(Value::as_array);
    let groups = groups.ok_or_else(|| misunderstood("list of groups", ""))?;
    let classes = groups
        .iter()
        .enumerate()
        .map(|(index, group)| {
            let source = Source::Users {
                users,
                think,
                ramp_s: 1.0,
            };
            Ok(Class::new(
                format!("group {}", index + 1),
                source,
                route(group)?,
            ))
        })
        .collect::<Result<Vec<_>, OracleError>>()?;
    // Waits make them longer; that counts for nothing here.
    let cycles = classes.iter().map(|class| think.mean_s() + alone_s(class));
    let cycles: Vec<f64> = cycles.collect();
    let population = users.saturating_mul(groups.len() as u32);
    let threads = case.limit("threads")?.unwrap_or(population);
    let limit = |capacity| CenterKind::Limit { capacity };
    let cpu = CenterKind::Shared {
        cores: case.count("cores")?,
    };
    let throughput = Measure::new("X", |totals| {
        let answered: u64 = totals.classes.iter().map(|class| class.answered).sum();
        Some(answered as f64 / totals.seconds)
    });
    Ok(Experiment {
        network: Network {
            centers: vec![
                Center::new("threads", limit(threads)),
                Center::new("db", limit(case.count("pool")?)),
                Center::new("cpu", cpu),
            ],
            classes,
            ..Network::default()
        },
        measures: vec![
            waiting("conn_waiting", POOL),
            wait("conn_wait_time", POOL),
            inside("conn_busy", POOL),
            inside("threads_busy", THREADS),
            throughput,
        ],
        memory_s: MEMORY * cycles.iter().copied().fold(0.0, f64::max),
        requests_per_s: cycles.iter().map(|cycle| f64::from(users) / cycle).sum(),
        events_each: EVENTS_EACH,
    })
}

/// What a request takes if nobody else is there.
fn alone_s(class: &Class) -> f64 {
    let steps = class.route.iter().map(|step| match step {
        Step::Use(_, time) | Step::Sleep(time) => time.mean_s(),
        _ => 0.0,
    });
    steps.sum()
}

fn misunderstood(what: &str, text: &str) -> OracleError {
    OracleError::Other(format!("the {what} `{text}` is not understood"))
}

/// `|N(0.5,0.5)| s`: JMeter's Gaussian timer, which takes negative times as positive.
fn think_time(text: &str) -> Result<Distribution, OracleError> {
    let inside = text
        .strip_prefix("|N(")
        .and_then(|rest| rest.split_once(")|"))
        .and_then(|(numbers, _)| numbers.split_once(','));
    if let Some((mean, deviation)) = inside
        && let (Some(mean_s), Some(deviation_s)) = (duration_of(mean), duration_of(deviation))
    {
        return Ok(Distribution::folded_normal(mean_s, deviation_s));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    duration(&words).ok_or_else(|| misunderstood("think time", text))
}

/// `10 s det`, `exp 50 ms`, `0.1 s`.
fn duration(words: &[&str]) -> Option<Distribution> {
    let exponential = words.contains(&"exp");
    let words: Vec<&&str> = words
        .iter()
        .filter(|word| !matches!(**word, "exp" | "det"))
        .collect();
    let [number, unit] = words[..] else {
        return None;
    };
    let unit_s = match *unit {
        "s" => 1.0,
        "ms" => 1e-3,
        _ => return None,
    };
    let seconds = duration_of(number)? * unit_s;
    Some(if exponential {
        Distribution::exponential(seconds)
    } else {
        Distribution::constant(seconds)
    })
}

/// A number that a duration can be.
fn duration_of(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// The phases of a group, inside a thread.
fn route(group: &Value) -> Result<Vec<Step>, OracleError> {
    let words = group["phases"].as_array();
    let phases = words.ok_or_else(|| misunderstood("group", &group.to_string()))?;
    let mut route = vec![Step::Acquire(THREADS)];
    for words in phases {
        let text = words.as_str().unwrap_or_default();
        route.push(step(text).ok_or_else(|| misunderstood("phase", text))?);
    }
    route.push(Step::Release(THREADS));
    Ok(route)
}

fn step(text: &str) -> Option<Step> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.split_first()? {
        (&"acquire", []) => Some(Step::Acquire(POOL)),
        (&"release", []) => Some(Step::Release(POOL)),
        (&"hold" | &"sleep", time) => duration(time).map(Step::Sleep),
        (&"cpu", time) => duration(time).map(|time| Step::Use(CPU, time)),
        _ => None,
    }
}
