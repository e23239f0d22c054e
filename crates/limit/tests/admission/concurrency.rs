//! The cap on requests in flight, and the queue in front of it.

use std::time::Duration;

use weir_limit::{Adaptive, Concurrency, Goal, Moment, Rules, Why};

use crate::driver::{Driver, MS};

fn fixed(limit: f64) -> Rules {
    Rules {
        concurrency: Some(Concurrency::Fixed(limit)),
        ..Rules::default()
    }
}

#[test]
fn who_waits_goes_on_in_order_when_slots_come_free() {
    let mut driver = Driver::new(&fixed(2.0));
    let requests: Vec<usize> = (0..4).map(|_| driver.arrive(0)).collect();
    assert!(driver.waits(requests[2]) && driver.waits(requests[3]));
    driver.go(Duration::from_millis(10));
    driver.finish(requests[1]);
    assert!(driver.is_admitted(requests[2]) && driver.waits(requests[3]));
    driver.finish(requests[0]);
    assert!(driver.is_admitted(requests[3]));
}

/// Two in flight for 30 ms, then one for 10 ms; one waits for 20 ms until another leaves its slot
/// to it.
#[test]
fn time_spent_adds_up_to_means_over_time() {
    let mut driver = Driver::new(&fixed(2.0));
    let requests: Vec<usize> = (0..2).map(|_| driver.arrive(0)).collect();
    driver.go(Duration::from_millis(5));
    let waits = driver.arrive(0);
    driver.go(Duration::from_millis(20));
    driver.finish(requests[0]);
    assert!(driver.is_admitted(waits));
    driver.go(Duration::from_millis(5));
    driver.finish(requests[1]);
    driver.go(Duration::from_millis(10));
    let spent = driver.admission.spent(driver.now);
    assert_eq!(spent.in_flight, Duration::from_millis(2 * 30 + 10));
    assert_eq!(spent.waiting, Duration::from_millis(20));
}

#[test]
fn whoever_waited_as_long_as_allowed_is_refused() {
    let mut driver = Driver::new(&fixed(1.0));
    driver.arrive(0);
    driver.go(Duration::from_millis(30));
    let waits = driver.arrive(0);
    driver.go(Duration::from_millis(199));
    assert!(driver.waits(waits));
    driver.go(Duration::from_millis(1));
    assert_eq!(driver.refusal(waits).why, Why::WaitTooLong);
    assert_eq!(driver.requests[waits].told, Moment(230 * MS));
}

#[test]
fn no_more_wait_than_may() {
    let mut driver = Driver::new(&Rules {
        max_queue: Some(2),
        ..fixed(1.0)
    });
    let requests: Vec<usize> = (0..4).map(|_| driver.arrive(0)).collect();
    assert_eq!(driver.refusal(requests[3]).why, Why::QueueFull);
    driver.abandon(requests[1]);
    let another = driver.arrive(0);
    assert!(driver.waits(another));
}

/// The mean response time of 100 ms on 2 slots makes a slot every 50 ms; behind three that wait, it
/// is the fourth.
#[test]
fn retry_after_follows_from_the_mean_response_time() {
    let mut driver = Driver::new(&Rules {
        max_queue: Some(3),
        ..fixed(2.0)
    });
    let first = driver.arrive(0);
    driver.go(Duration::from_millis(100));
    driver.finish(first);
    let requests: Vec<usize> = (0..6).map(|_| driver.arrive(0)).collect();
    assert_eq!(
        driver.refusal(requests[5]).retry_after,
        Duration::from_millis(200)
    );
}

/// A slot granted to somebody who has left before the verdict was fetched is the next one's.
#[test]
fn a_slot_that_nobody_fetched_is_given_back() {
    let mut driver = Driver::new(&fixed(1.0));
    let first = driver.arrive(0);
    let requests: Vec<usize> = (0..2).map(|_| driver.arrive(0)).collect();
    let permit = driver.permits.remove(&first).unwrap();
    let outcome = weir_limit::Outcome {
        response_time: Duration::ZERO,
        kind: weir_limit::Kind::Failed,
    };
    driver.admission.finish(permit, outcome, Moment(5));
    assert_eq!(driver.admission.next_wake(), Some(Moment(5)));
    driver.abandon(requests[0]);
    assert!(driver.is_admitted(requests[1]));
    assert_eq!(driver.admission.seen().in_flight, 1);
}

/// Overload for two longest waits: whoever comes last is first from then on, and the oldest go
/// after half of the wait.
#[test]
fn a_standing_queue_takes_the_newest_first() {
    let mut driver = Driver::new(&fixed(1.0));
    let mut last = driver.arrive(0);
    // One finishes every 20 ms and four come: the queue stands.
    for _ in 0..40 {
        for _ in 0..4 {
            driver.arrive(0);
        }
        driver.go(Duration::from_millis(20));
        driver.finish(last);
        last = *driver.permits.keys().next().unwrap();
    }
    assert!(driver.admission.seen().classes[0].newest_first);
    let newest = driver.arrive(0);
    driver.finish(last);
    assert!(driver.is_admitted(newest));
    let seen = driver.admission.seen();
    assert!(seen.counts.refused_for(Why::Expired) > 0, "{seen:?}");
    // And when it is calm, it is the order of arrival again.
    driver.go(Duration::from_secs(1));
    driver.finish(newest);
    assert!(!driver.admission.seen().classes[0].newest_first);
}

/// Where nobody may wait, those who are sent away show that the limit is too low.
#[test]
fn a_limit_is_found_without_a_queue_too() {
    let mut driver = Driver::new(&Rules {
        concurrency: Some(Concurrency::Adaptive(Adaptive {
            start: Some(2.0),
            ..Adaptive::default()
        })),
        max_wait: Duration::ZERO,
        ..Rules::default()
    });
    for step in 0..400 {
        driver.arrive(0);
        driver.go(Duration::from_millis(5));
        // Each takes 50 ms, of which little is CPU.
        driver.finish_after(Duration::from_millis(50));
        if step % 40 == 39 {
            let busy = 0.01 * driver.admission.limit();
            driver.admission.read_cpu(busy, driver.now);
        }
    }
    // Ten of them are in flight if all are admitted.
    let limit = driver.admission.limit();
    assert!(limit >= 10.0, "{limit}");
}

/// Half a slot that was held for 10 ms stays closed for 10 ms.
#[test]
fn half_a_slot_is_there_half_of_the_time() {
    let mut driver = Driver::new(&fixed(0.5));
    let (first, second) = (driver.arrive(0), driver.arrive(0));
    driver.go(Duration::from_millis(10));
    driver.finish(first);
    driver.go(Duration::from_millis(9));
    assert!(driver.waits(second));
    driver.go(Duration::from_millis(2));
    assert!(driver.is_admitted(second));
}

/// A server of which each request takes 50 ms and a part of the CPUs, with more requests than it is
/// let have; so many seconds, with a reading every 200 ms or none. Gives the largest limit.
fn press(driver: &mut Driver, seconds: u64, part: Option<f64>) -> f64 {
    let mut most: f64 = 0.0;
    for step in 1..=seconds * 200 {
        driver.arrive(0);
        driver.go(Duration::from_millis(5));
        driver.finish_after(Duration::from_millis(50));
        if let Some(part) = part
            && step % 40 == 0
        {
            let busy = f64::from(driver.admission.seen().in_flight) * part;
            driver.admission.read_cpu(busy, driver.now);
        }
        most = most.max(driver.admission.limit());
    }
    most
}

/// More slots would bring more throughput, and nobody could say whether the goal is still kept.
#[test]
fn a_goal_whose_reading_is_lost_is_not_grown_past() {
    let mut driver = Driver::new(&Rules {
        concurrency: Some(Concurrency::Adaptive(Adaptive {
            goal: Goal {
                cpu: Some(0.5),
                p99: None,
            },
            start: Some(2.0),
            ..Adaptive::default()
        })),
        ..Rules::default()
    });
    press(&mut driver, 20, Some(1.0 / 12.0));
    let held = driver.admission.limit();
    assert!((4.0..=8.0).contains(&held), "{held}");
    let most = press(&mut driver, 60, None);
    assert!(most <= held, "{most} after {held}");
    // It is read again, and there is twice as much to be used.
    press(&mut driver, 20, Some(1.0 / 24.0));
    let limit = driver.admission.limit();
    assert!(limit > 1.3 * held, "{limit} after {held}");
}
