//! What is learnt of routes, and what is not.
#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use http::Request;
use proptest::prelude::*;
use weir_limit::Kind;

use super::route::{KNOWN_AFTER, WINDOW};
use super::*;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// One class, the second, for what costs 50 ms.
fn routes() -> Routes {
    let rule = CostRule {
        class: 1,
        at_least: ms(50),
    };
    Routes::of_rules([rule].into())
}

fn learn(route: &Route, count: usize, held: Duration) {
    for _ in 0..count {
        route.learn(held, Kind::Completed);
    }
}

fn parts(method: &str, path: &str) -> Parts {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .body(())
        .unwrap();
    request.into_parts().0
}

#[test]
fn a_route_is_what_differs_in_no_number() {
    let routes = routes();
    let orders = routes.of(&parts("GET", "/orders/17?x=1"));
    for path in [
        "/orders/18",
        "/orders/2147483647?y",
        "//orders/./9",
        "/%6frders/1",
    ] {
        assert!(
            Arc::ptr_eq(&orders, &routes.of(&parts("GET", path))),
            "{path}"
        );
    }
    for (method, path) in [
        ("POST", "/orders/17"),
        ("GET", "/orders"),
        ("GET", "/orders/17/x"),
    ] {
        assert!(
            !Arc::ptr_eq(&orders, &routes.of(&parts(method, path))),
            "{method} {path}"
        );
    }
    assert_eq!(routes.count(), 4);
}

#[test]
fn a_cost_is_known_after_a_few_and_leaves_late() {
    let routes = routes();
    let route = routes.named("GET /x", Instant::now());
    learn(&route, KNOWN_AFTER - 1, ms(80));
    assert!(!route.is_of(1), "its cost is not known yet");
    learn(&route, 1, ms(80));
    assert!(route.is_of(1) && !route.is_of(0));
    learn(&route, WINDOW, ms(40));
    assert_eq!(route.cost(), Some(ms(40)));
    assert!(route.is_of(1), "40 ms is above two thirds of 50 ms");
    // Half of the last ones are not the median yet.
    learn(&route, WINDOW / 2, ms(30));
    assert!(route.is_of(1));
    learn(&route, WINDOW, ms(30));
    assert!(!route.is_of(1));
    learn(&route, WINDOW, ms(40));
    assert!(
        !route.is_of(1),
        "and below the threshold it does not come back"
    );
    learn(&route, WINDOW, ms(50));
    assert!(route.is_of(1));
}

#[test]
fn a_few_slow_ones_make_no_heavy_route() {
    let routes = routes();
    let route = routes.named("GET /x", Instant::now());
    for n in 0..10 * WINDOW {
        let held = if n % 3 == 0 { ms(900) } else { ms(5) };
        route.learn(held, Kind::Completed);
        assert!(!route.is_of(1), "{n}");
    }
}

/// A route that clients give up waiting for is known by how long they have waited; what fails says
/// nothing.
#[test]
fn those_that_leave_count_when_they_have_waited_for_longer() {
    let routes = routes();
    let slow = routes.named("GET /slow", Instant::now());
    for _ in 0..KNOWN_AFTER {
        slow.learn(ms(2000), Kind::Abandoned);
    }
    assert!(slow.is_of(1));
    let quick = routes.named("GET /quick", Instant::now());
    learn(&quick, WINDOW, ms(60));
    for _ in 0..WINDOW {
        quick.learn(ms(1), Kind::Abandoned);
        quick.learn(ms(1), Kind::Failed);
    }
    assert_eq!(quick.cost(), Some(ms(60)));
}

/// A flood of paths that nobody has asked for before: the table does not grow, and what was learnt
/// stays.
#[test]
fn made_up_paths_neither_fill_the_memory_nor_push_routes_out() {
    let routes = routes();
    let start = Instant::now();
    let real: Vec<String> = (b'a'..=b'z')
        .map(|letter| format!("GET /{}", char::from(letter)))
        .collect();
    for name in &real {
        learn(&routes.named(name, start), KNOWN_AFTER, ms(80));
    }
    // Letters only: nothing in them is folded.
    let word = |n: u32| -> String {
        let digits = format!("{n:08o}");
        digits
            .bytes()
            .map(|digit| char::from(digit - b'0' + b'a'))
            .collect()
    };
    for n in 0..30_000 {
        let now = start + Duration::from_micros(100) * n;
        let route = routes.of_at(&parts("GET", &format!("/{}", word(n))), now);
        route.learn(ms(70), Kind::Completed);
    }
    assert_eq!(routes.count(), ROUTES_MAX);
    assert_eq!(routes.lock().order.len(), ROUTES_MAX);
    let after = start + Duration::from_secs(10);
    for name in &real {
        assert!(routes.named(name, after).is_of(1), "{name}");
    }
    // What found no room is as heavy as all of it together is.
    assert!(routes.rest.is_of(1));
    assert_eq!(routes.costliest(3).len(), 3);
    // When the flood is over there is room again.
    let later = after + Duration::from_secs(2);
    let new = routes.named("GET /new", later);
    assert!(!Arc::ptr_eq(&new, &routes.rest));
}

#[test]
fn a_change_of_the_file_keeps_what_was_learnt_for_the_same_classes() {
    let file = |cost: &str| {
        let text = format!(
            "listen = \"127.0.0.1:0\"\nbackends = [\"http://127.0.0.1:1\"]\n[[class]]\nname = \"heavy\"\nmatch = {{ {cost} }}\n"
        );
        Settings::parse(&text).unwrap()
    };
    let first = Routes::new(&file("cost = \">= 50 ms\""), None).unwrap();
    let same = Routes::new(&file("cost = \">= 50ms\""), Some(&first)).unwrap();
    assert!(Arc::ptr_eq(&first, &same));
    let other = Routes::new(&file("cost = \">= 60 ms\""), Some(&first)).unwrap();
    assert!(!Arc::ptr_eq(&first, &other));
    assert!(Routes::new(&file("path = \"/x\""), Some(&first)).is_none());
}

proptest! {
    #[test]
    fn any_path_has_a_route(path in "/[!-~]{0,300}") {
        let routes = routes();
        if let Ok(request) = Request::builder().uri(&path).body(()) {
            let parts = request.into_parts().0;
            prop_assert!(name(&parts).len() <= NAME_MAX);
            let route = routes.of(&parts);
            prop_assert!(Arc::ptr_eq(&route, &routes.of(&parts)));
        }
    }
}
