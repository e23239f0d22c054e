//! `__tstFeedback` of the Throughput Shaping Timer (jp@gc): how many users a group needs to keep up
//! with the timer's schedule.
//!
//! The timer says in properties how many users wait for it, how many samples it has let go in the
//! second before, and how many there should have been. Waiting users beyond the spare ones are too
//! many; with nobody waiting and too few samples there are too few users. Read from the plugin's
//! source (`TSTFeedback`).

use super::{Answer, Call, Function};
use crate::Scope;

pub(super) const FUNCTIONS: &[Function] = &[Function::new(
    "__tstFeedback",
    (2, 4),
    Answer::Changes,
    feedback,
)];

/// What the timer says of the second before.
#[derive(Debug, Clone, Copy)]
struct Second {
    /// Users that wait.
    waiting: i64,
    /// Samples let go.
    sent: i64,
    /// Samples that there should have been.
    per_s: f64,
}

fn feedback(call: &Call, scope: &mut Scope, out: &mut String) {
    let timer = call.argument(0, scope).into_owned();
    let level = format!("{timer}_concurrency");
    let known = scope.live().property(&level);
    let users = match known.as_deref().and_then(|text| text.parse().ok()) {
        Some(users) => users,
        None => call.argument(1, scope).trim().parse().unwrap_or(1),
    };
    let most = call.argument(2, scope).trim().parse().unwrap_or(i64::MAX);
    let spare = if call.has(3) {
        call.argument(3, scope).trim().parse().unwrap_or(1.0)
    } else {
        0.1
    };
    let read = |name: &str| scope.live().property(&format!("{timer}_{name}"));
    let number = |name: &str| read(name).and_then(|text| text.parse().ok()).unwrap_or(0);
    let second = Second {
        waiting: number("cntDelayed"),
        sent: number("cntSent"),
        per_s: read("rps")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0.0),
    };
    let needed = needed(users, most, spare, second);
    scope.live().set_property(&level, &needed.to_string());
    // Each second is answered once.
    scope.live().set_property(&format!("{timer}_rps"), "0");
    super::push(out, needed);
}

fn needed(users: i64, most: i64, spare: f64, second: Second) -> i64 {
    let waiting = second.waiting as f64;
    if second.per_s <= 0.0 {
        users
    } else if second.waiting > 0 {
        if spare >= 1.0 && waiting > spare {
            users - (waiting - spare) as i64
        } else if spare < 1.0 && waiting > (users as f64 * spare).ceil() {
            (users as f64 * (1.0 - spare)) as i64
        } else {
            users
        }
    } else if (second.sent as f64) < second.per_s {
        let wanted = users as f64 * (2.0 - second.sent as f64 / second.per_s);
        (wanted.ceil() as i64).min(most)
    } else {
        users
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand from the plugin's formula.
    #[test]
    fn users_follow_the_schedule() {
        let second = |waiting, sent, per_s| Second {
            waiting,
            sent,
            per_s,
        };
        for (users, spare, second, expected) in [
            (10, 10.0, second(0, 50, 100.0), 15),
            (80, 10.0, second(0, 50, 100.0), 100),
            (10, 10.0, second(0, 100, 100.0), 10),
            (30, 10.0, second(25, 100, 100.0), 15),
            (30, 10.0, second(8, 100, 100.0), 30),
            (30, 0.1, second(4, 100, 100.0), 27),
            (30, 0.1, second(3, 100, 100.0), 30),
            (10, 10.0, second(0, 0, 0.0), 10),
        ] {
            let found = needed(users, 100, spare, second);
            assert_eq!(found, expected, "{users} users, spare {spare}, {second:?}");
        }
    }
}
