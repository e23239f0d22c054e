//! Timers by which users keep a schedule or wait for each other; times are only bounded from below.

use std::time::{Duration, Instant};

use weir_plan::{
    AutoStop, AutoStopLimit, ElementId, LoadPlan, PreciseThroughput, Sampler, ShapingRow,
    ThroughputShare, Timer, TimerKind,
};
use weir_script::{Origin, Properties, resolve};

use crate::server::{Reply, Server, response};
use crate::support::{get, group, run, settings, text, times};

fn with(kind: TimerKind, mut step: Sampler) -> Sampler {
    step.timers.push(Timer {
        id: ElementId(7),
        kind,
    });
    step
}

fn arrivals(server: &Server, origin: Instant) -> Vec<Duration> {
    let mut all: Vec<Duration> = server.seen().iter().map(|seen| seen.at - origin).collect();
    all.sort();
    all
}

/// 1,200 a minute are 50 ms apart, whoever shares them; a user's first sample does not wait, and on
/// a shared schedule the others may go as much early as the one before took.
#[test]
fn a_constant_throughput_is_not_exceeded() {
    for (shared, spacing_ms) in [
        (ThroughputShare::ThisUser, 0),
        (ThroughputShare::AllShared, 50),
        (ThroughputShare::GroupShared, 50),
    ] {
        let server = Server::good();
        let timer = TimerKind::ConstantThroughput {
            per_minute: text(1_200),
            shared,
        };
        let mut users = group(2, vec![with(timer, get("/"))]);
        users.iterations = times(3);
        let settings = settings(&server, vec![users]);
        let origin = settings.origin;
        let done = run(settings);
        assert_eq!(done.summary.samples, 6);
        let at = arrivals(&server, origin);
        // Each user alone has 100 ms for its three; together on one schedule the last has place 5,
        // and its own user has reached place 3 at least before that.
        let least = if spacing_ms == 0 { 100 } else { 2 * spacing_ms };
        assert!(at[5] >= Duration::from_millis(least), "{shared:?}: {at:?}");
    }
}

#[test]
fn a_precise_throughput_ends_in_its_time() {
    let server = Server::good();
    let timer = TimerKind::PreciseThroughput(Box::new(PreciseThroughput {
        throughput: text(10),
        period_s: text(1),
        duration_s: text(1),
        batch: text(1),
        batch_delay_ms: text(0),
        seed: text(42),
    }));
    let mut users = group(4, vec![with(timer, get("/"))]);
    users.iterations = times(5);
    let settings = settings(&server, vec![users]);
    let origin = settings.origin;
    let done = run(settings);
    assert_eq!(done.summary.samples, 20);
    let at = arrivals(&server, origin);
    // Ten belong to the first second: the eleventh comes after it.
    assert!(at[10] >= Duration::from_secs(1), "{at:?}");
}

#[test]
fn users_go_together() {
    let server = Server::good();
    let timer = TimerKind::Synchronizing {
        users: text(3),
        timeout_ms: text(0),
    };
    let mut users = group(6, vec![get("/first"), with(timer, get("/together"))]);
    users.ramp_up_s = text(1);
    let done = run(settings(&server, vec![users]));
    assert_eq!(done.summary.samples, 12);
    let seen = server.seen();
    let firsts: Vec<Instant> = seen
        .iter()
        .filter(|seen| seen.path() == "/first")
        .map(|seen| seen.at)
        .collect();
    let together: Vec<Instant> = seen
        .iter()
        .filter(|seen| seen.path() == "/together")
        .map(|seen| seen.at)
        .collect();
    // Nobody has passed before three have come.
    assert!(together[0] >= firsts[2] && together[3] >= firsts[5]);
}

#[test]
fn who_waits_too_long_goes_on() {
    let server = Server::good();
    let timer = TimerKind::Synchronizing {
        users: text(3),
        timeout_ms: text(60),
    };
    let settings = settings(&server, vec![group(2, vec![with(timer, get("/"))])]);
    let origin = settings.origin;
    let done = run(settings);
    assert_eq!(done.summary.samples, 2);
    assert!(arrivals(&server, origin)[0] >= Duration::from_millis(60));
}

/// The profile has 2 s with 5 samples each; its end is the end of the users.
#[test]
fn a_shape_ends_the_users() {
    let server = Server::good();
    let timer = TimerKind::Shaping {
        name: text("shape"),
        rows: vec![ShapingRow {
            from_per_s: text(5),
            to_per_s: text(5),
            seconds: text(1),
        }],
    };
    let mut users = group(3, vec![with(timer, get("/"))]);
    users.iterations = weir_plan::Iterations::Forever;
    let done = run(settings(&server, vec![users]));
    assert_eq!(done.summary.users_finished, 3);
    // The second in which it starts and the next; less when the machine stands still.
    assert!(
        (1..=10).contains(&done.summary.samples),
        "{:?}",
        done.summary
    );
}

#[test]
fn too_many_failures_stop_the_test() {
    let server =
        Server::start(|_| Reply::Late(Duration::from_millis(20), response("500 Oops", "hello")));
    let mut step = get("/");
    step.auto_stops.push(0);
    let mut users = group(2, vec![step]);
    users.iterations = weir_plan::Iterations::Forever;
    let none = || AutoStopLimit {
        above: text(""),
        seconds: text(""),
    };
    let plan = LoadPlan {
        name: "plan".to_owned(),
        groups: vec![users],
        auto_stops: vec![AutoStop {
            name: text("stop"),
            response_time_ms: none(),
            latency_ms: none(),
            errors_percent: AutoStopLimit {
                above: text("45.9"),
                // Counted from whole seconds: of one there may be hardly anything left.
                seconds: text(2),
            },
        }],
        ..LoadPlan::default()
    };
    let mut settings = settings(&server, vec![group(1, vec![get("/")])]);
    settings.plan = resolve(&plan, &Properties::new(), Origin::default()).unwrap();
    // It ends by itself, or the test would.
    let done = run(settings);
    assert!(done.summary.failed > 10);
}
