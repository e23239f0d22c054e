//! Classes, and rules that change.

use std::time::Duration;

use weir_limit::{ClassRules, Concurrency, Promise, Rate, Rules};

use crate::driver::Driver;

fn light_and_heavy() -> Rules {
    let light = ClassRules {
        name: "light".to_owned(),
        promise: Some(Promise {
            share: 0.99,
            within: Duration::from_millis(500),
        }),
        ..ClassRules::default()
    };
    let heavy = ClassRules {
        name: "heavy".to_owned(),
        concurrency: Some(Concurrency::Fixed(1.0)),
        ..ClassRules::default()
    };
    Rules {
        concurrency: Some(Concurrency::Fixed(2.0)),
        classes: vec![light, heavy],
        ..Rules::default()
    }
}

#[test]
fn the_class_with_a_promise_goes_first() {
    let mut driver = Driver::new(&light_and_heavy());
    let (first, second) = (driver.arrive(0), driver.arrive(0));
    let heavy = driver.arrive(1);
    let light = driver.arrive(0);
    driver.finish(first);
    assert!(driver.is_admitted(light) && driver.waits(heavy));
    driver.finish(second);
    assert!(driver.is_admitted(heavy));
}

#[test]
fn a_class_that_is_full_holds_nobody_else_back() {
    let mut driver = Driver::new(&light_and_heavy());
    let (_, heavy) = (driver.arrive(1), driver.arrive(1));
    let light = driver.arrive(0);
    assert!(driver.waits(heavy) && driver.is_admitted(light));
}

/// Both in flight for 10 ms, then a second heavy one waits for 20 ms.
#[test]
fn time_spent_is_told_of_each_class() {
    let mut driver = Driver::new(&light_and_heavy());
    let (light, heavy) = (driver.arrive(0), driver.arrive(1));
    driver.go(Duration::from_millis(10));
    driver.finish(light);
    let second = driver.arrive(1);
    driver.go(Duration::from_millis(20));
    driver.finish(heavy);
    assert!(driver.is_admitted(second));
    driver.go(Duration::from_millis(5));
    let spent = driver.admission.spent_by_class(driver.now);
    let spent: Vec<_> = spent
        .iter()
        .map(|class| (class.in_flight.as_millis(), class.waiting.as_millis()))
        .collect();
    assert_eq!(spent, [(10, 0), (10 + 20 + 5, 20)]);
}

#[test]
fn each_class_has_its_own_rate() {
    let mut rules = light_and_heavy();
    rules.classes[0].rate = Some(Rate::per_second(1.0).unwrap());
    let mut driver = Driver::new(&rules);
    let (first, second) = (driver.arrive(0), driver.arrive(0));
    assert!(driver.is_admitted(first));
    assert_eq!(driver.refusal(second).retry_after, Duration::from_secs(1));
    let heavy = driver.arrive(1);
    assert!(driver.is_admitted(heavy));
}

/// On other rules, what is in flight stays in its class by name, and who waits goes on waiting.
#[test]
fn rules_change_under_way() {
    let mut rules = light_and_heavy();
    let mut driver = Driver::new(&rules);
    let (flies, waits) = (driver.arrive(1), driver.arrive(1));
    rules.classes.swap(0, 1);
    driver.admission.set_rules(&rules, driver.now);
    let seen = driver.admission.seen();
    assert_eq!((seen.classes[0].in_flight, seen.classes[0].queued), (1, 1));
    rules.classes[0].concurrency = Some(Concurrency::Fixed(2.0));
    driver.admission.set_rules(&rules, driver.now);
    driver.drain();
    assert!(driver.is_admitted(waits));
    rules.classes.clear();
    driver.admission.set_rules(&rules, driver.now);
    driver.finish(flies);
    driver.finish(waits);
    let seen = driver.admission.seen();
    assert_eq!((seen.in_flight, seen.counts.finished), (0, 2));
}
