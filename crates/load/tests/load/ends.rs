//! How a load ends, and why one does not start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_load::{Length, LoadError, SampleSink, start};
use weir_plan::Iterations;
use weir_units::CpuSet;

use crate::server::{Reply, Server, ok};
use crate::support::{
    PATIENCE, after_ms, finish, get, group, request_of, run, schedule, settings, start_error, text,
    times, wait_until,
};

#[test]
fn until_stopped_goes_on_after_loops_and_durations() {
    let server = Server::good();
    let mut once = group(1, vec![after_ms(1, get("/once"))]);
    once.schedule = Some(schedule(3_000, 1));
    let mut settings = settings(&server, vec![once]);
    settings.length = Length::UntilStopped;
    let load = start(settings).unwrap();
    assert_eq!(load.planned_end(), None);
    wait_until("the user goes round", || server.seen().len() > 20);
    assert!(!load.is_finished());
    load.stop();
    let done = finish(load, None);
    assert_eq!(done.summary.samples as usize, server.seen().len());
    assert_eq!((done.summary.failed, done.summary.cut), (0, 0));
    assert!(done.summary.in_time);
}

#[test]
fn stopping_wakes_sleepers_and_lets_samples_finish() {
    let released = Arc::new(AtomicBool::new(false));
    let server = Server::start({
        let released = Arc::clone(&released);
        move |_| {
            wait_until("the test goes on", || released.load(Ordering::SeqCst));
            ok()
        }
    });
    let sleeping = group(20, vec![after_ms(3_600_000, get("/never"))]);
    let mut later = group(20, vec![get("/never")]);
    later.ramp_up_s = text(3_600);
    later.schedule = Some(schedule(3_600, 3_600));
    let busy = group(2, vec![get("/busy"), get("/never")]);
    let load = start(settings(&server, vec![sleeping, later, busy])).unwrap();
    wait_until("both are busy", || server.seen().len() == 2);
    load.stop();
    // The sleepers leave, the busy stay.
    while load.seconds().recv_timeout(PATIENCE).unwrap().users != 2 {}
    assert!(!load.is_finished());
    released.store(true, Ordering::SeqCst);
    let done = finish(load, None);
    assert_eq!((done.summary.samples, done.summary.failed), (2, 0));
    assert_eq!(
        (done.summary.users_started, done.summary.users_finished),
        (22, 22)
    );
    assert_eq!(done.seconds.last().unwrap().users, 0);
}

#[test]
fn aborting_cuts_samples_off() {
    let server = Server::start(|_| Reply::Hang);
    let load = start(settings(&server, vec![group(3, vec![get("/")])])).unwrap();
    wait_until("all hang", || server.seen().len() == 3);
    load.abort();
    let done = finish(load, None);
    assert_eq!((done.summary.samples, done.summary.cut), (0, 3));
    assert_eq!(
        (done.summary.users_started, done.summary.users_finished),
        (3, 0)
    );
    let last = done.seconds.last().unwrap();
    assert_eq!(
        (last.users, last.in_flight, last.sockets),
        (0, Some(0), Some(0))
    );
}

#[test]
fn joining_has_a_bound() {
    let server = Server::start(|_| Reply::Hang);
    let load = start(settings(&server, vec![group(2, vec![get("/")])])).unwrap();
    wait_until("both hang", || server.seen().len() == 2);
    load.stop();
    let summary = load.join(Duration::from_millis(50));
    assert!(!summary.in_time);
    assert_eq!(summary.cut, 2);
}

#[test]
fn a_load_that_is_dropped_ends() {
    let server = Server::start(|_| ok());
    let mut users = group(1, vec![after_ms(1, get("/"))]);
    users.iterations = Iterations::Forever;
    let load = start(settings(&server, vec![users])).unwrap();
    wait_until("it runs", || !server.seen().is_empty());
    drop(load);
    // Two looks at the same count, some way apart, are enough: the user waits one millisecond.
    wait_until("nothing more comes", || {
        let before = server.seen().len();
        std::thread::sleep(Duration::from_millis(200));
        server.seen().len() == before
    });
}

#[test]
fn a_full_disk_ends_the_load_and_is_told() {
    let server = Server::good();
    let mut users = group(2, vec![after_ms(1, get("/"))]);
    users.iterations = Iterations::Forever;
    let mut settings = settings(&server, vec![users]);
    settings.samples = Some(SampleSink::new("/dev/full"));
    let done = finish(start(settings).unwrap(), None);
    let problem = done.summary.problem.unwrap();
    assert!(
        problem.contains("/dev/full") && problem.contains("No space"),
        "{problem}"
    );
    assert_eq!(
        (done.summary.rows, done.summary.users_finished),
        (0, done.summary.users_started)
    );
}

#[test]
fn planned_ends_are_known() {
    let server = Server::good();
    let mut first = group(1, vec![get("/")]);
    first.schedule = Some(schedule(2, 3));
    first.iterations = times(1);
    let mut second = group(1, vec![get("/")]);
    second.schedule = Some(schedule(0, 4));
    let load = start(settings(&server, vec![first, second])).unwrap();
    let end = load.planned_end().unwrap();
    assert!(end >= Duration::from_secs(5) && end < Duration::from_secs(5) + PATIENCE);
    load.abort();
    load.join(PATIENCE);
}

#[test]
fn a_host_that_changes_needs_a_target() {
    let server = Server::good();
    let mut step = get("/");
    request_of(&mut step).host = text("host-${__Random(1,9)}");
    let mut settings = settings(&server, vec![group(1, vec![step])]);
    settings.target = None;
    assert!(matches!(start_error(settings), LoadError::Hosts(_)));
}

#[test]
fn a_plan_that_does_nothing_is_refused() {
    let server = Server::good();
    let error = start_error(settings(&server, vec![group(3, Vec::new())]));
    assert!(matches!(error, LoadError::NoUsers), "{error}");
}

#[test]
fn cpus_must_exist() {
    let server = Server::good();
    let mut elsewhere = settings(&server, vec![group(1, vec![get("/")])]);
    elsewhere.cpus = CpuSet::new([1_023]);
    let error = start_error(elsewhere);
    assert!(error.to_string().starts_with("run on CPU 1023"), "{error}");
    assert!(server.seen().is_empty());

    let mut here = settings(&server, vec![group(1, vec![get("/")])]);
    here.cpus = CpuSet::new([0]);
    assert_eq!(run(here).summary.samples, 1);
}
