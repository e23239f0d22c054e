#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use statrs::distribution::{ContinuousCDF as _, Normal};
use weir_plan::{
    ElementId, HttpRequest, LoadPlan, Sampler, Template, ThreadGroup, Timer, TimerKind,
};
use weir_script::{Origin, Properties, delay_ms, resolve};

use super::*;

#[expect(
    clippy::needless_pass_by_value,
    reason = "numbers and texts, both at hand"
)]
fn text(text: impl ToString) -> Template {
    Template::literal(text.to_string())
}

fn group(users: u32, ramp_up_s: u32, timers: Vec<Timer>) -> ThreadGroup {
    let request = HttpRequest {
        host: text("127.0.0.1"),
        method: text("GET"),
        ..HttpRequest::default()
    };
    let mut sampler = Sampler::http(text("sample"), request);
    sampler.timers = timers;
    ThreadGroup {
        name: text("G"),
        users: text(users),
        ramp_up_s: text(ramp_up_s),
        nodes: vec![sampler.into()],
        ..ThreadGroup::default()
    }
}

fn work(groups: Vec<ThreadGroup>, seed: u64) -> Work {
    let plan = LoadPlan {
        name: "plan".to_owned(),
        groups,
        ..LoadPlan::default()
    };
    let plan = resolve(&plan, &Properties::new(), Origin::default()).unwrap();
    Work::prepare(plan, None, seed, Length::AsPlanned, Vec::new()).unwrap()
}

/// Measured with JMeter 5.6.3: 4 threads in 1 s start at 0, 250, 500, 750 ms.
#[test]
fn users_start_along_the_ramp_as_in_jmeter() {
    let work = work(vec![group(4, 1, Vec::new())], 0);
    let starts: Vec<u128> = work.deal(1)[0]
        .iter()
        .map(|start| start.at.as_millis())
        .collect();
    assert_eq!(starts, [0, 250, 500, 750]);
}

#[test]
fn users_are_dealt_evenly_and_none_is_lost() {
    let work = work(vec![group(5, 1, Vec::new()), group(4, 0, Vec::new())], 0);
    for runtimes in 1..=9 {
        let hands = work.deal(runtimes);
        assert!(hands.iter().all(|hand| hand.is_sorted()));
        let sizes: Vec<usize> = hands.iter().map(Vec::len).collect();
        assert!(
            sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1,
            "{sizes:?}"
        );
        let mut all: Vec<UserStart> = hands.concat();
        all.sort();
        assert_eq!(all, work.deal(1)[0]);
    }
}

fn gaussian(delay_ms: u32, deviation_ms: u32) -> Vec<Timer> {
    vec![Timer {
        id: ElementId::default(),
        kind: TimerKind::Gaussian {
            delay_ms: text(delay_ms),
            deviation_ms: text(deviation_ms),
        },
    }]
}

/// The first waits of every user.
fn waits(work: &Work, each: usize) -> Vec<Vec<i64>> {
    let users = work.deal(1).concat();
    let waits = users.into_iter().map(|start| {
        let mut scope = work.scope(start);
        let timer = &work.groups[start.group].steps[0].source.timers[0];
        let next = |_| delay_ms(&timer.kind, 1.0, &mut scope).unwrap();
        (0..each).map(next).collect()
    });
    waits.collect()
}

#[test]
fn a_seed_makes_the_waits_and_users_differ() {
    let of_seed = |seed| {
        let groups = vec![
            group(20, 0, gaussian(500, 500)),
            group(20, 0, gaussian(500, 500)),
        ];
        waits(&work(groups, seed), 10)
    };
    let first = of_seed(1);
    assert_eq!(first, of_seed(1));
    assert_ne!(first, of_seed(2));
    let mut distinct = first.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(
        distinct.len(),
        40,
        "every user of every group has its own waits"
    );
}

/// Kolmogorov-Smirnov against the folded normal that the timer of E1 stands for, over users that
/// draw a few waits each. A wait of k whole milliseconds means a value below k + 1. The seed is
/// fixed; over all seeds a right program would fail 1 in 1,000 times (critical value 1.95 / √n).
#[test]
fn waits_have_their_distribution() {
    let (mean, deviation) = (500.0, 500.0);
    let work = work(vec![group(2_000, 0, gaussian(500, 500))], 42);
    let mut all: Vec<i64> = waits(&work, 5).concat();
    all.sort_unstable();
    let normal = Normal::new(mean, deviation).unwrap();
    let below = |k: i64| {
        let edge = (k + 1) as f64;
        normal.cdf(edge) - normal.cdf(-edge)
    };
    let count = all.len() as f64;
    let distances = all.chunk_by(|a, b| a == b).scan(0, |seen, equal| {
        *seen += equal.len();
        Some((*seen as f64 / count - below(equal[0])).abs())
    });
    let distance = distances.fold(0.0, f64::max);
    assert!(distance < 1.95 / count.sqrt(), "{distance}");
}

#[test]
fn what_does_not_change_is_built_once() {
    let work = work(vec![group(1, 0, Vec::new()), group(1, 0, Vec::new())], 0);
    assert_eq!(work.labels.len(), 1, "both groups have the same label");
    for group in &work.groups {
        assert_eq!(group.steps[0].label, Some(0));
        let prepared = group.steps[0].prepared.as_ref().unwrap();
        assert_eq!(&*prepared.url, "http://127.0.0.1/");
        assert!(prepared.sent.bytes.starts_with(b"GET / HTTP/1.1\r\n"));
    }
}
