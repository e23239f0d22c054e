//! Open workloads: what is due starts, whoever is busy. Counts are exact whatever the machine does;
//! times are only ever bounded from below.

use std::time::{Duration, Instant};

use weir_load::{LoadSettings, start};
use weir_plan::{
    ArrivalProcess, ArrivalSchedule, Arrivals, Starts, Template, ThreadGroup, UserLevel, UserRow,
    WhenFull,
};

use crate::server::{Reply, Server, ok, response};
use crate::support::{Done, after_ms, get, group, run, settings, text, wait_until};

fn arrivals(rate: &str, seconds: f64, users_max: u32) -> Arrivals {
    Arrivals {
        schedule: ArrivalSchedule::Profile {
            rate: rate
                .parse::<weir_plan::RateProfile>()
                .unwrap()
                .until(seconds),
            process: ArrivalProcess::Constant,
        },
        users_max: text(users_max),
        arrivals_max: Template::default(),
        iterations_max: Template::default(),
        when_full: WhenFull::Wait,
        new_users: false,
    }
}

fn open(arrivals: Arrivals, steps: Vec<weir_plan::Sampler>) -> ThreadGroup {
    ThreadGroup {
        starts: Starts::Arrivals(Box::new(arrivals)),
        ..group(0, steps)
    }
}

/// Start delays of all samples, in microseconds, by their quantile.
fn start_delay_us(done: &Done, quantile: f64) -> u64 {
    let mut sum = weir_record::response_histogram();
    for second in &done.seconds {
        sum.add(&second.open.as_ref().unwrap().start_delay_us)
            .unwrap();
    }
    sum.value_at_quantile(quantile)
}

fn slow() -> Server {
    Server::start(|_| Reply::Late(Duration::from_millis(50), response("200 OK", "hello")))
}

#[test]
fn the_schedule_is_kept_to_the_request() {
    let server = Server::good();
    let group = open(arrivals("400..800/500ms,600", 1.0, 8), vec![get("/")]);
    let done = run(settings(&server, vec![group]));
    assert_eq!((done.summary.samples, done.summary.failed), (600, 0));
    let counts = done.summary.arrivals.unwrap();
    assert_eq!(
        (counts.started, counts.not_started, counts.skipped),
        (600, 0, 0)
    );
    assert_eq!(server.seen().len(), 600);
    // Every arrival was a wake of its own, and told of its delay.
    assert_eq!(done.summary.lateness_us.len(), 600);
    let told: u64 = done
        .seconds
        .iter()
        .map(|second| second.open.as_ref().unwrap().service_us.len())
        .sum();
    assert_eq!(told, 600);
    assert!(server.connections() <= 8);
}

#[test]
fn a_number_of_arrivals_ends_the_load() {
    let server = Server::good();
    for process in [ArrivalProcess::Constant, ArrivalProcess::Poisson] {
        let mut arrivals = arrivals("2000", f64::INFINITY, 4);
        arrivals.schedule = ArrivalSchedule::Profile {
            rate: "2000".parse().unwrap(),
            process,
        };
        arrivals.arrivals_max = text(137);
        let done = run(settings(&server, vec![open(arrivals, vec![get("/")])]));
        assert_eq!(done.summary.samples, 137);
    }
}

/// 50 arrivals in half a second for two users who take 50 ms each: most of them wait. None is lost:
/// each has started or is counted, and the waiting is in the response time.
#[test]
fn what_finds_nobody_free_waits_and_is_counted() {
    let server = slow();
    let group = open(arrivals("100", 0.5, 2), vec![get("/")]);
    let done = run(settings(&server, vec![group]));
    let counts = done.summary.arrivals.unwrap();
    assert_eq!(counts.started, done.summary.samples);
    assert_eq!(counts.started + counts.not_started, 50);
    assert!(counts.not_started >= 20, "{counts:?}");
    assert_eq!(server.connections(), 2);
    // The third of them has waited for one of the first two.
    assert!(start_delay_us(&done, 1.0) >= 25_000);
    let longest = done
        .seconds
        .iter()
        .map(|second| second.classes[0].response_us.max());
    assert!(longest.max().unwrap() >= 75_000);
}

/// Whoever ends a load and waits for its last samples before he joins it does not make the 400
/// arrivals of that time part of it.
#[test]
fn nothing_is_due_once_the_load_is_told_to_end() {
    let server = Server::start(|_| Reply::Late(Duration::from_secs(2), response("200 OK", "")));
    let group = open(arrivals("200", 60.0, 500), vec![get("/")]);
    let before = Instant::now();
    let load = start(settings(&server, vec![group])).unwrap();
    wait_until("a request", || !server.seen().is_empty());
    load.stop();
    let due = before.elapsed().as_secs_f64() * 200.0;
    wait_until("the last sample's end", || load.is_finished());
    let counts = load.join(Duration::from_secs(10)).arrivals.unwrap();
    // Until a busy machine lets the users know, some more become due.
    let all = counts.started + counts.not_started;
    assert!(all as f64 <= due + 100.0, "{counts:?} of {due}");
}

#[test]
fn the_bzm_group_drops_what_finds_nobody_free() {
    let server = slow();
    let mut arrivals = arrivals("100", 0.5, 2);
    arrivals.when_full = WhenFull::Skip;
    let done = run(settings(&server, vec![open(arrivals, vec![get("/")])]));
    let counts = done.summary.arrivals.unwrap();
    assert_eq!(counts.started, done.summary.samples);
    assert_eq!(counts.started + counts.skipped + counts.not_started, 50);
    assert!(counts.skipped >= 15, "{counts:?}");
}

/// A wait that the plan asks for is no delay of the sample after it.
#[test]
fn think_times_are_not_counted_as_delay() {
    let server = Server::good();
    let group = open(arrivals("20", 0.5, 20), vec![after_ms(300, get("/"))]);
    let done = run(settings(&server, vec![group]));
    assert_eq!(done.summary.samples, 10);
    let service_ms = done.rows.iter().map(|row| row.elapsed_ms).max().unwrap();
    let delay_ms = start_delay_us(&done, 1.0) / 1_000;
    let longest = done
        .seconds
        .iter()
        .map(|second| second.classes[0].response_us.max());
    assert!(longest.max().unwrap() / 1_000 <= service_ms + delay_ms + 2);
}

#[test]
fn each_arrival_can_be_a_new_user() {
    let server = Server::good();
    let mut arrivals = arrivals("200", 0.1, 50);
    arrivals.new_users = true;
    let group = open(arrivals, vec![get("/${__threadNum}"), get("/second")]);
    let done = run(settings(&server, vec![group]));
    assert_eq!(done.summary.users_started, 20);
    assert_eq!(done.summary.users_finished, 20);
    let mut names: Vec<String> = done
        .rows
        .iter()
        .filter(|row| &*row.label != "/second")
        .map(|row| row.thread_name.to_string())
        .collect();
    names.sort_by_key(|name| name.rsplit('-').next().unwrap().parse::<u32>().unwrap());
    let expected: Vec<String> = (1..=20).map(|user| format!("G 1-{user}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_stop_ends_the_arrivals() {
    let server = Server::good();
    let group = open(arrivals("100", 3_600.0, 4), vec![get("/")]);
    let load = weir_load::start(settings(&server, vec![group])).unwrap();
    crate::support::wait_until("some have come", || server.seen().len() >= 5);
    load.stop();
    let summary = load.join(crate::support::PATIENCE);
    assert!(summary.in_time);
    assert_eq!(summary.arrivals.unwrap().started, summary.samples);
}

#[test]
fn rows_of_users_live_as_they_say() {
    let server = Server::good();
    let row = |users: u32, delay_s: u32| UserRow {
        users: text(users),
        delay_s: text(delay_s),
        startup_s: text(0),
        hold_s: text(1),
        shutdown_s: text(0),
    };
    let group = ThreadGroup {
        starts: Starts::Rows(vec![row(2, 0), row(1, 1)]),
        iterations: weir_plan::Iterations::Forever,
        ..group(0, vec![after_ms(20, get("/${__threadNum}"))])
    };
    let settings: LoadSettings = settings(&server, vec![group]);
    let origin = settings.origin;
    let done = run(settings);
    assert_eq!(done.summary.users_finished, 3);
    for seen in server.seen() {
        let at = seen.at - origin;
        if seen.path() == "/3" {
            assert!(at >= Duration::from_secs(1), "{at:?}");
        }
    }
}

#[test]
fn a_level_of_users_is_kept() {
    let server = Server::start(|_| Reply::Late(Duration::from_millis(10), response("200 OK", "")));
    let level = UserLevel {
        users: text(3),
        ramp_up: text(0),
        steps: text(""),
        hold: text(1),
        unit: text("S"),
        iterations_max: text(2),
    };
    let group = ThreadGroup {
        starts: Starts::Level(Box::new(level)),
        ..group(0, vec![get("/")])
    };
    let done = run(settings(&server, vec![group]));
    // Users end after two iterations and are replaced; never are there more than the level.
    assert!(done.summary.users_started > 3, "{:?}", done.summary);
    assert!(done.rows.iter().all(|row| row.group_threads <= 3));
    assert!(done.summary.samples <= 2 * done.summary.users_started);
}

#[test]
fn phases_wait_for_groups_that_start_users_by_themselves() {
    let server = Server::start(|_| ok());
    let mut first = open(arrivals("100", 0.2, 4), vec![get("/first")]);
    first.kind = weir_plan::GroupKind::SetUp;
    let done = run(settings(&server, vec![group(1, vec![get("/then")]), first]));
    assert_eq!(done.summary.samples, 21);
    assert_eq!(server.paths().last().unwrap(), "/then");
}
