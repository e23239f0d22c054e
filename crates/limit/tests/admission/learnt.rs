//! A limit that moves in small steps within bounds, and what it learns.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_limit::{Adaptive, Concurrency, Goal, Rules};

use crate::driver::Driver;

/// A server of which each request takes 50 ms and a twelfth of the CPUs; half of them is the goal:
/// six at a time.
fn adaptive(min: f64, start: f64) -> Adaptive {
    Adaptive {
        goal: Goal {
            cpu: Some(0.5),
            p99: None,
        },
        min: Some(min),
        max: Some(40.0),
        start: Some(start),
        step: Some(0.05),
    }
}

fn rules(min: f64, start: f64) -> Rules {
    Rules {
        concurrency: Some(Concurrency::Adaptive(adaptive(min, start))),
        ..Rules::default()
    }
}

/// More requests than it lets in, for so many seconds, with a reading five times a second; the
/// limit after each.
fn press(driver: &mut Driver, seconds: u32) -> Vec<f64> {
    let mut limits = Vec::new();
    for step in 1..=seconds * 200 {
        driver.arrive(0);
        driver.go(Duration::from_millis(5));
        driver.finish_after(Duration::from_millis(50));
        if step % 40 == 0 {
            let busy = f64::from(driver.admission.seen().in_flight) / 12.0;
            driver.admission.read_cpu(busy, driver.now);
            limits.push(driver.admission.limit());
        }
    }
    limits
}

#[test]
fn it_moves_in_small_steps_and_learns_where_the_goal_is() {
    for start in [2.0, 20.0] {
        let mut driver = Driver::new(&rules(2.0, start));
        assert_eq!(driver.admission.learnt(), None, "nobody has waited yet");
        let mut before = start;
        for limit in press(&mut driver, 180) {
            let change = limit / before - 1.0;
            assert!(change.abs() <= 0.05 + 1e-9, "{before} to {limit}");
            assert!((2.0..=40.0).contains(&limit), "{limit}");
            before = limit;
        }
        let learnt = driver.admission.learnt().unwrap();
        assert!((5.0..=7.0).contains(&learnt.limit), "{start}: {learnt:?}");
        assert!(learnt.is_settled() && !learnt.is_at_max, "{learnt:?}");
        assert!((learnt.busy.unwrap() - 0.5).abs() < 0.1, "{learnt:?}");
    }
}

/// Nobody reads a CPU, and more than eight at a time wait for each other in the server. Steps are
/// too small to be judged one by one, and yet the limit gets there.
#[test]
fn rises_in_small_steps_are_judged_as_a_whole() {
    let rules = Rules {
        concurrency: Some(Concurrency::Adaptive(Adaptive {
            goal: Goal::default(),
            ..adaptive(2.0, 2.0)
        })),
        ..Rules::default()
    };
    let mut driver = Driver::new(&rules);
    let mut done_ms = BTreeMap::new();
    let mut before = 2.0_f64;
    for _ in 0..240 * 200 {
        driver.arrive(0);
        driver.go(Duration::from_millis(5));
        let served: Vec<usize> = driver.permits.keys().copied().take(8).collect();
        for index in served {
            let done = done_ms.entry(index).or_insert(0);
            *done += 5;
            if *done >= 50 {
                driver.finish(index);
            }
        }
        let limit = driver.admission.limit();
        assert!((limit / before - 1.0).abs() <= 0.05 + 1e-9);
        before = limit;
    }
    let learnt = driver.admission.learnt().unwrap();
    assert!((7.0..=11.0).contains(&learnt.limit), "{learnt:?}");
}

/// The goal would be kept with six; whoever operates it wants no fewer than eight.
#[test]
fn it_never_goes_below_the_least() {
    let mut driver = Driver::new(&rules(8.0, 20.0));
    let limits = press(&mut driver, 60);
    assert!(limits.iter().all(|limit| *limit >= 8.0));
    assert!(driver.admission.learnt().unwrap().limit < 9.0);
}

/// What comes is less than the limit: it is never lowered to see what happens, and nothing is
/// learnt.
#[test]
fn good_traffic_is_not_cut() {
    let mut driver = Driver::new(&rules(2.0, 20.0));
    for _ in 0..600 {
        let request = driver.arrive(0);
        assert!(driver.is_admitted(request));
        driver.go(Duration::from_millis(50));
        driver.finish(request);
        driver.admission.read_cpu(0.1, driver.now);
    }
    assert!(driver.admission.limit() >= 20.0);
    assert_eq!(driver.admission.learnt(), None);
}
