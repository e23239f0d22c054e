//! Published experiments: groups of users whose requests go through phases written in words.

use serde_json::{Value, json};
use weir_queueing::sim::{
    Averages, Discipline, Disturbances, Duration, Phase, PoolLimit, Ramp, Scenario, ServerModel,
    UserClass, simulate as play,
};

use crate::{Case, OracleError, Values};

/// Simulated time, and what of it is dropped.
const SECONDS: u32 = 20_000;
const WARM_UP_S: u32 = 1_000;
const SEED: u64 = 1;
/// The only pool of such a case.
const POOL: usize = 0;

pub(super) fn simulate(case: &Case) -> Result<Option<Values>, OracleError> {
    let Some(groups) = case.parameters.get("groups").and_then(Value::as_array) else {
        return Ok(None);
    };
    let users = case.count("users_per_group")?;
    let think = case
        .text("think")
        .ok_or_else(|| misunderstood("think", ""))?;
    let think = think_time(think)?;
    let classes = groups
        .iter()
        .enumerate()
        .map(|(index, group)| {
            Ok(UserClass {
                label: format!("group {}", index + 1),
                users,
                think,
                request: phases(group)?,
            })
        })
        .collect::<Result<Vec<_>, OracleError>>()?;
    let pool = PoolLimit {
        name: Some("db".to_owned()),
        limit: case.count("pool")?,
    };
    let scenario = Scenario {
        server: ServerModel {
            cores: case.count("cores")?,
            discipline: Discipline::ProcessorSharing,
            connections: None,
            threads: case.limit("threads")?,
            pools: vec![pool],
        },
        classes,
        ramp: Ramp { seconds: 1.0 },
        disturbances: Disturbances::default(),
    };
    let seconds = play(&scenario, WARM_UP_S + SECONDS, SEED);
    let found = Averages::of(&seconds[WARM_UP_S as usize..]);
    let pool = &found.pools[POOL];
    let pairs = [
        ("conn_waiting", pool.waiting),
        ("conn_wait_time", pool.wait_s),
        ("conn_busy", pool.busy),
        ("threads_busy", found.threads_busy),
        ("X", found.throughput_per_s),
    ];
    let values = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), json!(value)));
    Ok(Some(values.collect()))
}

fn misunderstood(what: &str, text: &str) -> OracleError {
    OracleError::Other(format!("the {what} `{text}` is not understood"))
}

/// `|N(0.5,0.5)| s`: JMeter's Gaussian timer, which takes negative times as positive.
fn think_time(text: &str) -> Result<Duration, OracleError> {
    let inside = text
        .strip_prefix("|N(")
        .and_then(|rest| rest.split_once(")|"))
        .and_then(|(numbers, _)| numbers.split_once(','));
    if let Some((mean, deviation)) = inside
        && let (Ok(mean_s), Ok(deviation_s)) = (mean.trim().parse(), deviation.trim().parse())
    {
        return Ok(Duration::FoldedGaussian {
            mean_s,
            deviation_s,
        });
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    duration(&words).ok_or_else(|| misunderstood("think time", text))
}

/// `10 s det`, `exp 50 ms`, `0.1 s`.
fn duration(words: &[&str]) -> Option<Duration> {
    let exponential = words.contains(&"exp");
    let words: Vec<&&str> = words
        .iter()
        .filter(|word| !matches!(**word, "exp" | "det"))
        .collect();
    let [number, unit] = words[..] else {
        return None;
    };
    let number: f64 = number.parse().ok()?;
    let seconds = match *unit {
        "s" => number,
        "ms" => number / 1e3,
        _ => return None,
    };
    let valid = seconds.is_finite() && seconds >= 0.0;
    valid.then_some(if exponential {
        Duration::Exponential(seconds)
    } else {
        Duration::Constant(seconds)
    })
}

fn phases(group: &Value) -> Result<Vec<Phase>, OracleError> {
    let words = group["phases"].as_array();
    words
        .ok_or_else(|| misunderstood("group", &group.to_string()))?
        .iter()
        .map(|words| {
            let text = words.as_str().unwrap_or_default();
            phase(text).ok_or_else(|| misunderstood("phase", text))
        })
        .collect()
}

fn phase(text: &str) -> Option<Phase> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.split_first()? {
        (&"acquire", []) => Some(Phase::Acquire(POOL)),
        (&"release", []) => Some(Phase::Release(POOL)),
        (&"hold" | &"sleep", time) => duration(time).map(Phase::Sleep),
        (&"cpu", time) => duration(time).map(Phase::Cpu),
        _ => None,
    }
}
