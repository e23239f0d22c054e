//! The cap on the rate.

use std::time::Duration;

use weir_limit::{Moment, Rate, Rules, Why};

use crate::driver::{Driver, Fate, MS};
use crate::random::Random;

const SECOND: u64 = 1000 * MS;

fn fifty_per_s() -> Rules {
    Rules {
        rate: Some(Rate::per_second(50.0).unwrap()),
        ..Rules::default()
    }
}

/// 120 requests per second for 20 s against 50, as in the measurement of nginx, `HAProxy` and
/// `mod_qos`.
fn overloaded(lateness: Duration, seed: u64) -> Driver {
    let mut driver = Driver::new(&fifty_per_s());
    driver.lateness = lateness;
    let mut random = Random(seed);
    let mut at = Moment(0);
    while at < Moment(20 * SECOND) {
        at = at + Duration::from_nanos(random.exponential_ns(SECOND / 120));
        driver.go_to(at);
        driver.arrive(0);
    }
    driver
}

/// Seconds in which the requests admitted are not 50, and the most within any second, from the
/// first to the last full second.
fn exactness(driver: &Driver) -> (usize, usize) {
    let admissions = driver.admissions();
    let seconds = (1..19).filter(|second| {
        let within = SECOND * second..SECOND * (second + 1);
        admissions
            .iter()
            .filter(|at| within.contains(&at.0))
            .count()
            != 50
    });
    let sliding = admissions.iter().enumerate().map(|(index, from)| {
        let rest = &admissions[index..];
        rest.iter().take_while(|at| at.0 < from.0 + SECOND).count()
    });
    (seconds.count(), sliding.max().unwrap())
}

#[test]
fn with_a_backlog_every_second_has_exactly_its_share() {
    for seed in 1..=3 {
        let driver = overloaded(Duration::ZERO, seed);
        let (wrong, most) = exactness(&driver);
        assert_eq!(wrong, 0, "seed {seed}");
        assert!(most <= 51, "seed {seed}: {most} within a second");
    }
}

/// A timer that is 3 ms late moves the requests, and loses none.
#[test]
fn a_late_timer_costs_no_slot() {
    let driver = overloaded(Duration::from_millis(3), 4);
    let (_, most) = exactness(&driver);
    let admitted = driver.admissions().len();
    assert!(
        (998..=1001).contains(&admitted),
        "{admitted} admitted in 20 s"
    );
    assert!(most <= 51, "{most} within a second");
}

#[test]
fn nobody_waits_longer_than_allowed_and_refusals_come_at_once() {
    let driver = overloaded(Duration::from_millis(1), 5);
    let mut waited = Duration::ZERO;
    for request in &driver.requests {
        let wait = request.told.since(request.arrived);
        match request.fate {
            Fate::Refused(refusal) => {
                assert_eq!(refusal.why, Why::Rate);
                assert_eq!(wait, Duration::ZERO, "a refusal is said at once");
                assert!(
                    refusal.retry_after > Duration::from_millis(180),
                    "{refusal:?}"
                );
            }
            _ => waited = waited.max(wait),
        }
    }
    assert!(
        waited > Duration::from_millis(150),
        "there was a backlog: {waited:?}"
    );
    assert!(waited <= Duration::from_millis(200), "{waited:?}");
}

/// The refusal says when: whoever comes then is admitted at once if nobody else has come, and a
/// nanosecond before is not.
#[test]
fn retry_after_is_when_it_would_be_admitted() {
    for (early, admitted) in [(0, true), (1, false)] {
        let mut driver = Driver::new(&fifty_per_s());
        for _ in 0..10 {
            driver.arrive(0);
        }
        let refused = driver.arrive(0);
        let refusal = driver.refusal(refused);
        assert_eq!(refusal.retry_after, Duration::from_millis(200));
        driver.go(refusal
            .retry_after
            .saturating_sub(Duration::from_nanos(early)));
        let again = driver.arrive(0);
        assert_eq!(driver.is_admitted(again), admitted, "{early} ns early");
    }
}

/// After a pause the next is admitted at once, and only one: what was not used is not saved up.
#[test]
fn idle_quota_expires() {
    let mut driver = Driver::new(&fifty_per_s());
    driver.arrive(0);
    driver.go(Duration::from_secs(10));
    let first = driver.arrive(0);
    let second = driver.arrive(0);
    assert!(driver.is_admitted(first));
    assert!(driver.waits(second));
    driver.go(Duration::from_millis(20));
    assert!(driver.is_admitted(second));
}

#[test]
fn without_waiting_one_that_is_early_is_refused_with_the_time_to_its_slot() {
    let mut driver = Driver::new(&Rules {
        max_wait: Duration::ZERO,
        ..fifty_per_s()
    });
    driver.arrive(0);
    driver.go(Duration::from_millis(5));
    let refused = driver.arrive(0);
    let refusal = driver.refusal(refused);
    assert_eq!(
        (refusal.why, refusal.retry_after),
        (Why::Rate, Duration::from_millis(15))
    );
}

#[test]
fn rates_that_cannot_be_held_are_errors() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
        let error = Rate::per_second(rate).unwrap_err().to_string();
        assert!(error.contains(&rate.to_string()), "{error}");
    }
}
