//! How a load ends, and why one does not start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use weir_load::{Length, LoadError, SampleSink, start};
use weir_metric::CpuSet;
use weir_plan::{FlowAction, FlowControl, GroupKind, Iterations, Sampler, SamplerKind};

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

/// What JMeter does when a plan stops its test now: samples of other users are cut off, those of
/// tear-down groups follow.
#[test]
fn a_stop_now_cuts_samples_off_and_tears_down() {
    let hanging = Arc::new(AtomicU32::new(0));
    let server = Server::start(move |seen| match seen.path() {
        "/hang" => {
            hanging.fetch_add(1, Ordering::SeqCst);
            Reply::Hang
        }
        "/wait" => {
            wait_until("all hang", || hanging.load(Ordering::SeqCst) == 4);
            ok()
        }
        _ => ok(),
    });
    let stop_now = Sampler {
        kind: SamplerKind::FlowControl(FlowControl {
            action: FlowAction::StopNow,
            whole_test: true,
            pause_ms: text(0),
        }),
        ..get("/")
    };
    let mut stopper = group(1, vec![get("/wait"), stop_now, get("/never")]);
    stopper.iterations = Iterations::Forever;
    let busy = group(4, vec![get("/hang"), get("/never")]);
    let mut down = group(1, vec![get("/down"), after_ms(20, get("/down"))]);
    down.kind = GroupKind::TearDown;
    let done = run(settings(&server, vec![stopper, busy, down]));
    let summary = &done.summary;
    assert_eq!((summary.samples, summary.cut), (3, 4));
    assert_eq!((summary.users_started, summary.users_finished), (6, 2));
    let last = done.seconds.last().unwrap();
    assert_eq!(
        (last.users, last.in_flight, last.sockets),
        (0, Some(0), Some(0))
    );
    let mut paths = server.paths();
    paths.retain(|path| path != "/hang");
    assert_eq!(paths, ["/wait", "/down", "/down"]);
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

/// Documentation addresses (RFC 5737) are public; nothing is ever sent to them, here neither.
#[test]
fn a_host_that_changes_is_found_when_it_is_asked() {
    let server = Server::good();
    let asking = |host: &str| {
        let mut step = get("/");
        let request = request_of(&mut step);
        request.host = text(host);
        request.port = text(server.address.port().to_string());
        let mut settings = settings(&server, vec![group(1, vec![step])]);
        settings.target = None;
        run(settings).rows.remove(0)
    };
    assert!(asking("127.0.0.${__Random(1,1)}").success);
    assert_eq!(server.seen().len(), 1);
    let refused = asking("203.0.113.${__Random(7,7)}");
    let code = "Non HTTP response code: weir.NotAllowed";
    assert_eq!(&*refused.response_code, code);
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
