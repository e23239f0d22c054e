//! What holds whatever happens.

use std::time::Duration;

use proptest::prelude::*;
use weir_limit::{
    Adaptive, Aimd, ClassRules, Concurrency, Goal, Gradient2, Promise, Rate, Rules, Vegas,
};

use crate::driver::{Driver, Fate};

/// One thing that happens.
#[derive(Debug, Clone, Copy)]
enum Act {
    Arrive(usize),
    /// The oldest, the newest or one in between.
    Finish(usize),
    Abandon(usize),
    Pass(Duration),
    ReadCpu(f64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0..2_usize).prop_map(Act::Arrive),
        4 => any::<usize>().prop_map(Act::Finish),
        1 => any::<usize>().prop_map(Act::Abandon),
        3 => (0..80_000_u64).prop_map(|us| Act::Pass(Duration::from_micros(us))),
        1 => (0.0..=1.0).prop_map(Act::ReadCpu),
    ]
}

fn concurrency() -> impl Strategy<Value = Option<Concurrency>> {
    let goal = Goal {
        cpu: Some(0.8),
        p99: None,
    };
    let with_goal = Adaptive {
        goal,
        ..Adaptive::default()
    };
    prop_oneof![
        Just(None),
        (0.1..5.0).prop_map(|limit| Some(Concurrency::Fixed(limit))),
        Just(Some(Concurrency::Adaptive(Adaptive::default()))),
        Just(Some(Concurrency::Adaptive(with_goal))),
        Just(Some(Concurrency::Aimd(Aimd::default()))),
        Just(Some(Concurrency::Vegas(Vegas::default()))),
        Just(Some(Concurrency::Gradient2(Gradient2::default()))),
    ]
}

fn rate() -> impl Strategy<Value = Option<Rate>> {
    proptest::option::of((5.0..200.0).prop_map(|rate| Rate::per_second(rate).unwrap()))
}

prop_compose! {
    fn class(name: &'static str)(
        rate in rate(),
        concurrency in concurrency(),
        promised in any::<bool>(),
        max_queue in proptest::option::of(0..4_usize),
    ) -> ClassRules {
        let promise = Promise { share: 0.99, within: Duration::from_millis(100) };
        ClassRules {
            name: name.to_owned(),
            rate,
            concurrency,
            promise: promised.then_some(promise),
            max_wait: None,
            max_queue,
        }
    }
}

prop_compose! {
    fn rules()(
        rate in rate(),
        concurrency in concurrency(),
        max_wait_ms in 0..300_u64,
        max_queue in proptest::option::of(0..10_usize),
        classes in (class("a"), class("b")),
    ) -> Rules {
        Rules {
            rate,
            concurrency,
            max_wait: Duration::from_millis(max_wait_ms),
            max_queue,
            classes: vec![classes.0, classes.1],
        }
    }
}

fn perform(driver: &mut Driver, act: Act) {
    match act {
        Act::Arrive(class) => {
            driver.arrive(class);
        }
        Act::Finish(which) if !driver.permits.is_empty() => {
            let index = *driver
                .permits
                .keys()
                .nth(which % driver.permits.len())
                .unwrap();
            driver.finish(index);
        }
        Act::Abandon(which) if !driver.requests.is_empty() => {
            driver.abandon(which % driver.requests.len());
        }
        Act::Finish(_) | Act::Abandon(_) => {}
        Act::Pass(duration) => driver.go(duration),
        Act::ReadCpu(busy) => driver.admission.read_cpu(busy, driver.now),
    }
    driver.drain();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Permits out are permits in, and everybody who waits is told within the bound.
    #[test]
    fn nobody_and_nothing_is_lost(rules in rules(), acts in prop::collection::vec(act(), 1..150)) {
        let mut driver = Driver::new(&rules);
        for act in acts {
            perform(&mut driver, act);
            let seen = driver.admission.seen();
            prop_assert_eq!(seen.in_flight as usize, driver.permits.len());
            let waiting = driver.requests.iter().filter(|of| matches!(of.fate, Fate::Waits(_)));
            prop_assert_eq!(seen.queued, waiting.count());
            prop_assert!(seen.limit > 0.0 && !seen.limit.is_nan());
        }
        driver.go(rules.max_wait);
        for request in &driver.requests {
            prop_assert!(!matches!(request.fate, Fate::Waits(_)), "{request:?}");
            prop_assert!(request.told.since(request.arrived) <= rules.max_wait, "{request:?}");
        }
        while let Some(index) = driver.permits.keys().next().copied() {
            driver.finish(index);
        }
        let seen = driver.admission.seen();
        prop_assert_eq!((seen.in_flight, seen.queued), (0, 0));
        let counts = seen.counts;
        prop_assert_eq!(counts.arrived, driver.requests.len() as u64);
        prop_assert_eq!(counts.admitted, counts.finished);
        prop_assert_eq!(counts.arrived, counts.admitted + counts.refused_total() + counts.abandoned);
    }

    /// However late the timer is, no second has more than the rate and one.
    #[test]
    fn no_second_has_more_than_the_rate_and_one(
        per_s in 5_u32..100,
        gaps_us in prop::collection::vec(0..30_000_u64, 50..300),
        lateness_us in 0..50_000_u64,
    ) {
        let mut driver = Driver::new(&Rules {
            rate: Some(Rate::per_second(f64::from(per_s)).unwrap()),
            max_wait: Duration::from_secs(1),
            ..Rules::default()
        });
        driver.lateness = Duration::from_micros(lateness_us);
        for gap in gaps_us {
            driver.go(Duration::from_micros(gap));
            driver.arrive(0);
        }
        let admissions = driver.admissions();
        for (index, from) in admissions.iter().enumerate() {
            let to = *from + Duration::from_secs(1);
            let within = admissions[index..].iter().take_while(|at| **at < to).count();
            prop_assert!(within <= per_s as usize + 1, "{within} within a second");
        }
    }
}
